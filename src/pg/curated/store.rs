//! Curated content as stored: by datasource and name, each item with the columns that it reads.

use crate::pg::datasource::lease::Lease;
use crate::pg::server::error::{Error, Result};
use crate::pg::server::identity::Owner;
use crate::pg::server::{identity, query};
use crate::pg::snapshot;
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::curated::content::{Content, Item, Metric, Term, VerifiedQuery};
use nl2sql_core::snapshot::access::Access;
use nl2sql_core::sql::reads::Reads;
use pgrx::JsonB;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};

const PRESENT: &str = include_str!("../../../sql/curated/present.sql");

/// Content, ordered by name.
#[derive(Default)]
pub struct Stored {
    pub content: Content,
    pub reads: BTreeMap<Item, Reads>,
    pub changed: BTreeMap<Item, TimestampWithTimeZone>,
}

impl Stored {
    /// What an item reads.
    pub fn reads_of(&self, item: &Item) -> Reads {
        self.reads.get(item).cloned().unwrap_or_default()
    }

    /// The stored reads of the items in `content` whose text has not changed, so that their names keep their meaning.
    /// Only `changeable` items are considered, since the reads of others must not be revealed.
    pub fn kept(&self, content: &Content, changeable: &HashSet<Item>) -> BTreeMap<Item, Reads> {
        let known: HashMap<Item, Vec<&str>> = self.content.written().collect();
        let kept =
            content.written().filter(|(item, written)| changeable.contains(item) && known.get(item) == Some(written));
        kept.map(|(item, _)| (item.clone(), self.reads_of(&item))).collect()
    }
}

/// Loads all content of a datasource.
pub fn load(owner: &Owner, datasource: &str) -> Result<Stored> {
    let mut stored = load_queries(owner, datasource, None)?;
    stored.load_others(owner, datasource)?;
    Ok(stored)
}

/// Loads the verified queries of a datasource, or only those with the given ids.
fn load_queries(_: &Owner, datasource: &str, ids: Option<Vec<String>>) -> Result<Stored> {
    let mut stored = Stored::default();
    let queries = query::read(
        "SELECT id, description, questions, params, sql, reads, changed_at FROM nl2sql.verified_query
         WHERE datasource = $1 AND ($2::text[] IS NULL OR id = ANY ($2)) ORDER BY id COLLATE \"C\"",
        &[datasource.into(), ids.into()],
        |row| {
            let query = VerifiedQuery {
                id: row.must(1)?,
                description: row.get(2)?,
                questions: row.must(3)?,
                params: serde_json::from_value(row.must::<JsonB>(4)?.0)?,
                sql: row.must(5)?,
            };
            stored.note(Item::VerifiedQuery(query.id.clone()), &row, 6)?;
            Ok(query)
        },
    )?;
    stored.content.verified_queries = queries;
    Ok(stored)
}

/// Loads those of the verified queries that exist for the current user.
pub fn visible_queries(datasource: &str, ids: Vec<String>) -> Result<Stored> {
    Ok(visible(identity::as_owner(|owner| load_queries(owner, datasource, Some(ids)))?))
}

impl Stored {
    fn note(&mut self, item: Item, row: &query::Row, at: usize) -> Result<()> {
        self.reads.insert(item.clone(), serde_json::from_value(row.must::<JsonB>(at)?.0)?);
        self.changed.insert(item, row.must(at + 1)?);
        Ok(())
    }

    fn load_others(&mut self, _: &Owner, datasource: &str) -> Result<()> {
        let metrics = query::read(
            "SELECT name, description, expression, table_name, reads, changed_at FROM nl2sql.metric
             WHERE datasource = $1 ORDER BY name COLLATE \"C\"",
            &[datasource.into()],
            |row| {
                let metric = Metric {
                    name: row.must(1)?,
                    description: row.get(2)?,
                    expression: row.must(3)?,
                    table: row.must(4)?,
                };
                self.note(Item::Metric(metric.name.clone()), &row, 5)?;
                Ok(metric)
            },
        )?;
        let glossary = query::read(
            "SELECT term, definition, synonyms, tables, reads, changed_at FROM nl2sql.term
             WHERE datasource = $1 ORDER BY term COLLATE \"C\"",
            &[datasource.into()],
            |row| {
                let term =
                    Term { term: row.must(1)?, definition: row.must(2)?, synonyms: row.must(3)?, tables: row.must(4)? };
                self.note(Item::Term(term.term.clone()), &row, 5)?;
                Ok(term)
            },
        )?;
        (self.content.metrics, self.content.glossary) = (metrics, glossary);
        Ok(())
    }
}

