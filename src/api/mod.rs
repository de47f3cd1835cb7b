//! The SQL functions, a file each, in the order of the manual's chapters. A function checks its arguments, calls one
//! function of `pg`, and maps the result to rows.

// The contract defines the arguments and the rows.
#![allow(clippy::too_many_arguments, clippy::type_complexity)]

mod building;
mod curated;
mod internal;
mod monitoring;
mod registering;
mod searching;
