//! What retrieval is asked, and what it returns.

use crate::pg::search::rank_tables::Ranking;
use crate::pg::search::strategy::Strategy;
use crate::pg::search::terms::TermOrMetric;
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::catalog::schema::Table;
use nl2sql_core::search::table_selection::Via;
use serde_json::Value;

pub struct RetrievalRequest<'a> {
    pub datasource: &'a str,
    /// The text to embed: the question with what the sub-query adds.
    pub text: String,
    pub schema_version: Option<&'a str>,
    pub table_k: usize,
    pub planning_k: usize,
    pub strategy: Strategy,
}

/// A table that is sent.
pub struct SentTable {
    /// All of it that exists for the current user.
    pub table: Table,
    /// What is sent of it.
    pub definition: Value,
    pub preferred: bool,
    pub via: Via,
}

pub struct Retrieval {
    pub schema_version: String,
    /// In the order in which they are sent: preferred ones first.
    pub sent: Vec<SentTable>,
    /// What the search found; `None` if it was not needed.
    pub ranking: Option<Ranking>,
    /// Tables picked by the search, by their places in the ranking.
    pub picks: Vec<usize>,
    /// Columns that the question hit, by table.
    pub hits: Vec<(TableName, String)>,
    /// Terms and metrics that the question uses.
    pub used: Vec<TermOrMetric>,
}
