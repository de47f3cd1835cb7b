//! The expression that a constant is compared with, and the name and type that it implies for a param.

use crate::catalog::identifier::TableName;
use crate::catalog::identifier_words::split_identifier;
use crate::curated::param::ParamType;
use crate::mine::ast::{arguments, cast_type, function_name, is_arithmetic, is_constant, text_of, type_of};
use crate::sql::parse::folded;
use crate::sql::reads::{Names, Reads};
use sqlparser::ast::{BinaryOperator, Expr, Function, Ident, ObjectName, Query, TableFactor, Visit, Visitor};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// The longest name taken from a column, in bytes: prefixes and suffixes must fit in a param's name.
const LONGEST: usize = 40;

/// The expression that a constant is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Comparand {
    /// A name for the param; `None` if the column's name is not suitable.
    pub name: Option<String>,
    /// The column as the statement names it, with the functions around it.
    pub column: String,
    /// `None` if unknown.
    pub param_type: Option<ParamType>,
}

/// The tables of a statement, whose columns determine the types of params.
pub(crate) struct RowSources<'a> {
    names: &'a Names<'a>,
    reads: Option<&'a Reads>,
    /// Tables by alias, on all levels of the statement.
    aliases: BTreeMap<String, BTreeSet<TableName>>,
    /// Tables in the order of the statement.
    pub tables: Vec<TableName>,
    /// Whether every table name is known.
    pub known: bool,
    ctes: BTreeSet<String>,
}

impl<'a> RowSources<'a> {
    pub(crate) fn of(query: &Query, names: &'a Names<'a>) -> Self {
        let (aliases, ctes) = (BTreeMap::new(), BTreeSet::new());
        let mut sources = Self { names, reads: None, aliases, tables: Vec::new(), known: true, ctes };
        let mut ctes = CteNames::default();
        let _ = query.visit(&mut ctes);
        sources.ctes = ctes.0;
        let _ = query.visit(&mut sources);
        sources
    }

    /// Adds the columns that the statement reads.
    pub(crate) fn reading(self, reads: &'a Reads) -> Self {
        Self { reads: Some(reads), ..self }
    }

