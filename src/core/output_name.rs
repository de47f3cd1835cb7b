//! The names that Postgres gives to the columns of a select list that have none.

use crate::statement::folded;
use sqlparser::ast::{DataType, Expr};

/// The column's name; `None` where it is `?column?`.
pub fn output_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(folded(ident)),
        Expr::CompoundIdentifier(parts) => parts.last().map(folded),
        Expr::CompoundFieldAccess { root, access_chain } => {
            use sqlparser::ast::AccessExpr;
            let named = access_chain.iter().rev().find_map(|access| match access {
                AccessExpr::Dot(expr) => Some(output_name(expr)),
                AccessExpr::Subscript(_) => None,
            });
            named.unwrap_or_else(|| output_name(root))
        }
        Expr::Function(function) => function.name.0.last().and_then(|part| part.as_ident()).map(folded),
        Expr::Cast { expr, data_type, .. } => output_name(expr).or_else(|| type_name(data_type)),
        Expr::TypedString(typed) => type_name(&typed.data_type),
        Expr::Interval(_) => Some("interval".into()),
        Expr::Nested(expr) | Expr::Collate { expr, .. } => output_name(expr),
        Expr::Case { else_result, .. } => else_result.as_ref().and_then(|expr| output_name(expr)).or_else(|| Some("case".into())),
        Expr::Exists { .. } => Some("exists".into()),
        Expr::Array(_) => Some("array".into()),
        Expr::Extract { .. } => Some("extract".into()),
        Expr::Position { .. } => Some("position".into()),
        Expr::Substring { .. } => Some("substring".into()),
        Expr::Trim { .. } => Some("btrim".into()),
        Expr::Overlay { .. } => Some("overlay".into()),
        Expr::Ceil { .. } => Some("ceil".into()),
        Expr::Floor { .. } => Some("floor".into()),
        Expr::AtTimeZone { .. } => Some("timezone".into()),
        Expr::Tuple(_) => Some("row".into()),
        _ => None,
    }
}

fn type_name(data_type: &DataType) -> Option<String> {
    let text = data_type.to_string().to_ascii_lowercase();
    let text = text.split(['(', '[']).next().unwrap_or_default().trim().to_owned();
    Some(match text.as_str() {
        "int" | "integer" => "int4".into(),
        "bigint" => "int8".into(),
        "smallint" => "int2".into(),
        "real" => "float4".into(),
        "double precision" | "float" => "float8".into(),
        "boolean" => "bool".into(),
        "decimal" | "dec" => "numeric".into(),
        "character varying" => "varchar".into(),
        "char" | "character" => "bpchar".into(),
        _ => text,
    })
}
