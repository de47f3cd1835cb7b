//! The names that Postgres gives to the columns of a select list that have none. A name that is taken for one of these
//! and is none would hide a column that is read, so what is not certain is left to the server.

use crate::sql::parse::folded;
use sqlparser::ast::{BinaryOperator, DataType, Expr, ObjectName, Query, SelectItem, SetExpr, TrimWhereField, Value};

/// What a column is called after.
#[derive(Debug, PartialEq)]
pub enum Figure {
    /// A column, a field or a function.
    Named(String),
    /// A type, or CASE: it gives way to a type around it.
    Typed(String),
    /// Nothing: it is `?column?`.
    Unnamed,
    Unsure,
}

/// As Postgres's `FigureColname` does it.
pub fn figure(expr: &Expr) -> Figure {
    let named = |name: &str| Figure::Named(name.to_owned());
    match expr {
        Expr::Identifier(ident) => Figure::Named(folded(ident)),
        Expr::CompoundIdentifier(parts) => parts.last().map_or(Figure::Unsure, |last| Figure::Named(folded(last))),
        Expr::CompoundFieldAccess { root, access_chain } => {
            use sqlparser::ast::AccessExpr;
            let field = access_chain.iter().rev().find_map(|access| match access {
                AccessExpr::Dot(Expr::Identifier(field)) => Some(Figure::Named(folded(field))),
                AccessExpr::Dot(_) => Some(Figure::Unsure),
                AccessExpr::Subscript(_) => None,
            });
            field.unwrap_or_else(|| figure(root))
        }
        // `(VALUES (1))` is a function to the parser.
        Expr::Function(function) => match last(&function.name) {
            Some(name) if name != "values" => Figure::Named(name),
            _ => Figure::Unsure,
        },
        Expr::Cast { expr, data_type, .. } => match figure(expr) {
            Figure::Typed(_) | Figure::Unnamed => type_name(data_type).map_or(Figure::Unsure, Figure::Typed),
            name => name,
        },
        Expr::TypedString(typed) => type_name(&typed.data_type).map_or(Figure::Unsure, Figure::Typed),
        Expr::Interval(_) => Figure::Typed("interval".to_owned()),
        Expr::Nested(expr) | Expr::Collate { expr, .. } => figure(expr),
        Expr::Case { else_result, .. } => match else_result.as_ref().map(|expr| figure(expr)) {
            Some(Figure::Named(name)) => Figure::Named(name),
            Some(Figure::Unsure) => Figure::Unsure,
            _ => Figure::Typed("case".to_owned()),
        },
        Expr::Subquery(query) => first_of(query),
        Expr::Exists { negated: false, .. } => named("exists"),
        Expr::Array(_) => named("array"),
        Expr::Extract { .. } => named("extract"),
        Expr::Position { .. } => named("position"),
        Expr::Substring { shorthand, .. } => named(if *shorthand { "substr" } else { "substring" }),
        Expr::Trim { trim_where, .. } => named(match trim_where {
            Some(TrimWhereField::Leading) => "ltrim",
            Some(TrimWhereField::Trailing) => "rtrim",
            Some(TrimWhereField::Both) | None => "btrim",
        }),
        Expr::Overlay { .. } => named("overlay"),
        Expr::Ceil { .. } => named("ceil"),
        Expr::Floor { .. } => named("floor"),
        Expr::AtTimeZone { .. } => named("timezone"),
        Expr::Tuple(_) => named("row"),
        Expr::BinaryOp { op: BinaryOperator::Overlaps, .. } => named("overlaps"),
        Expr::Value(value) => match &value.value {
            Value::Boolean(_) => Figure::Typed("bool".to_owned()),
            Value::Number(..)
            | Value::SingleQuotedString(_)
            | Value::EscapedStringLiteral(_)
            | Value::DollarQuotedString(_)
            | Value::Null => Figure::Unnamed,
            _ => Figure::Unsure,
        },
        Expr::BinaryOp { .. }
        | Expr::UnaryOp { .. }
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotUnknown(_)
        | Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..)
        | Expr::Exists { negated: true, .. }
        | Expr::In { .. }
        | Expr::Between { .. }
        | Expr::Like { .. }
        | Expr::ILike { .. }
        | Expr::SimilarTo { .. }
        | Expr::AnyOp { .. }
        | Expr::AllOp { .. } => Figure::Unnamed,
        _ => Figure::Unsure,
    }
}

