//! Explains a retrieval.

use crate::pg::search::rank_tables::Ranking;
use crate::pg::search::retrieval::{Retrieval, RetrievalRequest};
use crate::pg::search::terms::TermOrMetric;
use crate::pg::server::error::Result;
use nl2sql_core::search::explain::{
    ColumnHitRecord, PoolTableRecord, RetrievalRecord, SentRecord, TableSearchRecord, UsedRecord,
};
use nl2sql_core::search::table_selection::Via;
use serde_json::Value;

/// Tables of the pool that the record shows.
const POOL: usize = 50;

pub fn explain(request: &RetrievalRequest, found: &Retrieval) -> Result<Value> {
    let sent = found.sent.iter().map(|sent| {
        let columns = sent.definition["columns"].as_array().into_iter().flatten();
        SentRecord {
            table: sent.table.name.to_string(),
            via: sent.via.name(),
            preferred: sent.preferred,
            columns: columns.map(|column| &column["name"]).collect(),
        }
    });
    let record = RetrievalRecord {
        datasource: request.datasource,
        schema_version: &found.schema_version,
        text: &request.text,
        table_k: request.table_k,
        planning_k: request.planning_k,
        small: found.sent.first().is_some_and(|sent| sent.via == Via::Small),
        sent: sent.collect(),
        used: found.used.iter().map(used).collect(),
        search: found.ranking.as_ref().map(|ranking| search(ranking, found)),
    };
    Ok(serde_json::to_value(record)?)
}

fn used(used: &TermOrMetric) -> UsedRecord<'_> {
    let name = Some(used.name());
    let (term, metric) = match used {
        TermOrMetric::Term(_) => (name, None),
        TermOrMetric::Metric(_) => (None, name),
    };
    UsedRecord { term, metric, tables: used.tables() }
}

fn search<'a>(ranking: &'a Ranking, found: &'a Retrieval) -> TableSearchRecord<'a> {
    let pool = ranking.order.iter().take(POOL.max(found.picks.len())).zip(1..).map(|(place, rank)| {
        let table = &ranking.tables[*place];
        let signals = &table.evidence.signals;
        PoolTableRecord {
            rank,
            table: table.name.to_string(),
            score: table.score,
            similarity: signals.table,
            column_similarity: signals.column,
            words: &signals.terms,
            picked: found.picks.contains(place),
        }
    });
    let hits = found.hits.iter().map(|(table, column)| ColumnHitRecord { table: table.to_string(), column });
    TableSearchRecord {
        strategy: ranking.strategy.name(),
        words: &ranking.stems,
        pool: pool.collect(),
        picks: found.picks.iter().map(|place| ranking.tables[*place].name.to_string()).collect(),
        hits: hits.collect(),
    }
}
