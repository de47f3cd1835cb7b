//! Retrieval: the tables, columns and joins that a question needs, with their definitions.

use crate::pg::datasource::Datasource;
use crate::pg::search::nearest::Builds;
use crate::pg::search::rank_tables;
use crate::pg::search::rank_tables::{Ranking, Strategy};
use crate::pg::search::terms;
use crate::pg::search::terms::Used;
use crate::pg::search::{evidence, nearest};
use crate::pg::server::error::{Error, Result};
use crate::pg::server::{identity, query, settings};
use crate::pg::{datasource, snapshot};
use nl2sql_core::catalog::identifier::{TableName, means_table};
use nl2sql_core::catalog::schema::Table;
use nl2sql_core::search::column_selection;
use nl2sql_core::search::column_selection::Wanted;
use nl2sql_core::search::join_path;
use nl2sql_core::search::table_rank::{bm25, z_scores};
use nl2sql_core::search::value_match::Named;
use pgrx::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A table whose score is at least this share of the best one's is sent with what names its rows.
const SURE: f64 = 0.5;
/// A preferred table that is at most so much less similar than the least similar pick is added.
const PREFERRED_MARGIN: f64 = 0.05;

pub struct Request<'a> {
    pub datasource: &'a str,
    /// What is embedded: the question, and what the sub-query adds.
    pub text: String,
    pub schema_version: Option<&'a str>,
    pub table_k: usize,
    pub planning_k: usize,
    pub strategy: Strategy,
}

/// A table that is sent.
pub struct Sent {
    /// All of it that exists for the current user.
    pub table: Table,
    pub definition: Value,
    pub preferred: bool,
    /// `small`, `search`, `term`, `metric`, `preferred`, `join`, `full`.
    pub via: &'static str,
}

pub struct Retrieval {
    pub schema_version: String,
    /// In the order in which they are sent: preferred ones first.
    pub sent: Vec<Sent>,
    /// What the search found; `None` where there was nothing to search.
    pub ranking: Option<Ranking>,
    /// Tables picked by the search, by their places in the ranking.
    pub picks: Vec<usize>,
    /// Columns that the question hit, by table.
    pub hits: Vec<(TableName, String)>,
    /// Terms and metrics that the question uses.
    pub used: Vec<Used>,
}

/// What a table is sent for.
struct Choice {
    via: &'static str,
    wanted: Wanted,
}

pub fn retrieve(request: &Request) -> Result<Retrieval> {
    let name = request.datasource;
    datasource::check_known(name)?;
    let builds = nearest::builds(Some(&[name.to_owned()]))?;
    let version = match request.schema_version {
        Some(version) => {
            snapshot::check_version(name, version)?;
            version.to_owned()
        }
        None => snapshot::live_version(name, &builds.namespace)?
            .ok_or_else(|| Error::not_indexed(name, &builds.namespace))?,
    };
    let Some(stored) = identity::as_owner(|| datasource::load(name))? else {
        return Err(datasource::unknown(name, &[]));
    };
    let count = query::read_one(
        "SELECT count(*) FROM nl2sql.relation WHERE live AND datasource = $1",
        &[name.into()],
        |row| row.must::<i64>(1),
    )?;
    if count
        .is_some_and(|count| usize::try_from(count).is_ok_and(|count| count <= settings::full_snapshot_max_tables()))
    {
        let used = terms::used(&builds, &request.text, None)?;
        return Ok(Retrieval { used, ..whole(request, &stored, version, "small", None)? });
    }
    let mut ranking = rank_tables::rank(&builds, &request.text, request.strategy, request.table_k)?;
    if request.schema_version.is_some() {
        // A version that the caller pinned may lack what is live.
        let held: HashSet<TableName> = identity::as_owner(|| snapshot::tables(name, &version))?.into_iter().collect();
        ranking.order.retain(|place| held.contains(&ranking.tables[*place].name));
    }
    if ranking.order.is_empty() {
        warning!("the search found no table of datasource \"{name}\": its whole snapshot is given");
        return whole(request, &stored, version, "full", Some(ranking));
    }
    searched(request, &stored, &builds, version, ranking)
}

