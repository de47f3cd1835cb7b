//! What the server finds out about a statement, and how it is asked.

use crate::catalog::identifier::TableName;
use crate::sql::placeholder::{Placeholder, Rewritten};
use crate::sql::reads::{Names, Reads};

/// A param's type as the server is asked about it: what a literal of it would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlType {
    Int4,
    Int8,
    Numeric,
    Date,
    /// Whatever the text is compared with.
    Unknown,
}

/// A statement with `$1`, `$2`, … in place of its params, as the server is asked about it.
pub struct PreparedSql {
    /// The statement's own text is `written`; `rewritten` maps the places of one to the other.
    rewritten: Rewritten,
    params: Vec<(String, SqlType)>,
    /// Whether it is an expression over one table, and nothing around it.
    pub expression: Option<String>,
}

impl PreparedSql {
    /// Every placeholder must name one of the params.
    pub fn new(written: &str, placeholders: &[Placeholder], params: Vec<(String, SqlType)>) -> Self {
        let number = |name: &str| params.iter().position(|(known, _)| known == name).map_or(0, |at| at + 1);
        let rewritten = Rewritten::new(written, placeholders, |name| format!("${}", number(name)));
        Self { rewritten, params, expression: None }
    }

    /// A statement that computes an expression over the rows of a table.
    pub fn of_expression(expression: &str, table: &TableName) -> Self {
        let statement = Self::new(&format!("SELECT {expression}\nFROM {table}"), &[], Vec::new());
        Self { expression: Some(expression.to_owned()), ..statement }
    }

    pub fn sql(&self) -> &str {
        &self.rewritten.text
    }

    /// The names and types of `$1`, `$2`, …
    pub fn params(&self) -> &[(String, SqlType)] {
        &self.params
    }

    /// The text as it was written, with the schema before every table that has none and something for each param.
    pub fn bound(
        &self,
        written: &str,
        placeholders: &[Placeholder],
        analysis: &Analysis,
        value: impl Fn(&str) -> String,
    ) -> String {
        let inserts: Vec<(usize, String)> =
            analysis.unqualified.iter().map(|(at, schema)| (self.rewritten.written(*at), schema.clone())).collect();
        crate::sql::placeholder::replace(written, placeholders, &inserts, value)
    }
}

/// What the server finds out about a statement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Analysis {
    pub reads: Reads,
    /// Those of the columns that a name reads, or a join by shared columns, not a star or a whole row.
    pub named: Reads,
    /// Names of tables without their schema: the byte of the prepared SQL before which the schema belongs, and the
    /// schema with its dot.
    pub unqualified: Vec<(usize, String)>,
    /// Why it is rejected.
    pub problems: Vec<String>,
    /// The columns that an ambiguous name may mean.
    pub ambiguous: Reads,
}

impl Analysis {
    pub fn rejected(problem: impl Into<String>) -> Self {
        Self { problems: vec![problem.into()], ..Self::default() }
    }
}

/// Who analyzes statements: the server, as the current user.
pub trait Analyst {
    fn analyze(&mut self, statement: &PreparedSql, names: &Names) -> Analysis;
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::sql::parse::folded;
    use sqlparser::ast::{Expr, Ident, ObjectName, Query, SelectItem, Spanned, Visit, Visitor};
    use sqlparser::dialect::PostgreSqlDialect;
    use sqlparser::parser::Parser;
    use std::collections::BTreeSet;
    use std::ops::ControlFlow;

    /// Stands for the server in unit tests: a column's name means that of every table that has it.
    pub struct Stub;

