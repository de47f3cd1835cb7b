//! Vectors, routing, search and retrieval.

mod determinism;
mod lookup;
mod retrieval;
mod vectors;
mod views;
