//! A registration: stored, changed and loaded.

use crate::pg::catalog;
use crate::pg::datasource::{lease, relation};
use crate::pg::server::error::{Error, Result};
use crate::pg::server::identity::Owner;
use crate::pg::server::{privilege, query};
use nl2sql_core::catalog::identifier::shown;
use nl2sql_core::catalog::options::Options;
use nl2sql_core::catalog::scope::Scope;
use nl2sql_core::chunk::datasource_info::DatasourceInfo;
use pgrx::JsonB;
use serde_json::Value;

/// A registration as stored.
pub struct Datasource {
    pub id: i32,
    pub about: DatasourceInfo,
    pub schemas: Vec<String>,
    pub options: Options,
    /// The options as stored. A hint that changes some of them must repeat all.
    pub stored_options: Value,
}

/// What a registration sets; `None` keeps what is stored.
#[derive(Default)]
pub struct RegistrationChange {
    pub schemas: Option<Vec<String>>,
    pub description: Option<String>,
    pub domains: Option<Vec<String>>,
    pub sample_questions: Option<Vec<String>>,
    pub options: Option<Value>,
}

/// Loads a registration.
pub fn load(_: &Owner, name: &str) -> Result<Option<Datasource>> {
    let row = query::read_one(
        "SELECT d.id, d.description, d.domains, d.sample_questions, s.schemas, s.options
         FROM nl2sql.datasource d
         JOIN nl2sql.datasource_setting s ON s.datasource = d.name
         WHERE d.name = $1",
        &[name.into()],
        |row| {
            let about = DatasourceInfo {
                name: name.to_owned(),
                description: row.get(2)?,
                domains: row.must(3)?,
                sample_questions: row.must(4)?,
                quote_values: false,
            };
            Ok((row.must::<i32>(1)?, about, row.must::<Vec<String>>(5)?, row.must::<JsonB>(6)?.0))
        },
    )?;
    let Some((id, about, schemas, options)) = row else { return Ok(None) };
    Ok(Some(Datasource { id, about, schemas, options: Options::parse(&options)?, stored_options: options }))
}

/// Creates or changes a registration, and numbers the tables in its scope, so that users who may read one of them see
/// the datasource before it is indexed. The schemas were checked as the caller.
pub fn save(owner: &Owner, name: &str, change: RegistrationChange) -> Result<()> {
    if let Some(options) = &change.options {
        Options::parse(options)?;
    }
    if let Some(stored) = load(owner, name)? {
        lease::take(owner, name, stored.id)?;
    }
    query::execute(
        "INSERT INTO nl2sql.datasource AS d (name, description, domains, sample_questions)
         VALUES ($1, $2, coalesce($3, '{}'), coalesce($4, '{}'))
         ON CONFLICT (name) DO UPDATE SET
             description = coalesce($2, d.description),
             domains = coalesce($3, d.domains),
             sample_questions = coalesce($4, d.sample_questions),
             changed_at = now()",
        &[name.into(), change.description.into(), change.domains.into(), change.sample_questions.into()],
    )?;
    query::execute(
        "INSERT INTO nl2sql.datasource_setting AS s (datasource, schemas, options)
         VALUES ($1, coalesce($2, ARRAY[$1]), coalesce($3, '{}'))
         ON CONFLICT (datasource) DO UPDATE SET
             schemas = coalesce($2, s.schemas),
             options = coalesce($3, s.options)",
        &[name.into(), change.schemas.into(), change.options.map(JsonB).into()],
    )?;
    if let Some(stored) = load(owner, name)? {
        let lease = lease::take(owner, name, stored.id)?;
        let scope = Scope::new(&stored.options)?;
        let tables = catalog::tables(owner, &stored.schemas, &scope)?;
        let tables: Vec<_> = tables.iter().map(|table| table.table_name()).collect();
        relation::note(owner, &lease, &tables)?;
    }
    Ok(())
}

/// Fails if a schema does not exist for the current user, and suggests similar names.
pub fn check_schemas(schemas: &[String]) -> Result<()> {
    if schemas.is_empty() {
        return Err(Error::invalid("schemas must not be empty")
            .hint("Pass NULL to keep the stored schemas, or to register the schema that has the datasource's name."));
    }
    for schema in schemas {
        if schema == "information_schema" || schema.starts_with("pg_") {
            return Err(Error::invalid(format!("schema \"{}\" belongs to the server", shown(schema))));
        }
        if privilege::schema_oid(schema).is_none() {
            let known = catalog::schemas()?;
            return Err(Error::unknown("schema", schema, known.iter().map(String::as_str)));
        }
    }
    Ok(())
}