/// Loads the content that exists for the current user: items that read only what the user may SELECT.
pub fn load_visible(datasource: &str) -> Result<Stored> {
    Ok(visible(identity::as_owner(|owner| load(owner, datasource))?))
}

fn visible(mut stored: Stored) -> Stored {
    let access = access(&stored);
    let reads = std::mem::take(&mut stored.reads);
    stored.reads = reads.into_iter().filter(|(_, reads)| access.reads(reads)).collect();
    let visible = |item: Item| stored.reads.contains_key(&item);
    stored.content.verified_queries.retain(|query| visible(Item::VerifiedQuery(query.id.clone())));
    stored.content.metrics.retain(|metric| visible(Item::Metric(metric.name.clone())));
    stored.content.glossary.retain(|term| visible(Item::Term(term.term.clone())));
    stored.changed.retain(|item, _| stored.reads.contains_key(item));
    stored
}

fn access(stored: &Stored) -> Access {
    let tables: HashSet<TableName> = stored.reads.values().flat_map(|reads| reads.tables.keys().cloned()).collect();
    snapshot::access(tables)
}

/// The items that the current user may change: those that read nothing that still exists and that the user may not
/// SELECT. Tables that are gone do not count, so that a user can repair an item that reads them.
pub fn changeable(stored: &Stored) -> Result<HashSet<Item>> {
    let access = access(stored);
    if access == Access::All {
        return Ok(stored.reads.keys().cloned().collect());
    }
    let present = present(stored.reads.values())?;
    let there = |reads: &Reads| {
        let mut there = reads.clone();
        there.tables.retain(|table, _| present.contains_key(table));
        there
    };
    Ok(stored.reads.iter().filter(|(_, reads)| access.reads(&there(reads))).map(|(item, _)| item.clone()).collect())
}

/// The tables in `reads` that still exist, with their present columns.
pub fn present<'r>(reads: impl Iterator<Item = &'r Reads>) -> Result<BTreeMap<TableName, Vec<String>>> {
    let tables: HashSet<&TableName> = reads.flat_map(|reads| reads.tables.keys()).collect();
    let (schemas, names): (Vec<String>, Vec<String>) =
        tables.into_iter().map(|table| (table.schema.clone(), table.name.clone())).unzip();
    let tables = query::read(PRESENT, &[schemas.into(), names.into()], |row| {
        Ok((TableName::new(row.must::<String>(1)?, row.must::<String>(2)?), row.must::<Vec<String>>(3)?))
    })?;
    Ok(tables.into_iter().collect())
}

