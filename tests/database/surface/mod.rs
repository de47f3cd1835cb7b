//! The SQL functions as their callers see them: names, arguments, errors, ways to call.

mod arguments;
mod calls;
mod contract;
mod functions;
