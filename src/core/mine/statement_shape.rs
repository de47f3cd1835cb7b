//! The shape of a statement: equal for statements that differ only in constants, letter case, white space, the number of
//! elements in a list and the order of the select list.

use crate::catalog::identifier::quote_identifier;
use crate::mine::comparand::RowSources;
use crate::sql::parse::folded;
use sqlparser::ast::{
    Expr, GroupByExpr, Ident, InTarget, ObjectName, OrderByKind, Query, SetExpr, TableFactor, Value, ValueWithSpan,
    VisitMut, VisitorMut,
};
use std::ops::ControlFlow;

/// Returns the shape of a statement with placeholders. Tables are compared by their full names.
pub(crate) fn shape(mut query: Query, sources: &RowSources) -> String {
    let _ = query.visit(&mut ShapeNormalizer { sources });
    sort_select_list(&mut query);
    query.to_string()
}

struct ShapeNormalizer<'a> {
    sources: &'a RowSources<'a>,
}

impl VisitorMut for ShapeNormalizer<'_> {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, args: None, .. } = factor
            && let Some(table) = self.sources.table(name)
        {
            *name = ObjectName::from([&table.schema, &table.name].map(|part| Ident::with_quote('"', part)).to_vec());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_value(&mut self, value: &mut ValueWithSpan) -> ControlFlow<()> {
        if let Value::Placeholder(name) = &mut value.value {
            *name = ":".to_owned();
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_ident(&mut self, ident: &mut Ident) -> ControlFlow<()> {
        let name = folded(ident);
        if ident.quote_style != Some('\'') {
            ident.quote_style = (quote_identifier(&name) != name && !name.is_empty()).then_some('"');
        }
        ident.value = name;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::In { target: InTarget::List(items), .. } => one_of(items),
            Expr::Array(array) => one_of(&mut array.elem),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Reduces a list of placeholders to one.
fn one_of(items: &mut Vec<Expr>) {
    let placeholder = |item: &Expr| matches!(item, Expr::Value(ValueWithSpan { value: Value::Placeholder(_), .. }));
    if items.iter().all(placeholder) {
        items.truncate(1);
    }
}

/// Sorts the select list of the outermost query. Elsewhere the order may matter. Positions in GROUP BY and ORDER BY are
/// replaced by the expressions that they refer to.
fn sort_select_list(query: &mut Query) {
    let SetExpr::Select(select) = query.body.as_mut() else { return };
    let items: Vec<String> = select.projection.iter().map(ToString::to_string).collect();
    let written_out = |expr: &mut Expr| {
        let Expr::Value(ValueWithSpan { value: Value::Number(number, _), .. }) = &*expr else { return };
        let item = number.parse::<usize>().ok().and_then(|place| items.get(place.checked_sub(1)?));
        if let Some(item) = item {
            *expr = Expr::Identifier(Ident::with_quote('"', item));
        }
    };
    if let GroupByExpr::Expressions(expressions, _) = &mut select.group_by {
        expressions.iter_mut().for_each(written_out);
    }
    if let Some(order_by) = &mut query.order_by
        && let OrderByKind::Expressions(expressions) = &mut order_by.kind
    {
        expressions.iter_mut().for_each(|ordered| written_out(&mut ordered.expr));
    }
    select.projection.sort_by_cached_key(ToString::to_string);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::schema;
    use crate::sql::parse;
    use crate::sql::reads::Names;

    fn alike(one: &str, other: &str) -> bool {
        let schema = schema();
        let path = ["shop".to_owned()];
        let names = Names::new(&path, &schema);
        let shape = |sql| {
            let query = parse::parse(sql).unwrap().query;
            let sources = RowSources::of(&query, &names);
            assert!(sources.known, "{sql}");
            shape(*query, &sources)
        };
        shape(one) == shape(other)
    }

    #[test]
    fn differences_that_do_not_count() {
        for (one, other) in [
            ("SELECT id, state FROM orders", "select STATE,  Id from shop.Orders"),
            ("SELECT id FROM orders WHERE state = :a", "SELECT id FROM orders WHERE \"state\" = :b"),
            ("SELECT id FROM orders WHERE id IN (:a)", "SELECT id FROM orders WHERE id IN (:a, :b, :c)"),
            (
                "SELECT id FROM orders WHERE id = ANY (ARRAY[:a])",
                "SELECT id FROM orders WHERE id = ANY (ARRAY[:a, :b])",
            ),
            ("SELECT state, count(*) FROM orders GROUP BY 1", "SELECT count(*), state FROM orders GROUP BY 2"),
        ] {
            assert!(alike(one, other), "{one} / {other}");
        }
    }

    #[test]
    fn differences_that_count() {
        for (one, other) in [
            ("SELECT id FROM orders", "SELECT id FROM customers"),
            ("SELECT id FROM orders", "WITH orders AS (SELECT 1 AS id) SELECT id FROM orders"),
            ("SELECT id FROM orders", "SELECT id, state FROM orders"),
            ("SELECT \"customerId\" FROM orders", "SELECT id FROM orders"),
            ("SELECT id, state FROM orders ORDER BY 1", "SELECT state, id FROM orders ORDER BY 1"),
            (
                "SELECT id, 1 FROM orders UNION SELECT 1, id FROM orders",
                "SELECT 1, id FROM orders UNION SELECT 1, id FROM orders",
            ),
            ("SELECT id FROM orders WHERE id IN (:a)", "SELECT id FROM orders WHERE id IN (:a, id)"),
            ("SELECT id FROM orders WHERE id > :a", "SELECT id FROM orders WHERE id < :a"),
        ] {
            assert!(!alike(one, other), "{one} / {other}");
        }
    }
}
