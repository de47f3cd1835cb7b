//! Builds indexes, and drops the namespaces of former models.

mod embed;
mod index;
mod prune;
