//! Builds: entries with vectors, written together and made live by one pointer.

pub mod build;
pub mod build_curated;
#[allow(unsafe_code)]
pub mod embedder;
pub mod entry;
pub mod namespace;
pub mod notify;
