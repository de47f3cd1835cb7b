//! Sentence embeddings on one thread, for a process that must have no other: a PostgreSQL backend.
//!
//! [`Embedder`] opens a model directory and turns texts into vectors. The crate `nl2sql_model` writes such a
//! directory. Only this crate uses `ort` and `tokenizers`.
//!
//! Guarantees: opening and embedding start no thread, write no file, and print nothing to standard error. Memory of
//! long runs is returned to the system. A panic in `tick` leaves the embedder usable. After a fork, both processes can
//! continue. A process can use only the first runtime library that it loads.

mod batch;
mod elf;
mod embedder;
mod error;
mod malloc_trim;
mod manifest;
mod onnxruntime;
mod pooling;
mod session;
pub mod sha256;
mod tokenizer;

pub use embedder::Embedder;
pub use error::EmbedError;
pub use manifest::{FORMAT, FileEntry, MANIFEST, Manifest, Role};
pub use session::LoadOptions;
