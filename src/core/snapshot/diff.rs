//! The difference between the structures of two schemas. It is empty if and only if their fingerprints are equal.

use crate::catalog::identifier::TableName;
use crate::catalog::schema::{ColumnContract, ForeignKeyContract, Schema, Table};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A table that is added or dropped is listed without its columns and keys. A rename, and a changed foreign key, is a
/// drop and an add. Everything is sorted by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Diff {
    pub tables_added: Vec<TableName>,
    pub tables_dropped: Vec<TableName>,
    pub columns_added: Vec<(TableName, ColumnContract)>,
    pub columns_dropped: Vec<(TableName, ColumnContract)>,
    pub columns_changed: Vec<ColumnChange>,
    pub foreign_keys_added: Vec<(TableName, ForeignKeyContract)>,
    pub foreign_keys_dropped: Vec<(TableName, ForeignKeyContract)>,
}

/// A column before and after; they differ in type, nullability or key flag.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnChange {
    pub table: TableName,
    pub old: ColumnContract,
    pub new: ColumnContract,
}

/// The changes that lead from `old` to `new`.
pub fn diff(old: &Schema, new: &Schema) -> Diff {
    let (before, after) = (by_name(old), by_name(new));
    let mut diff = Diff {
        tables_added: after.keys().filter(|name| !before.contains_key(*name)).map(|name| (*name).clone()).collect(),
        tables_dropped: before.keys().filter(|name| !after.contains_key(*name)).map(|name| (*name).clone()).collect(),
        ..Diff::default()
    };
    for (name, old) in &before {
        if let Some(new) = after.get(name) {
            diff.compare(name, old, new);
        }
    }
    diff
}

fn by_name(schema: &Schema) -> BTreeMap<&TableName, &Table> {
    schema.tables.iter().map(|table| (&table.name, table)).collect()
}

impl Diff {
    fn compare(&mut self, name: &TableName, old: &Table, new: &Table) {
        let columns = |table: &Table| -> BTreeMap<String, ColumnContract> {
            table.contract.columns.iter().map(|column| (column.name.clone(), column.clone())).collect()
        };
        let (mut before, after) = (columns(old), columns(new));
        for (column, new) in after {
            match before.remove(&column) {
                None => self.columns_added.push((name.clone(), new)),
                Some(old) if old != new => {
                    self.columns_changed.push(ColumnChange { table: name.clone(), old, new });
                }
                Some(_) => {}
            }
        }
        self.columns_dropped.extend(before.into_values().map(|column| (name.clone(), column)));
        let only_in = |one: &Table, other: &Table| -> Vec<(TableName, ForeignKeyContract)> {
            let mut keys: Vec<_> =
                one.contract.foreign_keys.iter().filter(|key| !other.contract.foreign_keys.contains(key)).collect();
            keys.sort_by(|a, b| a.name.cmp(&b.name));
            keys.into_iter().map(|key| (name.clone(), key.clone())).collect()
        };
        self.foreign_keys_added.extend(only_in(new, old));
        self.foreign_keys_dropped.extend(only_in(old, new));
    }

