//! What a search finds of tables and their columns, in documents.

use crate::pg::search::builds::Builds;
use crate::pg::search::query_terms::QueryTerms;
use crate::pg::server::error::Result;
use crate::pg::server::{identity, query, vector};
use nl2sql_core::search::column_hits::ColumnEvidence;
use nl2sql_core::search::table_rank::TableSignals;
use nl2sql_core::search::tsvector;
use std::collections::BTreeMap;

const READ: &str = include_str!("../../../sql/search/documents.sql");
const WORDS: &str = include_str!("../../../sql/search/document_words.sql");

/// What was found of one table.
#[derive(Default)]
pub struct TableEvidence {
    pub signals: TableSignals,
    pub columns: Vec<ColumnEvidence>,
}

/// Everything in the builds that the current user may read.
pub struct SearchEvidence {
    /// By the number of the table.
    pub tables: BTreeMap<i32, TableEvidence>,
    /// Pairs of tables that a foreign key joins, by their numbers.
    pub joins: Vec<(i32, i32)>,
}

/// Reads the documents of the builds, without a limit.
pub fn read(builds: &Builds, question_vector: &[f32], terms: &QueryTerms) -> Result<SearchEvidence> {
    let columns = query::read_one(
        &vector::qualify(READ)?,
        &[vector::half_argument(question_vector), builds.ids().into()],
        |row| {
            Ok((
                row.get::<Vec<i32>>(1)?.unwrap_or_default(),
                row.get::<Vec<i32>>(2)?.unwrap_or_default(),
                row.get::<Vec<f32>>(3)?.unwrap_or_default(),
            ))
        },
    )?;
    let mut found = SearchEvidence { tables: BTreeMap::new(), joins: Vec::new() };
    let (relations, packed, similarities) = columns.unwrap_or_default();
    for ((relation, packed), similarity) in relations.into_iter().zip(packed).zip(similarities) {
        if packed < 0 {
            found.joins.push((relation, -packed));
            continue;
        }
        let (place, length) = ((packed % 2048) as i16, (packed / 2048) as u64);
        let similarity = f64::from(similarity);
        let table = found.tables.entry(relation).or_default();
        table.signals.length += length;
        if place == 0 {
            table.signals.table = Some(similarity);
        } else {
            table.signals.column = Some(table.signals.column.map_or(similarity, |best| best.max(similarity)));
            table.columns.push(ColumnEvidence { place, similarity, length, terms: BTreeMap::new() });
        }
    }
    // The index returns them in its own order.
    found.tables.values_mut().for_each(|table| table.columns.sort_by_key(|column| column.place));
    if !terms.stems.is_empty() {
        add_words(builds, terms, &mut found.tables)?;
    }
    Ok(found)
}

/// Adds the words of what was found. They are read as the extension's owner, since row security would
/// prevent the use of the index on words; words of documents that the current user did not find are dropped.
fn add_words(builds: &Builds, terms: &QueryTerms, tables: &mut BTreeMap<i32, TableEvidence>) -> Result<()> {
    let words = identity::as_owner(|_| {
        query::read(WORDS, &[builds.ids().into(), terms.any().into()], |row| {
            Ok((row.must::<i32>(1)?, row.must::<i16>(2)?, row.must::<String>(3)?))
        })
    })?;
    for (relation, place, words) in words {
        let Some(table) = tables.get_mut(&relation) else { continue };
        let column = table.columns.binary_search_by_key(&place, |column| column.place);
        if column.is_err() && !(place == 0 && table.signals.table.is_some()) {
            continue;
        }
        let counts = tsvector::count(&words, &terms.stems);
        for (term, times) in &counts {
            *table.signals.terms.entry(term.clone()).or_default() += times;
        }
        if let Ok(at) = column {
            table.columns[at].terms = counts;
        }
    }
    Ok(())
}

/// Known values of columns: the table's number, the column's place, the values.
pub fn known_values(builds: &Builds) -> Result<Vec<(i32, i16, Vec<String>)>> {
    query::read(
        "SELECT relation, place, known_values FROM nl2sql.document
         WHERE build = ANY ($1) AND known_values IS NOT NULL AND relation IS NOT NULL",
        &[builds.ids().into()],
        |row| Ok((row.must(1)?, row.must(2)?, row.must(3)?)),
    )
}

/// Names of the columns of some tables, by the table's number and the column's place.
pub fn column_names(builds: &Builds, tables: &[i32]) -> Result<Vec<(i32, i16, String)>> {
    query::read(
        "SELECT relation, place, columns[1] FROM nl2sql.document
         WHERE build = ANY ($1) AND relation = ANY ($2) AND place > 0",
        &[builds.ids().into(), tables.to_vec().into()],
        |row| Ok((row.must(1)?, row.must(2)?, row.must(3)?)),
    )
}
