//! Resolving the names in a statement: tables through the path, columns through aliases, common table expressions,
//! subqueries, LATERAL, USING and stars. Where Postgres is stricter, it is asked afterwards; where it is not, this
//! must not be.

use crate::from_item::{Column, Columns, FromItem, Level, Meaning};
use crate::near::near_names;
use crate::output_name::output_name;
use crate::placeholder::Places;
use crate::reads::{Found, Names, Reads, column_key, perhaps};
use crate::statement::folded;
use sqlparser::ast::{
    Expr, GroupByExpr, GroupByWithModifier, Ident, LimitClause, ObjectName, OrderBy, OrderByKind, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, Visit,
};
use sqlparser::tokenizer::Span;
use std::collections::BTreeSet;

pub struct Resolver<'a> {
    pub found: Found,
    pub names: &'a Names<'a>,
    places: Places<'a>,
}

/// Common table expressions, the nearest last.
pub type Ctes = Vec<(String, Columns)>;

/// What a query sees from outside: the levels around it, the innermost last, and common table expressions.
#[derive(Clone, Default)]
pub struct Around<'l> {
    pub levels: Vec<&'l Level>,
    pub ctes: Ctes,
}

impl<'l> Around<'l> {
    pub fn with<'m>(&self, level: &'m Level) -> Around<'m>
    where
        'l: 'm,
    {
        let mut levels: Vec<&'m Level> = self.levels.clone();
        levels.push(level);
        Around { levels, ctes: self.ctes.clone() }
    }
}

impl<'a> Resolver<'a> {
    pub fn new(sql: &'a str, names: &'a Names<'a>) -> Self {
        Self { found: Found::default(), names, places: Places::of(sql) }
    }

    pub fn statement(&mut self, query: &Query) {
        self.query(query, &Around::default());
    }

    pub fn problem(&mut self, span: Span, message: impl AsRef<str>) {
        let message = message.as_ref();
        let problem = if span.start.line > 0 { format!("line {}: {message}", span.start.line) } else { message.to_owned() };
        if !self.found.problems.contains(&problem) {
            self.found.problems.push(problem);
        }
    }

    /// Notes that a table's name has no schema.
    pub fn unqualified(&mut self, ident: &Ident, schema: &str) {
        if ident.span.start.line > 0 {
            let at = self.places.byte(ident.span.start);
            self.found.unqualified.push((at, format!("{}.", crate::name::quote_identifier(schema))));
        }
    }

