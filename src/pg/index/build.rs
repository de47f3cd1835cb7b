//! A build: read, cut, embed, write, go live. One transaction does it all, so that a build that fails or is killed
//! leaves nothing behind.

use crate::pg::datasource::lease::Lease;
use crate::pg::datasource::{Datasource, relation};
use crate::pg::index::compare;
use crate::pg::index::cut::{Draft, cut};
use crate::pg::index::embed::embed;
use crate::pg::index::go_live::go_live;
use crate::pg::index::read::read;
use crate::pg::index::target::{BuildTarget, Extent};
use crate::pg::index::write::{counts, write};
use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;
use crate::pg::server::settings;
use crate::pg::snapshot;
use crate::pg::snapshot::withdraw;
use nl2sql_core::snapshot::issue::Issue;
use std::collections::BTreeMap;

/// What came of building.
pub struct BuildOutcome {
    /// `indexed`, or `unchanged` if the live build holds the same already.
    pub status: &'static str,
    /// The live build.
    pub build: i64,
    pub schema_version: String,
    pub entries: usize,
    /// Entries by chunk type.
    pub counts: BTreeMap<&'static str, usize>,
    /// Texts that went through the model.
    pub embedded: usize,
    pub reused: usize,
    /// What could not be read and is indexed without it.
    pub issues: Vec<Issue>,
}

/// Makes a new build live, unless the live build holds the same already.
pub fn build(owner: &Owner, lease: &Lease, datasource: &Datasource, extent: Extent) -> Result<BuildOutcome> {
    let target = BuildTarget::of(owner, lease, datasource, extent)?;
    let reading = read(&target)?;
    let draft = cut(&target, &reading)?;
    if let Some(live) = compare::live_build_with(&target, &draft)? {
        if extent == Extent::Whole {
            snapshot::retain(owner, lease, settings::max_versions())?;
        }
        return outcome(&target, draft, "unchanged", live, 0);
    }
    let embedded = embed(&target, &draft)?;
    let build = write(&target, &draft, &embedded, &reading.table_numbers)?;
    go_live(&target, build, &draft)?;
    if extent == Extent::Whole {
        withdraw::withdraw(owner, lease, &draft.schema_version, &reading.schema, &reading.rows)?;
        snapshot::retain(owner, lease, settings::max_versions())?;
        relation::forget_unused(owner, lease)?;
    }
    outcome(&target, draft, "indexed", build, embedded.new_texts)
}

fn outcome(
    target: &BuildTarget,
    draft: Draft,
    status: &'static str,
    build: i64,
    embedded: usize,
) -> Result<BuildOutcome> {
    let counts = counts(target.owner, &target.namespace, build)?;
    let entries: usize = counts.values().sum();
    Ok(BuildOutcome {
        status,
        build,
        schema_version: draft.schema_version,
        entries,
        counts,
        embedded,
        reused: entries - embedded,
        issues: draft.issues,
    })
}
