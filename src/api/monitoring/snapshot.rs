//! `nl2sql_snapshot`.

use crate::pg::server::argument;
use crate::pg::server::error::ErrorReport;
use crate::pg::{datasource, snapshot};
use nl2sql_core::catalog::schema::ENGINE_TYPE;
use nl2sql_core::snapshot::fingerprint::fingerprint;
use nl2sql_core::snapshot::render::render_tables;
use pgrx::JsonB;
use pgrx::prelude::*;
use serde_json::json;

#[pg_extern]
fn nl2sql_snapshot(datasource: Option<&str>, schema_version: Option<&str>) -> Result<JsonB, ErrorReport> {
    let name = argument::required("datasource", datasource)?;
    datasource::check_known(name)?;
    let version = snapshot::version_or_live(name, schema_version)?;
    let schema = snapshot::load_visible(name, &version)?;
    Ok(JsonB(json!({
        "datasource": name,
        "engine_type": ENGINE_TYPE,
        "schema_version": version,
        // Of the visible part: the stored one would reveal changes in the rest.
        "fingerprint": fingerprint(name, &schema),
        "tables": render_tables(&schema),
    })))
}
