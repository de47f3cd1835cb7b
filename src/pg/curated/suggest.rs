//! Drafts verified queries from pg_stat_statements.

use crate::pg::curated::analyze::ServerAnalyst;
use crate::pg::datasource;
use crate::pg::server::error::{Error, Result};
use crate::pg::server::{interrupt, query};
use crate::pg::snapshot;
use nl2sql_core::curated::content::Content;
use nl2sql_core::curated::document::yaml;
use nl2sql_core::mine::suggest;
use nl2sql_core::mine::suggest::{MinedStatement, Suggestion};
use nl2sql_core::sql::reads::Names;
use pgrx::prelude::*;
use std::collections::BTreeMap;

const STATEMENTS: &str = include_str!("../../../sql/curated/statements.sql");

/// At most `limit` suggestions, from statements of at least `min_calls` calls that the current user may see, each with
/// the document that imports it.
pub fn suggest(name: &str, min_calls: usize, limit: usize) -> Result<Vec<(Suggestion, String)>> {
    let stored = datasource::load_known(name)?;
    let schema = snapshot::live_schema(name)?;
    let statements = query::read(&STATEMENTS.replace("%s", &statistics_schema()?), &[], |row| {
        Ok(MinedStatement { text: row.must(1)?, calls: row.must(2)? })
    })?;
    let names = Names::new(&stored.schemas, &schema);
    let min_calls = i64::try_from(min_calls).unwrap_or(i64::MAX);
    let mut analyst = ServerAnalyst::strict(&stored.schemas)?;
    let suggestions = suggest::suggest(statements, &names, min_calls, limit, &mut analyst, &mut interrupt::check);
    analyst
        .found(suggestions)?
        .into_iter()
        .map(|suggestion| {
            let content = Content { verified_queries: vec![suggestion.query.clone()], ..Content::default() };
            let document = yaml::render(&BTreeMap::from([(name.to_owned(), content)]))
                .map_err(|problem| Error::invalid(format!("a suggestion cannot be written: {problem}")))?;
            Ok((suggestion, document))
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
