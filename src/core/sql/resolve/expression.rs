//! The names in expressions. Subqueries are resolved on a level of their own.

use crate::catalog::identifier::{TableName, shown};
use crate::similar_names::near_names;
use crate::sql::parse::{beyond_reading, folded};
use crate::sql::reads::{Reads, column_key, perhaps};
use crate::sql::resolve::scope::{Column, Columns, FromItem, Meaning, Seen};
use crate::sql::resolve::{Around, Resolver};
use sqlparser::ast::{
    AccessExpr, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgOperator, FunctionArgumentList,
    FunctionArguments, Ident, InTarget, ObjectName, Query, Visit, Visitor,
};
use sqlparser::tokenizer::Span;
use std::ops::ControlFlow;

/// Words that look like names and are functions without parentheses.
const NO_NAMES: [&str; 11] = [
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "localtime",
    "localtimestamp",
    "session_user",
    "user",
];
/// What `normalize(text, form)` may have in its second place.
const FORMS: [&str; 4] = ["nfc", "nfd", "nfkc", "nfkd"];
/// One that is a name before Postgres 16.
const PERHAPS_NO_NAME: &str = "system_user";

pub struct Expressions<'r, 'a, 'l> {
    resolver: &'r mut Resolver<'a>,
    around: &'r Around<'l>,
    /// How many subqueries the visit is in: those have been resolved.
    depth: usize,
    /// Where names stand that are no columns, or have been resolved.
    skipped: Vec<Span>,
}

impl Visitor for Expressions<'_, '_, '_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if self.depth == 0 {
            self.resolver.query(query, self.around);
        }
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        match expr {
            Expr::Identifier(ident) if !self.is_no_column(ident) => {
                let open = ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case(PERHAPS_NO_NAME);
                self.resolver.bare(ident, self.around, open);
            }
            Expr::CompoundIdentifier(parts) => self.resolver.compound(parts, self.around),
            Expr::QualifiedWildcard(name, _) => self.whole_row(name),
            Expr::Function(function) => self.function(function),
            Expr::In { target: InTarget::Table { name, .. }, .. } => {
                let span = name.0.first().and_then(|part| part.as_ident()).map_or_else(Span::empty, |ident| ident.span);
                self.resolver.problem(span, "IN wants a list or a subquery");
            }
            Expr::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl<'r, 'a, 'l> Expressions<'r, 'a, 'l> {
    pub fn new(resolver: &'r mut Resolver<'a>, around: &'r Around<'l>) -> Self {
        Self { resolver, around, depth: 0, skipped: Vec::new() }
    }

    /// Resolves every name in a part of a statement.
    pub fn each(&mut self, part: &impl Visit) {
        // It never breaks off.
        let _ = part.visit(self);
    }

    fn is_no_column(&self, ident: &Ident) -> bool {
        let unquoted = ident.quote_style.is_none();
        (unquoted && NO_NAMES.iter().any(|word| ident.value.eq_ignore_ascii_case(word)))
            // A literal that the parser takes for a name.
            || ident.quote_style == Some('\'')
            || (ident.span.start.line > 0 && self.skipped.contains(&ident.span))
    }

    /// What stands before the first subscript is a column, as `t.column[1]`, unless it is in parentheses; what follows
    /// are fields.
    fn access(&mut self, root: &Expr, chain: &[AccessExpr]) {
        let mut chain = chain.iter().peekable();
        if let Expr::Identifier(ident) = root {
            let mut column = vec![ident.clone()];
            while let Some(AccessExpr::Dot(Expr::Identifier(ident))) = chain.peek() {
                column.push(ident.clone());
                chain.next();
            }
            if column.len() > 1 {
                self.skipped.extend(column.iter().map(|ident| ident.span));
                self.resolver.compound(&column, self.around);
            }
        }
        for access in chain {
            if let AccessExpr::Dot(Expr::Identifier(field)) = access {
                self.skipped.push(field.span);
                self.resolver.field(field);
            }
        }
    }

    fn function(&mut self, function: &Function) {
        if let (Some(name), FunctionArguments::List(list)) =
            (function.name.0.last().and_then(|part| part.as_ident()), &function.args)
            && folded(name) == "normalize"
            && let [_, FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(form)))] = list.args.as_slice()
            && form.quote_style.is_none()
            && FORMS.iter().any(|word| form.value.eq_ignore_ascii_case(word))
        {
            self.skipped.push(form.span);
        }
        for arguments in [&function.parameters, &function.args] {
            if let FunctionArguments::List(FunctionArgumentList { args, .. }) = arguments {
                self.arguments(args);
            }
        }
    }

    /// `count(t.*)` reads whole rows; the name in `f(name => 1)` is no column, while `json_object(name VALUE 1)` has
    /// one.
    pub fn arguments(&mut self, args: &[FunctionArg]) {
        for arg in args {
            let value = match arg {
                FunctionArg::Unnamed(value) => value,
                FunctionArg::Named { arg: value, name, operator } => {
                    if !names(operator) {
                        self.resolver.bare(name, self.around, false);
                    }
                    value
                }
                FunctionArg::ExprNamed { name, arg: value, operator } => {
                    if let (Expr::Identifier(name), true) = (name, names(operator)) {
                        self.skipped.push(name.span);
                    }
                    value
                }
            };
            if let FunctionArgExpr::QualifiedWildcard(name) = value {
                self.whole_row(name);
            }
        }
    }

    fn whole_row(&mut self, name: &ObjectName) {
        if let Some(columns) = self.resolver.qualified(name, self.around) {
            self.resolver.read_all(&columns);
        }
    }
}

