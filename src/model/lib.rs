//! Writes and checks the directory of the embedding model. Runs during setup only: the extension does not link this
//! crate, nor `prost` and `safetensors`.
//!
//! [`write`](write()) turns the published weights of all-MiniLM-L6-v2 into an ONNX graph that all backends can map, and
//! [`check`](check()) verifies a model directory: every byte, and the vectors that the model returns.
#![forbid(unsafe_code)]

mod atomic_file;
mod check;
mod error;
mod minilm;
mod onnx_graph;
pub mod onnx_proto;
mod publish;
mod published;
mod reference;
mod safetensors;
mod write;

pub use check::check;
pub use error::SetupError;
pub use published::{MODEL, TOKENIZER_SHA256, WEIGHTS_SHA256};
pub use write::{Written, write};
