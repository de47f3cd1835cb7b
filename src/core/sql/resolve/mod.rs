//! Resolving the names in a statement: tables through the path, columns through aliases, common table expressions,
//! subqueries, LATERAL, USING and stars. Where Postgres is stricter, it is asked afterwards; where it is not, this
//! must not be. Where only the server knows what a name means, all that it may mean is read.

pub(crate) mod column_alias;
pub mod expression;
pub(crate) mod from_clause;
pub(crate) mod scope;

use crate::catalog::identifier::{TableName, quote_identifier};
use crate::sql::parse::folded;
use crate::sql::reads::{Found, Names};
use crate::sql::resolve::column_alias::{Figure, figure};
use crate::sql::resolve::scope::{Column, Columns, FromItem, Level, Meaning, Seen};
use crate::sql::source_map::SourceMap;
use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, GroupByWithModifier, Ident, LimitClause, ObjectName, OrderBy, OrderByExpr,
    OrderByKind, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableAlias, Value, Visit, With,
};
use sqlparser::tokenizer::Span;
use std::rc::Rc;

/// So many problems are told.
const PROBLEMS: usize = 50;
/// The columns that a query may give, as the server limits them.
const WIDEST: usize = 1664;
/// The work that a statement may make, in columns that are looked at: tenths of a second.
const WORK: usize = 20_000_000;
/// What a column that is copied counts for.
const COPIED: usize = 20;

pub struct Resolver<'a> {
    pub found: Found,
    pub names: &'a Names<'a>,
    places: SourceMap<'a>,
    work: usize,
}

/// Common table expressions, the nearest last.
pub type Ctes = Vec<(String, Columns)>;

/// What a query sees from outside: the levels around it, the innermost last, and common table expressions.
#[derive(Clone, Default)]
pub struct Around<'l> {
    pub levels: Vec<Seen<'l>>,
    pub ctes: Rc<Ctes>,
}

impl<'l> Around<'l> {
    pub fn with<'m>(&self, level: &'m Level) -> Around<'m>
    where
        'l: 'm,
    {
        self.with_items(level, 0)
    }

    /// With the row sources of a level from one on.
    pub fn with_items<'m>(&self, level: &'m Level, first: usize) -> Around<'m>
    where
        'l: 'm,
    {
        let mut levels: Vec<Seen<'m>> = self.levels.clone();
        levels.push(Seen { level, first });
        Around { levels, ctes: Rc::clone(&self.ctes) }
    }

    /// How many columns are seen.
    pub fn width(&self) -> usize {
        self.levels.iter().flat_map(Seen::items).map(|item| 1 + item.columns.columns.len()).sum()
    }

    fn add(&mut self, name: String, columns: Columns) {
        Rc::make_mut(&mut self.ctes).push((name, columns));
    }
}

/// A recursive common table expression that is being resolved: its place among all, and the names that its column
/// list gives.
struct Recursive {
    at: usize,
    listed: Vec<String>,
}

impl<'a> Resolver<'a> {
    pub fn new(sql: &'a str, names: &'a Names<'a>) -> Self {
        Self { found: Found::default(), names, places: SourceMap::of(sql), work: 0 }
    }

    /// Notes that so many columns are copied; false where it is too much.
    pub fn may_copy(&mut self, columns: usize) -> bool {
        self.may_look_at(columns.saturating_mul(COPIED))
    }

    /// Notes that so many columns are looked at; false where it is too much, which is then a problem.
    pub fn may_look_at(&mut self, columns: usize) -> bool {
        self.work = self.work.saturating_add(columns);
        let enough = self.work <= WORK;
        if !enough {
            self.problem(Span::empty(), "it names too many columns to be looked through");
        }
        enough
    }

    /// Whether enough has been found wrong to stop.
    fn is_over(&self) -> bool {
        self.work > WORK || self.found.problems.len() >= PROBLEMS
    }

    pub fn statement(&mut self, query: &Query) {
        self.query(query, &Around::default());
    }

    pub fn problem(&mut self, span: Span, message: impl AsRef<str>) {
        let message = message.as_ref();
        let problem =
            if span.start.line > 0 { format!("line {}: {message}", span.start.line) } else { message.to_owned() };
        if self.found.problems.len() < PROBLEMS && !self.found.problems.contains(&problem) {
            self.found.problems.push(problem);
        }
    }

    /// Notes that a table's name has no schema.
    pub fn unqualified(&mut self, ident: &Ident, table: &TableName) {
        self.found.reads.bare.insert(table.clone());
        if ident.span.start.line > 0 {
            let at = self.places.byte(ident.span.start);
            self.found.unqualified.push((at, format!("{}.", quote_identifier(&table.schema))));
        }
    }

    /// Resolves a query; gives the columns that it has for whoever reads it.
    pub fn query(&mut self, query: &Query, around: &Around) -> Columns {
        if self.is_over() {
            return Columns::open();
        }
        self.ordered(query, query.order_by.as_ref(), around, None)
    }

