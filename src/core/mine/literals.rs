//! The constants of a statement that params may replace, and what each is compared with.

use crate::curated::param::ParamType;
use crate::mine::ast::{arguments, cast_type, function_name, is_arithmetic, is_constant, unnamed};
use crate::mine::comparand::{Comparand, RowSources};
use crate::mine::normalized_sql::NormalizedSql;
use crate::mine::operand::{Leaf, bare, elements, leaves, literal_type, placeholder_name};
use crate::sql::parse::folded;
use crate::sql::source_map::SourceMap;
use sqlparser::ast::{
    BinaryOperator, Expr, Function, InTarget, JoinConstraint, JoinOperator, LimitClause, Query, Select, SelectItem,
    SetExpr, TableFactor, TableFunctionArgs, TableWithJoins, Value, ValueWithSpan, Visit, Visitor,
};
use sqlparser::tokenizer::Location;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};

/// The place of a constant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Site {
    /// All places of the placeholder with this name.
    Placeholder(String),
    /// A literal, by its first byte and the byte after it.
    Literal(usize, usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Lower,
    Upper,
}

/// What is known of a constant.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LiteralInfo {
    pub name: Option<String>,
    pub param_type: Option<ParamType>,
    /// The column that it bounds.
    pub bound: Option<(String, Bound)>,
    /// A bound of a BETWEEN.
    pub between: bool,
    /// The count of LIMIT or OFFSET, which is compared with no column.
    pub rows: bool,
}

/// The constants of a statement.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    pub known: BTreeMap<Site, LiteralInfo>,
    /// The number of places where a placeholder's value does not matter: `count($1)`, `EXISTS (SELECT $1 …)`.
    pub idle: BTreeMap<String, usize>,
}

/// Finds the constants of a statement, except placeholders about which nothing is known and literals that stay.
pub(crate) fn constants(query: &Query, text: &NormalizedSql, sources: &RowSources) -> Constants {
    let mut found = Constants::default();
    for name in &text.dates {
        let known = LiteralInfo { param_type: Some(ParamType::Date), ..LiteralInfo::default() };
        found.known.insert(Site::Placeholder(name.clone()), known);
    }
    let mut walk = LiteralFinder { text, sources, places: SourceMap::of(&text.sql), filtering: BTreeSet::new(), found };
    let _ = query.visit(&mut walk);
    walk.found
}

struct LiteralFinder<'a> {
    text: &'a NormalizedSql,
    sources: &'a RowSources<'a>,
    places: SourceMap<'a>,
    /// Where the literals of WHERE, HAVING, ON, LIMIT and OFFSET start.
    filtering: BTreeSet<(u64, u64)>,
    found: Constants,
}

fn place(location: Location) -> (u64, u64) {
    (location.line, location.column)
}

