//! Events on the channel `nl2sql`, sent to every listening session when the transaction commits.

use crate::pg::server::error::Result;
use crate::pg::server::query;
use nl2sql_core::snapshot::diff::Diff;
use serde_json::{Value, json};

/// The structure of the version that goes live differs from that of the one that it replaces.
pub fn drifted(datasource: &str, from: &str, to: &str, diff: &Diff) -> Result<()> {
    send(json!({
        "event": "schema.drifted",
        "datasource": datasource,
        "from_version": from,
        "to_version": to,
        "counts": diff.counts(),
    }))
}

/// A build went live.
pub fn swapped(datasource: &str, namespace: &str, build: i64, schema_version: &str) -> Result<()> {
    send(json!({
        "event": "index.swapped",
        "datasource": datasource,
        "namespace": namespace,
        "build_id": build.to_string(),
        "schema_version": schema_version,
    }))
}

fn send(event: Value) -> Result<()> {
    query::read_one("SELECT pg_notify('nl2sql', $1)", &[event.to_string().into()], |_| Ok(())).map(drop)
}
