//! The SQL functions, a file each, in the order of the manual's chapters. A function checks its arguments, calls one
//! function of `pg`, and maps the result to rows.

// The contract defines the arguments and the rows; of errors, pgrx keeps SQLSTATE, DETAIL and HINT only in its own type.
#![allow(clippy::too_many_arguments, clippy::type_complexity, clippy::result_large_err)]

mod building;
mod curated;
mod internal;
mod monitoring;
mod registering;
mod searching;
