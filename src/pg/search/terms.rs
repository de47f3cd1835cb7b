//! Terms and metrics that a question uses.

use crate::pg::index::embedder;
use crate::pg::search::builds::Builds;
use crate::pg::server::error::Result;
use crate::pg::server::{query, vector};
use nl2sql_core::catalog::identifier_words::split_identifier;
use nl2sql_core::search::table_selection::Via;
use nl2sql_core::search::term_match::mentions;
use pgrx::JsonB;
use serde_json::Value;

const USED: &str = include_str!("../../../sql/search/used.sql");

/// A term or metric that a question uses.
pub enum TermOrMetric {
    Term(Value),
    Metric(Value),
}

impl TermOrMetric {
    /// Its metadata, as a search returns it.
    pub fn metadata(&self) -> &Value {
        match self {
            TermOrMetric::Term(metadata) | TermOrMetric::Metric(metadata) => metadata,
        }
    }

    /// The reason for which retrieval sends its tables.
    pub fn via(&self) -> Via {
        match self {
            TermOrMetric::Term(_) => Via::Term,
            TermOrMetric::Metric(_) => Via::Metric,
        }
    }

    pub fn name(&self) -> &str {
        let metadata = self.metadata();
        metadata["term"].as_str().or(metadata["name"].as_str()).unwrap_or_default()
    }

    /// Relation keys of the tables that it is about.
    pub fn tables(&self) -> Vec<&str> {
        let metadata = self.metadata();
        let several = metadata["tables"].as_array().into_iter().flatten().filter_map(Value::as_str);
        several.chain(metadata["table"].as_str()).collect()
    }
}

/// Terms that the question contains, by name or synonym, and metrics that it contains by name, as far as they exist for
/// the current user. With `nearest_table`, the similarity of the nearest table, also metrics that are more similar to
/// the question; without it, the question is not embedded.
pub(super) fn used(builds: &Builds, question: &str, nearest_table: Option<f64>) -> Result<Vec<TermOrMetric>> {
    let question_vector = nearest_table.map(|_| embedder::embed_question(question)).transpose()?.map(vector::Vector);
    let found = query::read(
        &vector::qualify(USED)?,
        &[question_vector.into(), builds.namespace.as_str().into(), builds.ids().into()],
        |row| Ok((row.must::<String>(1)?, row.must::<JsonB>(2)?.0, row.get::<f64>(3)?)),
    )?;
    let used = found.into_iter().filter_map(|(chunk_type, metadata, similarity)| {
        let contains = |field: &str| metadata[field].as_str().is_some_and(|phrase| mentions(question, phrase));
        if chunk_type == "curated.term" {
            let mut synonyms = metadata["synonyms"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let uses = contains("term") || synonyms.any(|synonym| mentions(question, synonym));
            return uses.then_some(TermOrMetric::Term(metadata));
        }
        let named = metadata["name"].as_str().is_some_and(|name| mentions(question, &split_identifier(name)));
        (named || similarity > nearest_table).then_some(TermOrMetric::Metric(metadata))
    });
    Ok(used.collect())
}
