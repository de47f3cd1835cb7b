//! A schema as it was at one moment: how a version is named, how two versions differ, and what of one a role may see.

pub mod access;
pub mod diff;
pub mod fingerprint;
pub mod issue;
pub mod render;
