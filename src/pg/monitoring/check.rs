//! Whether a schema has drifted since its live snapshot, and what the drift breaks.

use crate::pg::curated::analyze::ServerAnalyst;
use crate::pg::curated::store;
use crate::pg::datasource;
use crate::pg::datasource::{Datasource, preferred_tables};
use crate::pg::server::error::{Error, Result};
use crate::pg::server::{settings, subtransaction};
use crate::pg::snapshot;
use crate::pg::snapshot::drift;
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::catalog::schema::Schema;
use nl2sql_core::curated::content::Item;
use nl2sql_core::curated::impact;
use nl2sql_core::curated::impact::{ItemReads, ItemSql};
use nl2sql_core::snapshot::diff::{Diff, diff};
use nl2sql_core::sql::reads::Names;
use serde_json::{Value, json};

pub enum CheckOutcome {
    NotIndexed,
    Unchanged,
    Drifted { diff: Value, impact: Value },
    Failed(Error),
}

impl CheckOutcome {
    pub fn status(&self) -> &'static str {
        match self {
            CheckOutcome::NotIndexed => "not_indexed",
            CheckOutcome::Unchanged => "unchanged",
            CheckOutcome::Drifted { .. } => "drifted",
            CheckOutcome::Failed(_) => "failed",
        }
    }
}

/// Compares the live version with the current schema, in a subtransaction, so that a failure does not keep other
/// datasources from being checked. Returns the live version as well.
pub fn check(name: &str) -> Result<(Option<String>, CheckOutcome)> {
    let Some(live) = snapshot::live_version(name, &settings::namespace()?)? else {
        return Ok((None, CheckOutcome::NotIndexed));
    };
    let outcome = subtransaction::attempt(|| compare(name, &live)).unwrap_or_else(CheckOutcome::Failed);
    Ok((Some(live), outcome))
}

fn compare(name: &str, live: &str) -> Result<CheckOutcome> {
    snapshot::check_version(name, live)?;
    let stored = datasource::load_known(name)?;
    let before = snapshot::load_visible(name, live)?;
    let now = snapshot::visible(drift::current(&stored)?.schema);
    let found = diff(&before, &now);
    if found.is_empty() {
        return Ok(CheckOutcome::Unchanged);
    }
    let (verified_queries, metrics) = broken(name, &stored, &found, &now)?;
    let impact = json!({
        "verified_queries": verified_queries,
        "metrics": metrics,
        "preferred_tables": preferred_tables::gone(name, &stored, &table_names(&before), &table_names(&now))?,
    });
    Ok(CheckOutcome::Drifted { diff: found.render(name, live, None), impact })
}

/// The verified queries and metrics that the drift breaks, each with the reasons.
fn broken(name: &str, stored: &Datasource, found: &Diff, now: &Schema) -> Result<(Vec<Value>, Vec<Value>)> {
    let curated = store::load_visible(name)?;
    let names = Names::new(&stored.schemas, now);
    let mut analyst = ServerAnalyst::new(&stored.schemas)?;
    let mut reasons = |item: Item, sql: ItemSql| {
        let reads = curated.reads_of(&item);
        impact::reasons(&ItemReads { item, reads: &reads, sql }, found, &names, &mut analyst)
    };
    let queries: Vec<Value> = curated
        .content
        .verified_queries
        .iter()
        .filter_map(|query| {
            let reasons = reasons(Item::VerifiedQuery(query.id.clone()), ItemSql::Query(query));
            (!reasons.is_empty()).then(|| json!({ "query_id": query.id, "reasons": reasons }))
        })
        .collect();
    let metrics: Vec<Value> = curated
        .content
        .metrics
        .iter()
        .filter_map(|metric| {
            let reasons = reasons(Item::Metric(metric.name.clone()), ItemSql::Metric(metric));
            (!reasons.is_empty()).then(|| json!({ "name": metric.name, "reasons": reasons }))
        })
        .collect();
    analyst.found((queries, metrics))
}

fn table_names(schema: &Schema) -> Vec<TableName> {
    schema.tables.iter().map(|table| table.name.clone()).collect()
}
