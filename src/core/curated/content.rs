//! Curated content: what a team knows about a datasource besides its schema. Verified queries, metrics and a glossary.

use crate::curated::param::{Param, null_as_default};
use crate::snapshot::fingerprint::{canonical_json, sha256_hex};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// The curated content of one datasource.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "curated content: verified_queries, metrics, glossary")]
pub struct Content {
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub verified_queries: Vec<VerifiedQuery>,
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub glossary: Vec<Term>,
}

/// A question whose correct SQL is known, in several phrasings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a verified query: id, description, questions, params, sql")]
pub struct VerifiedQuery {
    #[serde(default, deserialize_with = "null_as_default")]
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Phrasings; `{name}` stands for a param.
    #[serde(default, deserialize_with = "null_as_default")]
    pub questions: Vec<String>,
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Param>,
    /// One statement that only reads; `:name` stands for a param.
    #[serde(default, deserialize_with = "null_as_default")]
    pub sql: String,
}

/// A figure, and the expression that computes it from the rows of one table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a metric: name, description, expression, table")]
pub struct Metric {
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub expression: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub table: String,
}

/// A word that the team uses, and what it means.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a term: term, definition, synonyms, tables")]
pub struct Term {
    #[serde(default, deserialize_with = "null_as_default")]
    pub term: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub definition: String,
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub synonyms: Vec<String>,
    /// Tables that it is about.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<String>,
}

/// One item of curated content, identified by its id, name or term.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    VerifiedQuery(String),
    Metric(String),
    Term(String),
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, name) = match self {
            Item::VerifiedQuery(id) => ("verified query", id),
            Item::Metric(name) => ("metric", name),
            Item::Term(term) => ("term", term),
        };
        write!(f, "{what} \"{}\"", crate::catalog::identifier::shown(name))
    }
}

impl Content {
    pub fn is_empty(&self) -> bool {
        self.verified_queries.is_empty() && self.metrics.is_empty() && self.glossary.is_empty()
    }

    /// Sorts by name. The order is not part of the content.
    pub fn sort(&mut self) {
        self.verified_queries.sort_by(|a, b| a.id.cmp(&b.id));
        self.metrics.sort_by(|a, b| a.name.cmp(&b.name));
        self.glossary.sort_by(|a, b| a.term.cmp(&b.term));
    }

    /// The texts of each item that name tables and columns.
    pub fn written(&self) -> impl Iterator<Item = (Item, Vec<&str>)> {
        let queries =
            self.verified_queries.iter().map(|query| (Item::VerifiedQuery(query.id.clone()), vec![query.sql.as_str()]));
        let metrics = self
            .metrics
            .iter()
            .map(|metric| (Item::Metric(metric.name.clone()), vec![metric.table.as_str(), &metric.expression]));
        let terms = self
            .glossary
            .iter()
            .map(|term| (Item::Term(term.term.clone()), term.tables.iter().map(String::as_str).collect()));
        queries.chain(metrics).chain(terms)
    }

    /// SHA-256 of each item.
    pub fn hashes(&self) -> BTreeMap<Item, String> {
        let queries =
            self.verified_queries.iter().map(|query| (Item::VerifiedQuery(query.id.clone()), item_hash(query)));
        let metrics = self.metrics.iter().map(|metric| (Item::Metric(metric.name.clone()), item_hash(metric)));
        let terms = self.glossary.iter().map(|term| (Item::Term(term.term.clone()), item_hash(term)));
        queries.chain(metrics).chain(terms).collect()
    }

    /// SHA-256 of the content as canonical JSON, sorted by name: an array of the verified queries, or an object of all
    /// three lists if there are metrics or terms. `None` if the content is empty.
    pub fn hash(&self) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let mut sorted = self.clone();
        sorted.sort();
        let value = if sorted.metrics.is_empty() && sorted.glossary.is_empty() {
            json!(sorted.verified_queries)
        } else {
            json!(sorted)
        };
        Some(sha256_hex(&canonical_json(&value)))
    }
}

/// SHA-256 of one item as canonical JSON.
pub(crate) fn item_hash(item: &impl Serialize) -> String {
    sha256_hex(&canonical_json(&serde_json::to_value(item).unwrap_or(Value::Null)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(id: &str) -> VerifiedQuery {
        VerifiedQuery {
            id: id.into(),
            questions: vec!["How many?".into()],
            sql: "SELECT 1".into(),
            ..Default::default()
        }
    }

    #[test]
    fn the_hash_depends_on_the_content_only() {
        assert_eq!(Content::default().hash(), None);
        let one = Content { verified_queries: vec![query("a"), query("b")], ..Default::default() };
        let other = Content { verified_queries: vec![query("b"), query("a")], ..Default::default() };
        assert_eq!(one.hash(), other.hash());
        let json = r#"[{"id":"a","questions":["How many?"],"sql":"SELECT 1"},{"id":"b","questions":["How many?"],"sql":"SELECT 1"}]"#;
        assert_eq!(one.hash(), Some(sha256_hex(json)), "verified queries alone, as canonical JSON");
        let mut changed = one.clone();
        changed.verified_queries[0].description = Some("x".into());
        assert_ne!(one.hash(), changed.hash());
        let mut more = one.clone();
        more.metrics.push(Metric { name: "m".into(), ..Default::default() });
        assert_ne!(one.hash(), more.hash());
    }
}
