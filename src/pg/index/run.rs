//! Runs builds, of one datasource or of all, and logs each of them.

use crate::pg::datasource;
use crate::pg::datasource::lease;
use crate::pg::index::build::{BuildOutcome, build};
use crate::pg::index::target::Extent;
use crate::pg::server::error::{Error, Result};
use crate::pg::server::identity::Owner;
use crate::pg::server::{identity, privilege, settings, subtransaction};
use pgrx::prelude::*;
use std::time::Instant;

/// A build that was tried.
pub struct IndexRun {
    pub datasource: String,
    pub seconds: f64,
    pub outcome: Result<BuildOutcome>,
}

/// Builds one datasource, and registers a schema that is none yet. A failed build is an error.
pub fn index_one(name: &str, extent: Extent) -> Result<IndexRun> {
    let started = Instant::now();
    if identity::as_owner(|owner| datasource::load(owner, name))?.is_none() {
        if extent == Extent::CuratedOnly {
            return Err(not_registered(name)?);
        }
        datasource::register_schema(name)?;
    }
    let outcome = identity::as_owner(|owner| build_one(owner, name, extent));
    let run = IndexRun { datasource: name.to_owned(), seconds: started.elapsed().as_secs_f64(), outcome };
    run.log();
    match run.outcome {
        Ok(built) => Ok(IndexRun { outcome: Ok(built), ..run }),
        Err(error) => Err(error),
    }
}

/// Builds every registered datasource, each in a subtransaction: one that fails keeps its previous build.
pub fn index_all(extent: Extent) -> Result<Vec<IndexRun>> {
    identity::as_owner(|owner| {
        let runs = datasource::names()?.into_iter().map(|datasource| {
            let started = Instant::now();
            let outcome = subtransaction::attempt(|| build_one(owner, &datasource, extent));
            let run = IndexRun { datasource, seconds: started.elapsed().as_secs_f64(), outcome };
            run.log();
            if let Err(error) = &run.outcome {
                warning!("datasource \"{}\" was not indexed: {}", run.datasource, error.message);
            }
            run
        });
        Ok(runs.collect())
    })
}

fn build_one(owner: &Owner, name: &str, extent: Extent) -> Result<BuildOutcome> {
    let Some(datasource) = datasource::load(owner, name)? else {
        return Err(datasource::unknown(name, &[]));
    };
    let lease = lease::take(owner, name, datasource.id)?;
    build(owner, &lease, &datasource, extent)
}

/// Curated content alone cannot be built for a datasource that was never built whole.
fn not_registered(name: &str) -> Result<Error> {
    if privilege::schema_oid(name).is_some() {
        return Ok(Error::not_indexed(name, &settings::namespace()?));
    }
    Ok(datasource::unknown(name, &datasource::names()?))
}

impl IndexRun {
    /// Writes one line to the server log.
    fn log(&self) {
        let (datasource, seconds) = (&self.datasource, self.seconds);
        match &self.outcome {
            Ok(built) => tracing::info!(
                datasource,
                status = built.status,
                build = built.build,
                schema_version = built.schema_version,
                entries = built.entries,
                embedded = built.embedded,
                reused = built.reused,
                issues = built.issues.len(),
                seconds,
                "build"
            ),
            Err(error) => tracing::info!(datasource, status = "failed", sqlstate = ?error.code, seconds, "build"),
        }
    }
}
