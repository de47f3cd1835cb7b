//! Snapshots as the current user may see them.

use crate::pg::server::error::Result;
use crate::pg::server::privilege::Reach;
use crate::pg::server::{identity, privilege, query};
use crate::pg::snapshot::store::load;
use crate::pg::snapshot::versions::version_or_live;
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::catalog::schema::Schema;
use nl2sql_core::snapshot::access::{Access, TableAccess};
use nl2sql_core::snapshot::fingerprint;

/// The part of a snapshot that exists for the current user.
pub fn load_visible(datasource: &str, version: &str) -> Result<Schema> {
    Ok(visible(identity::as_owner(|owner| load(owner, datasource, version))?))
}

/// The part of the live snapshot that exists for the current user; 55000 if no build is live.
pub fn live_schema(datasource: &str) -> Result<Schema> {
    load_visible(datasource, &version_or_live(datasource, None)?)
}

/// The fingerprint of the part of a snapshot that exists for the current user. That of the whole would reveal changes in
/// the rest.
pub fn visible_fingerprint(datasource: &str, version: &str) -> Result<String> {
    if !privilege::bypasses_row_security() {
        return Ok(fingerprint::fingerprint(datasource, &load_visible(datasource, version)?));
    }
    let stored = identity::as_owner(|_| {
        query::read_one(
            "SELECT fingerprint FROM nl2sql.snapshot WHERE datasource = $1 AND schema_version = $2",
            &[datasource.into(), version.into()],
            |row| row.must::<String>(1),
        )
    })?;
    Ok(stored.unwrap_or_default())
}

/// The part of a schema that exists for the current user.
pub fn visible(schema: Schema) -> Schema {
    access(schema.named_tables()).visible(schema)
}

/// What the current user may read of these tables.
pub fn access(tables: impl IntoIterator<Item = TableName>) -> Access {
    if privilege::bypasses_row_security() {
        return Access::All;
    }
    let reached = tables.into_iter().filter_map(|table| {
        let access = match privilege::reach(&table.schema, &table.name) {
            Reach::Nothing => return None,
            Reach::Table => TableAccess::Whole,
            Reach::Columns => {
                TableAccess::Columns(privilege::readable_columns(&table.schema, &table.name).into_iter().collect())
            }
        };
        Some((table, access))
    });
    Access::Tables(reached.collect())
}
