//! The entries nearest to a query, as the current user: row security applies inside the search, before its LIMIT.

use crate::pg::search::builds::Builds;
use crate::pg::server::error::{Error, Result};
use crate::pg::server::{query, vector};
use nl2sql_core::catalog::identifier::{TableName, find_table, shown};
use nl2sql_core::chunk::chunk_type::ChunkType;
use pgrx::JsonB;
use serde_json::Value;

const NEAREST: &str = include_str!("../../../sql/search/nearest.sql");

/// An entry, with its similarity to the query.
pub struct NearEntry {
    pub id: String,
    pub datasource: String,
    pub chunk_type: String,
    pub text: String,
    pub metadata: Value,
    pub similarity: f64,
    pub vector: Vec<f32>,
}

/// The `limit` nearest entries, nearest first, ties by id.
pub fn nearest(
    builds: &Builds,
    query_vector: &[f32],
    types: Option<&[String]>,
    tables: Option<&[i32]>,
    limit: i64,
) -> Result<Vec<NearEntry>> {
    query::read(
        &vector::qualify(NEAREST)?,
        &[
            vector::argument(query_vector),
            builds.namespace.as_str().into(),
            builds.ids().into(),
            types.map(<[String]>::to_vec).into(),
            tables.map(<[i32]>::to_vec).into(),
            limit.into(),
        ],
        |row| {
            Ok(NearEntry {
                id: row.must(1)?,
                datasource: row.must(2)?,
                chunk_type: row.must(3)?,
                text: row.must(4)?,
                metadata: row.must::<JsonB>(5)?.0,
                similarity: row.must(6)?,
                vector: row.must::<vector::Vector>(7)?.0,
            })
        },
    )
}

/// Fails with 22023 if a chunk type is unknown.
pub fn check_types(types: &[String]) -> Result<()> {
    match types.iter().find(|name| ChunkType::from_name(name).is_none()) {
        None => Ok(()),
        Some(unknown) => Err(Error::invalid(format!("unknown type \"{}\"", shown(unknown)))
            .hint(format!("Known types: {}.", ChunkType::ALL.map(ChunkType::name).join(", ")))),
    }
}

/// The numbers of the named tables in all searched datasources.
pub fn table_numbers(builds: &Builds, wanted: &[String]) -> Result<Vec<i32>> {
    let known = query::read(
        "SELECT table_schema, table_name, id FROM nl2sql.relation
         WHERE live AND datasource = ANY ($1) ORDER BY id",
        &[builds.datasources.clone().into()],
        |row| Ok((TableName::new(row.must::<String>(1)?, row.must::<String>(2)?), row.must::<i32>(3)?)),
    )?;
    let mut numbers = Vec::new();
    for text in wanted {
        let Some(table) = find_table(text, known.iter().map(|(table, _)| table)) else {
            let keys: Vec<String> = known.iter().map(|(table, _)| table.to_string()).collect();
            return Err(Error::unknown("table", text, keys.iter().map(String::as_str)));
        };
        numbers.extend(known.iter().filter(|(other, _)| other == table).map(|(_, number)| *number));
    }
    Ok(numbers)
}
