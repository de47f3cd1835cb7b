//! What a build reads: the system catalogs and the values of columns.

mod keys;
mod names;
mod reflection;
mod restricted;
mod statistics;
