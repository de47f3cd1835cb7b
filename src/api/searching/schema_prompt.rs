//! `nl2sql_schema_prompt`.

use crate::api::searching::retrieve::request;
use crate::pg::search::retrieve;
use crate::pg::search::terms::TermOrMetric;
use crate::pg::server::error::{OrRaise, Result};
use crate::pg::server::jsonb::JsonbText;
use nl2sql_core::search::prompt;
use nl2sql_core::search::prompt::PromptTable;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_schema_prompt(datasource: Option<&str>, question: Option<&str>, sub_query: Option<JsonbText>) -> String {
    render(datasource, question, sub_query).or_raise()
}

fn render(datasource: Option<&str>, question: Option<&str>, sub_query: Option<JsonbText>) -> Result<String> {
    let request = request(datasource, question, sub_query, None, Some(8), Some(12), Some("fused"))?;
    let found = retrieve::retrieve(&request)?;
    let shown = found.sent.iter().map(|sent| PromptTable {
        table: &sent.table,
        definition: &sent.definition,
        preferred: sent.preferred,
    });
    let used = found.used.iter().map(|used| match used {
        TermOrMetric::Term(metadata) => prompt::term(metadata),
        TermOrMetric::Metric(metadata) => prompt::metric(metadata),
    });
    let lines: Vec<String> = std::iter::once(prompt::render(shown.collect())).chain(used).collect();
    Ok(lines.join("\n"))
}
