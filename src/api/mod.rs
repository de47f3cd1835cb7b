//! The SQL functions, a file each, in the order of the manual's chapters.

mod building;
mod curated;
mod internal;
mod monitoring;
mod registering;
mod searching;