/// Stores checked content; each item replaces the one of the same name.
pub fn save(_: &Owner, lease: &Lease, content: &Content, reads: &BTreeMap<Item, Reads>) -> Result<()> {
    let datasource = lease.datasource();
    let reads_of = |item: Item| -> Result<JsonB> {
        Ok(JsonB(serde_json::to_value(reads.get(&item).cloned().unwrap_or_default())?))
    };
    for query in &content.verified_queries {
        query::execute(
            "INSERT INTO nl2sql.verified_query AS q (datasource, id, description, questions, params, sql, reads)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (datasource, id) DO UPDATE SET
                 description = excluded.description, questions = excluded.questions, params = excluded.params,
                 sql = excluded.sql, reads = excluded.reads, changed_at = excluded.changed_at
             WHERE (q.description, q.questions, q.params, q.sql, q.reads)
                   IS DISTINCT FROM (excluded.description, excluded.questions, excluded.params, excluded.sql, excluded.reads)",
            &[
                datasource.into(),
                query.id.as_str().into(),
                query.description.clone().into(),
                query.questions.clone().into(),
                JsonB(serde_json::to_value(&query.params)?).into(),
                query.sql.as_str().into(),
                reads_of(Item::VerifiedQuery(query.id.clone()))?.into(),
            ],
        )?;
    }
    for metric in &content.metrics {
        query::execute(
            "INSERT INTO nl2sql.metric AS m (datasource, name, description, expression, table_name, reads)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (datasource, name) DO UPDATE SET
                 description = excluded.description, expression = excluded.expression, table_name = excluded.table_name,
                 reads = excluded.reads, changed_at = excluded.changed_at
             WHERE (m.description, m.expression, m.table_name, m.reads)
                   IS DISTINCT FROM (excluded.description, excluded.expression, excluded.table_name, excluded.reads)",
            &[
                datasource.into(),
                metric.name.as_str().into(),
                metric.description.clone().into(),
                metric.expression.as_str().into(),
                metric.table.as_str().into(),
                reads_of(Item::Metric(metric.name.clone()))?.into(),
            ],
        )?;
    }
    for term in &content.glossary {
        query::execute(
            "INSERT INTO nl2sql.term AS t (datasource, term, definition, synonyms, tables, reads)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (datasource, term) DO UPDATE SET
                 definition = excluded.definition, synonyms = excluded.synonyms, tables = excluded.tables,
                 reads = excluded.reads, changed_at = excluded.changed_at
             WHERE (t.definition, t.synonyms, t.tables, t.reads)
                   IS DISTINCT FROM (excluded.definition, excluded.synonyms, excluded.tables, excluded.reads)",
            &[
                datasource.into(),
                term.term.as_str().into(),
                term.definition.as_str().into(),
                term.synonyms.clone().into(),
                term.tables.clone().into(),
                reads_of(Item::Term(term.term.clone()))?.into(),
            ],
        )?;
    }
    Ok(())
}

/// Removes an item.
pub fn remove(_: &Owner, lease: &Lease, item: &Item) -> Result<()> {
    let datasource = lease.datasource();
    let (statement, name) = match item {
        Item::VerifiedQuery(id) => ("DELETE FROM nl2sql.verified_query WHERE datasource = $1 AND id = $2", id),
        Item::Metric(name) => ("DELETE FROM nl2sql.metric WHERE datasource = $1 AND name = $2", name),
        Item::Term(term) => ("DELETE FROM nl2sql.term WHERE datasource = $1 AND term = $2", term),
    };
    query::execute(statement, &[datasource.into(), name.as_str().into()])
}

/// Updates the stored reads of items whose reads have changed since `before`: a star may expand to other columns.
pub fn note_reads(_: &Owner, lease: &Lease, before: &BTreeMap<Item, Reads>, now: &[(Item, Reads)]) -> Result<()> {
    let datasource = lease.datasource();
    for (item, reads) in now.iter().filter(|(item, reads)| before.get(item) != Some(reads)) {
        let (statement, name) = match item {
            Item::VerifiedQuery(id) => {
                ("UPDATE nl2sql.verified_query SET reads = $3 WHERE datasource = $1 AND id = $2", id)
            }
            Item::Metric(name) => ("UPDATE nl2sql.metric SET reads = $3 WHERE datasource = $1 AND name = $2", name),
            Item::Term(term) => ("UPDATE nl2sql.term SET reads = $3 WHERE datasource = $1 AND term = $2", term),
        };
        let args: [DatumWithOid; 3] =
            [datasource.into(), name.as_str().into(), JsonB(serde_json::to_value(reads)?).into()];
        query::execute(statement, &args)?;
    }
    Ok(())
}

/// 42501: the name is in use by an item that the current user may not see.
pub fn taken(datasource: &str, item: &impl std::fmt::Display) -> Error {
    Error::new(
        PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
        format!("cannot change {item} of datasource \"{datasource}\""),
    )
    .detail("The name is in use by an item that reads what you may not SELECT.")
    .hint("Choose another name, or ask a role that may read it to change it.")
}
