//! A first phrasing and id for a mined statement, for somebody to improve.

use crate::catalog::identifier::TableName;
use crate::catalog::identifier_words::split_identifier;
use crate::mine::ast::{arguments, function_name};
use crate::mine::comparand::snake_case;
use crate::mine::params::NamedParam;
use sqlparser::ast::{Expr, GroupByExpr, Query, Select, SelectItem, SetExpr, Value, ValueWithSpan};
use std::collections::BTreeSet;

/// Tables, and items of a select list, that a phrasing names, at most.
const TABLES: usize = 4;
const ITEMS: usize = 8;
/// Tables, and columns, in an id, at most.
const IN_ID: usize = 3;

/// `invoice: billing country, sum total by billing country, for invoice date from {invoice_date_from}, at most {n}`.
pub(crate) fn phrasing(query: &Query, tables: &[TableName], params: &[NamedParam]) -> String {
    let tables = tables.iter().take(TABLES).map(|table| split_identifier(&table.name));
    let tables: Vec<String> = tables.filter(|words| !words.is_empty()).collect();
    let mut text = if tables.is_empty() { "rows".to_owned() } else { tables.join(" and ") };
    if let Some(select) = first_select(&query.body) {
        let items: Vec<String> = select.projection.iter().filter_map(item).take(ITEMS).collect();
        if !items.is_empty() {
            text = format!("{text}: {}", items.join(", "));
        }
        let groups = groups(select);
        if !groups.is_empty() {
            text = format!("{text} by {}", groups.join(", "));
        }
    }
    let (rows, filters): (Vec<&NamedParam>, Vec<&NamedParam>) = params.iter().partition(|param| param.rows);
    let filters: Vec<String> = filters.into_iter().map(filter_words).collect();
    if !filters.is_empty() {
        text = format!("{text}, for {}", filters.join(", "));
    }
    for param in rows {
        let what = if param.column.as_deref() == Some("skip") { "leaving out" } else { "at most" };
        text = format!("{text}, {what} {{{}}}", param.name);
    }
    text
}

fn filter_words(param: &NamedParam) -> String {
    let words = param.column.iter().map(|column| format!("{column}{} ", param.suffix).replace('_', " "));
    words.chain([format!("{{{}}}", param.name)]).collect()
}

fn first_select(body: &SetExpr) -> Option<&Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::Query(query) => first_select(&query.body),
        SetExpr::SetOperation { left, .. } => first_select(left),
        _ => None,
    }
}

fn item(item: &SelectItem) -> Option<String> {
    match item {
        SelectItem::UnnamedExpr(expr) => in_words(expr),
        SelectItem::ExprWithAlias { alias, .. } => Some(split_identifier(&alias.value)),
        SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) => Some("all columns".to_owned()),
        SelectItem::ExprWithAliases { .. } => None,
    }
    .filter(|words| !words.is_empty())
}

/// `sum total`; `None` if the expression is not made of columns and calls only.
fn in_words(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(split_identifier(&ident.value)),
        Expr::CompoundIdentifier(parts) => parts.last().map(|ident| split_identifier(&ident.value)),
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } | Expr::Collate { expr: inner, .. } => in_words(inner),
        Expr::Extract { field, expr, .. } => {
            Some(format!("{} of {}", split_identifier(&field.to_string()), in_words(expr)?))
        }
        Expr::Function(function) => {
            let name = split_identifier(&function_name(function)?);
            let words = arguments(function).into_iter().filter_map(in_words);
            Some(std::iter::once(name).chain(words).collect::<Vec<_>>().join(" "))
        }
        _ => None,
    }
}

/// The grouping columns; a number is a position in the select list.
fn groups(select: &Select) -> Vec<String> {
    let GroupByExpr::Expressions(expressions, _) = &select.group_by else { return Vec::new() };
    let words = |expr: &Expr| match expr {
        Expr::Value(ValueWithSpan { value: Value::Number(number, _), .. }) => {
            let place = number.parse::<usize>().ok()?.checked_sub(1)?;
            select.projection.get(place).and_then(item)
        }
        expr => in_words(expr).filter(|words| !words.is_empty()),
    };
    expressions.iter().filter_map(words).take(ITEMS).collect()
}

/// `invoice_by_billing_country`: the tables, then the columns that params are compared with, else the grouping columns.
/// A number makes the id unique.
pub(crate) fn id(query: &Query, tables: &[TableName], params: &[NamedParam], taken: &BTreeSet<String>) -> String {
    let tables: Vec<String> = tables.iter().take(IN_ID).filter_map(|table| snake_case(&table.name)).collect();
    let mut columns: Vec<String> = Vec::new();
    for column in params.iter().filter(|param| !param.rows).filter_map(|param| param.column.clone()) {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    if columns.is_empty() {
        columns = first_select(&query.body)
            .map(groups)
            .unwrap_or_default()
            .iter()
            .filter_map(|words| snake_case(words))
            .collect();
    }
    columns.truncate(IN_ID);
    // An id has at most 200 letters.
    let mut first = if tables.is_empty() { "query".to_owned() } else { tables.join("_") };
    if !columns.is_empty() {
        first = format!("{first}_by_{}", columns.join("_"));
    }
    first.truncate(180);
    let numbered = |number: usize| if number == 1 { first.clone() } else { format!("{first}_{number}") };
    (1..=taken.len() + 1).map(numbered).find(|id| !taken.contains(id)).unwrap_or_default()
}
