//! Reads a schema from the catalogs.

use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;
use crate::pg::server::query;
use nl2sql_core::catalog::assemble::{CatalogRows, TableRow};
use nl2sql_core::catalog::schema::Schema;
use nl2sql_core::catalog::scope::Scope;
use nl2sql_core::catalog::structure_rows::StructureRow;
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;

const TABLES: &str =
    concat!(include_str!("../../../sql/catalog/relations.sql"), include_str!("../../../sql/catalog/tables.sql"));
const STRUCTURE: &str =
    concat!(include_str!("../../../sql/catalog/relations.sql"), include_str!("../../../sql/catalog/structure.sql"));
const COLUMNS: &str = include_str!("../../../sql/catalog/columns.sql");
const PRIMARY_KEYS: &str = include_str!("../../../sql/catalog/primary_keys.sql");
const FOREIGN_KEYS: &str = include_str!("../../../sql/catalog/foreign_keys.sql");
const CHECKS: &str = include_str!("../../../sql/catalog/checks.sql");

/// The tables of `schemas` that are in scope.
pub fn tables(_: &Owner, schemas: &[String], scope: &Scope) -> Result<Vec<TableRow>> {
    let mut tables: Vec<TableRow> = query::read_json(TABLES, &[schemas.to_vec().into()])?;
    tables.retain(|table| scope.takes_in(&table.table_name()));
    Ok(tables)
}

/// The schema of the tables in scope, and the rows that name these tables.
pub fn read(owner: &Owner, schemas: &[String], scope: &Scope) -> Result<(Schema, Vec<TableRow>)> {
    let tables = tables(owner, schemas, scope)?;
    let oids: Vec<pg_sys::Oid> = tables.iter().map(|table| pg_sys::Oid::from(table.oid)).collect();
    let of_tables = || -> [DatumWithOid; 1] { [oids.clone().into()] };
    let catalogue = CatalogRows {
        columns: query::read_json(COLUMNS, &of_tables())?,
        primary_keys: query::read_json(PRIMARY_KEYS, &of_tables())?,
        foreign_keys: query::read_json(FOREIGN_KEYS, &of_tables())?,
        checks: query::read_json(CHECKS, &of_tables())?,
        tables: tables.clone(),
        structure_only: false,
    };
    Ok((catalogue.assemble(scope), tables))
}

/// The structure of all tables of `schemas`, in scope or not, by one cheap query.
pub fn structure(_: &Owner, schemas: &[String]) -> Result<CatalogRows> {
    let text = query::read_one(STRUCTURE, &[schemas.to_vec().into()], |row| row.must::<String>(1))?;
    let structure: StructureRow = serde_json::from_str(&text.unwrap_or_default())?;
    Ok(structure.into())
}

/// Schemas on which the current user has USAGE, without the server's own; errors suggest similar names from these.
pub fn schemas() -> Result<Vec<String>> {
    query::read(
        "SELECT nspname::text FROM pg_namespace
         WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' AND has_schema_privilege(oid, 'USAGE')",
        &[],
        |row| row.must::<String>(1),
    )
}
