//! The last step of a build, the same for all: the pointer moves, and listeners learn of it.

use crate::pg::index::cut::Draft;
use crate::pg::index::target::BuildTarget;
use crate::pg::index::{notify, pointer};
use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;
use crate::pg::snapshot::drift;

/// Makes a written build live. The build that it replaces stays, for clients that pinned it; older ones go.
pub fn go_live(owner: &Owner, target: &BuildTarget, build: i64, draft: &Draft) -> Result<()> {
    let (name, namespace, version) = (target.datasource, target.namespace.as_str(), draft.schema_version.as_str());
    pointer::switch(owner, target.lease, namespace, build, version, draft.curated_hash.as_deref())?;
    if let Some(replaced) = &target.live
        && let Some(diff) = drift::store(owner, target.lease, &replaced.schema_version, version)?
    {
        notify::drifted(name, &replaced.schema_version, version, &diff)?;
    }
    notify::swapped(name, namespace, build, version)?;
    pointer::retain_builds(owner, target.lease, namespace, build, target.live.as_ref().map(|live| live.build))
}
