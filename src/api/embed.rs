//! `nl2sql_embed`.

use crate::pg::error::OrRaise;
use crate::pg::vector::Vector;
use crate::pg::{argument, embedder};
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_embed(text: &str) -> Vector {
    let text = argument::spoken("text", Some(text)).or_raise();
    Vector(embedder::embed_question(text).or_raise())
}