/// All tables that exist for the current user, each whole.
fn whole(
    request: &Request,
    stored: &Datasource,
    version: String,
    via: &'static str,
    ranking: Option<Ranking>,
) -> Result<Retrieval> {
    let schema = snapshot::load_visible(request.datasource, &version)?;
    let sent: HashSet<TableName> = schema.tables.iter().map(|table| table.name.clone()).collect();
    let named = Named::new(&request.text);
    let shown = schema.tables.into_iter().map(|table| {
        let mut wanted = Wanted { sure: true, ..Wanted::default() };
        for (column, metadata) in table.columns() {
            let values = metadata.statistics.get("values").and_then(Value::as_array);
            let values: Vec<String> =
                values.into_iter().flatten().filter_map(|value| value.as_str().map(str::to_owned)).collect();
            wanted.values.extend(named.best(&values).map(|found| (column.name.clone(), found.value)));
        }
        let all: Vec<String> = table.contract.columns.iter().map(|column| column.name.clone()).collect();
        let definition = column_selection::definition(&table, &all, &wanted, &sent);
        Sent { preferred: is_preferred(stored, &table.name), definition, table, via }
    });
    let mut shown: Vec<Sent> = shown.collect();
    shown.sort_by_key(|sent| !sent.preferred);
    Ok(Retrieval {
        schema_version: version,
        sent: shown,
        ranking,
        picks: Vec::new(),
        hits: Vec::new(),
        used: Vec::new(),
    })
}

fn is_preferred(stored: &Datasource, table: &TableName) -> bool {
    stored.options.preferred_tables.iter().any(|text| means_table(text, table))
}

fn searched(
    request: &Request,
    stored: &Datasource,
    builds: &Builds,
    version: String,
    ranking: Ranking,
) -> Result<Retrieval> {
    let picks: Vec<usize> = ranking.order.iter().copied().take(request.table_k).collect();
    let best = picks.first().map_or(0.0, |place| ranking.tables[*place].score);
    let mut choices: BTreeMap<usize, Choice> = BTreeMap::new();
    let mut order = Vec::new();
    let mut choose = |place: usize, via: &'static str, sure: bool| {
        choices.entry(place).or_insert_with(|| {
            order.push(place);
            Choice { via, wanted: Wanted { sure, ..Wanted::default() } }
        });
    };
    for &place in &picks {
        choose(place, "search", Some(&place) == picks.first() || ranking.tables[place].score >= SURE * best);
    }
    let nearest =
        ranking.tables.iter().filter_map(|table| table.found.evidence.table).fold(f64::NEG_INFINITY, f64::max);
    let used = terms::used(builds, &request.text, Some(nearest))?;
    for (via, key) in used.iter().flat_map(|used| used.tables().into_iter().map(|key| (used.via(), key))) {
        if let Some(place) = ranking.order.iter().copied().find(|place| ranking.tables[*place].name.to_string() == key)
        {
            choose(place, via, true);
        }
    }
    for place in preferred_near(&ranking, stored, &picks) {
        choose(place, "preferred", true);
    }
    let chosen: Vec<usize> = order.clone();
    let mut choose = |place: usize| {
        choices.entry(place).or_insert_with(|| {
            order.push(place);
            Choice { via: "join", wanted: Wanted::default() }
        });
    };
    join_path::connect(&chosen, &ranking.neighbours).into_iter().for_each(&mut choose);
    let names: Vec<TableName> = order.iter().map(|place| ranking.tables[*place].name.clone()).collect();
    let name = request.datasource;
    let schema = snapshot::visible(identity::as_owner(|| snapshot::load_tables(name, &version, &names))?);
    let mut tables: HashMap<TableName, Table> =
        schema.tables.into_iter().map(|table| (table.name.clone(), table)).collect();
    let numbers: Vec<i32> = order.iter().map(|place| ranking.tables[*place].number).collect();
    let known = evidence::column_names(builds, &numbers)?;
    let known: HashMap<(i32, i16), String> =
        known.into_iter().map(|(number, place, name)| ((number, place), name)).collect();
    let column_name = |place: usize, column: i16| known.get(&(ranking.tables[place].number, column)).cloned();
    for (place, column) in hits(&ranking, &order, request.planning_k - request.planning_k / 3) {
        if let (Some(choice), Some(column)) = (choices.get_mut(&place), column_name(place, column)) {
            choice.wanted.hits.insert(column);
        }
    }
    for ((place, column), found) in &ranking.matches {
        if let (Some(choice), Some(column)) = (choices.get_mut(place), column_name(*place, *column)) {
            if knows(&tables, &ranking.tables[*place].name, &column, &found.value) {
                choice.wanted.values.insert(column.clone(), found.value.clone());
            }
            choice.wanted.hits.insert(column);
        }
    }
    let ends = column_selection::far_ends(&tables.values().collect::<Vec<_>>());
    let sent_names: HashSet<TableName> = tables.keys().cloned().collect();
    let whole = settings::whole_table_columns();
    let mut sent = Vec::with_capacity(order.len());
    let mut hit_names = Vec::new();
    for place in order {
        let (Some(mut choice), Some(table)) = (choices.remove(&place), tables.remove(&ranking.tables[place].name))
        else {
            continue; // not in a version that the caller pinned
        };
        hit_names.extend(choice.wanted.hits.iter().map(|column| (table.name.clone(), column.clone())));
        choice.wanted.hits.extend(ends.get(&table.name).into_iter().flatten().cloned());
        let columns = column_selection::columns(&table, &choice.wanted, &sent_names, whole);
        let definition = column_selection::definition(&table, &columns, &choice.wanted, &sent_names);
        sent.push(Sent { preferred: is_preferred(stored, &table.name), definition, table, via: choice.via });
    }
    sent.sort_by_key(|sent| !sent.preferred);
    Ok(Retrieval { schema_version: version, sent, ranking: Some(ranking), picks, hits: hit_names, used })
}

