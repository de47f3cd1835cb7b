//! The last step of a build, the same for all: the pointer moves, and listeners learn of it.

use crate::pg::index::cut::Draft;
use crate::pg::index::target::BuildTarget;
use crate::pg::index::{notify, pointer};
use crate::pg::server::error::Result;
use crate::pg::snapshot::drift;

/// Makes a written build live. The build that it replaces stays, for clients that pinned it; older ones go.
pub fn go_live(target: &BuildTarget, build: i64, draft: &Draft) -> Result<()> {
    let BuildTarget { owner, lease, namespace, live: replaced, .. } = target;
    let (name, version) = (target.name(), draft.schema_version.as_str());
    pointer::switch(owner, lease, namespace, build, version, draft.curated_hash.as_deref())?;
    if let Some(replaced) = replaced
        && let Some(diff) = drift::store(owner, lease, &replaced.schema_version, version)?
    {
        notify::drifted(name, &replaced.schema_version, version, &diff)?;
    }
    notify::swapped(name, namespace, build, version)?;
    pointer::retain_builds(owner, lease, namespace, build, replaced.as_ref().map(|live| live.build))
}
