//! Vectors, routing, search and retrieval.

mod determinism;
mod retrieval;
mod vectors;
