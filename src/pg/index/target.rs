//! What a build is made for: a datasource in the current namespace, and the build that it replaces.

use crate::pg::datasource::Datasource;
use crate::pg::datasource::lease::Lease;
use crate::pg::index::pointer::{LiveBuild, live_build};
use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;
use crate::pg::server::settings;

/// How much of the datasource a build reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The schema and the curated content.
    Whole,
    /// The curated content alone; the other entries are copied from the live build.
    CuratedOnly,
}

pub(super) struct BuildTarget<'a> {
    pub owner: &'a Owner,
    pub lease: &'a Lease,
    pub datasource: &'a Datasource,
    pub namespace: String,
    pub extent: Extent,
    /// The build that is live now.
    pub live: Option<LiveBuild>,
}

impl<'a> BuildTarget<'a> {
    pub fn of(owner: &'a Owner, lease: &'a Lease, datasource: &'a Datasource, extent: Extent) -> Result<Self> {
        let namespace = settings::namespace()?;
        let live = live_build(owner, lease.datasource(), &namespace)?;
        Ok(Self { owner, lease, datasource, namespace, extent, live })
    }

    /// The name of the datasource.
    pub fn name(&self) -> &'a str {
        self.lease.datasource()
    }
}