fn last(name: &ObjectName) -> Option<String> {
    name.0.last().and_then(|part| part.as_ident()).map(folded)
}

/// `(SELECT a …)` is called as its column is.
fn first_of(query: &Query) -> Figure {
    let mut body = query.body.as_ref();
    loop {
        match body {
            SetExpr::SetOperation { left, .. } => body = left,
            SetExpr::Query(query) => body = query.body.as_ref(),
            SetExpr::Values(_) => return Figure::Named("column1".to_owned()),
            SetExpr::Select(select) => {
                let name = match select.projection.first() {
                    Some(SelectItem::ExprWithAlias { alias, .. }) => return Figure::Named(folded(alias)),
                    Some(SelectItem::UnnamedExpr(expr)) => figure(expr),
                    _ => Figure::Unsure,
                };
                return match name {
                    Figure::Typed(name) => Figure::Named(name),
                    Figure::Unnamed => Figure::Named("?column?".to_owned()),
                    name => name,
                };
            }
            _ => return Figure::Unsure,
        }
    }
}

fn type_name(data_type: &DataType) -> Option<String> {
    if let DataType::Custom(name, _) = data_type {
        return last(name).filter(|name| name != "nchar" && name != "national");
    }
    let text = data_type.to_string().to_ascii_lowercase();
    let (name, length) = text.split_once('(').map_or((text.as_str(), ""), |(name, rest)| (name, rest));
    let zone = length.ends_with("with time zone") && !length.ends_with("without time zone");
    let name = match name.trim_end_matches("[]").trim() {
        "int" | "integer" | "int4" => "int4",
        "bigint" | "int8" => "int8",
        "smallint" | "int2" => "int2",
        "real" | "float4" => "float4",
        "double precision" | "float8" => "float8",
        "boolean" | "bool" => "bool",
        "numeric" | "decimal" | "dec" => "numeric",
        "character varying" | "char varying" | "varchar" => "varchar",
        "char" | "character" => "bpchar",
        "timestamp" if zone => "timestamptz",
        "time" if zone => "timetz",
        "timestamp with time zone" | "timestamptz" => "timestamptz",
        "time with time zone" | "timetz" => "timetz",
        "timestamp" | "timestamp without time zone" => "timestamp",
        "time" | "time without time zone" => "time",
        known @ ("text" | "date" | "json" | "jsonb" | "uuid" | "bytea" | "regclass") => known,
        _ => return None,
    };
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_without_a_name() {
        let figure = |text: &str| figure(&crate::sql::parse::parse_expression(text).unwrap());
        for (text, name) in [
            ("a", "a"),
            ("(t.A)", "a"),
            ("\"A\"::int", "A"),
            ("a[1]", "a"),
            ("t.a[1].b", "b"),
            ("pg_catalog.Lower(a)", "lower"),
            ("(a COLLATE \"C\")::text", "a"),
            ("CASE WHEN a THEN b ELSE c END", "c"),
            ("(SELECT 1)", "?column?"),
            ("(SELECT 1::int)::text", "int4"),
            ("substr(a, 1)", "substr"),
            ("TRIM(LEADING FROM a)", "ltrim"),
            ("EXISTS (SELECT 1)", "exists"),
        ] {
            assert_eq!(figure(text), Figure::Named(name.to_owned()), "{text}");
        }
        for (text, name) in [
            ("'1'::int", "int4"),
            ("CASE WHEN a THEN b ELSE 1::int END", "case"),
            ("CAST(CASE WHEN a THEN 1 END AS numeric(3, 1))", "numeric"),
            ("date '2000-01-01'", "date"),
            ("1::timestamp(3) with time zone", "timestamptz"),
            ("true", "bool"),
        ] {
            assert_eq!(figure(text), Figure::Typed(name.to_owned()), "{text}");
        }
        for text in ["1", "'a'", "-a", "a + b", "a IS NULL", "NOT EXISTS (SELECT 1)"] {
            assert_eq!(figure(text), Figure::Unnamed, "{text}");
        }
    }
}
