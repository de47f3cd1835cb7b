//! `nl2sql_prune`.

use crate::pg::index::namespace;
use crate::pg::server::error::{OrRaise, Result};
use crate::pg::server::identity;
use crate::pg::server::identity::Owner;
use pgrx::prelude::*;

#[pg_extern]
fn nl2sql_prune() -> TableIterator<'static, (name!(namespace, String), name!(entries, i64))> {
    identity::check_writable("nl2sql_prune()");
    TableIterator::new(identity::as_owner(prune).or_raise())
}

fn prune(owner: &Owner) -> Result<Vec<(String, i64)>> {
    let current = namespace::current()?;
    namespace::all(owner)?
        .into_iter()
        .filter(|namespace| *namespace != current)
        .map(|namespace| {
            let entries = namespace::drop(owner, &namespace)?;
            tracing::info!(namespace, entries, "namespace dropped");
            Ok((namespace, entries))
        })
        .collect()
}
