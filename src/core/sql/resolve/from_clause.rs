//! FROM clauses: tables, common table expressions, subqueries, functions and joins as row sources.

use crate::sql::parse::folded;
use crate::sql::resolve::scope::{Column, Columns, FromItem, Level};
use crate::sql::resolve::{Around, Resolver};
use sqlparser::ast::{
    FunctionArg, Ident, JoinConstraint, JoinOperator, JsonTableColumn, ObjectName, TableAlias, TableFactor,
    TableFunctionArgs, TableWithJoins, XmlTableColumnOption,
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

    fn constraint(
        &mut self,
        constraint: &JoinConstraint,
        first: usize,
        right: usize,
        level: &mut Level,
        around: &Around,
    ) {
        match constraint {
            JoinConstraint::On(expr) => self.visit(expr, &around.with_items(level, first)),
            JoinConstraint::Using(names) => {
                self.using(names, first, right, level);
            }
            JoinConstraint::UsingAlias(names, alias) => {
                let columns = self.using(names, first, right, level);
                // Its columns are those of the join once more: reached by its name alone.
                level.items.push(FromItem { bare: false, ..FromItem::new(folded(alias), columns) });
            }
            JoinConstraint::Natural => {
                if !self.may_copy(width(&level.items[first..])) {
                    return;
                }
                let (left, right_columns) = (joined(&level.items[first..right]), joined(&level.items[right..]));
                if !self.may_look_at(left.columns.len().saturating_mul(right_columns.columns.len())) {
                    return;
                }
                if left.open || right_columns.open {
                    // Any of them may be one that the other side has, too.
                    self.read_all(&left);
                    self.read_all(&right_columns);
                }
                let known = |column: &&Column| right_columns.named(&column.name).next().is_some();
                let names: Vec<Ident> =
                    left.columns.iter().filter(known).map(|column| Ident::new(&column.name)).collect();
                self.merge(&names, left, right_columns, first, level);
            }
            JoinConstraint::None => {}
        }
    }

    fn using(&mut self, names: &[ObjectName], first: usize, right: usize, level: &mut Level) -> Columns {
        let names: Vec<Ident> =
            names.iter().filter_map(last).map(|ident| Ident { value: folded(&ident), ..ident }).collect();
        if !self.may_copy(width(&level.items[first..])) {
            return Columns::open();
        }
        let (left, right) = (joined(&level.items[first..right]), joined(&level.items[right..]));
        for ident in &names {
            let has = |columns: &Columns| columns.open || columns.named(&ident.value).next().is_some();
            if !has(&left) || !has(&right) {
                self.problem(ident.span, format!("column \"{}\" of USING does not exist on both sides", ident.value));
            }
        }
        self.merge(&names, left, right, first, level)
    }

    /// Puts the join's columns in the place of those of its sides: the merged ones, which are read on both sides, then
    /// the others. Gives the merged ones.
    fn merge(&mut self, names: &[Ident], left: Columns, right: Columns, first: usize, level: &mut Level) -> Columns {
        let mut merged = Columns::default();
        for ident in names {
            let mut column = Column::computed(&ident.value);
            for side in [&left, &right] {
                if side.named(&ident.value).count() > 1 {
                    self.problem(
                        ident.span,
                        format!("column \"{}\" is ambiguous: a side of the join has it more than once", ident.value),
                    );
                }
                column.sources.extend(side.named(&ident.value).flat_map(|column| column.sources.clone()));
            }
            self.read(&column);
            merged.columns.push(column);
        }
        let rest = |side: Columns| {
            let columns =
                side.columns.into_iter().filter(|column| !merged.columns.iter().any(|known| known.name == column.name));
            Columns { columns: columns.collect(), open: side.open }
        };
        let mut columns = merged.clone();
        columns.extend(rest(left));
        columns.extend(rest(right));
        level.items[first..].iter_mut().for_each(|item| item.bare = false);
        level.items.push(FromItem { named: false, ..FromItem::new("", columns) });
        merged
    }

    fn factor(&mut self, factor: &TableFactor, level: &mut Level, around: &Around) {
        match factor {
            TableFactor::Table { name, alias, args: None, sample, .. } => {
                let item = self.relation(name, around);
                // Its arguments see nothing of this level.
                self.visit(sample, around);
                level.items.push(aliased(item, alias.as_ref()));
            }
            TableFactor::Table { name, alias, args: Some(TableFunctionArgs { args, .. }), .. }
            | TableFactor::Function { name, args, alias, .. } => {
                self.arguments(args, &around.with(level));
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
                let columns =
                    if *lateral { self.query(subquery, &around.with(level)) } else { self.query(subquery, around) };
                level.items.push(aliased(FromItem::new("", columns.computed()), alias.as_ref()));
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                let first = level.items.len();
                self.from(table_with_joins, level, around);
                if let Some(alias) = alias {
                    self.named_join(alias, first, level);
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
                level.items.push(aliased(FromItem::new("json_table", columns), alias.as_ref()));
            }
            TableFactor::XmlTable { namespaces, row_expression, passing, columns, alias } => {
                let inside = around.with(level);
                namespaces.iter().for_each(|namespace| self.visit(&namespace.uri, &inside));
                self.visit(row_expression, &inside);
                self.visit(&passing.arguments, &inside);
                for column in columns {
                    if let XmlTableColumnOption::NamedInfo { path, default, .. } = &column.option {
                        self.visit(path, &inside);
                        self.visit(default, &inside);
                    }
                }
                let columns = columns.iter().map(|column| Column::computed(folded(&column.name))).collect();
                let columns = Columns { columns, open: false };
                level.items.push(aliased(FromItem::new("xmltable", columns), alias.as_ref()));
            }
            _ => self.problem(Span::empty(), "it has a row source that Postgres does not know"),
        }
    }

    /// A join that has a name stands for what it joins.
    fn named_join(&mut self, alias: &TableAlias, first: usize, level: &mut Level) {
        if !self.may_copy(width(&level.items[first..])) {
            return;
        }
        let columns = joined(&level.items[first..]);
        for item in &mut level.items[first..] {
            (item.named, item.bare) = (false, false);
        }
        if columns.open && !alias.columns.is_empty() {
            // Which of them the list gives a name, only the server knows.
            self.read_all(&columns);
        }
        level.items.push(aliased(FromItem::new("", columns), Some(alias)));
    }

    fn arguments(&mut self, args: &Vec<FunctionArg>, around: &Around) {
        let mut expressions = crate::sql::resolve::expression::Expressions::new(self, around);
        expressions.arguments(args);
        expressions.each(args);
    }

    /// A table, or a common table expression of that name.
    pub fn relation(&mut self, name: &ObjectName, around: &Around) -> FromItem {
        let parts: Vec<&Ident> = name.0.iter().filter_map(|part| part.as_ident()).collect();
        let (schema, ident) = match parts.as_slice() {
            [name] => (None, *name),
            [schema, name] => (Some(folded(schema)), *name),
            _ => {
                let span = parts.first().map_or_else(Span::empty, |ident| ident.span);
                self.problem(span, format!("{name} is not the name of a table"));
                return FromItem::new("", Columns::open());
            }
        };
        let name = folded(ident);
        if schema.is_none()
            && let Some((_, columns)) = around.ctes.iter().rev().find(|(known, _)| *known == name)
        {
            let columns = if self.may_copy(columns.columns.len()) { columns.clone() } else { Columns::open() };
            return FromItem::new(name, columns);
        }
        match self.names.find(schema.as_deref(), &name) {
            Ok(table) => {
                if schema.is_none() {
                    self.unqualified(ident, &table.name);
                }
                self.found.reads.add_table(&table.name);
                if !self.may_copy(table.contract.columns.len()) {
                    return FromItem::new(name, Columns::open());
                }
                let column = |column: &crate::catalog::schema::ColumnContract| Column {
                    name: column.name.clone(),
                    sources: vec![(table.name.clone(), column.name.clone())],
                };
                let columns = Columns { columns: table.contract.columns.iter().map(column).collect(), open: false };
                FromItem { table: Some(table.name.clone()), ..FromItem::new(name, columns) }
            }
            Err(problem) => {
                self.problem(ident.span, problem);
                // One problem is enough: its columns are not missed, too.
                FromItem::new(name, Columns::open())
            }
        }
    }
}

fn last(name: &ObjectName) -> Option<Ident> {
    name.0.last().and_then(|part| part.as_ident()).cloned()
}

/// How many columns they have.
fn width(items: &[FromItem]) -> usize {
    items.iter().map(|item| item.columns.columns.len()).sum()
}

/// What bare names mean in row sources that are joined.
fn joined(items: &[FromItem]) -> Columns {
    let mut columns = Columns::default();
    items.iter().filter(|item| item.bare).for_each(|item| columns.extend(item.columns.clone()));
    columns
}

/// The row source under its alias, which hides its own name.
fn aliased(mut item: FromItem, alias: Option<&TableAlias>) -> FromItem {
    if let Some(alias) = alias {
        item.name = folded(&alias.name);
        item.table = None;
        let listed: Vec<String> = alias.columns.iter().map(|column| folded(&column.name)).collect();
        item.columns = item.columns.renamed(&listed);
    }
    item
}

/// The rows of a function, whose columns only the server knows, unless a list with types says them all.
fn function(name: Option<Ident>, alias: Option<&TableAlias>) -> FromItem {
    let name = name.as_ref().map(folded).unwrap_or_default();
    let defined = alias.is_some_and(|alias| alias.columns.iter().any(|column| column.data_type.is_some()));
    aliased(FromItem::new(name, Columns { columns: Vec::new(), open: !defined }), alias)
}