/// Whether what stands before it is the name of an argument, or a word of the syntax, as in `XMLPARSE(DOCUMENT x)`.
fn names(operator: &FunctionArgOperator) -> bool {
    matches!(operator, FunctionArgOperator::RightArrow | FunctionArgOperator::Assignment | FunctionArgOperator::Space)
}

impl Resolver<'_> {
    /// The columns of `t` in `t.*` or `schema.t.*`.
    pub fn qualified(&mut self, name: &ObjectName, around: &Around) -> Option<Columns> {
        let parts: Vec<&Ident> = name.0.iter().filter_map(|part| part.as_ident()).collect();
        let item = self.item(&parts, around)?;
        self.may_copy(item.columns.columns.len()).then(|| item.columns.clone())
    }

    /// The row source that `t` or `schema.t` names, the innermost first.
    fn item<'l>(&mut self, parts: &[&Ident], around: &Around<'l>) -> Option<&'l FromItem> {
        let find = |level: &Seen<'l>| match parts {
            [name] => level.named(&folded(name)),
            [schema, name] => level.table(&TableName::new(folded(schema), folded(name))),
            _ => Vec::new(),
        };
        let found = around.levels.iter().rev().map(find).find(|found| !found.is_empty()).unwrap_or_default();
        if let (true, [.., last]) = (found.len() > 1, parts) {
            self.problem(last.span, format!("table name \"{}\" is ambiguous", shown(&folded(last))));
        }
        if let (true, [first, ..]) = (found.is_empty(), parts) {
            self.problem(first.span, format!("\"{}\" is not in the FROM clause", shown(&folded(first))));
        }
        found.first().copied()
    }

    /// A bare name. `open`: it may also be something that only the server knows.
    pub fn bare(&mut self, ident: &Ident, around: &Around, mut open: bool) {
        let name = folded(ident);
        if !self.may_look_at(around.width()) {
            return;
        }
        for level in around.levels.iter().rev() {
            match level.bare(&name) {
                Meaning::Column(column) => return self.read(column),
                Meaning::Ambiguous(columns) if open => return columns.into_iter().for_each(|column| self.read(column)),
                Meaning::Ambiguous(columns) => return self.ambiguous(ident, &name, &columns),
                Meaning::System => return self.problem(ident.span, format!("column \"{name}\" is the system's")),
                Meaning::Open => open = true,
                Meaning::Nothing => {}
            }
        }
        let rows = around.levels.iter().rev().map(|level| level.named(&name)).find(|found| !found.is_empty());
        if let Some(rows) = rows {
            return rows.into_iter().for_each(|item| self.read_all(&item.columns));
        }
        if !open {
            let visible = around.levels.iter().flat_map(Seen::items).flat_map(|item| &item.columns.columns);
            let near = near_names(&name, visible.map(|column| column.name.as_str()));
            self.problem(ident.span, format!("column \"{}\" does not exist{}", shown(&name), perhaps(&near)));
        }
    }

    fn ambiguous(&mut self, ident: &Ident, name: &str, columns: &[&Column]) {
        let mut may = Reads::default();
        for (table, column) in columns.iter().flat_map(|column| &column.sources) {
            may.add(table, column);
            self.found.ambiguous.add(table, column);
        }
        let may = may.columns();
        let may = if may.is_empty() { String::new() } else { format!(": it may be {}", may.join(" or ")) };
        self.problem(ident.span, format!("column \"{}\" is ambiguous{may}", shown(name)));
    }

    /// `t.column` or `schema.t.column`.
    pub fn compound(&mut self, parts: &[Ident], around: &Around) {
        let Some((last, before)) = parts.split_last() else { return };
        let before: Vec<&Ident> = before.iter().collect();
        let Some(item) = self.item(&before, around) else { return };
        let name = folded(last);
        if !self.may_look_at(item.columns.columns.len()) {
            return;
        }
        let found: Vec<&Column> = item.columns.named(&name).collect();
        match found.as_slice() {
            [column] => self.read(column),
            // What a function is applied to may be written before it.
            [] if item.columns.open => self.field(last),
            [] => {
                let key = item
                    .table
                    .as_ref()
                    .map_or_else(|| format!("{}.{name}", item.name), |table| column_key(table, &name));
                let near = near_names(&name, item.columns.columns.iter().map(|column| column.name.as_str()));
                self.problem(last.span, format!("column {} does not exist{}", shown(&key), perhaps(&near)));
            }
            _ => self.ambiguous(last, &name, &found),
        }
    }

    /// `(row).field`, which may also be `function(row)`.
    pub fn field(&mut self, ident: &Ident) {
        if let Some(refusal) = beyond_reading(&folded(ident)) {
            self.problem(ident.span, refusal);
        }
    }
}