impl Visitor for LiteralFinder<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let (limit, offset) = match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, .. }) => {
                (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
            }
            _ => (None, None),
        };
        let fetch = query.fetch.as_ref().and_then(|fetch| fetch.quantity.as_ref());
        for (expr, name) in [(limit, "n"), (fetch, "n"), (offset, "skip")] {
            let Some(expr) = expr else { continue };
            self.filter(expr);
            let known = LiteralInfo {
                name: Some(name.to_owned()),
                param_type: Some(ParamType::Int),
                rows: true,
                ..LiteralInfo::default()
            };
            for leaf in leaves(expr) {
                self.record(&leaf, known.clone());
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        for expr in select.selection.iter().chain(&select.having) {
            self.filter(expr);
        }
        select.from.iter().for_each(|from| self.joins(from));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::NestedJoin { table_with_joins, .. } => self.joins(table_with_joins),
            // Constants of dates would have a type.
            TableFactor::Table { name, args: Some(TableFunctionArgs { args, .. }), .. }
                if name
                    .0
                    .last()
                    .and_then(|part| part.as_ident())
                    .is_some_and(|name| folded(name) == "generate_series") =>
            {
                unnamed(args).into_iter().for_each(|argument| self.typed(argument, ParamType::Int));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        use BinaryOperator as Op;
        match expr {
            Expr::BinaryOp { left, op, right } => match op {
                Op::Eq | Op::NotEq => self.compare(left, right, None),
                Op::Gt | Op::GtEq => self.compare(left, right, Some(Bound::Lower)),
                Op::Lt | Op::LtEq => self.compare(left, right, Some(Bound::Upper)),
                Op::PGRegexMatch
                | Op::PGRegexIMatch
                | Op::PGRegexNotMatch
                | Op::PGRegexNotIMatch
                | Op::PGLikeMatch
                | Op::PGILikeMatch
                | Op::PGNotLikeMatch
                | Op::PGNotILikeMatch
                | Op::PGStartsWith
                | Op::PGOverlap
                | Op::AtAt
                | Op::AtArrow
                | Op::ArrowAt
                | Op::Question => self.text(left, right),
                _ if is_arithmetic(op) => {
                    self.arithmetic(op, left, right);
                    self.arithmetic(op, right, left);
                }
                _ => {}
            },
            Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => self.compare(left, right, None),
            Expr::In { expr, target: InTarget::List(items), .. } => {
                items.iter().for_each(|item| self.compare(expr, item, None))
            }
            Expr::Between { expr, low, high, .. } => {
                self.between(low, expr, Bound::Lower);
                self.between(high, expr, Bound::Upper);
                self.side(expr, low, None);
            }
            Expr::Like { expr, pattern, .. }
            | Expr::ILike { expr, pattern, .. }
            | Expr::SimilarTo { expr, pattern, .. }
            | Expr::RLike { expr, pattern, .. } => self.text(expr, pattern),
            Expr::AnyOp { left, right, .. } | Expr::AllOp { left, right, .. } => match elements(right) {
                Some(items) => items.iter().for_each(|item| self.compare(left, item, None)),
                None => self.text(left, right),
            },
            Expr::Cast { expr: inner, data_type, .. } => self.typed(inner, cast_type(data_type)),
            Expr::Substring { substring_from, substring_for, .. } => {
                substring_from.iter().chain(substring_for).for_each(|place| self.typed(place, ParamType::Int));
            }
            Expr::Exists { subquery, .. } => {
                if let SetExpr::Select(select) = subquery.body.as_ref() {
                    for item in &select.projection {
                        if let SelectItem::UnnamedExpr(expr) = item {
                            self.idle(expr);
                        }
                    }
                }
            }
            Expr::Function(function) => self.function(function),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl LiteralFinder<'_> {
    /// A comparison. `bound` tells which bound of the left side the right side is.
    fn compare(&mut self, left: &Expr, right: &Expr, bound: Option<Bound>) {
        if let (Expr::Tuple(left), Expr::Tuple(right)) = (bare(left), bare(right))
            && left.len() == right.len()
        {
            return left.iter().zip(right).for_each(|(left, right)| self.compare(left, right, None));
        }
        self.side(right, left, bound);
        let other = bound.map(|bound| if bound == Bound::Lower { Bound::Upper } else { Bound::Lower });
        self.side(left, right, other);
    }

    /// The constants of one side of a comparison.
    fn side(&mut self, side: &Expr, other: &Expr, bound: Option<Bound>) {
        self.add(side, other, |known, comparand| {
            known.param_type = known.param_type.or(comparand.param_type);
            known.bound = bound.map(|bound| (comparand.column.clone(), bound));
        });
    }

    fn between(&mut self, side: &Expr, other: &Expr, bound: Bound) {
        self.add(side, other, |known, comparand| {
            known.param_type = known.param_type.or(comparand.param_type);
            known.bound = Some((comparand.column.clone(), bound));
            known.between = true;
        });
    }

    /// A pattern, a list or a document: a string, whatever the column's type is.
    fn text(&mut self, left: &Expr, right: &Expr) {
        for (side, other) in [(right, left), (left, right)] {
            self.add(side, other, |known, _| known.param_type = known.param_type.or(Some(ParamType::String)));
        }
    }

    fn add(&mut self, side: &Expr, other: &Expr, update: impl Fn(&mut LiteralInfo, &Comparand)) {
        let leaves = leaves(side);
        if leaves.is_empty() {
            return;
        }
        // In a side that has a column itself, a constant is not compared with the other side.
        let alone = is_constant(side);
        let comparand = if alone { self.sources.comparand(other) } else { None };
        let replaceable = !alone || !is_constant(other);
        for leaf in leaves {
            let literal = !matches!(leaf.value.value, Value::Placeholder(_));
            if literal && (!replaceable || leaf.joined) {
                continue;
            }
            let mut known = LiteralInfo { param_type: leaf.cast, ..LiteralInfo::default() };
            if let (Some(comparand), true) = (&comparand, leaf.head || leaf.joined) {
                known.name.clone_from(&comparand.name);
                update(&mut known, comparand);
            }
            self.record(&leaf, known);
        }
    }

    /// Records a constant; the first finding wins. A literal must be in a clause that filters.
    fn record(&mut self, leaf: &Leaf, mut known: LiteralInfo) {
        let site = match &leaf.value.value {
            Value::Placeholder(name) => Site::Placeholder(name.trim_start_matches(':').to_owned()),
            literal => {
                let start = leaf.value.span.start;
                let Some(own) = literal_type(literal).filter(|_| self.filtering.contains(&place(start))) else {
                    return;
                };
                let Some(Range { start, end }) = self.text.literal(self.places.byte(start), leaf.signed, leaf.typed)
                else {
                    return;
                };
                known.param_type = match known.param_type {
                    Some(ParamType::Int) if own == ParamType::Float => Some(own),
                    None => Some(own),
                    other => other,
                };
                Site::Literal(start, end)
            }
        };
        let old = self.found.known.entry(site).or_default();
        if old.name.is_none() && known.name.is_some() {
            *old = LiteralInfo { param_type: old.param_type.or(known.param_type), ..known };
        } else {
            old.param_type = old.param_type.or(known.param_type);
        }
    }

    /// Gives a placeholder that is compared with no column a type: an untyped literal in its place might be ambiguous.
    fn typed(&mut self, expr: &Expr, param_type: ParamType) {
        if let Some(name) = placeholder_name(expr) {
            let old = self.found.known.entry(Site::Placeholder(name.to_owned())).or_default();
            old.param_type = old.param_type.or(Some(param_type));
        }
    }

    fn arithmetic(&mut self, op: &BinaryOperator, operand: &Expr, other: &Expr) {
        let adds = matches!(op, BinaryOperator::Plus | BinaryOperator::Minus);
        let dated = |name: &str| self.text.dates.contains(name);
        let param_type = match bare(other) {
            Expr::Cast { data_type, .. } => Some(cast_type(data_type)),
            Expr::TypedString(typed) => Some(cast_type(&typed.data_type)),
            Expr::Function(function) if function_name(function).is_some_and(|name| name == "current_date") => {
                Some(ParamType::Date)
            }
            other if placeholder_name(other).is_some_and(dated) => Some(ParamType::Date),
            other => self.sources.comparand(other).and_then(|comparand| comparand.param_type),
        };
        match param_type {
            _ if !adds => self.typed(bare(operand), ParamType::Float),
            Some(ParamType::Int | ParamType::Float) => self.typed(bare(operand), ParamType::Float),
            Some(ParamType::Date) => self.typed(bare(operand), ParamType::Int),
            _ => {}
        }
    }

    fn function(&mut self, function: &Function) {
        let args = arguments(function);
        match (function_name(function).as_deref(), args.as_slice()) {
            (Some("count"), [argument]) => self.idle(argument),
            (Some("sum" | "avg"), [Expr::Case { conditions, else_result, .. }]) => {
                let results = conditions.iter().map(|when| &when.result).chain(else_result.as_deref());
                results.for_each(|result| self.typed(result, ParamType::Float));
            }
            (Some("sum" | "avg" | "percentile_cont" | "percentile_disc"), [argument]) => {
                self.typed(argument, ParamType::Float)
            }
            _ => {}
        }
    }

    fn idle(&mut self, expr: &Expr) {
        if let Some(name) = placeholder_name(expr) {
            *self.found.idle.entry(name.to_owned()).or_default() += 1;
        }
    }

    /// Records which literals of a clause may become params.
    fn filter(&mut self, expr: &Expr) {
        let mut filter = Filter { depth: 0, filtering: &mut self.filtering };
        let _ = expr.visit(&mut filter);
    }

    fn joins(&mut self, from: &TableWithJoins) {
        for join in &from.joins {
            match &join.join_operator {
                JoinOperator::Join(JoinConstraint::On(on))
                | JoinOperator::Inner(JoinConstraint::On(on))
                | JoinOperator::Left(JoinConstraint::On(on))
                | JoinOperator::LeftOuter(JoinConstraint::On(on))
                | JoinOperator::Right(JoinConstraint::On(on))
                | JoinOperator::RightOuter(JoinConstraint::On(on))
                | JoinOperator::FullOuter(JoinConstraint::On(on)) => self.filter(on),
                _ => {}
            }
        }
    }
}

/// Collects where literals start, except in subqueries, which have clauses of their own.
struct Filter<'f> {
    depth: usize,
    filtering: &'f mut BTreeSet<(u64, u64)>,
}

impl Visitor for Filter<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> ControlFlow<()> {
        if self.depth == 0 {
            self.filtering.insert(place(value.span.start));
        }
        ControlFlow::Continue(())
    }
}
