//! `nl2sql_curated_export`.

use crate::pg::error::{Error, OrRaise, Result};
use crate::pg::{argument, curated, datasource};
use nl2sql_core::document;
use pgrx::prelude::*;
use std::collections::BTreeMap;

#[pg_extern]
fn nl2sql_curated_export(datasource: Option<&str>) -> String {
    export(datasource).or_raise()
}

fn export(wanted: Option<&str>) -> Result<String> {
    let mut datasources = BTreeMap::new();
    for name in named(wanted)? {
        let content = curated::load_visible(&name)?.content;
        if wanted.is_some() || !content.is_empty() {
            datasources.insert(name, content);
        }
    }
    document::render(&datasources).map_err(|problem| Error::invalid(format!("the content cannot be written: {problem}")))
}

/// The datasource named, or all that exist for the current user.
pub fn named(wanted: Option<&str>) -> Result<Vec<String>> {
    match wanted {
        None => datasource::names(),
        Some(name) => {
            let name = argument::spoken("datasource", Some(name))?;
            datasource::check_known(name)?;
            Ok(vec![name.to_owned()])
        }
    }
}