/// Whether the definition at hand knows the value.
fn knows(tables: &HashMap<TableName, Table>, table: &TableName, column: &str, value: &str) -> bool {
    let Some(table) = tables.get(table) else { return false };
    let known = table.columns().find(|(contract, _)| contract.name == column);
    known
        .and_then(|(_, metadata)| metadata.statistics.get("values")?.as_array())
        .is_some_and(|values| values.iter().any(|known| known == value))
}

/// Preferred tables that were not picked, and are nearly as similar as the least similar pick.
fn preferred_near(ranking: &Ranking, stored: &Datasource, picks: &[usize]) -> Vec<usize> {
    let similarity = |place: usize| ranking.tables[place].found.evidence.table;
    let least = picks.iter().filter_map(|place| similarity(*place)).fold(f64::INFINITY, f64::min);
    let near = |place: &usize| similarity(*place).is_some_and(|found| found >= least - PREFERRED_MARGIN);
    (0..ranking.tables.len())
        .filter(|place| !picks.contains(place) && is_preferred(stored, &ranking.tables[*place].name))
        .filter(near)
        .collect()
}

/// The columns of the sent tables that are nearest to the question by their texts and by its words; both
/// judged among the columns of all tables.
fn hits(ranking: &Ranking, sent: &[usize], most: usize) -> Vec<(usize, i16)> {
    let columns: Vec<(usize, &crate::pg::search::evidence::ColumnFound)> = ranking
        .tables
        .iter()
        .enumerate()
        .flat_map(|(place, table)| table.found.columns.iter().map(move |column| (place, column)))
        .collect();
    let documents: Vec<(u64, &BTreeMap<String, u64>)> =
        columns.iter().map(|(_, column)| (column.length, &column.terms)).collect();
    let words = z_scores(&bm25(&documents).into_iter().map(Some).collect::<Vec<_>>());
    let near = z_scores(&columns.iter().map(|(_, column)| Some(column.similarity)).collect::<Vec<_>>());
    let sent: HashSet<usize> = sent.iter().copied().collect();
    let mut of_sent: Vec<usize> = (0..columns.len()).filter(|at| sent.contains(&columns[*at].0)).collect();
    of_sent.sort_by(|a, b| (near[*b] + words[*b]).total_cmp(&(near[*a] + words[*a])).then_with(|| a.cmp(b)));
    of_sent.into_iter().take(most).map(|at| (columns[at].0, columns[at].1.place)).collect()
}
