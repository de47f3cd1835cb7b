//! What a verified query may say and call: statements as lists, and the functions of the server.

mod functions;
mod statements;
