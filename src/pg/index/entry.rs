//! Entries: the chunks of a build as stored, with their vectors.

use crate::pg::index::cut::Draft;
use crate::pg::index::embed::Embedded;
use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;
use crate::pg::server::{interrupt, vector};
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::chunk::visible_if::VisibleIf;
use nl2sql_core::sql::reads::ALL_COLUMNS;
use pgrx::JsonB;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use serde_json::Value;
use std::collections::HashMap;

pub fn write(
    _: &Owner,
    namespace: &str,
    build: i64,
    draft: &Draft,
    embedded: &Embedded,
    numbers: &HashMap<TableName, i32>,
) -> Result<()> {
    const INSERT: &str = "INSERT INTO nl2sql.entry
        (namespace, build, id, type, datasource, relation, columns, referred, referred_columns, referred_outside,
         text, text_hash, metadata, embedding, read_relations, read_columns, curated_hash)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";
    Spi::connect_mut(|client| {
        let types: Vec<PgOid> = vec![
            PgBuiltInOids::TEXTOID.oid(),
            PgBuiltInOids::INT8OID.oid(),
            PgBuiltInOids::TEXTOID.oid(),
            PgBuiltInOids::TEXTOID.oid(),
            PgBuiltInOids::TEXTOID.oid(),
            PgBuiltInOids::INT4OID.oid(),
            PgBuiltInOids::TEXTARRAYOID.oid(),
            PgBuiltInOids::INT4OID.oid(),
            PgBuiltInOids::TEXTARRAYOID.oid(),
            PgBuiltInOids::TEXTARRAYOID.oid(),
            PgBuiltInOids::TEXTOID.oid(),
            PgBuiltInOids::BYTEAOID.oid(),
            PgBuiltInOids::JSONBOID.oid(),
            PgOid::from(<vector::Vector as pgrx::datum::IntoDatum>::type_oid()),
            PgBuiltInOids::INT4ARRAYOID.oid(),
            PgBuiltInOids::TEXTARRAYOID.oid(),
            PgBuiltInOids::TEXTOID.oid(),
        ];
        let insert = client.prepare_mut(INSERT, &types)?;
        for (chunk, hash) in draft.chunks.iter().zip(&draft.hashes) {
            interrupt::check();
            let (table, columns, referred, referred_columns) = match &chunk.reads {
                VisibleIf::Datasource | VisibleIf::Several(_) => (None, None, None, None),
                VisibleIf::Columns(table, columns) => (Some(table), Some(columns), None, None),
                VisibleIf::Relationship(from, from_columns, to, to_columns) => {
                    (Some(from), Some(from_columns), Some(to), Some(to_columns))
                }
            };
            let number = |table: Option<&TableName>| table.and_then(|table| numbers.get(table).copied());
            let outside = referred
                .filter(|table| !numbers.contains_key(*table))
                .map(|table| vec![table.schema.clone(), table.name.clone()]);
            let (read_relations, read_columns) = curated_reads(&chunk.reads, numbers);
            let args: [DatumWithOid; 17] = [
                namespace.into(),
                build.into(),
                chunk.id.as_str().into(),
                chunk.chunk_type.name().into(),
                chunk.metadata["datasource"].as_str().into(),
                number(table).into(),
                columns.cloned().into(),
                number(referred).into(),
                referred_columns.cloned().into(),
                outside.into(),
                chunk.text.as_str().into(),
                hash.as_slice().into(),
                JsonB(Value::Object(chunk.metadata.clone())).into(),
                embedded.vectors.get(hash).map(|vector| vector::Vector(vector.clone())).into(),
                read_relations.into(),
                read_columns.into(),
                chunk.curated_hash.as_deref().into(),
            ];
            client.update(&insert, None, &args)?;
        }
        Ok(())
    })
}

type EntryReads = (Option<Vec<i32>>, Option<Vec<Option<String>>>);

/// What curated content reads, in the form that row security checks: the table's number for each column, and NULL instead
/// of a column if any column of the table is enough.
fn curated_reads(reads: &VisibleIf, numbers: &HashMap<TableName, i32>) -> EntryReads {
    let VisibleIf::Several(reads) = reads else { return (None, None) };
    let (mut tables, mut columns) = (Vec::new(), Vec::new());
    for (table, names) in &reads.tables {
        // Nobody may read an unknown table, and no table has the number 0.
        let number = numbers.get(table).copied().unwrap_or(0);
        if names.is_empty() {
            tables.push(number);
            columns.push(None);
        }
        let all = reads.whole.contains(table).then_some(ALL_COLUMNS);
        for name in names.iter().map(String::as_str).chain(all) {
            tables.push(number);
            columns.push(Some(name.to_owned()));
        }
    }
    (Some(tables), Some(columns))
}
