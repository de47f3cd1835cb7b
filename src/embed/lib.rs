//! Sentence embeddings on one thread, for a process that must have no other: a
//! PostgreSQL backend.
//!
//! [`Embedder`] opens a model directory and turns texts into vectors.
//! [`setup`] makes such a directory from the published weights.
//! This crate is the project's only user of `ort` and `tokenizers`.
//!
//! What a caller can rely on: opening and embedding start no thread, write no file and
//! say nothing on standard error; memory of long runs is given back; a panic out of
//! `tick` leaves the embedder usable; after a fork both sides can go on. The first
//! runtime that a process loads is the only one that it can use.

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