    /// A query in the order that it has, or that is written after the parentheses around it: to Postgres they are
    /// the same.
    fn ordered(
        &mut self,
        query: &Query,
        order_by: Option<&OrderBy>,
        around: &Around,
        recursive: Option<&Recursive>,
    ) -> Columns {
        let around = self.with(query.with.as_ref(), around);
        let columns = self.body(&query.body, order_by, &around, recursive);
        match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, limit_by }) => {
                self.visit(limit, &around);
                if let Some(offset) = offset {
                    self.visit(&offset.value, &around);
                }
                self.visit(limit_by, &around);
            }
            Some(LimitClause::OffsetCommaLimit { .. }) => {
                self.problem(Span::empty(), "LIMIT has one number in Postgres")
            }
            None => {}
        }
        if let Some(fetch) = &query.fetch {
            self.visit(&fetch.quantity, &around);
        }
        columns
    }

    fn with<'l>(&mut self, with: Option<&With>, around: &Around<'l>) -> Around<'l> {
        let mut around = around.clone();
        let Some(with) = with else { return around };
        let first = around.ctes.len();
        if with.recursive {
            // Each may read all of them; what a column list does not say is not known yet.
            for cte in &with.cte_tables {
                around.add(folded(&cte.alias.name), Columns::open().renamed(&listed(&cte.alias)));
            }
        }
        for (at, cte) in with.cte_tables.iter().enumerate() {
            let recursive = with.recursive.then(|| Recursive { at: first + at, listed: listed(&cte.alias) });
            let columns = self.ordered(&cte.query, cte.query.order_by.as_ref(), &around, recursive.as_ref());
            around.add(folded(&cte.alias.name), columns.computed().renamed(&listed(&cte.alias)));
        }
        around
    }

    fn body(
        &mut self,
        body: &SetExpr,
        order_by: Option<&OrderBy>,
        around: &Around,
        recursive: Option<&Recursive>,
    ) -> Columns {
        match body {
            SetExpr::Select(select) => self.select(select, order_by, around),
            SetExpr::Query(query) => {
                if query.order_by.is_some() && order_by.is_some() {
                    self.problem(Span::empty(), "a query has ORDER BY twice");
                }
                self.ordered(query, query.order_by.as_ref().or(order_by), around, recursive)
            }
            SetExpr::SetOperation { .. } => {
                let columns = self.set(body, around, recursive);
                self.order_by_output(order_by, &columns, around);
                columns
            }
            SetExpr::Values(values) => {
                for row in &values.rows {
                    self.visit(&row.content, around);
                }
                let width = values.rows.first().map_or(0, |row| row.content.len());
                let columns = (1..=width).map(|at| Column::computed(format!("column{at}"))).collect();
                let columns = Columns { columns, open: false };
                self.order_by_output(order_by, &columns, around);
                columns
            }
            SetExpr::Table(table) => {
                let parts = [&table.schema_name, &table.table_name].into_iter().flatten().cloned();
                let item = self.relation(&ObjectName::from(parts.collect::<Vec<_>>()), around);
                let columns = item.columns.clone();
                self.read_all(&columns);
                let level = Level { items: vec![item] };
                self.order(order_by, &columns, &around.with(&level));
                columns
            }
            // A statement that writes is refused before.
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => Columns::default(),
        }
    }

    /// UNION and its kind: the first part says the columns. They hang to the left, as deep as there are parts.
    fn set(&mut self, set: &SetExpr, around: &Around, recursive: Option<&Recursive>) -> Columns {
        let (mut first, mut others) = (set, Vec::new());
        while let SetExpr::SetOperation { left, right, .. } = first {
            others.push(right.as_ref());
            first = left;
        }
        let columns = self.body(first, None, around, None).computed();
        let mut around = around.clone();
        if let Some(recursive) = recursive
            && let Some((_, known)) = Rc::make_mut(&mut around.ctes).get_mut(recursive.at)
        {
            *known = columns.clone().renamed(&recursive.listed);
        }
        for other in others.into_iter().rev() {
            self.body(other, None, &around, None);
        }
        columns
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
        match &select.group_by {
            GroupByExpr::All(modifiers) => self.group_modifiers(modifiers, &output, &inside),
            GroupByExpr::Expressions(expressions, modifiers) => {
                expressions.iter().for_each(|expression| self.group(expression, &output, &inside));
                self.group_modifiers(modifiers, &output, &inside);
            }
        }
        if let Some(Distinct::On(expressions)) = &select.distinct {
            expressions.iter().for_each(|expression| self.name_or_expression(expression, &output, &inside, true));
        }
        self.order(order_by, &output, &inside);
        output
    }

    /// GROUP BY may name what the select list gives, in its sets, too.
    fn group(&mut self, expression: &Expr, output: &Columns, around: &Around) {
        match expression {
            Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
                sets.iter().flatten().for_each(|expression| self.group(expression, output, around));
            }
            Expr::Tuple(expressions) => {
                expressions.iter().for_each(|expression| self.group(expression, output, around))
            }
            expression => self.name_or_expression(expression, output, around, false),
        }
    }

    fn group_modifiers(&mut self, modifiers: &[GroupByWithModifier], output: &Columns, around: &Around) {
        for modifier in modifiers {
            if let GroupByWithModifier::GroupingSets(expression) = modifier {
                self.group(expression, output, around);
            }
        }
    }

    fn order(&mut self, order_by: Option<&OrderBy>, output: &Columns, around: &Around) {
        let ordering = order_by.into_iter().flat_map(ordering);
        ordering.for_each(|expression| self.name_or_expression(&expression.expr, output, around, true));
    }

    /// An expression that may be, as a whole, a name of the select list: before columns or after them.
    fn name_or_expression(&mut self, expression: &Expr, output: &Columns, around: &Around, output_first: bool) {
        let mut bare = expression;
        while let Expr::Nested(inner) = bare {
            bare = inner;
        }
        if let Expr::Value(value) = bare
            && matches!(value.value, Value::Placeholder(_))
        {
            // As a literal it would be a place in the select list.
            self.problem(value.span, "a param cannot say what to group or to order by");
        }
        let (Expr::Identifier(ident), Some(level)) = (bare, around.levels.last()) else {
            return self.visit(expression, around);
        };
        let name = folded(ident);
        let column = matches!(level.bare(&name), Meaning::Column(_) | Meaning::Ambiguous(_));
        if output.named(&name).next().is_some() && (output_first || !column) {
            return;
        }
        if output.open { self.bare(ident, around, true) } else { self.visit(bare, around) }
    }

    /// After UNION and its kind only names and places of the result can be ordered by.
    fn order_by_output(&mut self, order_by: Option<&OrderBy>, columns: &Columns, around: &Around) {
        for expression in order_by.into_iter().flat_map(ordering) {
            match &expression.expr {
                Expr::Identifier(ident) => {
                    let name = folded(ident);
                    if !columns.open && columns.named(&name).next().is_none() {
                        self.problem(ident.span, format!("column \"{name}\" does not exist in the result"));
                    }
                }
                other => {
                    let level = Level { items: vec![FromItem::new("", columns.clone())] };
                    self.visit(other, &around.with(&level));
                }
            }
        }
    }

    fn select_item(&mut self, item: &SelectItem, level: &Level, inside: &Around, output: &mut Columns) {
        match item {
            SelectItem::UnnamedExpr(expr) => {
                self.visit(expr, inside);
                match figure(expr) {
                    Figure::Named(name) | Figure::Typed(name) => output.columns.push(Column::computed(name)),
                    Figure::Unnamed => output.columns.push(Column::computed("?column?")),
                    // No name is empty.
                    Figure::Unsure => output.extend(Columns { columns: vec![Column::computed("")], open: true }),
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
                for item in level.items.iter().filter(|item| item.bare) {
                    self.add_all(&item.columns, output);
                }
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                if let Some(columns) = self.qualified(name, inside) {
                    self.add_all(&columns, output);
                }
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(expr), _) => {
                self.visit(expr, inside);
                output.open = true;
            }
        }
    }

    fn add_all(&mut self, columns: &Columns, output: &mut Columns) {
        self.read_all(columns);
        if output.columns.len() + columns.columns.len() > WIDEST {
            self.problem(Span::empty(), format!("a query has at most {WIDEST} columns"));
            output.open = true;
        } else if self.may_copy(columns.columns.len()) {
            output.extend(columns.clone().computed());
        }
    }

    pub fn read_all(&mut self, columns: &Columns) {
        let tables = columns.columns.iter().flat_map(|column| &column.sources).map(|(table, _)| table);
        if let Some(wider) = tables.clone().find(|table| self.names.is_wider(table)) {
            let what =
                format!("all columns of {wider} are more than the datasource takes in: name those that are meant");
            self.problem(Span::empty(), what);
        }
        for (table, name) in columns.columns.iter().flat_map(|column| &column.sources) {
            self.found.reads.add(table, name);
            self.found.reads.whole.insert(table.clone());
        }
    }

    pub fn read(&mut self, column: &Column) {
        for (table, name) in &column.sources {
            self.found.reads.add(table, name);
            self.found.named.add(table, name);
        }
    }

    pub fn visit(&mut self, part: &impl Visit, around: &Around) {
        if self.is_over() {
            return;
        }
        crate::sql::resolve::expression::Expressions::new(self, around).each(part);
    }
}

fn listed(alias: &TableAlias) -> Vec<String> {
    alias.columns.iter().map(|column| folded(&column.name)).collect()
}

fn ordering(order_by: &OrderBy) -> &[OrderByExpr] {
    match &order_by.kind {
        OrderByKind::Expressions(expressions) => expressions,
        OrderByKind::All(_) => &[],
    }
}
