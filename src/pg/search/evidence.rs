//! Documents: what tables are ranked by, narrow rows that a search reads all of.

use crate::pg::search::nearest::Builds;
use crate::pg::server::error::Result;
use crate::pg::server::{identity, query, vector};
use nl2sql_core::search::table_rank::Evidence;
use nl2sql_core::search::tsvector;
use std::collections::BTreeMap;

const READ: &str = include_str!("../../../sql/search/documents.sql");
const WORDS: &str = include_str!("../../../sql/search/document_words.sql");

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
            "SELECT s.lexeme FROM (SELECT t.lexeme FROM unnest(to_tsvector('pg_catalog.english', $1)) t
                                   ORDER BY t.positions[1], t.lexeme COLLATE \"C\" LIMIT $2) s
             ORDER BY s.lexeme COLLATE \"C\"",
            &[tsvector::speakable(text).into(), (tsvector::MOST as i64).into()],
            |row| row.must::<String>(1),
        )?;
        Ok(Self { any: tsvector::any_of(&stems), stems })
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

/// Everything in the builds that the current user may read.
pub struct Found {
    /// By the number of the table.
    pub tables: BTreeMap<i32, TableFound>,
    /// Pairs of tables that a foreign key joins, by their numbers.
    pub joins: Vec<(i32, i32)>,
}

pub fn read(builds: &Builds, question_vector: &[f32], question: &Question) -> Result<Found> {
    let columns = query::read_one(
        &vector::qualify(READ)?,
        &[vector::half_argument(question_vector), builds.numbers().into()],
        |row| {
            Ok((
                row.get::<Vec<i32>>(1)?.unwrap_or_default(),
                row.get::<Vec<i32>>(2)?.unwrap_or_default(),
                row.get::<Vec<f32>>(3)?.unwrap_or_default(),
            ))
        },
    )?;
    let mut found = Found { tables: BTreeMap::new(), joins: Vec::new() };
    let (relations, packed, similarities) = columns.unwrap_or_default();
    for ((relation, packed), similarity) in relations.into_iter().zip(packed).zip(similarities) {
        if packed < 0 {
            found.joins.push((relation, -packed));
            continue;
        }
        let (place, length) = ((packed % 2048) as i16, (packed / 2048) as u64);
        let similarity = f64::from(similarity);
        let table = found.tables.entry(relation).or_default();
        table.evidence.length += length;
        if place == 0 {
            table.evidence.table = Some(similarity);
        } else {
            table.evidence.column = Some(table.evidence.column.map_or(similarity, |best| best.max(similarity)));
            table.columns.push(ColumnFound { place, similarity, length, terms: BTreeMap::new() });
        }
    }
    // The index gives them in an order of its own.
    found.tables.values_mut().for_each(|table| table.columns.sort_by_key(|column| column.place));
    if !question.stems.is_empty() {
        add_words(builds, question, &mut found.tables)?;
    }
    Ok(found)
}

/// Adds the words to what was found. They are read with the rights of the extension's owner, since row security
/// would keep the index of words from being used; those of documents that were not found are put away.
fn add_words(builds: &Builds, question: &Question, tables: &mut BTreeMap<i32, TableFound>) -> Result<()> {
    let words = identity::as_owner(|| {
        query::read(WORDS, &[builds.numbers().into(), question.any.as_str().into()], |row| {
            Ok((row.must::<i32>(1)?, row.must::<i16>(2)?, row.must::<String>(3)?))
        })
    })?;
    for (relation, place, words) in words {
        let Some(table) = tables.get_mut(&relation) else { continue };
        let column = table.columns.binary_search_by_key(&place, |column| column.place);
        if column.is_err() && !(place == 0 && table.evidence.table.is_some()) {
            continue;
        }
        let terms = tsvector::count(&words, &question.stems);
        for (term, times) in &terms {
            *table.evidence.terms.entry(term.clone()).or_default() += times;
        }
        if let Ok(at) = column {
            table.columns[at].terms = terms;
        }
    }
    Ok(())
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
