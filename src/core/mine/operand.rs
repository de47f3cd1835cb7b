//! The operands of comparisons, and the constants in them.

use crate::curated::param::ParamType;
use crate::mine::ast::{arguments, cast_type, function_name, is_arithmetic};
use sqlparser::ast::{BinaryOperator, Expr, Function, Value, ValueWithSpan};

/// A constant of an operand.
pub(crate) struct Leaf<'e> {
    pub value: &'e ValueWithSpan,
    /// The type of a cast or of a typed literal.
    pub cast: Option<ParamType>,
    pub signed: bool,
    pub typed: bool,
    /// The main constant of the operand: not the 30 of `$1 - 30`.
    pub head: bool,
    /// Part of a concatenation.
    pub joined: bool,
}

pub(crate) fn literal_type(value: &Value) -> Option<ParamType> {
    match value {
        Value::Number(number, _) if number.bytes().all(|byte| byte.is_ascii_digit()) => Some(ParamType::Int),
        Value::Number(..) => Some(ParamType::Float),
        Value::SingleQuotedString(_)
        | Value::EscapedStringLiteral(_)
        | Value::UnicodeStringLiteral(_)
        | Value::DollarQuotedString(_)
        | Value::NationalStringLiteral(_) => Some(ParamType::String),
        _ => None,
    }
}

pub(crate) fn placeholder_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(ValueWithSpan { value: Value::Placeholder(name), .. }) => Some(name.trim_start_matches(':')),
        _ => None,
    }
}

pub(crate) fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => bare(inner),
        other => other,
    }
}

/// The elements of an ARRAY expression.
pub(crate) fn elements(expr: &Expr) -> Option<&[Expr]> {
    match expr {
        Expr::Array(array) => Some(&array.elem),
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => elements(inner),
        _ => None,
    }
}

/// The constants of an operand.
pub(crate) fn leaves(expr: &Expr) -> Vec<Leaf<'_>> {
    let mut leaves = Vec::new();
    collect(expr, None, (true, false), &mut leaves);
    leaves
}

fn collect<'e>(expr: &'e Expr, cast: Option<ParamType>, (head, joined): (bool, bool), leaves: &mut Vec<Leaf<'e>>) {
    let at = (head, joined);
    match expr {
        Expr::Value(value) if matches!(value.value, Value::Placeholder(_)) || literal_type(&value.value).is_some() => {
            leaves.push(Leaf { value, cast, signed: false, typed: false, head, joined });
        }
        Expr::TypedString(typed) => {
            let cast = Some(cast_type(&typed.data_type));
            leaves.push(Leaf { value: &typed.value, cast, signed: false, typed: true, head, joined });
        }
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => collect(inner, cast, at, leaves),
        Expr::Cast { expr: inner, data_type, .. } => collect(inner, Some(cast_type(data_type)), at, leaves),
        Expr::UnaryOp { expr: inner, .. } => match inner.as_ref() {
            Expr::Value(value) if matches!(value.value, Value::Number(..)) => {
                leaves.push(Leaf { value, cast, signed: true, typed: false, head, joined });
            }
            inner => collect(inner, cast, at, leaves),
        },
        Expr::BinaryOp { left, op, right } if is_arithmetic(op) => {
            collect(left, None, at, leaves);
            collect(right, None, (false, joined), leaves);
        }
        Expr::BinaryOp { left, op: BinaryOperator::StringConcat, right } => {
            collect(left, None, (head, true), leaves);
            collect(right, None, (head, true), leaves);
        }
        Expr::Trim { expr: inner, trim_what: None, .. } => collect(inner, Some(ParamType::String), at, leaves),
        Expr::Function(function) => {
            if let Some((argument, cast)) = argument(function) {
                collect(argument, cast, at, leaves);
            }
        }
        _ => {}
    }
}

/// The argument that a function transforms, such as that of `lower`, with the type that the function requires.
fn argument(function: &Function) -> Option<(&Expr, Option<ParamType>)> {
    let args = arguments(function);
    match (function_name(function)?.as_str(), args.as_slice()) {
        ("lower" | "upper" | "initcap" | "btrim" | "ltrim" | "rtrim" | "unaccent", [only]) => {
            Some((only, Some(ParamType::String)))
        }
        ("abs" | "date", [only]) => Some((only, None)),
        ("date_trunc", [_, date]) => Some((date, None)),
        ("to_date" | "to_timestamp" | "to_number", [text, _]) => Some((text, Some(ParamType::String))),
        _ => None,
    }
}
