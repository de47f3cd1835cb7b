//! `nl2sql_register`.

use crate::pg::datasource;
use crate::pg::datasource::RegistrationChange;
use crate::pg::server::argument::TextArray;
use crate::pg::server::error::ErrorReport;
use crate::pg::server::jsonb::JsonbText;
use crate::pg::server::{argument, identity};
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_register(
    datasource: Option<&str>,
    schemas: TextArray,
    description: Option<&str>,
    domains: TextArray,
    sample_questions: TextArray,
    options: Option<JsonbText>,
) -> Result<(), ErrorReport> {
    identity::check_writable("nl2sql_register()");
    let name = datasource::check_name(datasource)?;
    let change = RegistrationChange {
        schemas: argument::distinct_list("schemas", schemas)?,
        description: description.map(str::to_owned),
        domains: argument::list("domains", domains)?,
        sample_questions: argument::list("sample_questions", sample_questions)?,
        options: options.map(|options| options.parse("options")).transpose()?,
    };
    Ok(datasource::register(name, change)?)
}
