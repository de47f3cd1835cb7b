//! Versions of a schema: their names, how two of them differ, which part of one a role may see, and how it is rendered.

pub mod access;
pub mod diff;
pub mod fingerprint;
pub mod issue;
pub mod render;
