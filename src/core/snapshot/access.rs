//! What a role may read, and the part of a snapshot that it may see.

use crate::catalog::identifier::TableName;
use crate::catalog::schema::{Schema, Table};
use crate::snapshot::diff::Diff;
use crate::sql::reads::{ALL_COLUMNS, Reads};
use std::collections::{HashMap, HashSet};

/// A role's rights on one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableAccess {
    /// SELECT on the table as such.
    Whole,
    /// SELECT on these columns only, with [`ALL_COLUMNS`] if they are all current columns. A snapshot may hold columns
    /// that have been dropped since, on which these rights say nothing.
    Columns(HashSet<String>),
}

/// A role's rights on the tables of a datasource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// The role bypasses row security: everything is visible, also what has been dropped since.
    All,
    /// A table that is not listed does not exist for the role.
    Tables(HashMap<TableName, TableAccess>),
}

impl Access {
    fn reads_column(&self, table: &TableName, column: &str) -> bool {
        match self {
            Access::All => true,
            Access::Tables(tables) => match tables.get(table) {
                None => false,
                Some(TableAccess::Whole) => true,
                Some(TableAccess::Columns(columns)) => columns.contains(column),
            },
        }
    }

    fn reads_columns(&self, table: &TableName, columns: &[String]) -> bool {
        columns.iter().all(|column| self.reads_column(table, column))
    }

    fn reads_table(&self, table: &TableName) -> bool {
        match self {
            Access::All => true,
            Access::Tables(tables) => tables.contains_key(table),
        }
    }

    /// Whether the role may read everything in `reads`.
    pub fn reads(&self, reads: &Reads) -> bool {
        reads.tables.iter().all(|(table, columns)| {
            self.reads_table(table)
                && columns.iter().all(|column| self.reads_column(table, column))
                && (!reads.whole.contains(table) || self.reads_column(table, ALL_COLUMNS))
        })
    }

    /// The part of `schema` that exists for the role.
    pub fn visible(&self, schema: Schema) -> Schema {
        let tables =
            schema.tables.into_iter().filter(|table| self.reads_table(&table.name)).map(|table| self.cut(table));
        Schema { tables: tables.collect() }
    }

    /// The part of a stored diff that exists for the role. Changes of the key flag are left out, because they may reveal
    /// other columns.
    pub fn visible_diff(&self, mut diff: Diff) -> Diff {
        if *self == Access::All {
            return diff;
        }
        diff.tables_added.retain(|table| self.reads_table(table));
        diff.tables_dropped.retain(|table| self.reads_table(table));
        for columns in [&mut diff.columns_added, &mut diff.columns_dropped] {
            columns.retain(|(table, column)| self.reads_column(table, &column.name));
            columns.iter_mut().for_each(|(_, column)| column.primary_key = false);
        }
        diff.columns_changed.retain_mut(|change| {
            change.old.primary_key = change.new.primary_key;
            change.old != change.new && self.reads_column(&change.table, &change.new.name)
        });
        for keys in [&mut diff.foreign_keys_added, &mut diff.foreign_keys_dropped] {
            keys.retain(|(table, key)| {
                self.reads_columns(table, &key.columns)
                    && self.reads_table(&key.referred())
                    && self.reads_columns(&key.referred(), &key.referred_columns)
            });
        }
        diff
    }

    fn cut(&self, table: Table) -> Table {
        let Table { name, mut contract, mut metadata } = table;
        (contract.columns, metadata.columns) = contract
            .columns
            .into_iter()
            .zip(metadata.columns)
            .filter(|(column, _)| self.reads_column(&name, &column.name))
            .unzip();
        if !self.reads_columns(&name, &contract.primary_key) {
            contract.primary_key.clear();
            for column in &mut contract.columns {
                column.primary_key = false;
            }
        }
        (contract.foreign_keys, metadata.foreign_keys) = contract
            .foreign_keys
            .into_iter()
            .zip(metadata.foreign_keys)
            .filter(|(key, _)| {
                self.reads_columns(&name, &key.columns)
                    && self.reads_table(&key.referred())
                    && self.reads_columns(&key.referred(), &key.referred_columns)
            })
            .unzip();
        Table { name, contract, metadata }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::schema;
    use crate::snapshot::render::render_tables;

    fn columns(names: &[&str]) -> TableAccess {
        TableAccess::Columns(names.iter().map(|name| name.to_string()).collect())
    }

    #[test]
    fn a_table_without_rights_does_not_exist() {
        let access = Access::Tables(HashMap::from([(TableName::new("shop", "orders"), TableAccess::Whole)]));
        let visible = access.visible(schema());
        assert_eq!(visible.tables.len(), 1);
        assert!(visible.tables[0].contract.foreign_keys.is_empty(), "both keys lead to hidden tables");
        assert!(!render_tables(&visible).to_string().contains("customers"));
    }

    #[test]
    fn rights_on_columns_show_those_alone() {
        let access = Access::Tables(HashMap::from([
            (TableName::new("shop", "orders"), columns(&["customerId", "state"])),
            (TableName::new("shop", "customers"), columns(&["id"])),
        ]));
        let visible = access.visible(schema());
        let orders = &visible.tables[1];
        assert_eq!(orders.contract.columns.len(), 2);
        assert_eq!(orders.metadata.columns.len(), 2);
        assert!(orders.contract.primary_key.is_empty(), "the key's column is hidden");
        assert!(orders.contract.columns.iter().all(|column| !column.primary_key));
        assert_eq!(orders.contract.foreign_keys.len(), 1, "both ends of this key are readable");
        assert_eq!(visible.tables[0].contract.primary_key, ["id"]);
    }

    #[test]
    fn a_stored_diff_is_cut_like_a_schema() {
        let (old, mut new) = (Schema::default(), schema());
        let all = crate::snapshot::diff::diff(&schema(), &old);
        assert_eq!(Access::All.visible_diff(all.clone()), all);
        let access = Access::Tables(HashMap::from([(TableName::new("shop", "orders"), columns(&["id"]))]));
        assert_eq!(access.visible_diff(all).tables_dropped, [TableName::new("shop", "orders")]);
        new.tables[0].contract.columns[1].nullable = false;
        new.tables[1].contract.columns[0].data_type = "bigint".into();
        new.tables[1].contract.columns[2].data_type = "text".into();
        new.tables[1].contract.foreign_keys.clear();
        let seen = access.visible_diff(crate::snapshot::diff::diff(&schema(), &new));
        assert_eq!(seen.counts().len(), 1, "{seen:?}");
        assert_eq!(seen.columns_changed[0].new.name, "id");
    }

    #[test]
    fn a_role_beyond_row_security_sees_all() {
        assert_eq!(Access::All.visible(schema()), schema());
    }
}
