//! `nl2sql_suggest_queries`.

use crate::pg::datasource;
use crate::pg::index::pointer;
use crate::pg::server::error::{Error, OrRaise, Result};
use crate::pg::server::{argument, identity, interrupt, query};
use nl2sql_core::curated::content::Content;
use nl2sql_core::curated::document::yaml;
use nl2sql_core::mine::suggest;
use nl2sql_core::mine::suggest::MinedStatement;
use nl2sql_core::sql::reads::Names;
use pgrx::prelude::*;
use std::collections::BTreeMap;

const STATEMENTS: &str = include_str!("../../../sql/curated/statements.sql");

type Row = (
    name!(query_id, String),
    name!(calls, i64),
    name!(tables, Vec<String>),
    name!(columns, Vec<String>),
    name!(sql, String),
    name!(document, String),
);

#[pg_extern]
fn nl2sql_suggest_queries(
    datasource: Option<&str>,
    min_calls: Option<i32>,
    limit: Option<i32>,
) -> TableIterator<
    'static,
    (
        name!(query_id, String),
        name!(calls, i64),
        name!(tables, Vec<String>),
        name!(columns, Vec<String>),
        name!(sql, String),
        name!(document, String),
    ),
> {
    TableIterator::new(suggest(datasource, min_calls, limit).or_raise())
}

fn suggest(datasource: Option<&str>, min_calls: Option<i32>, limit: Option<i32>) -> Result<Vec<Row>> {
    let name = argument::required("datasource", datasource)?;
    let min_calls = argument::at_least_one("min_calls", min_calls)?;
    let limit = argument::at_least_one("limit", limit)?;
    datasource::check_known(name)?;
    let schema = pointer::live_schema(name)?;
    let Some(stored) = identity::as_owner(|owner| datasource::load(owner, name))? else {
        return Err(datasource::unknown(name, &[]));
    };
    let found = query::read(&STATEMENTS.replace("%s", &statistics_schema()?), &[], |row| {
        Ok(MinedStatement { text: row.must(1)?, calls: row.must(2)? })
    })?;
    let names = Names::new(&stored.schemas, &schema);
    let min_calls = i64::try_from(min_calls).unwrap_or(i64::MAX);
    let suggestions = suggest::suggest(found, &names, min_calls, limit, &mut interrupt::check);
    suggestions
        .into_iter()
        .map(|suggestion| {
            let content = Content { verified_queries: vec![suggestion.query.clone()], ..Content::default() };
            let document = yaml::render(&BTreeMap::from([(name.to_owned(), content)]))
                .map_err(|problem| Error::invalid(format!("a suggestion cannot be written: {problem}")))?;
            Ok((
                suggestion.query.id,
                suggestion.calls,
                suggestion.tables,
                suggestion.columns,
                suggestion.query.sql,
                document,
            ))
        })
        .collect()
}

/// Where pg_stat_statements is installed, as SQL quotes it.
fn statistics_schema() -> Result<String> {
    let schema = query::read_one(
        "SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
         WHERE e.extname = 'pg_stat_statements'",
        &[],
        |row| row.must::<String>(1),
    )?;
    schema.ok_or_else(|| {
        Error::new(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "extension \"pg_stat_statements\" is not installed in this database",
        )
        .hint("Add pg_stat_statements to shared_preload_libraries, restart, and run: CREATE EXTENSION pg_stat_statements;")
    })
}