    /// The tables that the diff names, and those that its foreign keys refer to.
    pub fn named_tables(&self) -> BTreeSet<TableName> {
        let tables = self.tables_added.iter().chain(&self.tables_dropped);
        let columns = self.columns_added.iter().chain(&self.columns_dropped).map(|(table, _)| table);
        let changed = self.columns_changed.iter().map(|change| &change.table);
        let keys = || self.foreign_keys_added.iter().chain(&self.foreign_keys_dropped);
        let referring = keys().map(|(table, _)| table);
        let mut named: BTreeSet<TableName> = tables.chain(columns).chain(changed).chain(referring).cloned().collect();
        named.extend(keys().map(|(_, key)| key.referred()));
        named
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The number of changes of each kind, without zeros.
    pub fn counts(&self) -> Map<String, Value> {
        [
            ("tables_added", self.tables_added.len()),
            ("tables_dropped", self.tables_dropped.len()),
            ("columns_added", self.columns_added.len()),
            ("columns_dropped", self.columns_dropped.len()),
            ("columns_changed", self.columns_changed.len()),
            ("foreign_keys_added", self.foreign_keys_added.len()),
            ("foreign_keys_dropped", self.foreign_keys_dropped.len()),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| (name.to_owned(), count.into()))
        .collect()
    }

    /// The JSON that `nl2sql_diff` returns.
    pub fn render(&self, datasource: &str, from: &str, to: Option<&str>) -> Value {
        let tables = |names: &[TableName]| -> Value { names.iter().map(TableName::to_string).collect() };
        let columns = |columns: &[(TableName, ColumnContract)]| -> Value {
            columns
                .iter()
                .map(|(table, column)| {
                    json!({
                        "table": table.to_string(),
                        "column": column.name,
                        "type": column.data_type,
                        "nullable": column.nullable,
                        "primary_key": column.primary_key,
                    })
                })
                .collect()
        };
        let keys = |keys: &[(TableName, ForeignKeyContract)]| -> Value {
            keys.iter()
                .map(|(table, key)| {
                    json!({
                        "table": table.to_string(),
                        "name": key.name,
                        "columns": key.columns,
                        "referred_schema": key.referred_schema,
                        "referred_table": key.referred_table,
                        "referred_columns": key.referred_columns,
                    })
                })
                .collect()
        };
        json!({
            "datasource": datasource,
            "from_version": from,
            "to_version": to,
            "tables_added": tables(&self.tables_added),
            "tables_dropped": tables(&self.tables_dropped),
            "columns_added": columns(&self.columns_added),
            "columns_dropped": columns(&self.columns_dropped),
            "columns_changed": self.columns_changed.iter().map(ColumnChange::render).collect::<Value>(),
            "foreign_keys_added": keys(&self.foreign_keys_added),
            "foreign_keys_dropped": keys(&self.foreign_keys_dropped),
        })
    }
}

impl ColumnChange {
    fn render(&self) -> Value {
        let (old, new) = (&self.old, &self.new);
        let mut changes = Map::new();
        let mut note = |name: &str, old: Value, new: Value| {
            if old != new {
                changes.insert(name.to_owned(), json!([old, new]));
            }
        };
        note("type", old.data_type.as_str().into(), new.data_type.as_str().into());
        note("nullable", old.nullable.into(), new.nullable.into());
        note("primary_key", old.primary_key.into(), new.primary_key.into());
        json!({ "table": self.table.to_string(), "column": new.name, "changes": changes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::schema::{TableContract, TableKind, TableMetadata};
    use crate::fixture::schema;
    use crate::snapshot::fingerprint::fingerprint;
    use proptest::prelude::*;

    /// The structure that `diff` makes of `old`; an added table is taken from `new`, which alone knows
    /// its columns.
    fn apply(diff: &Diff, old: &Schema, new: &Schema) -> Schema {
        let mut tables: BTreeMap<TableName, Table> =
            old.tables.iter().map(|table| (table.name.clone(), table.clone())).collect();
        diff.tables_dropped.iter().for_each(|name| drop(tables.remove(name)));
        for name in &diff.tables_added {
            tables.extend(new.tables.iter().find(|table| table.name == *name).map(|t| (name.clone(), t.clone())));
        }
        let mut at = |table: &TableName, change: &dyn Fn(&mut TableContract)| {
            change(&mut tables.get_mut(table).unwrap().contract);
        };
        for (table, column) in &diff.columns_dropped {
            at(table, &|contract| contract.columns.retain(|known| known.name != column.name));
        }
        for (table, column) in &diff.columns_added {
            at(table, &|contract| contract.columns.push(column.clone()));
        }
        for change in &diff.columns_changed {
            at(&change.table, &|contract| {
                for column in contract.columns.iter_mut().filter(|column| **column == change.old) {
                    *column = change.new.clone();
                }
            });
        }
        for (table, key) in &diff.foreign_keys_dropped {
            at(table, &|contract| contract.foreign_keys.retain(|known| known != key));
        }
        for (table, key) in &diff.foreign_keys_added {
            at(table, &|contract| contract.foreign_keys.push(key.clone()));
        }
        Schema { tables: tables.into_values().collect() }
    }

    fn few_names() -> impl Strategy<Value = String> {
        prop::sample::select(vec!["a", "b", "C", "d.e"]).prop_map(str::to_owned)
    }

    prop_compose! {
        fn column()(
            name in few_names(), data_type in prop::sample::select(vec!["integer", "text"]),
            nullable: bool, primary_key: bool,
        ) -> ColumnContract {
            ColumnContract { name, data_type: data_type.to_owned(), nullable, primary_key }
        }
    }

    prop_compose! {
        fn foreign_key()(
            name in few_names(), columns in prop::collection::vec(few_names(), 1..3), referred in few_names(),
            referred_columns in prop::collection::vec(few_names(), 1..3),
        ) -> ForeignKeyContract {
            ForeignKeyContract {
                name, columns, referred_schema: "s".into(), referred_table: referred, referred_columns,
            }
        }
    }

    prop_compose! {
        fn table()(
            schema in prop::sample::select(vec!["s", "t"]), name in few_names(),
            columns in prop::collection::vec(column(), 0..4),
            foreign_keys in prop::collection::vec(foreign_key(), 0..3),
        ) -> Table {
            // As in a catalogue, a name is used once in its place.
            let columns: BTreeMap<String, ColumnContract> =
                columns.into_iter().map(|column| (column.name.clone(), column)).collect();
            let keys: BTreeMap<String, ForeignKeyContract> =
                foreign_keys.into_iter().map(|key| (key.name.clone(), key)).collect();
            Table {
                name: TableName::new(schema, name),
                contract: TableContract {
                    kind: TableKind::Table,
                    primary_key: Vec::new(),
                    columns: columns.into_values().collect(),
                    foreign_keys: keys.into_values().collect(),
                },
                metadata: TableMetadata::default(),
            }
        }
    }

    prop_compose! {
        fn any_schema()(tables in prop::collection::vec(table(), 0..4)) -> Schema {
            let tables: BTreeMap<TableName, Table> =
                tables.into_iter().map(|table| (table.name.clone(), table)).collect();
            Schema { tables: tables.into_values().collect() }
        }
    }

    /// A pair that differs little, or not at all but in the order of columns.
    fn near_pair() -> impl Strategy<Value = (Schema, Schema)> {
        (any_schema(), any_schema(), any::<bool>(), any::<bool>()).prop_map(|(one, other, reverse, replace)| {
            let mut near = one.clone();
            if reverse {
                near.tables.iter_mut().for_each(|table| table.contract.columns.reverse());
            }
            if let (true, Some(last), Some(table)) = (replace, near.tables.last_mut(), other.tables.first()) {
                last.contract = table.contract.clone();
            }
            (one, near)
        })
    }

    fn holds(old: &Schema, new: &Schema) -> Result<(), TestCaseError> {
        let found = diff(old, new);
        let same = fingerprint("d", old) == fingerprint("d", new);
        prop_assert_eq!(found.is_empty(), same);
        prop_assert_eq!(found.counts().is_empty(), same);
        prop_assert_eq!(fingerprint("d", &apply(&found, old, new)), fingerprint("d", new));
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn leads_from_one_to_the_other(old in any_schema(), new in any_schema()) {
            holds(&old, &new)?;
        }

        #[test]
        fn leads_from_one_to_a_near_one((old, new) in near_pair()) {
            holds(&old, &new)?;
        }
    }

    #[test]
    fn shows_what_the_contract_names() {
        let old = schema();
        let mut new = schema();
        new.tables[0].contract.columns[1].nullable = false;
        new.tables[0].contract.columns[1].data_type = "character varying(10)".into();
        new.tables[1].contract.columns.remove(2);
        new.tables[1].contract.foreign_keys[0].name = "farther".into();
        let mut third = new.tables[1].clone();
        third.name = TableName::new("shop", "Third");
        new.tables.insert(0, third);
        let shown = diff(&old, &new).render("shop", "v1", None);
        assert_eq!(
            shown,
            json!({
                "datasource": "shop", "from_version": "v1", "to_version": null,
                "tables_added": ["shop.\"Third\""], "tables_dropped": [],
                "columns_added": [],
                "columns_dropped": [{"table": "shop.orders", "column": "state", "type": "shop.state",
                                     "nullable": true, "primary_key": false}],
                "columns_changed": [{"table": "shop.customers", "column": "email", "changes": {
                    "type": ["text", "character varying(10)"], "nullable": [true, false]}}],
                "foreign_keys_added": [{"table": "shop.orders", "name": "farther", "columns": ["id"],
                    "referred_schema": "other", "referred_table": "t", "referred_columns": ["id"]}],
                "foreign_keys_dropped": [{"table": "shop.orders", "name": "far", "columns": ["id"],
                    "referred_schema": "other", "referred_table": "t", "referred_columns": ["id"]}],
            })
        );
        assert_eq!(
            Value::Object(diff(&old, &new).counts()),
            json!({
                "tables_added": 1, "columns_dropped": 1, "columns_changed": 1, "foreign_keys_added": 1, "foreign_keys_dropped": 1
            })
        );
    }
}
