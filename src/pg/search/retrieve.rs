//! Retrieval: the tables, columns and joins that a question needs, with their definitions. A small datasource is sent
//! whole; of another one, tables are ranked and selected, their definitions loaded, and their columns selected.

use crate::pg::search::builds::Builds;
use crate::pg::search::column_selection::select_columns;
use crate::pg::search::rank_tables::{Ranking, rank};
use crate::pg::search::retrieval::{Retrieval, RetrievalRequest};
use crate::pg::search::send::{send, send_whole};
use crate::pg::search::table_selection::select_tables;
use crate::pg::search::terms;
use crate::pg::server::error::Result;
use crate::pg::server::{identity, query, settings};
use crate::pg::{datasource, snapshot};
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::catalog::schema::Table;
use nl2sql_core::search::table_selection::Via;
use pgrx::prelude::*;
use std::collections::{HashMap, HashSet};

/// For the current user: only what exists for it is counted, ranked and sent.
pub fn retrieve(request: &RetrievalRequest) -> Result<Retrieval> {
    let name = request.datasource;
    datasource::check_known(name)?;
    let builds = Builds::live(Some(&[name.to_owned()]))?;
    let version = snapshot::version_or_live(name, request.schema_version)?;
    let Some(stored) = identity::as_owner(|owner| datasource::load(owner, name))? else {
        return Err(datasource::unknown(name, &[]));
    };
    if is_small(name)? {
        let used = terms::used(&builds, &request.text, None)?;
        return Ok(Retrieval { used, ..send_whole(request, &stored, version, Via::Small, None)? });
    }
    let ranking = rank_live_tables(request, &builds, &version)?;
    if ranking.order.is_empty() {
        warning!("the search found no table of datasource \"{name}\": the whole snapshot is returned");
        return send_whole(request, &stored, version, Via::Full, Some(ranking));
    }
    let selected = select_tables(request, &stored, &builds, &ranking)?;
    let definitions = load_definitions(name, &version, &ranking, &selected.places())?;
    let requests = select_columns(request, &builds, &ranking, &selected.places(), &definitions)?;
    Ok(send(&stored, version, ranking, selected, definitions, requests))
}

/// Whether the datasource has so few tables that all of them are sent.
fn is_small(name: &str) -> Result<bool> {
    let count = query::read_one(
        "SELECT count(*) FROM nl2sql.relation WHERE live AND datasource = $1",
        &[name.into()],
        |row| row.must::<i64>(1),
    )?;
    let count = count.and_then(|count| usize::try_from(count).ok());
    Ok(count.is_some_and(|count| count <= settings::full_snapshot_max_tables()))
}

/// The ranking of the live tables, without those that a pinned version lacks.
fn rank_live_tables(request: &RetrievalRequest, builds: &Builds, version: &str) -> Result<Ranking> {
    let mut ranking = rank(builds, &request.text, request.strategy, request.table_k)?;
    if request.schema_version.is_some() {
        let held: HashSet<TableName> =
            identity::as_owner(|owner| snapshot::tables(owner, request.datasource, version))?.into_iter().collect();
        ranking.order.retain(|place| held.contains(&ranking.tables[*place].name));
    }
    Ok(ranking)
}

/// What exists of the selected tables for the current user. A pinned version may lack some of them.
fn load_definitions(
    name: &str,
    version: &str,
    ranking: &Ranking,
    places: &[usize],
) -> Result<HashMap<TableName, Table>> {
    let names: Vec<TableName> = places.iter().map(|place| ranking.tables[*place].name.clone()).collect();
    let schema = snapshot::visible(identity::as_owner(|owner| snapshot::load_tables(owner, name, version, &names))?);
    Ok(schema.tables.into_iter().map(|table| (table.name.clone(), table)).collect())
}
