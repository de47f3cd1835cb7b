//! Namespaces: one per embedding model, each a partition of `nl2sql.entry`.

use crate::pg::server::error::Result;
use crate::pg::server::identity::Owner;
use crate::pg::server::{query, settings};
use pgrx::spi;

/// Creates the namespace's partition if it does not exist, as a member of the extension, so that a dump omits it.
pub(super) fn ensure(_: &Owner, namespace: &str) -> Result<()> {
    if exists(namespace)? {
        return Ok(());
    }
    // One transaction at a time creates partitions; the others then find them. Attaching a partition takes the same
    // lock, which lets searches and the rows of other builds through. An advisory lock would not do: waiting for it does
    // not refresh the view of the catalogs.
    query::execute("LOCK TABLE nl2sql.entry IN SHARE UPDATE EXCLUSIVE MODE", &[])?;
    if !exists(namespace)? {
        let (_, dimension) = settings::embedding_model()?;
        let dimension = i32::try_from(dimension).unwrap_or(i32::MAX);
        query::execute("SELECT nl2sql.create_namespace($1, $2)", &[namespace.into(), dimension.into()])?;
        query::execute(&format!("ALTER EXTENSION nl2sql ADD TABLE {}", table(namespace)), &[])?;
    }
    Ok(())
}

/// Looks at the newest state of the catalogs, not at the transaction's snapshot.
fn exists(namespace: &str) -> Result<bool> {
    let found =
        query::read_one("SELECT to_regclass(format('nl2sql.%I', $1)) IS NOT NULL", &[namespace.into()], |row| {
            row.must::<bool>(1)
        })?;
    Ok(found == Some(true))
}

/// Drops every namespace but the current one; returns their names and how many entries they had.
pub fn prune(owner: &Owner) -> Result<Vec<(String, i64)>> {
    let current = settings::namespace()?;
    let others = all(owner)?.into_iter().filter(|namespace| *namespace != current);
    others
        .map(|namespace| {
            let entries = drop(owner, &namespace)?;
            tracing::info!(namespace, entries, "namespace dropped");
            Ok((namespace, entries))
        })
        .collect()
}

/// Drops the namespace with everything in it, and returns the number of its entries.
fn drop(_: &Owner, namespace: &str) -> Result<i64> {
    let table = table(namespace);
    let entries = query::read_one(&format!("SELECT count(*) FROM {table}"), &[], |row| row.must::<i64>(1))?;
    query::execute("DELETE FROM nl2sql.pointer WHERE namespace = $1", &[namespace.into()])?;
    query::execute("DELETE FROM nl2sql.build WHERE namespace = $1", &[namespace.into()])?;
    query::execute(&format!("ALTER TABLE nl2sql.entry DETACH PARTITION {table}"), &[])?;
    query::execute(&format!("ALTER EXTENSION nl2sql DROP TABLE {table}"), &[])?;
    query::execute(&format!("DROP TABLE {table}"), &[])?;
    Ok(entries.unwrap_or(0))
}

/// All namespaces that have a partition, in order of name.
fn all(_: &Owner) -> Result<Vec<String>> {
    query::read(
        "SELECT c.relname::text FROM pg_catalog.pg_inherits i
         JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = 'nl2sql.entry'::regclass ORDER BY c.relname COLLATE \"C\"",
        &[],
        |row| row.must::<String>(1),
    )
}

fn table(namespace: &str) -> String {
    spi::quote_qualified_identifier("nl2sql", namespace)
}
