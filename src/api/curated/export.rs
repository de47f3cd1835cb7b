//! `nl2sql_curated_export`.

use crate::pg::curated::store;
use crate::pg::datasource;
use crate::pg::server::error::{Error, ErrorReport};
use nl2sql_core::curated::document::yaml;
use pgrx::prelude::*;
use std::collections::BTreeMap;

#[pg_extern]
fn nl2sql_curated_export(datasource: Option<&str>) -> Result<String, ErrorReport> {
    let mut contents = BTreeMap::new();
    for name in datasource::named(datasource)? {
        let content = store::load_visible(&name)?.content;
        if datasource.is_some() || !content.is_empty() {
            contents.insert(name, content);
        }
    }
    let text = yaml::render(&contents).map_err(|problem| {
        let error = Error::new(
            PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
            format!("the content cannot be written as a document: {problem}"),
        );
        if datasource.is_some() { error } else { error.hint("Export one datasource at a time.") }
    });
    Ok(text?)
}
