//! The items of curated content that a change of the schema breaks.

use crate::catalog::identifier::TableName;
use crate::curated::content::{Item, Metric, VerifiedQuery};
use crate::curated::validate;
use crate::snapshot::diff::Diff;
use crate::sql::analysis::{Analysis, Analyst};
use crate::sql::reads;
use crate::sql::reads::{Names, Reads, column_key};
use crate::sql::statement_text;
use std::collections::BTreeSet;

/// An item of curated content and what it reads.
pub struct ItemReads<'a> {
    pub item: Item,
    pub reads: &'a Reads,
    /// Its SQL, which is resolved again. A metric's is an expression over its table.
    pub sql: ItemSql<'a>,
}

pub enum ItemSql<'a> {
    Query(&'a VerifiedQuery),
    Metric(&'a Metric),
}

/// Why the change from the one schema to the other breaks a piece: `reads dropped table s.t`, `reads dropped column
/// s.t.c`, `reads retyped column s.t.c`; `may read …` where a name has become ambiguous, or finds another table.
pub fn reasons(reader: &ItemReads, diff: &Diff, now: &Names, analyst: &mut dyn Analyst) -> Vec<String> {
    let mut reasons = BTreeSet::new();
    for table in diff.tables_dropped.iter().filter(|table| reader.reads.tables.contains_key(table)) {
        reasons.insert(format!("reads dropped table {table}"));
    }
    let reads = |table: &TableName, column: &str| {
        reader.reads.tables.get(table).is_some_and(|columns| columns.contains(column))
    };
    for (table, column) in diff.columns_dropped.iter().filter(|(table, column)| reads(table, &column.name)) {
        reasons.insert(format!("reads dropped column {}", column_key(table, &column.name)));
    }
    for change in diff.columns_changed.iter().filter(|change| change.old.data_type != change.new.data_type) {
        if reads(&change.table, &change.new.name) {
            reasons.insert(format!("reads retyped column {}", column_key(&change.table, &change.new.name)));
        }
    }
    if let Some(found) = analyze(reader, now, analyst) {
        reasons.extend(found.ambiguous.columns().into_iter().map(|column| format!("may read {column}")));
        // An unqualified name now exists in another schema of the path, too.
        let others = found.reads.tables.keys().filter(|table| !reader.reads.tables.contains_key(table));
        reasons.extend(others.map(|table| format!("may read {table}")));
        // A table of a subquery now has a name that meant a column of the outer query.
        if let Some(new) = reads::captured(reader.reads, &found.named) {
            let known = |column: &TableName| reader.reads.tables.contains_key(column);
            let new = Reads {
                tables: new.tables.into_iter().filter(|(table, _)| known(table)).collect(),
                ..Reads::default()
            };
            reasons.extend(new.columns().into_iter().map(|column| format!("may read {column}")));
        }
    }
    reasons.into_iter().collect()
}

fn analyze(reader: &ItemReads, now: &Names, analyst: &mut dyn Analyst) -> Option<Analysis> {
    let prepared = match &reader.sql {
        ItemSql::Query(query) => {
            let placeholders = statement_text::placeholders(&query.sql).ok()?;
            let known = placeholders.iter().all(|place| query.params.contains_key(&place.name));
            known.then(|| validate::prepared(query, &placeholders))?
        }
        ItemSql::Metric(metric) => {
            let table = validate::table(&metric.table, now).ok()?;
            validate::prepared_expression(&metric.expression, table).ok()?
        }
    };
    Some(analyst.analyze(&prepared, now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::schema::Schema;
    use crate::fixture::schema;
    use crate::snapshot::diff::diff;
    use crate::sql::analysis::tests::Stub;
    use serde_json::json;

    fn reasons_for(sql: &str, change: impl FnOnce(&mut Schema)) -> Vec<String> {
        let (before, path) = (schema(), ["other".to_owned(), "shop".to_owned()]);
        let query: VerifiedQuery = serde_json::from_value(json!({"id": "q", "questions": ["?"], "sql": sql})).unwrap();
        let prepared = validate::prepared(&query, &[]);
        let found = Stub.analyze(&prepared, &Names::new(&path, &before));
        assert_eq!(found.problems, [""; 0]);
        let mut now = before.clone();
        change(&mut now);
        let reader =
            ItemReads { item: Item::VerifiedQuery("q".into()), reads: &found.reads, sql: ItemSql::Query(&query) };
        reasons(&reader, &diff(&before, &now), &Names::new(&path, &now), &mut Stub)
    }

    #[test]
    fn reasons_are_named() {
        let sql = "SELECT email, state FROM customers c JOIN orders o ON o.\"customerId\" = c.id";
        assert_eq!(reasons_for(sql, |_| {}), [""; 0]);
        assert_eq!(reasons_for(sql, |now| drop(now.tables.remove(0))), ["reads dropped table shop.customers"]);
        let drop_column = |now: &mut Schema| {
            now.tables[0].contract.columns.remove(1);
            now.tables[0].metadata.columns.remove(1);
        };
        assert_eq!(reasons_for(sql, drop_column), ["reads dropped column shop.customers.email"]);
        assert_eq!(reasons_for("SELECT count(*) FROM customers", drop_column), [""; 0]);
        let retype = |now: &mut Schema| now.tables[1].contract.columns[2].data_type = "text".into();
        assert_eq!(reasons_for(sql, retype), ["reads retyped column shop.orders.state"]);
        let shadow = |now: &mut Schema| {
            let mut table = now.tables[0].clone();
            table.name.schema = "other".into();
            now.tables.push(table);
        };
        assert_eq!(reasons_for(sql, shadow), ["may read other.customers"]);
    }
}
