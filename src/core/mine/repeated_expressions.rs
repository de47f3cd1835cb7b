//! Finds constants that are replaced at one place of a statement but not at another. If GROUP BY, ORDER BY, DISTINCT ON
//! or a window repeats an expression, Postgres keeps it once, and pg_stat_statements replaces the constants only there.

use crate::sql::placeholder;
use sqlparser::ast::{
    Distinct, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, GroupByExpr,
    Ident, ObjectName, OrderByKind, Query, Select, SelectItem, SetExpr, Value, Visit, VisitMut, Visitor, VisitorMut,
    WindowSpec, WindowType,
};
use sqlparser::tokenizer::Token;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The original literals of placeholders, by name, as far as repeated expressions show them.
pub(crate) fn values(query: &Query) -> BTreeMap<String, String> {
    let mut levels = Levels::default();
    let _ = query.visit(&mut levels);
    levels.values
}

#[derive(Default)]
struct Levels {
    values: BTreeMap<String, String>,
}

impl Visitor for Levels {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if let (SetExpr::Select(select), Some(order_by)) = (query.body.as_ref(), &query.order_by)
            && let OrderByKind::Expressions(expressions) = &order_by.kind
        {
            self.learn(select, expressions.iter().map(|ordered| &ordered.expr));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.learn(select, std::iter::empty());
        ControlFlow::Continue(())
    }
}

impl Levels {
    /// Learns from the repeated expressions of one query level.
    fn learn<'e>(&mut self, select: &'e Select, order_by: impl Iterator<Item = &'e Expr>) {
        let items = select.projection.iter().filter_map(|item| match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
            _ => None,
        });
        let mut expressions: Vec<Expr> = items.chain(order_by).cloned().collect();
        if let GroupByExpr::Expressions(grouped, _) = &select.group_by {
            expressions.extend(grouped.iter().cloned());
        }
        if let Some(Distinct::On(distinct)) = &select.distinct {
            expressions.extend(distinct.iter().cloned());
        }
        let mut windows = Windows { depth: 0, expressions: Vec::new() };
        let _ = select.projection.visit(&mut windows);
        let _ = select.named_window.visit(&mut windows);
        expressions.extend(windows.expressions);
        let mut known: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
        for (text, constants) in expressions.into_iter().filter_map(blanked) {
            known.entry(text).or_default().push(constants);
        }
        for alike in known.values().filter(|alike| alike.len() > 1) {
            let literal = |at: usize| {
                alike.iter().filter_map(|constants| constants.get(at)).find(|constant| !constant.starts_with(':'))
            };
            for constants in alike {
                for (constant, at) in constants.iter().zip(0..) {
                    if let (Some(name), Some(literal)) = (constant.strip_prefix(':'), literal(at)) {
                        self.values.entry(name.to_owned()).or_insert_with(|| literal.clone());
                    }
                }
            }
        }
    }
}

/// The text of an expression without its constants, and the constants. `None` if it has nothing but constants.
fn blanked(mut expr: Expr) -> Option<(String, Vec<String>)> {
    if crate::mine::ast::is_constant(&expr) {
        return None;
    }
    let _ = VisitMut::visit(&mut expr, &mut ExtractAsCall);
    let mut text = String::new();
    let mut constants = Vec::new();
    for token in placeholder::tokens(&expr.to_string()).ok()?.tokens {
        match token.token {
            Token::Placeholder(_) | Token::Number(..) | Token::SingleQuotedString(_) => {
                constants.push(match token.token {
                    Token::SingleQuotedString(text) => format!("'{}'", text.replace('\'', "''")),
                    other => other.to_string(),
                });
                text.push('\0'); // occurs nowhere else
            }
            // Fold as Postgres does; a quoted name keeps its quotes.
            Token::Word(word) if word.quote_style.is_none() => text.push_str(&word.value.to_ascii_lowercase()),
            other => text.push_str(&other.to_string()),
        }
    }
    (!constants.is_empty()).then_some((text, constants))
}

/// Rewrites EXTRACT as a call of `date_part`, the form that EXTRACT with a replaced field has.
struct ExtractAsCall;

impl VisitorMut for ExtractAsCall {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Extract { field, expr: inner, .. } = &*expr {
            let field = Expr::Value(Value::SingleQuotedString(field.to_string().to_ascii_lowercase()).into());
            let args = [field, inner.as_ref().clone()].map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)));
            *expr = Expr::Function(Function {
                name: ObjectName::from(vec![Ident::new("date_part")]),
                uses_odbc_syntax: false,
                parameters: FunctionArguments::None,
                args: FunctionArguments::List(FunctionArgumentList {
                    duplicate_treatment: None,
                    args: args.into(),
                    clauses: Vec::new(),
                }),
                filter: None,
                null_treatment: None,
                over: None,
                within_group: Vec::new(),
            });
        }
        ControlFlow::Continue(())
    }
}

/// Collects the PARTITION BY and ORDER BY expressions of one level's windows.
struct Windows {
    depth: usize,
    expressions: Vec<Expr>,
}

impl Windows {
    fn add(&mut self, window: &WindowSpec) {
        let ordered = window.order_by.iter().map(|ordered| &ordered.expr);
        self.expressions.extend(window.partition_by.iter().chain(ordered).cloned());
    }
}

impl Visitor for Windows {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::Function(Function { over: Some(WindowType::WindowSpec(window)), .. }) = expr
            && self.depth == 0
        {
            self.add(window);
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::parse;

    fn found(sql: &str) -> Vec<(String, String)> {
        values(&parse::parse(sql).unwrap().query).into_iter().collect()
    }

    #[test]
    fn repeated_expressions_show_constants() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let month = [pair("p1", "'month'")];
        assert_eq!(found("SELECT date_trunc(:p1, d), count(:p2) FROM t GROUP BY Date_Trunc('month', d)"), month);
        assert_eq!(found("SELECT date_trunc(:p1, d) FROM t ORDER BY date_trunc('month', d)"), month);
        assert_eq!(found("SELECT count(*) FROM t GROUP BY date_trunc(:p1, d) ORDER BY date_trunc('month', d)"), month);
        assert_eq!(found("SELECT DISTINCT ON (date_trunc('month', d)) date_trunc(:p1, d) FROM t"), month);
        assert_eq!(found("SELECT date_trunc(:p1, d), rank() OVER (ORDER BY date_trunc('month', d)) FROM t"), month);
        assert_eq!(found("SELECT EXTRACT(YEAR FROM d), date_part(:p1, d) FROM t"), [pair("p1", "'year'")]);
        let bands = "SELECT CASE WHEN a > :p1 THEN :p2 ELSE :p3 END FROM t GROUP BY CASE WHEN a > 1.5 THEN 'it''s' ELSE 'x' END";
        assert_eq!(found(bands), [pair("p1", "1.5"), pair("p2", "'it''s'"), pair("p3", "'x'")]);
    }

    #[test]
    fn other_expressions_show_nothing() {
        for sql in [
            "SELECT :p1 FROM t GROUP BY 1 ORDER BY 'x'",
            "SELECT f(:p1, d) FROM t GROUP BY f('a', \"D\")",
            "SELECT f(:p1, d), f(:p2, d) FROM t",
            "SELECT f(:p1, d), (SELECT f('a', d) FROM t) FROM t",
        ] {
            assert_eq!(found(sql), [], "{sql}");
        }
    }
}
