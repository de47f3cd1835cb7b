//! Terms and metrics that a question uses.

use crate::pg::index::embedder;
use crate::pg::search::nearest::Builds;
use crate::pg::server::error::Result;
use crate::pg::server::{query, vector};
use nl2sql_core::catalog::identifier_words::split_identifier;
use nl2sql_core::search::term_match::says;
use pgrx::JsonB;
use serde_json::Value;

const USED: &str = include_str!("../../../sql/curated/used.sql");

/// A piece of curated content that a question uses.
pub enum Used {
    Term(Value),
    Metric(Value),
}

impl Used {
    /// Its metadata, as a search returns it.
    pub fn metadata(&self) -> &Value {
        match self {
            Used::Term(metadata) | Used::Metric(metadata) => metadata,
        }
    }

    /// How retrieval says that it chose a table.
    pub fn via(&self) -> &'static str {
        match self {
            Used::Term(_) => "term",
            Used::Metric(_) => "metric",
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

/// The terms that the question says, by themselves or by a synonym, and the metrics that it says, as they exist for the
/// current user. With the similarity of the nearest table, a cosine, also the metrics that the question is nearer to;
/// without it the question is not embedded.
pub fn used(builds: &Builds, question: &str, nearest_table: Option<f64>) -> Result<Vec<Used>> {
    let question_vector = nearest_table.map(|_| embedder::embed_question(question)).transpose()?.map(vector::Vector);
    let found = query::read(
        &vector::qualify(USED)?,
        &[question_vector.into(), builds.namespace.as_str().into(), builds.numbers().into()],
        |row| Ok((row.must::<String>(1)?, row.must::<JsonB>(2)?.0, row.get::<f64>(3)?)),
    )?;
    let used = found.into_iter().filter_map(|(chunk_type, metadata, similarity)| {
        let said = |field: &str| metadata[field].as_str().is_some_and(|phrase| says(question, phrase));
        if chunk_type == "curated.term" {
            let mut synonyms = metadata["synonyms"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let uses = said("term") || synonyms.any(|synonym| says(question, synonym));
            return uses.then_some(Used::Term(metadata));
        }
        let named = metadata["name"].as_str().is_some_and(|name| says(question, &split_identifier(name)));
        (named || similarity > nearest_table).then_some(Used::Metric(metadata))
    });
    Ok(used.collect())
}
