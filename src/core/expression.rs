//! The names in expressions. Subqueries are resolved on a level of their own.

use crate::resolve::{Around, Resolver};
use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, InTarget, Query, Visitor,
};
use sqlparser::tokenizer::Span;
use std::ops::ControlFlow;

/// Words that look like names and are functions without parentheses.
const NO_NAMES: [&str; 10] = [
    "current_catalog", "current_date", "current_role", "current_schema", "current_time", "current_timestamp", "current_user",
    "localtime", "localtimestamp", "session_user",
];
const USER: [&str; 2] = ["user", "system_user"];

pub struct Expressions<'r, 'a, 'l> {
    pub resolver: &'r mut Resolver<'a>,
    pub around: &'r Around<'l>,
    /// How many subqueries the visit is in: those have been resolved.
    pub depth: usize,
    /// Where names of arguments stand, which are no columns.
    pub skipped: Vec<Span>,
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
            Expr::Identifier(ident) if !self.is_no_column(ident) => self.resolver.bare(ident, self.around),
            Expr::CompoundIdentifier(parts) => self.resolver.compound(parts, self.around),
            Expr::Function(function) => self.function(function),
            Expr::In { target: InTarget::Table { name, .. }, .. } => {
                let span = name.0.first().and_then(|part| part.as_ident()).map_or_else(Span::empty, |ident| ident.span);
                self.resolver.problem(span, "IN wants a list or a subquery");
            }
            // What follows the dot is a field, not a column.
            Expr::CompoundFieldAccess { access_chain, .. } => {
                for access in access_chain {
                    if let sqlparser::ast::AccessExpr::Dot(Expr::Identifier(field)) = access {
                        self.skipped.push(field.span);
                    }
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl Expressions<'_, '_, '_> {
    fn is_no_column(&self, ident: &Ident) -> bool {
        let word = ident.value.to_ascii_lowercase();
        let unquoted = ident.quote_style.is_none();
        (unquoted && (NO_NAMES.contains(&word.as_str()) || USER.contains(&word.as_str())))
            // A literal that the parser takes for a name.
            || ident.quote_style == Some('\'')
            || (ident.span.start.line > 0 && self.skipped.contains(&ident.span))
    }

    /// `count(t.*)` reads whole rows; the name in `f(name => 1)` is no column.
    fn function(&mut self, function: &Function) {
        for arguments in [&function.parameters, &function.args] {
            let FunctionArguments::List(FunctionArgumentList { args, .. }) = arguments else { continue };
            for arg in args {
                let value = match arg {
                    FunctionArg::Unnamed(value) | FunctionArg::Named { arg: value, .. } => value,
                    FunctionArg::ExprNamed { name, arg: value, operator } => {
                        if let (Expr::Identifier(name), false) = (name, *operator == sqlparser::ast::FunctionArgOperator::Colon) {
                            self.skipped.push(name.span);
                        }
                        value
                    }
                };
                if let FunctionArgExpr::QualifiedWildcard(name) = value
                    && let Some(columns) = self.resolver.qualified(name, self.around)
                {
                    self.resolver.read_all(&columns);
                }
            }
        }
    }
}
