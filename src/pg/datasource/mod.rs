//! Registered datasources: their registration, the numbers of their tables, the descriptions that users wrote, the
//! lease that a build holds, and what event triggers recorded of DDL in their schemas.

pub mod ddl_watch;
pub mod lease;
mod names;
pub mod overrides;
pub mod preferred_tables;
mod registration;
pub mod relation;

pub(crate) use names::{check_known, check_name, named, names, unknown};
pub(crate) use registration::{Datasource, RegistrationChange, load, load_known, register, register_schema};
