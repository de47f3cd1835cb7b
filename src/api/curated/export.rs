//! `nl2sql_curated_export`.

use crate::pg::curated::store;
use crate::pg::datasource;
use crate::pg::server::error::{Error, OrRaise, Result};
use nl2sql_core::curated::document::yaml;
use pgrx::prelude::*;
use std::collections::BTreeMap;

#[pg_extern]
fn nl2sql_curated_export(datasource: Option<&str>) -> String {
    export(datasource).or_raise()
}

fn export(wanted: Option<&str>) -> Result<String> {
    let mut datasources = BTreeMap::new();
    for name in datasource::named(wanted)? {
        let content = store::load_visible(&name)?.content;
        if wanted.is_some() || !content.is_empty() {
            datasources.insert(name, content);
        }
    }
    yaml::render(&datasources).map_err(|problem| {
        let error = Error::new(
            PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
            format!("the content cannot be written as a document: {problem}"),
        );
        if wanted.is_some() { error } else { error.hint("Export one datasource at a time.") }
    })
}
