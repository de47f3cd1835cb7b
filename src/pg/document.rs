//! Documents: what tables are ranked by, narrow rows that a search reads all of.

use super::error::Result;
use super::search::Builds;
use super::{query, vector};
use nl2sql_core::chunk::Chunk;
use nl2sql_core::rank::Evidence;
use nl2sql_core::stems;
use std::collections::BTreeMap;

const WRITE: &str = include_str!("../../sql/search/write_documents.sql");
const READ: &str = include_str!("../../sql/search/documents.sql");

/// Writes the documents of a build whose entries are written. For the extension's owner.
pub fn write(namespace: &str, build: i64, chunks: &[Chunk]) -> Result<()> {
    let (mut ids, mut places, mut words, mut values) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for chunk in chunks {
        if let Some(document) = &chunk.document {
            ids.push(chunk.id.clone());
            places.push(document.place);
            words.push(document.words.clone());
            let known = (!document.values.is_empty()).then(|| serde_json::to_string(&document.values)).transpose()?;
            values.push(known);
        }
    }
    query::execute(WRITE, &[namespace.into(), build.into(), ids.into(), places.into(), words.into(), values.into()])
}

/// A question as the lexical search sees it.
pub struct Question {
    /// Stems of its words, each once; words that say nothing are left out.
    pub stems: Vec<String>,
    /// `a | b | c`, as a text search query writes it.
    any: String,
}

impl Question {
    pub fn new(text: &str) -> Result<Self> {
        let stems = query::read(
            "SELECT t.lexeme FROM unnest(to_tsvector('pg_catalog.english', $1)) t ORDER BY t.lexeme COLLATE \"C\"",
            &[text.into()],
            |row| row.must::<String>(1),
        )?;
        Ok(Self { any: stems::any_of(&stems), stems })
    }

    /// A text search query that any of the stems satisfies.
    pub fn any(&self) -> &str {
        &self.any
    }
}

/// What was found of one column of a table.
#[derive(Clone)]
pub struct ColumnFound {
    /// From 1 on, in the order of the snapshot.
    pub place: i16,
    pub similarity: f64,
    pub length: u64,
    pub terms: BTreeMap<String, u64>,
}

/// What was found of one table: evidence, and its columns.
#[derive(Default)]
pub struct TableFound {
    pub evidence: Evidence,
    pub columns: Vec<ColumnFound>,
}

/// Everything in the builds that the current user may read, by the number of its table, in the order of
/// these.
pub fn read(builds: &Builds, question_vector: &[f32], question: &Question) -> Result<BTreeMap<i32, TableFound>> {
    let sql = vector::qualify(READ)?.replace("@@ $3", "@@ $3::tsquery");
    let columns = query::read_one(
        &sql,
        &[vector::argument(question_vector), builds.numbers().into(), question.any.as_str().into()],
        |row| {
            Ok((
                row.get::<Vec<i32>>(1)?.unwrap_or_default(),
                row.get::<Vec<i16>>(2)?.unwrap_or_default(),
                row.get::<Vec<f32>>(3)?.unwrap_or_default(),
                row.get::<Vec<i32>>(4)?.unwrap_or_default(),
                row.get::<Vec<Option<String>>>(5)?.unwrap_or_default(),
            ))
        },
    )?;
    let mut found: BTreeMap<i32, TableFound> = BTreeMap::new();
    let Some((relations, places, similarities, lengths, words)) = columns else { return Ok(found) };
    for at in 0..relations.len() {
        let table = found.entry(relations[at]).or_default();
        let length = u64::try_from(lengths[at]).unwrap_or(0);
        let terms = words[at].as_deref().map(|words| stems::count(words, &question.stems)).unwrap_or_default();
        let similarity = f64::from(similarities[at]);
        table.evidence.length += length;
        for (term, times) in &terms {
            *table.evidence.terms.entry(term.clone()).or_default() += times;
        }
        if places[at] == 0 {
            table.evidence.table = Some(similarity);
        } else {
            table.evidence.column = Some(table.evidence.column.map_or(similarity, |best| best.max(similarity)));
            table.columns.push(ColumnFound { place: places[at], similarity, length, terms });
        }
    }
    Ok(found)
}

/// Known values of columns: the table's number, the column's place, the values.
pub fn known_values(builds: &Builds) -> Result<Vec<(i32, i16, Vec<String>)>> {
    query::read(
        "SELECT relation, place, known_values FROM nl2sql.document
         WHERE build = ANY ($1) AND known_values IS NOT NULL AND relation IS NOT NULL",
        &[builds.numbers().into()],
        |row| Ok((row.must(1)?, row.must(2)?, row.must(3)?)),
    )
}

/// Names of the columns of some tables, by the table's number and the column's place.
pub fn column_names(builds: &Builds, tables: &[i32]) -> Result<Vec<(i32, i16, String)>> {
    query::read(
        "SELECT relation, place, columns[1] FROM nl2sql.document
         WHERE build = ANY ($1) AND relation = ANY ($2) AND place > 0",
        &[builds.numbers().into(), tables.to_vec().into()],
        |row| Ok((row.must(1)?, row.must(2)?, row.must(3)?)),
    )
}

/// The tables that foreign keys join, by their numbers.
pub fn joins(builds: &Builds) -> Result<Vec<(i32, i32)>> {
    let found = query::read(
        "SELECT relation, referred FROM nl2sql.entry
         WHERE namespace = $1 AND build = ANY ($2) AND type = 'schema.relationship' AND referred IS NOT NULL",
        &[builds.namespace.as_str().into(), builds.numbers().into()],
        |row| Ok((row.must::<i32>(1)?, row.must::<i32>(2)?)),
    )?;
    Ok(found.into_iter().filter(|(from, to)| from != to).collect())
}
