//! `nl2sql_snapshot`.

use crate::pg::index::namespace;
use crate::pg::server::argument;
use crate::pg::server::error::{Error, OrRaise, Result};
use crate::pg::{datasource, snapshot};
use nl2sql_core::catalog::schema::ENGINE_TYPE;
use nl2sql_core::snapshot::fingerprint::fingerprint;
use nl2sql_core::snapshot::render::render_tables;
use pgrx::JsonB;
use pgrx::prelude::*;
use serde_json::json;

#[pg_extern]
fn nl2sql_snapshot(datasource: Option<&str>, schema_version: Option<&str>) -> JsonB {
    show(datasource, schema_version).or_raise()
}

fn show(datasource: Option<&str>, schema_version: Option<&str>) -> Result<JsonB> {
    let name = argument::required("datasource", datasource)?;
    datasource::check_known(name)?;
    let version = match schema_version {
        Some(version) => {
            snapshot::check_version(name, version)?;
            version.to_owned()
        }
        None => {
            let namespace = namespace::current()?;
            snapshot::live_version(name, &namespace)?.ok_or_else(|| Error::not_indexed(name, &namespace))?
        }
    };
    let schema = snapshot::load_visible(name, &version)?;
    Ok(JsonB(json!({
        "datasource": name,
        "engine_type": ENGINE_TYPE,
        "schema_version": version,
        // Of the part that is shown: the stored one would tell of the rest.
        "fingerprint": fingerprint(name, &schema),
        "tables": render_tables(&schema),
    })))
}
