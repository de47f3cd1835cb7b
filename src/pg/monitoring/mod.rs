//! What an operator watches: the health of each index, and the drift of each schema with what it breaks.

pub mod check;
pub mod health;
