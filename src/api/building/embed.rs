//! `nl2sql_embed`.

use crate::pg::index::embedder;
use crate::pg::server::argument;
use crate::pg::server::error::ErrorReport;
use crate::pg::server::vector::Vector;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_embed(text: &str) -> Result<Vector, ErrorReport> {
    let text = argument::non_empty("text", Some(text))?;
    Ok(Vector(embedder::embed_question(text)?))
}
