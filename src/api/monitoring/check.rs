//! `nl2sql_check`.

use crate::pg::curated::store;
use crate::pg::datasource;
use crate::pg::datasource::Datasource;
use crate::pg::datasource::preferred_tables;
use crate::pg::index::namespace;
use crate::pg::server::error::{OrRaise, Result};
use crate::pg::server::{identity, interrupt, subtransaction};
use crate::pg::snapshot;
use crate::pg::snapshot::drift;
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::catalog::schema::Schema;
use nl2sql_core::curated::content::Item;
use nl2sql_core::curated::impact;
use nl2sql_core::curated::impact::{ItemReads, ItemSql};
use nl2sql_core::snapshot::diff::{Diff, diff};
use nl2sql_core::sql::reads::Names;
use pgrx::JsonB;
use pgrx::prelude::*;
use serde_json::{Value, json};

type Row = (
    name!(datasource, String),
    name!(status, String),
    name!(live_version, Option<String>),
    name!(diff, Option<JsonB>),
    name!(impact, Option<JsonB>),
    name!(error, Option<String>),
);

#[pg_extern]
fn nl2sql_check(
    datasource: Option<&str>,
) -> TableIterator<
    'static,
    (
        name!(datasource, String),
        name!(status, String),
        name!(live_version, Option<String>),
        name!(diff, Option<JsonB>),
        name!(impact, Option<JsonB>),
        name!(error, Option<String>),
    ),
> {
    TableIterator::new(check(datasource).or_raise())
}

fn check(wanted: Option<&str>) -> Result<Vec<Row>> {
    let namespace = namespace::current()?;
    datasource::named(wanted)?.into_iter().map(|name| check_one(name, &namespace)).collect()
}

/// Each on its own: one that cannot be checked does not keep the others from it.
fn check_one(name: String, namespace: &str) -> Result<Row> {
    let Some(live) = snapshot::live_version(&name, namespace)? else {
        return Ok((name, "not_indexed".to_owned(), None, None, None, None));
    };
    Ok(match subtransaction::attempt(|| compare(&name, &live)) {
        Ok(None) => (name, "unchanged".to_owned(), Some(live), None, None, None),
        Ok(Some((diff, impact))) => {
            (name, "drifted".to_owned(), Some(live), Some(JsonB(diff)), Some(JsonB(impact)), None)
        }
        Err(error) => (name, "failed".to_owned(), Some(live), None, None, Some(error.message)),
    })
}

/// The diff and what it breaks, where the structure has drifted.
fn compare(name: &str, live: &str) -> Result<Option<(Value, Value)>> {
    snapshot::check_version(name, live)?;
    let Some(stored) = identity::as_owner(|owner| datasource::load(owner, name))? else {
        return Err(datasource::unknown(name, &[]));
    };
    let before = snapshot::load_visible(name, live)?;
    let now = snapshot::visible(drift::current(&stored)?.schema);
    let found = diff(&before, &now);
    if found.is_empty() {
        return Ok(None);
    }
    let (verified_queries, metrics) = broken(name, &stored, &found, &now)?;
    let impact = json!({
        "verified_queries": verified_queries,
        "metrics": metrics,
        "preferred_tables": preferred_tables::gone(name, &stored, &table_names(&before), &table_names(&now))?,
    });
    Ok(Some((found.render(name, live, None), impact)))
}

/// The verified queries and the metrics that the drift breaks, each with the reasons.
fn broken(name: &str, stored: &Datasource, found: &Diff, now: &Schema) -> Result<(Vec<Value>, Vec<Value>)> {
    let curated = store::load_visible(name)?;
    let names = Names::new(&stored.schemas, now);
    let told = |item: Item, sql: ItemSql| {
        interrupt::check();
        let reads = curated.reads_of(&item);
        impact::reasons(&ItemReads { item, reads: &reads, sql }, found, &names)
    };
    let queries = curated.content.verified_queries.iter().filter_map(|query| {
        let reasons = told(Item::VerifiedQuery(query.id.clone()), ItemSql::Query(query));
        (!reasons.is_empty()).then(|| json!({ "query_id": query.id, "reasons": reasons }))
    });
    let metrics = curated.content.metrics.iter().filter_map(|metric| {
        let reasons = told(Item::Metric(metric.name.clone()), ItemSql::Metric(metric));
        (!reasons.is_empty()).then(|| json!({ "name": metric.name, "reasons": reasons }))
    });
    Ok((queries.collect(), metrics.collect()))
}

fn table_names(schema: &Schema) -> Vec<TableName> {
    schema.tables.iter().map(|table| table.name.clone()).collect()
}
