//! Builds and the namespaces that hold them.

mod embed;
mod index;
mod prune;
