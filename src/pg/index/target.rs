//! What a build is made for: a datasource in the current namespace, and the build that it replaces.

use crate::pg::datasource::Datasource;
use crate::pg::datasource::lease::Lease;
use crate::pg::index::namespace;
use crate::pg::index::pointer::{LiveBuild, live_build};
use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;

/// How much of the datasource a build reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The schema and the curated content.
    Whole,
    /// The curated content alone; the other entries are copied from the live build.
    CuratedOnly,
}

pub(super) struct BuildTarget<'a> {
    pub lease: &'a Lease,
    pub datasource: &'a str,
    pub namespace: String,
    pub extent: Extent,
    /// The build that is live now.
    pub live: Option<LiveBuild>,
}

impl<'a> BuildTarget<'a> {
    pub fn of(owner: &Owner, lease: &'a Lease, datasource: &'a Datasource, extent: Extent) -> Result<Self> {
        let datasource = datasource.about.name.as_str();
        let namespace = namespace::current()?;
        let live = live_build(owner, datasource, &namespace)?;
        Ok(Self { lease, datasource, namespace, extent, live })
    }
}
