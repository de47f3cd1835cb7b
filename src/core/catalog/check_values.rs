//! Values that a CHECK constraint lists: `CHECK (state IN ('open', 'closed'))`.

use sqlparser::ast::{BinaryOperator, DataType, Expr, UnaryOperator, Value};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

/// A longer list is data, not a set of choices.
const MAX_VALUES: usize = 200;

/// Returns the columns that a CHECK constraint restricts to a list of values, each with its list in order.
/// `expression` is the constraint as the server prints it. The column of a domain's constraint is `value`. An
/// expression of any other form returns nothing.
pub(crate) fn listed_values(expression: &str) -> Vec<(String, Vec<String>)> {
    let Ok(mut parser) = Parser::new(&PostgreSqlDialect {}).with_recursion_limit(100).try_with_sql(expression) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if let Ok(expression) = parser.parse_expr() {
        conjuncts(&expression, &mut found);
    }
    found.retain(|(_, values)| !values.is_empty() && values.len() <= MAX_VALUES);
    found
}

fn conjuncts(expression: &Expr, found: &mut Vec<(String, Vec<String>)>) {
    match bare(expression) {
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            conjuncts(left, found);
            conjuncts(right, found);
        }
        other => found.extend(list(other)),
    }
}

/// One column and its values. `IS NULL` is ignored: a CHECK constraint accepts null in any case.
fn list(expression: &Expr) -> Option<(String, Vec<String>)> {
    match bare(expression) {
        Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
            if let Expr::IsNull(column) = bare(left) {
                let (name, values) = list(right)?;
                return (column_name(column)? == name).then_some((name, values));
            }
            if let Expr::IsNull(column) = bare(right) {
                let (name, values) = list(left)?;
                return (column_name(column)? == name).then_some((name, values));
            }
            let ((name, mut values), (other, more)) = (list(left)?, list(right)?);
            values.extend(more);
            (name == other).then_some((name, values))
        }
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => Some((column_name(left)?, vec![literal(right)?])),
        Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } => {
            let Expr::Array(array) = bare(right) else { return None };
            Some((column_name(left)?, array.elem.iter().map(literal).collect::<Option<_>>()?))
        }
        _ => None,
    }
}

/// Without parentheses and casts.
fn bare(expression: &Expr) -> &Expr {
    match expression {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => bare(inner),
        other => other,
    }
}

/// The column, with or without the cast to text that the server prints around `varchar`. Any other cast may map
/// distinct values to one.
fn column_name(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Nested(inner) => column_name(inner),
        Expr::Cast { expr: inner, data_type, .. } => {
            let to_text =
                matches!(data_type, DataType::Text | DataType::Varchar(None) | DataType::CharacterVarying(None));
            if to_text { column_name(inner) } else { None }
        }
        Expr::Identifier(name) if name.quote_style.is_none() => Some(name.value.to_lowercase()),
        Expr::Identifier(name) => Some(name.value.clone()),
        _ => None,
    }
}

fn literal(expression: &Expr) -> Option<String> {
    match bare(expression) {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) => Some(text.clone()),
            Value::Number(number, _) => Some(number.to_string()),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => literal(expr).map(|number| format!("-{number}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::listed_values;

    #[test]
    fn lists_as_the_server_prints_them() {
        for (expression, column, values) in [
            ("(state = ANY (ARRAY['open'::text, 'it''s'::text]))", "state", vec!["open", "it's"]),
            (
                "((state)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[]))",
                "state",
                vec!["a", "b"],
            ),
            ("((state)::text = ANY (ARRAY[('a'::character varying)::text, 'b'::text]))", "state", vec!["a", "b"]),
            ("(state = 'a'::text)", "state", vec!["a"]),
            ("((state = 'a'::text) OR (state = 'b'::text) OR (state = 'c'::text))", "state", vec!["a", "b", "c"]),
            ("((state IS NULL) OR (state = ANY (ARRAY['a'::text])))", "state", vec!["a"]),
            ("(\"St.ate\" = ANY (ARRAY[1, 2, '-3'::integer, (- 4)]))", "St.ate", vec!["1", "2", "-3", "-4"]),
            ("((VALUE)::text = ANY (ARRAY['x'::text]))", "value", vec!["x"]),
            ("((n > 0) AND (state = ANY (ARRAY['a'::bpchar, 'b'::bpchar])))", "state", vec!["a", "b"]),
            ("(state = ANY (ARRAY[E'a\\\\b'::text]))", "state", vec!["a\\b"]),
        ] {
            let expected = vec![(column.to_owned(), values.into_iter().map(str::to_owned).collect())];
            assert_eq!(listed_values(expression), expected, "{expression}");
        }
    }

    #[test]
    fn anything_else_gives_nothing() {
        for expression in [
            "(state <> ALL (ARRAY['a'::text, 'b'::text]))",
            "((state = ANY (ARRAY['a'::text])) OR (n > 0))",
            "((a = 'x'::text) OR (b = 'y'::text))",
            "(lower(state) = ANY (ARRAY['a'::text]))",
            "(state = ANY (ARRAY[lower('a'::text)]))",
            "(NOT (state = ANY (ARRAY['a'::text])))",
            "(a = b)",
            "((price)::integer = ANY (ARRAY[1, 2]))",
            "((at)::date = ANY (ARRAY['2020-01-01'::date]))",
            "((name)::character(1) = ANY (ARRAY['x'::bpchar]))",
            "((name)::character varying(1) = ANY (ARRAY['x'::text]))",
            "((",
            "",
        ] {
            assert_eq!(listed_values(expression), [], "{expression}");
        }
        let deep = format!("{}x{}", "(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(listed_values(&deep), []);
    }
}
