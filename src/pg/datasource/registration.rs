//! A registration: stored, changed and loaded.

use crate::pg::catalog;
use crate::pg::datasource::names::{check_known, names, unknown};
use crate::pg::datasource::{lease, relation};
use crate::pg::server::error::{Error, Result};
use crate::pg::server::identity::Owner;
use crate::pg::server::{identity, privilege, query};
use nl2sql_core::catalog::identifier::shown;
use nl2sql_core::catalog::options::Options;
use nl2sql_core::catalog::scope::Scope;
use nl2sql_core::chunk::datasource_info::DatasourceInfo;
use pgrx::JsonB;
use pgrx::prelude::*;
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

/// Loads a registration that exists for the current user, or fails with 42704.
pub fn load_known(name: &str) -> Result<Datasource> {
    check_known(name)?;
    identity::as_owner(|owner| load(owner, name))?.ok_or_else(|| unknown(name, &[]))
}

/// Registers a datasource, or changes its registration. Whether a schema exists is checked as the caller.
pub fn register(name: &str, change: RegistrationChange) -> Result<()> {
    match &change.schemas {
        Some(schemas) => check_schemas(schemas)?,
        None if !identity::as_owner(|owner| is_registered(owner, name))? => check_schemas(&[name.to_owned()])?,
        None => {}
    }
    identity::as_owner(|owner| save(owner, name, change))
}

/// Whether anyone has registered the name.
pub fn is_registered(_: &Owner, name: &str) -> Result<bool> {
    let found =
        query::read_one("SELECT true FROM nl2sql.datasource WHERE name = $1", &[name.into()], |row| row.must(1))?;
    Ok(found == Some(true))
}

/// Registers a schema that the caller may use as a datasource of the same name; 42704 if there is none.
pub fn register_schema(name: &str) -> Result<()> {
    if is_system_schema(name) || privilege::schema_oid(name).is_none() {
        let mut known = names()?;
        known.extend(catalog::schemas()?);
        return Err(unknown(name, &known));
    }
    identity::as_owner(|owner| save(owner, name, RegistrationChange::default()))?;
    notice!("schema \"{name}\" is registered as a datasource");
    Ok(())
}

/// Creates or changes a registration, and numbers the tables in its scope, so that users who may read one of them see
/// the datasource before it is indexed.
fn save(owner: &Owner, name: &str, change: RegistrationChange) -> Result<()> {
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
fn check_schemas(schemas: &[String]) -> Result<()> {
    if schemas.is_empty() {
        return Err(Error::invalid("schemas must not be empty")
            .hint("Pass NULL to keep the stored schemas, or to register the schema that has the datasource's name."));
    }
    for schema in schemas {
        if is_system_schema(schema) {
            return Err(Error::invalid(format!("schema \"{}\" belongs to the server", shown(schema))));
        }
        if privilege::schema_oid(schema).is_none() {
            let known = catalog::schemas()?;
            return Err(Error::unknown("schema", schema, known.iter().map(String::as_str)));
        }
    }
    Ok(())
}

fn is_system_schema(name: &str) -> bool {
    name == "information_schema" || name.starts_with("pg_")
}