    /// Resolves a query; gives the columns that it has for whoever reads it.
    pub fn query(&mut self, query: &Query, around: &Around) -> Columns {
        let mut around = around.clone();
        if let Some(with) = &query.with {
            let names: Vec<String> = with.cte_tables.iter().map(|cte| folded(&cte.alias.name)).collect();
            if with.recursive {
                // Each may read all of them; what a column list does not say is not known yet.
                for (cte, name) in with.cte_tables.iter().zip(&names) {
                    let listed: Vec<String> = cte.alias.columns.iter().map(|column| folded(&column.name)).collect();
                    around.ctes.push((name.clone(), Columns { columns: Vec::new(), open: listed.is_empty() }.renamed(&listed)));
                }
            }
            for (cte, name) in with.cte_tables.iter().zip(names) {
                let listed: Vec<String> = cte.alias.columns.iter().map(|column| folded(&column.name)).collect();
                let columns = self.query(&cte.query, &around).computed().renamed(&listed);
                around.ctes.push((name, columns));
            }
        }
        let columns = match query.body.as_ref() {
            SetExpr::Select(select) => self.select(select, query.order_by.as_ref(), &around),
            other => {
                let columns = self.set(other, &around);
                self.order_by_output(query.order_by.as_ref(), &columns, &around);
                columns
            }
        };
        match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, limit_by }) => {
                self.visit(limit, &around);
                self.visit(&offset.as_ref().map(|offset| offset.value.clone()), &around);
                self.visit(limit_by, &around);
            }
            Some(LimitClause::OffsetCommaLimit { .. }) => self.problem(Span::empty(), "LIMIT has one number in Postgres"),
            None => {}
        }
        if let Some(fetch) = &query.fetch {
            self.visit(&fetch.quantity, &around);
        }
        columns
    }

    fn set(&mut self, part: &SetExpr, around: &Around) -> Columns {
        match part {
            SetExpr::Select(select) => self.select(select, None, around),
            SetExpr::Query(query) => self.query(query, around),
            SetExpr::SetOperation { left, right, .. } => {
                let columns = self.set(left, around).computed();
                self.set(right, around);
                columns
            }
            SetExpr::Values(values) => {
                for row in &values.rows {
                    self.visit(&row.content, around);
                }
                let width = values.rows.first().map_or(0, |row| row.content.len());
                Columns { columns: (1..=width).map(|at| Column::computed(format!("column{at}"))).collect(), open: false }
            }
            SetExpr::Table(table) => {
                let parts = [&table.schema_name, &table.table_name].into_iter().flatten().cloned();
                let item = self.relation(&ObjectName::from(parts.collect::<Vec<_>>()), around);
                self.read_all(&item.columns);
                item.columns
            }
            // A statement that writes is refused before.
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => Columns::default(),
        }
    }

    fn select(&mut self, select: &Select, order_by: Option<&OrderBy>, around: &Around) -> Columns {
        let mut level = Level::default();
        for from in &select.from {
            self.from(from, &mut level, around);
        }
        let inside = around.with(&level);
        let mut output = Columns::default();
        for item in &select.projection {
            self.select_item(item, &level, &inside, &mut output);
        }
        self.visit(&select.selection, &inside);
        self.visit(&select.having, &inside);
        self.visit(&select.named_window, &inside);
        // GROUP BY, ORDER BY and DISTINCT ON may name what the select list gives.
        let names: BTreeSet<String> = output.columns.iter().map(|column| column.name.clone()).collect();
        let named = Level { output: names, ..level.clone() };
        let inside = around.with(&named);
        match &select.group_by {
            GroupByExpr::All(modifiers) => self.group_modifiers(modifiers, &inside),
            GroupByExpr::Expressions(expressions, modifiers) => {
                for expression in expressions {
                    self.name_or_expression(expression, &inside, false);
                }
                self.group_modifiers(modifiers, &inside);
            }
        }
        if let Some(sqlparser::ast::Distinct::On(expressions)) = &select.distinct {
            for expression in expressions {
                self.name_or_expression(expression, &inside, true);
            }
        }
        if let Some(order_by) = order_by {
            for expression in ordering(order_by) {
                self.name_or_expression(&expression.expr, &inside, true);
            }
        }
        output
    }

    fn group_modifiers(&mut self, modifiers: &[GroupByWithModifier], around: &Around) {
        for modifier in modifiers {
            if let GroupByWithModifier::GroupingSets(expression) = modifier {
                self.visit(expression, around);
            }
        }
    }

    /// An expression that may be, as a whole, a name of the select list: before columns or after them.
    fn name_or_expression(&mut self, expression: &Expr, around: &Around, output_first: bool) {
        if let (Expr::Identifier(ident), Some(level)) = (expression, around.levels.last()) {
            let name = folded(ident);
            let column = || matches!(level.bare(&name), Meaning::Columns(_) | Meaning::Ambiguous(_));
            if level.output.contains(&name) && (output_first || !column()) {
                return;
            }
        }
        self.visit(expression, around);
    }

    /// After UNION and its kind only names and places of the result can be ordered by.
    fn order_by_output(&mut self, order_by: Option<&OrderBy>, columns: &Columns, around: &Around) {
        for expression in order_by.into_iter().flat_map(ordering) {
            match &expression.expr {
                Expr::Identifier(ident) => {
                    let name = folded(ident);
                    if !columns.open && !columns.columns.iter().any(|column| column.name == name) {
                        self.problem(ident.span, format!("column \"{name}\" does not exist in the result"));
                    }
                }
                other => {
                    let level = Level {
                        items: vec![FromItem { name: String::new(), table: None, columns: columns.clone().computed(), hidden: false }],
                        ..Level::default()
                    };
                    self.visit(other, &around.with(&level));
                }
            }
        }
    }

    fn select_item(&mut self, item: &SelectItem, level: &Level, inside: &Around, output: &mut Columns) {
        match item {
            SelectItem::UnnamedExpr(expr) => {
                self.visit(expr, inside);
                match output_name(expr) {
                    Some(name) => output.columns.push(Column::computed(name)),
                    None => output.columns.push(Column::computed("?column?")),
                }
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                self.visit(expr, inside);
                output.columns.push(Column::computed(folded(alias)));
            }
            SelectItem::ExprWithAliases { expr, .. } => {
                self.visit(expr, inside);
                output.open = true;
            }
            SelectItem::Wildcard(_) => {
                // A join that has a name stands for what it joins.
                let items: Vec<Columns> = level.items.iter().filter(|item| !item.hidden).map(|item| item.columns.clone()).collect();
                for columns in items {
                    self.add_all(columns, output);
                }
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                if let Some(columns) = self.qualified(name, inside) {
                    self.add_all(columns, output);
                }
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(expr), _) => {
                self.visit(expr, inside);
                output.open = true;
            }
        }
    }

    fn add_all(&mut self, columns: Columns, output: &mut Columns) {
        self.read_all(&columns);
        output.open |= columns.open;
        output.columns.extend(columns.computed().columns);
    }

    pub fn read_all(&mut self, columns: &Columns) {
        columns.columns.iter().for_each(|column| self.read(column));
    }

    pub fn read(&mut self, column: &Column) {
        if let Some((table, name)) = &column.source {
            self.found.reads.add(table, name);
        }
    }

    /// The columns of `t` in `t.*` or `schema.t.*`.
    pub fn qualified(&mut self, name: &ObjectName, around: &Around) -> Option<Columns> {
        let parts: Vec<&Ident> = name.0.iter().filter_map(|part| part.as_ident()).collect();
        let found = self.item(&parts, around);
        if found.is_none()
            && let Some(first) = parts.first()
        {
            self.missing_from(first);
        }
        found.map(|item| item.columns.clone())
    }

    /// The row source that `t` or `schema.t` names, the innermost first.
    fn item<'l>(&self, parts: &[&Ident], around: &Around<'l>) -> Option<&'l FromItem> {
        let find = |level: &&'l Level| match parts {
            [name] => level.item(&folded(name)),
            [.., schema, name] => level.table(&crate::name::TableName::new(folded(schema), folded(name))),
            [] => None,
        };
        around.levels.iter().rev().find_map(find)
    }

    fn missing_from(&mut self, ident: &Ident) {
        self.problem(ident.span, format!("\"{}\" is not in the FROM clause", folded(ident)));
    }

    /// A bare name: a column of the nearest level that has one, else a whole row.
    pub fn bare(&mut self, ident: &Ident, around: &Around) {
        let name = folded(ident);
        let mut open = false;
        for level in around.levels.iter().rev() {
            match level.bare(&name) {
                Meaning::Columns(columns) => return columns.into_iter().for_each(|column| self.read(column)),
                Meaning::Ambiguous(columns) => return self.ambiguous(ident, &name, &columns),
                Meaning::Open => open = true,
                Meaning::Nothing => {}
            }
        }
        if let Some(item) = around.levels.iter().rev().find_map(|level| level.item(&name)) {
            return self.read_all(&item.columns);
        }
        if !open {
            let visible = around.levels.iter().flat_map(|level| &level.items).flat_map(|item| &item.columns.columns);
            let near = near_names(&name, visible.map(|column| column.name.as_str()));
            self.problem(ident.span, format!("column \"{}\" does not exist{}", crate::name::shown(&name), perhaps(&near)));
        }
    }

    fn ambiguous(&mut self, ident: &Ident, name: &str, columns: &[&Column]) {
        let mut may = Reads::default();
        for column in columns {
            if let Some((table, column)) = &column.source {
                may.add(table, column);
                self.found.ambiguous.add(table, column);
            }
        }
        let may = may.columns();
        let may = if may.is_empty() { String::new() } else { format!(": it may be {}", may.join(" or ")) };
        self.problem(ident.span, format!("column \"{name}\" is ambiguous{may}"));
    }

    /// `t.column` or `schema.t.column`.
    pub fn compound(&mut self, parts: &[Ident], around: &Around) {
        let Some((last, before)) = parts.split_last() else { return };
        let before: Vec<&Ident> = before.iter().collect();
        let Some(item) = self.item(&before, around) else { return self.missing_from(&parts[0]) };
        let name = folded(last);
        if let Some(column) = item.columns.columns.iter().find(|column| column.name == name) {
            return self.read(column);
        }
        if item.columns.open {
            return;
        }
        let key = item.table.as_ref().map_or_else(|| format!("{}.{name}", item.name), |table| column_key(table, &name));
        let near = near_names(&name, item.columns.columns.iter().map(|column| column.name.as_str()));
        self.problem(last.span, format!("column {} does not exist{}", crate::name::shown(&key), perhaps(&near)));
    }

    pub fn visit(&mut self, part: &impl Visit, around: &Around) {
        let mut expressions = crate::expression::Expressions { resolver: self, around, depth: 0, skipped: Vec::new() };
        // It never breaks off.
        let _ = part.visit(&mut expressions);
    }
}

fn ordering(order_by: &OrderBy) -> &[sqlparser::ast::OrderByExpr] {
    match &order_by.kind {
        OrderByKind::Expressions(expressions) => expressions,
        OrderByKind::All(_) => &[],
    }
}
