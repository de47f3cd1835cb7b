//! A retrieval as the text that a model is sent.

use crate::pg::search::retrieval::Retrieval;
use crate::pg::search::terms::TermOrMetric;
use nl2sql_core::search::prompt;
use nl2sql_core::search::prompt::PromptTable;

pub fn prompt(found: &Retrieval) -> String {
    let tables = found.sent.iter().map(|sent| PromptTable {
        table: &sent.table,
        definition: &sent.definition,
        preferred: sent.preferred,
    });
    let used = found.used.iter().map(|used| match used {
        TermOrMetric::Term(metadata) => prompt::term(metadata),
        TermOrMetric::Metric(metadata) => prompt::metric(metadata),
    });
    let lines: Vec<String> = std::iter::once(prompt::render(tables.collect())).chain(used).collect();
    lines.join("\n")
}
