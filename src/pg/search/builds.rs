//! The live builds that a search looks into.

use crate::pg::datasource;
use crate::pg::server::error::{Error, Result};
use crate::pg::server::query;
use crate::pg::server::settings;
use pgrx::prelude::*;

const LIVE: &str = include_str!("../../../sql/search/live.sql");

pub struct Builds {
    pub namespace: String,
    pub datasources: Vec<String>,
    ids: Vec<i64>,
}

impl Builds {
    /// Live builds of the named datasources, or of all that exist for the current user.
    pub fn live(wanted: Option<&[String]>) -> Result<Self> {
        let namespace = settings::namespace()?;
        let known =
            query::read(LIVE, &[namespace.as_str().into()], |row| Ok((row.must::<String>(1)?, row.get::<i64>(2)?)))?;
        let names: Vec<String> = known.iter().map(|(name, _)| name.clone()).collect();
        let mut found = Self { namespace, datasources: Vec::new(), ids: Vec::new() };
        for name in wanted.unwrap_or(&names) {
            match known.iter().find(|(known, _)| known == name) {
                None => return Err(datasource::unknown(name, &names)),
                Some((_, Some(build))) => {
                    found.datasources.push(name.clone());
                    found.ids.push(*build);
                }
                // An error only if the caller named it.
                Some((_, None)) if wanted.is_some() => return Err(Error::not_indexed(name, &found.namespace)),
                Some((_, None)) => {}
            }
        }
        if found.ids.is_empty() {
            return Err(Error::new(
                PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "no datasource has been indexed",
            )
            .detail(format!("The namespace \"{}\" holds no build.", found.namespace))
            .hint("Run: SELECT nl2sql_index('…'); with the name of a schema or of a registered datasource."));
        }
        Ok(found)
    }

    /// Their build_ids.
    pub fn ids(&self) -> Vec<i64> {
        self.ids.clone()
    }
}
