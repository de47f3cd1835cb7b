//! `nl2sql_embed`.

use crate::pg::index::embedder;
use crate::pg::server::argument;
use crate::pg::server::error::OrRaise;
use crate::pg::server::vector::Vector;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_embed(text: &str) -> Vector {
    let text = argument::spoken("text", Some(text)).or_raise();
    Vector(embedder::embed_question(text).or_raise())
}
