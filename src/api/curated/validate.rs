//! `nl2sql_curated_validate`.

use crate::pg::curated::{check, store};
use crate::pg::index::{namespace, pointer};
use crate::pg::server::error::{OrRaise, Result, call};
use crate::pg::server::identity;
use crate::pg::{datasource, snapshot};
use nl2sql_core::catalog::identifier::cut;
use nl2sql_core::curated::content::Item;
use pgrx::prelude::*;

type Row = (name!(datasource, String), name!(query_id, Option<String>), name!(problem, String));

#[pg_extern]
fn nl2sql_curated_validate(
    datasource: Option<&str>,
) -> TableIterator<'static, (name!(datasource, String), name!(query_id, Option<String>), name!(problem, String))> {
    TableIterator::new(validate(datasource).or_raise())
}

fn validate(wanted: Option<&str>) -> Result<Vec<Row>> {
    let namespace = namespace::current()?;
    let mut rows = Vec::new();
    for name in datasource::named(wanted)? {
        let store::Stored { content, reads, .. } = store::load_visible(&name)?;
        if content.is_empty() {
            continue;
        }
        if snapshot::live_version(&name, &namespace)?.is_none() {
            let index = call("nl2sql_index", &name);
            rows.push((name, None, format!("it has not been indexed: SELECT {index};")));
            continue;
        }
        let Some(stored) = identity::as_owner(|owner| datasource::load(owner, &name))? else { continue };
        let verdict = check::check(&stored, &content, &pointer::live_schema(&name)?, &reads)?;
        rows.extend(verdict.problems.into_iter().map(|problem| match &problem.item {
            Item::VerifiedQuery(id) => (name.clone(), Some(id.clone()), cut(&problem.without_item()).into_owned()),
            _ => (name.clone(), None, cut(&problem.to_string()).into_owned()),
        }));
    }
    Ok(rows)
}
