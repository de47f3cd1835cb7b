//! Sentence embeddings on one thread, for a process that must have no other: a
//! PostgreSQL backend.
//!
//! [`Embedder`] opens a model directory and turns texts into vectors.
//! [`setup`] makes such a directory from the published weights.
//! This crate is the project's only user of `ort` and `tokenizers`.

mod batch;
mod checkpoint;
mod clip;
mod digest;
mod elf;
mod embedder;
mod error;
mod graph;
mod manifest;
mod memory;
mod minilm;
mod onnx;
mod pool;
mod reference;
mod runtime;
mod session;
pub mod setup;
mod store;
mod tokens;
mod wordpiece;

pub use embedder::Embedder;
pub use error::EmbedError;
pub use manifest::{FileEntry, MANIFEST, Manifest, Role};
pub use session::Options;