    impl Analyst for Stub {
        fn analyze(&mut self, statement: &PreparedSql, names: &Names) -> Analysis {
            // The parser knows no TABLE.
            let sql = statement.sql().replacen("TABLE ", "SELECT * FROM ", 1);
            let parsed = match Parser::parse_sql(&PostgreSqlDialect {}, &sql) {
                Ok(parsed) => parsed,
                Err(error) => return Analysis::rejected(error.to_string()),
            };
            let mut found = StubStatement::default();
            let _ = parsed.visit(&mut found);
            let mut analysis = Analysis::default();
            let mut tables = Vec::new();
            for (parts, at) in
                found.relations.iter().filter(|(parts, _)| parts.len() > 1 || !found.known.contains(&parts[0]))
            {
                let (schema, name) = match parts.as_slice() {
                    [name] => (None, name),
                    [.., schema, name] => (Some(schema.as_str()), name),
                    [] => continue,
                };
                match names.find(schema, name) {
                    Ok(table) => {
                        analysis.reads.add_table(&table.name);
                        if schema.is_none() {
                            analysis.reads.bare.insert(table.name.clone());
                            let schema = crate::catalog::identifier::quote_identifier(&table.name.schema);
                            analysis.unqualified.push((byte(statement.sql(), *at), format!("{schema}.")));
                        }
                        tables.push(table);
                    }
                    Err(problem) => analysis.problems.push(format!("line {}: {problem}", at.0)),
                }
            }
            for (name, at) in &found.columns {
                let mut known = found.known.contains(name) || tables.iter().any(|table| table.name.name == *name);
                for table in
                    tables.iter().filter(|table| table.contract.columns.iter().any(|column| column.name == *name))
                {
                    analysis.reads.add(&table.name, name);
                    known = true;
                }
                if !known {
                    let columns = tables
                        .iter()
                        .flat_map(|table| table.contract.columns.iter().map(|column| column.name.as_str()));
                    let near = crate::similar_names::near_names(name, columns);
                    analysis.problems.push(format!(
                        "line {at}: column \"{name}\" does not exist{}",
                        crate::sql::reads::perhaps(&near)
                    ));
                }
            }
            if found.star {
                for table in tables {
                    table.contract.columns.iter().for_each(|column| analysis.reads.add(&table.name, &column.name));
                    analysis.reads.whole.insert(table.name.clone());
                }
            }
            analysis.named = analysis.reads.clone();
            analysis
        }
    }

    fn byte(sql: &str, (line, column): (u64, u64)) -> usize {
        crate::sql::source_map::SourceMap::of(sql).byte(sqlparser::tokenizer::Location { line, column })
    }

    #[derive(Default)]
    struct StubStatement {
        relations: Vec<(Vec<String>, (u64, u64))>,
        columns: Vec<(String, u64)>,
        /// Aliases and the names of CTEs.
        known: BTreeSet<String>,
        star: bool,
    }

    impl Visitor for StubStatement {
        type Break = ();

        fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
            let parts = name.0.iter().filter_map(|part| part.as_ident()).map(folded).collect();
            let start = name.span().start;
            self.relations.push((parts, (start.line, start.column)));
            ControlFlow::Continue(())
        }

        fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
            self.known.extend(query.with.iter().flat_map(|with| &with.cte_tables).map(|cte| folded(&cte.alias.name)));
            ControlFlow::Continue(())
        }

        fn pre_visit_table_factor(&mut self, factor: &sqlparser::ast::TableFactor) -> ControlFlow<()> {
            use sqlparser::ast::TableFactor::{Derived, Function, Table, UNNEST};
            if let Table { name, args: Some(_), .. } = factor {
                self.known.extend(name.0.iter().filter_map(|part| part.as_ident()).map(folded));
            }
            if let Table { alias: Some(alias), .. }
            | Derived { alias: Some(alias), .. }
            | Function { alias: Some(alias), .. }
            | UNNEST { alias: Some(alias), .. } = factor
            {
                self.known.insert(folded(&alias.name));
                self.known.extend(alias.columns.iter().map(|column| folded(&column.name)));
            }
            ControlFlow::Continue(())
        }

        fn pre_visit_select(&mut self, select: &sqlparser::ast::Select) -> ControlFlow<()> {
            for item in &select.projection {
                match item {
                    SelectItem::ExprWithAlias { alias, .. } => drop(self.known.insert(folded(alias))),
                    SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) => self.star = true,
                    _ => {}
                }
            }
            ControlFlow::Continue(())
        }

        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            let ident: Option<&Ident> = match expr {
                Expr::Identifier(ident) => Some(ident),
                Expr::CompoundIdentifier(idents) => idents.last(),
                _ => None,
            };
            self.columns.extend(ident.map(|ident| (folded(ident), ident.span.start.line)));
            ControlFlow::Continue(())
        }
    }
}
