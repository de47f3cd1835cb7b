//! FROM clauses: tables, common table expressions, subqueries, functions and joins as row sources.

use crate::from_item::{Column, Columns, FromItem, Level};
use crate::resolve::{Around, Resolver};
use crate::statement::folded;
use sqlparser::ast::{
    Ident, JoinConstraint, JoinOperator, JsonTableColumn, ObjectName, TableAlias, TableFactor, TableFunctionArgs, TableWithJoins,
};
use sqlparser::tokenizer::Span;

impl Resolver<'_> {
    /// Adds the row sources of one element of a FROM clause to the level. What stands to the left of a LATERAL one
    /// is seen by it.
    pub fn from(&mut self, from: &TableWithJoins, level: &mut Level, around: &Around) {
        let first = level.items.len();
        self.factor(&from.relation, level, around);
        for join in &from.joins {
            let right = level.items.len();
            self.factor(&join.relation, level, around);
            let constraint = match &join.join_operator {
                JoinOperator::Join(constraint)
                | JoinOperator::Inner(constraint)
                | JoinOperator::Left(constraint)
                | JoinOperator::LeftOuter(constraint)
                | JoinOperator::Right(constraint)
                | JoinOperator::RightOuter(constraint)
                | JoinOperator::FullOuter(constraint)
                | JoinOperator::CrossJoin(constraint) => constraint,
                _ => {
                    self.problem(Span::empty(), "it has a join that Postgres does not know");
                    continue;
                }
            };
            self.constraint(constraint, first, right, level, around);
        }
    }

    fn constraint(&mut self, constraint: &JoinConstraint, first: usize, right: usize, level: &mut Level, around: &Around) {
        match constraint {
            JoinConstraint::On(expr) => self.visit(expr, &around.with(level)),
            JoinConstraint::Using(names) => {
                self.using(names, first, right, level);
            }
            JoinConstraint::UsingAlias(names, alias) => {
                let columns = self.using(names, first, right, level);
                level.items.push(FromItem { name: folded(alias), table: None, columns, hidden: false });
                // Its columns are those of the join once more: reached by its name alone.
                level.merged.extend(names.iter().filter_map(last).map(|ident| folded(&ident)));
            }
            JoinConstraint::Natural => {
                let names = |items: &[FromItem]| -> Vec<String> {
                    let columns = items.iter().filter(|item| !item.hidden).flat_map(|item| &item.columns.columns);
                    columns.map(|column| column.name.clone()).collect()
                };
                let left = names(&level.items[first..right]);
                for name in names(&level.items[right..]).into_iter().filter(|name| left.contains(name)) {
                    self.merge(&name, first, level);
                }
            }
            JoinConstraint::None => {}
        }
    }

    fn using(&mut self, names: &[ObjectName], first: usize, right: usize, level: &mut Level) -> Columns {
        let mut columns = Columns::default();
        for ident in names.iter().filter_map(last) {
            let name = folded(&ident);
            let has = |items: &[FromItem]| {
                items.iter().any(|item| item.columns.open || item.columns.columns.iter().any(|column| column.name == name))
            };
            if has(&level.items[first..right]) && has(&level.items[right..]) {
                self.merge(&name, first, level);
                columns.columns.push(Column::computed(name));
            } else {
                self.problem(ident.span, format!("column \"{name}\" of USING does not exist on both sides"));
            }
        }
        columns
    }

    /// Both sides are read, and the bare name means the two of them.
    fn merge(&mut self, name: &str, first: usize, level: &mut Level) {
        let joined = level.items[first..].iter().flat_map(|item| &item.columns.columns);
        joined.filter(|column| column.name == name).for_each(|column| self.read(column));
        level.merged.insert(name.to_owned());
    }

    fn factor(&mut self, factor: &TableFactor, level: &mut Level, around: &Around) {
        match factor {
            TableFactor::Table { name, alias, args: None, sample, .. } => {
                let item = self.relation(name, around);
                self.visit(sample, &around.with(level));
                level.items.push(named(item, alias.as_ref()));
            }
            TableFactor::Table { name, alias, args: Some(TableFunctionArgs { args, .. }), .. } => {
                self.visit(args, &around.with(level));
                level.items.push(function(last(name), alias.as_ref()));
            }
            TableFactor::Function { name, args, alias, .. } => {
                self.visit(args, &around.with(level));
                level.items.push(function(last(name), alias.as_ref()));
            }
            TableFactor::TableFunction { expr, alias } => {
                self.visit(expr, &around.with(level));
                level.items.push(function(None, alias.as_ref()));
            }
            TableFactor::UNNEST { array_exprs, alias, .. } => {
                self.visit(array_exprs, &around.with(level));
                level.items.push(function(Some(Ident::new("unnest")), alias.as_ref()));
            }
            TableFactor::Derived { lateral, subquery, alias, .. } => {
                let columns = if *lateral { self.query(subquery, &around.with(level)) } else { self.query(subquery, around) };
                let item = FromItem { name: String::new(), table: None, columns: columns.computed(), hidden: false };
                level.items.push(named(item, alias.as_ref()));
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                let first = level.items.len();
                self.from(table_with_joins, level, around);
                if let Some(alias) = alias {
                    let inner = &mut level.items[first..];
                    let mut columns = Columns::default();
                    for item in inner.iter_mut() {
                        columns.columns.extend(item.columns.columns.iter().cloned());
                        columns.open |= item.columns.open;
                        item.hidden = true;
                    }
                    let item = FromItem { name: String::new(), table: None, columns, hidden: false };
                    level.items.push(named(item, Some(alias)));
                }
            }
            TableFactor::JsonTable { json_expr, columns, alias, .. } => {
                self.visit(json_expr, &around.with(level));
                let open = columns.iter().any(|column| matches!(column, JsonTableColumn::Nested(_)));
                let columns = columns.iter().filter_map(|column| match column {
                    JsonTableColumn::Named(column) => Some(Column::computed(folded(&column.name))),
                    JsonTableColumn::ForOrdinality(name) => Some(Column::computed(folded(name))),
                    JsonTableColumn::Nested(_) => None,
                });
                let columns = Columns { columns: columns.collect(), open };
                let item = FromItem { name: "json_table".into(), table: None, columns, hidden: false };
                level.items.push(named(item, alias.as_ref()));
            }
            TableFactor::XmlTable { row_expression, passing, columns, alias, .. } => {
                self.visit(row_expression, &around.with(level));
                self.visit(&passing.arguments, &around.with(level));
                let columns = columns.iter().map(|column| Column::computed(folded(&column.name))).collect();
                let columns = Columns { columns, open: false };
                let item = FromItem { name: "xmltable".into(), table: None, columns, hidden: false };
                level.items.push(named(item, alias.as_ref()));
            }
            _ => self.problem(Span::empty(), "it has a row source that Postgres does not know"),
        }
    }

    /// A table, or a common table expression of that name.
    pub fn relation(&mut self, name: &ObjectName, around: &Around) -> FromItem {
        let parts: Vec<&Ident> = name.0.iter().filter_map(|part| part.as_ident()).collect();
        let empty = |name: &str| FromItem {
            name: name.to_owned(),
            table: None,
            columns: Columns { columns: Vec::new(), open: true },
            hidden: false,
        };
        let (schema, ident) = match parts.as_slice() {
            [name] => (None, *name),
            [schema, name] => (Some(folded(schema)), *name),
            _ => {
                let span = parts.first().map_or_else(Span::empty, |ident| ident.span);
                self.problem(span, format!("{name} is not the name of a table"));
                return empty("");
            }
        };
        let name = folded(ident);
        if schema.is_none()
            && let Some((_, columns)) = around.ctes.iter().rev().find(|(known, _)| *known == name)
        {
            return FromItem { name, table: None, columns: columns.clone(), hidden: false };
        }
        match self.names.find(schema.as_deref(), &name) {
            Ok(table) => {
                if schema.is_none() {
                    self.unqualified(ident, &table.name.schema);
                }
                self.found.reads.add_table(&table.name);
                let column = |column: &crate::schema::ColumnContract| Column {
                    name: column.name.clone(),
                    source: Some((table.name.clone(), column.name.clone())),
                };
                let columns = Columns { columns: table.contract.columns.iter().map(column).collect(), open: false };
                FromItem { name, table: Some(table.name.clone()), columns, hidden: false }
            }
            Err(problem) => {
                self.problem(ident.span, problem);
                // One problem is enough: its columns are not missed, too.
                empty(&name)
            }
        }
    }
}

fn last(name: &ObjectName) -> Option<Ident> {
    name.0.last().and_then(|part| part.as_ident()).cloned()
}

/// The row source under its alias, which hides its own name.
fn named(mut item: FromItem, alias: Option<&TableAlias>) -> FromItem {
    if let Some(alias) = alias {
        item.name = folded(&alias.name);
        item.table = None;
        let listed: Vec<String> = alias.columns.iter().map(|column| folded(&column.name)).collect();
        item.columns = item.columns.renamed(&listed);
    }
    item
}

/// The rows of a function, whose columns only the server knows.
fn function(name: Option<Ident>, alias: Option<&TableAlias>) -> FromItem {
    let name = name.as_ref().map(folded).unwrap_or_default();
    let columns = Columns { columns: Vec::new(), open: true };
    named(FromItem { name, table: None, columns, hidden: false }, alias)
}