    /// The table that a name in FROM refers to.
    pub(crate) fn table(&self, name: &ObjectName) -> Option<&'a TableName> {
        let parts: Vec<String> = name.0.iter().filter_map(|part| part.as_ident()).map(folded).collect();
        let table = match parts.as_slice() {
            [schema, name] => self.names.table(&TableName::new(schema, name)),
            [name] if !self.ctes.contains(name) => {
                self.names.path.iter().find_map(|schema| self.names.table(&TableName::new(schema, name)))
            }
            _ => None,
        };
        table.map(|table| &table.name)
    }

    fn is_cte(&self, name: &ObjectName) -> bool {
        name.0.len() == 1 && name.0[0].as_ident().is_some_and(|name| self.ctes.contains(&folded(name)))
    }

    /// The type of the column that a name refers to, if all candidates have the same type.
    fn param_type(&self, parts: &[Ident]) -> Option<ParamType> {
        let (last, before) = parts.split_last()?;
        let column = folded(last);
        let tables: Vec<&TableName> = match before.last() {
            Some(source) => self.aliases.get(&folded(source))?.iter().collect(),
            None => self
                .reads?
                .tables
                .iter()
                .filter(|(_, columns)| columns.contains(&column))
                .map(|(table, _)| table)
                .collect(),
        };
        let mut types = tables.into_iter().filter_map(|table| {
            let columns = &self.names.table(table)?.contract.columns;
            columns.iter().find(|known| known.name == column).map(|known| type_of(&known.data_type))
        });
        let first = types.next()?;
        types.all(|other| other == first).then_some(first)
    }

    fn column(&self, parts: &[Ident]) -> Option<Comparand> {
        let column = parts.iter().map(folded).collect::<Vec<_>>().join(".");
        Some(Comparand { name: snake_case(&parts.last()?.value), column, param_type: self.param_type(parts) })
    }

    /// The comparand that an expression is, or `None` if it has no column.
    pub(crate) fn comparand(&self, expr: &Expr) -> Option<Comparand> {
        match expr {
            Expr::Identifier(ident) => self.column(std::slice::from_ref(ident)),
            Expr::CompoundIdentifier(parts) => self.column(parts),
            Expr::Nested(inner)
            | Expr::Collate { expr: inner, .. }
            | Expr::UnaryOp { expr: inner, .. }
            | Expr::Ceil { expr: inner, .. }
            | Expr::Floor { expr: inner, .. }
            | Expr::AtTimeZone { timestamp: inner, .. } => self.comparand(inner),
            Expr::Trim { expr: inner, .. }
            | Expr::Substring { expr: inner, .. }
            | Expr::Overlay { expr: inner, .. } => {
                self.comparand(inner).map(|comparand| comparand.of(ParamType::String))
            }
            Expr::Cast { expr: inner, data_type, .. } => {
                self.comparand(inner).map(|comparand| comparand.of(cast_type(data_type)))
            }
            Expr::Extract { field, expr: inner, .. } => {
                self.comparand(inner).map(|comparand| part(comparand, Some(&field.to_string())))
            }
            Expr::CompoundFieldAccess { root, .. } => {
                self.comparand(root).map(|comparand| comparand.of(ParamType::String))
            }
            Expr::Function(function) => self.function(function),
            Expr::BinaryOp { left, op, right } => match op {
                BinaryOperator::Arrow
                | BinaryOperator::LongArrow
                | BinaryOperator::HashArrow
                | BinaryOperator::HashLongArrow => {
                    let comparand = self.comparand(left)?.of(ParamType::String);
                    let key = text_of(right).and_then(snake_case);
                    Some(Comparand {
                        column: format!("{} {right}", comparand.column),
                        name: key.or(comparand.name),
                        ..comparand
                    })
                }
                _ if is_arithmetic(op) && is_constant(right) => self.comparand(left),
                _ if is_arithmetic(op) && is_constant(left) => self.comparand(right),
                _ => None,
            },
            _ => None,
        }
    }

    fn function(&self, function: &Function) -> Option<Comparand> {
        let name = function_name(function)?;
        let args = arguments(function);
        let first = args.iter().find_map(|arg| self.comparand(arg));
        Some(match name.as_str() {
            "count" => {
                let name =
                    first.as_ref().and_then(|comparand| comparand.name.as_ref()).map(|name| format!("count_{name}"));
                Comparand {
                    name: Some(name.unwrap_or_else(|| "count".into())),
                    column: "count".into(),
                    param_type: Some(ParamType::Int),
                }
            }
            "sum" | "avg" | "min" | "max" => {
                let comparand = first?;
                let param_type = if name == "avg" { Some(ParamType::Float) } else { comparand.param_type };
                Comparand {
                    name: comparand.name.map(|column| format!("{name}_{column}")),
                    column: format!("{name} {}", comparand.column),
                    param_type,
                }
            }
            "date_part" | "extract" => {
                part(self.comparand(args.get(1)?)?, args.first().and_then(|field| text_of(field)))
            }
            "date_trunc" => self.comparand(args.get(1)?)?.of(ParamType::Date),
            "date" | "to_date" | "to_timestamp" => first?.of(ParamType::Date),
            "length" | "char_length" | "octet_length" | "cardinality" | "array_length" => first?.of(ParamType::Int),
            "lower" | "upper" | "initcap" | "btrim" | "ltrim" | "rtrim" | "unaccent" | "to_char" | "left" | "right"
            | "replace" | "concat" | "md5" => first?.of(ParamType::String),
            "coalesce" | "nullif" | "greatest" | "least" | "abs" | "round" | "trunc" | "ceil" | "floor" => first?,
            _ => Comparand { param_type: None, ..first? },
        })
    }
}

impl Comparand {
    fn of(self, param_type: ParamType) -> Self {
        Self { param_type: Some(param_type), ..self }
    }
}

/// A part of a date, named after the field if that is known.
fn part(comparand: Comparand, field: Option<&str>) -> Comparand {
    let column = format!("{} {}", comparand.column, field.unwrap_or_default().to_ascii_lowercase());
    let name = field.and_then(snake_case).or_else(|| comparand.name.map(|name| format!("{name}_part")));
    Comparand { name, column, param_type: Some(ParamType::Int) }
}

#[derive(Default)]
struct CteNames(BTreeSet<String>);

impl Visitor for CteNames {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.0.extend(query.with.iter().flat_map(|with| &with.cte_tables).map(|cte| folded(&cte.alias.name)));
        ControlFlow::Continue(())
    }
}

impl Visitor for RowSources<'_> {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        let TableFactor::Table { name, alias, args: None, .. } = factor else { return ControlFlow::Continue(()) };
        match self.table(name) {
            Some(table) => {
                let called = alias.as_ref().map_or_else(|| table.name.clone(), |alias| folded(&alias.name));
                self.aliases.entry(called).or_default().insert(table.clone());
                if !self.tables.contains(table) {
                    self.tables.push(table.clone());
                }
            }
            None => self.known &= self.is_cte(name),
        }
        ControlFlow::Continue(())
    }
}

/// `billing_country`; `None` if the name has a character that a param's name may not have.
pub(crate) fn snake_case(name: &str) -> Option<String> {
    let mut snake = split_identifier(name).replace(' ', "_");
    let plain = snake.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !plain || !snake.starts_with(|first: char| first.is_ascii_lowercase()) {
        return None;
    }
    snake.truncate(LONGEST);
    Some(snake.trim_end_matches('_').to_owned())
}
