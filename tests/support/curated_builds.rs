//! A datasource with curated content that is indexed in part.

use crate::builds::{index, plant};
use postgres::Client;
use serde_json::json;

/// Indexes the curated content.
pub const BUILD_CURATED: &str = "SELECT * FROM nl2sql_index('plant', curated_only => true)";

/// A document of queries with distinct questions.
pub fn curated_document(queries: usize) -> String {
    let queries: Vec<_> = (0..queries)
        .map(|n| json!({"id": format!("q{n}"), "questions": [format!("How many of number {n} are there, and what of {}?", n * 7919)], "sql": format!("SELECT {n}")}))
        .collect();
    json!({"datasources": {"plant": {"verified_queries": queries}}}).to_string()
}

/// An indexed datasource with some indexed content, and more that is not indexed yet.
pub fn plant_with_content(witness: &mut Client, queries: usize) {
    plant(witness, "plant");
    assert_eq!(index(witness, "plant"), "indexed");
    for queries in [3, queries] {
        witness.execute("SELECT nl2sql_curated_import($1)", &[&curated_document(queries)]).expect("content");
        if queries == 3 {
            witness.batch_execute(BUILD_CURATED).expect("a build");
        }
    }
}
