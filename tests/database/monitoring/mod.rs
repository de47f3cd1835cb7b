//! Versions of a schema and what differs between them.

mod drift;
