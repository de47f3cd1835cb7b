//! `nl2sql_curated_import`.

use crate::pg::curated::write;
use crate::pg::server::error::{Error, ErrorReport};
use crate::pg::server::{argument, identity};
use nl2sql_core::curated::content::Content;
use nl2sql_core::curated::document::yaml;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_curated_import(
    document: Option<&str>,
    replace: Option<bool>,
) -> Result<
    TableIterator<
        'static,
        (name!(datasource, String), name!(verified_queries, i32), name!(metrics, i32), name!(terms, i32)),
    >,
    ErrorReport,
> {
    identity::check_writable("nl2sql_curated_import()");
    let text = argument::non_empty("document", document)?;
    let replace = argument::required("replace", replace)?;
    let contents = yaml::parse(text).map_err(|problem| {
        Error::invalid(format!("the document cannot be read: {problem}"))
            .hint("It is YAML or JSON like what nl2sql_curated_export() returns: datasources: {name: {verified_queries: […], metrics: […], glossary: […]}}.")
    })?;
    write::import(&contents, replace)?;
    let number = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    let rows = contents.into_iter().map(move |(name, Content { verified_queries, metrics, glossary })| {
        (name, number(verified_queries.len()), number(metrics.len()), number(glossary.len()))
    });
    Ok(TableIterator::new(rows.collect::<Vec<_>>()))
}
