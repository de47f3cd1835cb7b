//! `nl2sql_register`.

use crate::pg::datasource;
use crate::pg::datasource::RegistrationChange;
use crate::pg::server::argument;
use crate::pg::server::argument::TextArray;
use crate::pg::server::error::{OrRaise, Result};
use crate::pg::server::jsonb::JsonbText;
use crate::pg::server::{identity, query};
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_register(
    datasource: Option<&str>,
    schemas: TextArray,
    description: Option<&str>,
    domains: TextArray,
    sample_questions: TextArray,
    options: Option<JsonbText>,
) {
    register(datasource, schemas, description, domains, sample_questions, options).or_raise();
}

fn register(
    datasource: Option<&str>,
    schemas: TextArray,
    description: Option<&str>,
    domains: TextArray,
    sample_questions: TextArray,
    options: Option<JsonbText>,
) -> Result<()> {
    identity::check_writable("nl2sql_register()");
    let name = datasource::check_name(datasource)?;
    let change = RegistrationChange {
        schemas: argument::list("schemas", schemas)?.map(|mut schemas| {
            let mut known = std::collections::HashSet::new();
            schemas.retain(|schema| known.insert(schema.clone()));
            schemas
        }),
        description: description.map(str::to_owned),
        domains: argument::list("domains", domains)?,
        sample_questions: argument::list("sample_questions", sample_questions)?,
        options: options.map(|options| options.parse("options")).transpose()?,
    };
    // The caller's own rights decide which schemas there are for it; the rest is the owner's.
    let known = identity::as_owner(|_| {
        query::read_one("SELECT true FROM nl2sql.datasource WHERE name = $1", &[name.into()], |row| row.must::<bool>(1))
    })?;
    match &change.schemas {
        Some(schemas) => datasource::check_schemas(schemas)?,
        None if known.is_none() => datasource::check_schemas(&[name.to_owned()])?,
        None => {}
    }
    identity::as_owner(|owner| datasource::save(owner, name, change))
}
