//! Questions asked of expressions that several parts of mining share.

use crate::curated::param::ParamType;
use crate::sql::parse::folded;
use sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Query, Value, Visit,
    Visitor,
};
use std::ops::ControlFlow;

/// The type of a param that is compared with a column of this type.
pub(crate) fn type_of(data_type: &str) -> ParamType {
    let name = data_type.split('(').next().unwrap_or_default().trim_end();
    match name {
        _ if data_type.ends_with(']') => ParamType::String,
        "smallint" | "integer" | "bigint" | "int" | "int2" | "int4" | "int8" => ParamType::Int,
        "numeric" | "real" | "double precision" | "money" | "decimal" | "float" | "float4" | "float8" => {
            ParamType::Float
        }
        "date" | "timestamptz" => ParamType::Date,
        _ if name == "timestamp" || name.starts_with("timestamp ") => ParamType::Date,
        _ => ParamType::String,
    }
}

pub(crate) fn cast_type(data_type: &DataType) -> ParamType {
    type_of(&data_type.to_string().to_ascii_lowercase())
}

pub(crate) fn function_name(function: &Function) -> Option<String> {
    function.name.0.last().and_then(|part| part.as_ident()).map(folded)
}

/// The arguments of a call, without named ones and stars.
pub(crate) fn arguments(function: &Function) -> Vec<&Expr> {
    match &function.args {
        FunctionArguments::List(list) => unnamed(&list.args),
        _ => Vec::new(),
    }
}

pub(crate) fn unnamed(args: &[FunctionArg]) -> Vec<&Expr> {
    let expr = |arg| match arg {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref expr)) => Some(expr),
        _ => None,
    };
    args.iter().filter_map(expr).collect()
}

/// A text literal.
pub(crate) fn text_of(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text),
            _ => None,
        },
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => text_of(inner),
        _ => None,
    }
}

pub(crate) fn is_arithmetic(op: &BinaryOperator) -> bool {
    use BinaryOperator::{Divide, Minus, Modulo, Multiply, Plus};
    matches!(op, Plus | Minus | Multiply | Divide | Modulo)
}

/// Whether an expression reads no columns and no tables.
pub(crate) fn is_constant(expr: &Expr) -> bool {
    expr.visit(&mut Constant).is_continue()
}

struct Constant;

impl Visitor for Constant {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        let counts = |function: &Function| match &function.args {
            FunctionArguments::List(list) => {
                list.args.iter().any(|arg| matches!(arg, FunctionArg::Unnamed(FunctionArgExpr::Wildcard)))
            }
            _ => false,
        };
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => ControlFlow::Break(()),
            Expr::Function(function) if counts(function) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}
