//! What a verified query may say and call: statements as lists, and the functions of the server.

mod function_class;
mod functions;
mod statements;
