//! A mined statement as sqlparser reads it, and whether it only reads.

use crate::sql::placeholder;
use crate::sql::placeholder::{Placeholder, Tokens};
use crate::sql::statement_text;
use sqlparser::ast::{
    Expr, Ident, Query, Select, SelectFlavor, SetExpr, Statement as Sql, Value, ValueWithSpan, Visit, Visitor,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;
use std::ops::ControlFlow;

/// How deep expressions and subqueries may lie in each other.
const DEPTH: usize = 50;
/// The parser goes a step deeper for brackets without counting: what lies deep takes stack, also to be dropped again.
const BRACKETS: usize = 1_000;

/// One reading statement.
pub struct Statement {
    pub query: Box<Query>,
    pub placeholders: Vec<Placeholder>,
}

/// Parses SQL; `Err` says why it is not exactly one statement that only reads.
pub fn parse(sql: &str) -> Result<Statement, String> {
    let (mut statements, placeholders) = statements(sql)?;
    let statement = match statements.len() {
        0 => return Err("there is no statement".to_owned()),
        1 => statements.remove(0),
        count => return Err(format!("there are {count} statements, and only one may be")),
    };
    let Sql::Query(query) = statement else {
        let words = statement.to_string();
        let verb = words.split_whitespace().next().unwrap_or_default().to_uppercase();
        return Err(format!("{verb} is not a statement that only reads"));
    };
    if let Some(refusal) = refusal(&query) {
        return Err(refusal);
    }
    Ok(Statement { query, placeholders })
}

/// The text taken apart, unless it is too long.
fn taken_apart(sql: &str) -> Result<Tokens, String> {
    let tokens = statement_text::tokens(sql)?;
    if tokens.tokens.iter().filter(|token| token.token == Token::LBracket).count() > BRACKETS {
        return Err(format!("it has more than {BRACKETS} brackets"));
    }
    Ok(tokens)
}

fn statements(sql: &str) -> Result<(Vec<Sql>, Vec<Placeholder>), String> {
    let tokens = taken_apart(sql)?;
    if !placeholder::says_something(&tokens.tokens) {
        return Ok((Vec::new(), Vec::new()));
    }
    let mut parser =
        Parser::new(&PostgreSqlDialect {}).with_recursion_limit(DEPTH).with_tokens_with_locations(tokens.tokens);
    // As a statement of its own the parser does not know it.
    let table = matches!(&parser.peek_token().token, Token::Word(word) if word.keyword == Keyword::TABLE);
    let statements = if table {
        parser.parse_query().and_then(|query| ended(&mut parser, query))
    } else {
        parser.parse_statements()
    };
    Ok((statements.map_err(|error| error.to_string())?, tokens.placeholders))
}

fn ended(parser: &mut Parser, query: Box<Query>) -> Result<Vec<Sql>, ParserError> {
    while parser.consume_token(&Token::SemiColon) {}
    let mut statements = vec![Sql::Query(query)];
    if parser.peek_token().token != Token::EOF {
        statements.extend(parser.parse_statements()?);
    }
    Ok(statements)
}

/// Why a part of a statement does more than read, or reads what it does not name.
fn refusal(part: &impl Visit) -> Option<String> {
    match part.visit(&mut Refusals) {
        ControlFlow::Break(refusal) => Some(refusal),
        ControlFlow::Continue(()) => None,
    }
}

struct Refusals;

fn refuse(why: impl Into<String>) -> ControlFlow<String> {
    ControlFlow::Break(why.into())
}

impl Visitor for Refusals {
    type Break = String;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<String> {
        if !query.locks.is_empty() {
            return refuse("FOR UPDATE and its kind lock rows");
        }
        let foreign = query.for_clause.is_some() || query.settings.is_some() || query.format_clause.is_some();
        if foreign || !query.pipe_operators.is_empty() {
            return refuse("it has a clause that Postgres does not know");
        }
        body(&query.body)
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<String> {
        if select.into.is_some() {
            return refuse("SELECT INTO makes a table");
        }
        let foreign = select.top.is_some()
            || select.select_modifiers.is_some()
            || select.exclude.is_some()
            || !select.lateral_views.is_empty()
            || select.prewhere.is_some()
            || !select.connect_by.is_empty()
            || !select.cluster_by.is_empty()
            || !select.distribute_by.is_empty()
            || !select.sort_by.is_empty()
            || select.qualify.is_some()
            || select.value_table_mode.is_some()
            || select.flavor != SelectFlavor::Standard;
        if foreign { refuse("it has a clause that Postgres does not know") } else { ControlFlow::Continue(()) }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<String> {
        match expr {
            Expr::Lambda(_)
            | Expr::Dictionary(_)
            | Expr::Map(_)
            | Expr::Struct { .. }
            | Expr::MatchAgainst { .. }
            | Expr::OuterJoin(_)
            | Expr::Prior(_)
            | Expr::MemberOf(_)
            | Expr::JsonAccess { .. } => refuse("it has an expression that Postgres does not know"),
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> ControlFlow<String> {
        match &value.value {
            Value::Placeholder(name) if !name.starts_with(':') => {
                refuse(format!("{name} is no param: write :name, and name it under params"))
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

fn body(mut part: &SetExpr) -> ControlFlow<String> {
    // They hang to the left, as deep as there are parts.
    while let SetExpr::SetOperation { left, right, .. } = part {
        body(right)?;
        part = left;
    }
    match part {
        SetExpr::Select(_)
        | SetExpr::Query(_)
        | SetExpr::Values(_)
        | SetExpr::Table(_)
        | SetExpr::SetOperation { .. } => ControlFlow::Continue(()),
        SetExpr::Insert(_) => refuse("INSERT is not a statement that only reads"),
        SetExpr::Update(_) => refuse("UPDATE is not a statement that only reads"),
        SetExpr::Delete(_) => refuse("DELETE is not a statement that only reads"),
        SetExpr::Merge(_) => refuse("MERGE is not a statement that only reads"),
    }
}

/// The longest name of Postgres's, in bytes.
const LONGEST_NAME: usize = 63;

/// An identifier as Postgres folds it, and cuts it off.
pub(crate) fn folded(ident: &Ident) -> String {
    let mut name = if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_ascii_lowercase() };
    let end = (0..=LONGEST_NAME).rev().find(|end| name.is_char_boundary(*end)).unwrap_or_default();
    name.truncate(end);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_statement_that_reads() {
        for sql in
            ["SELECT 1", "SELECT 1;", " -- c\nSELECT :x", "VALUES (1), (2)", "TABLE t", "(SELECT 1) UNION SELECT 2"]
        {
            assert!(parse(sql).is_ok(), "{sql}: {:?}", parse(sql).err());
        }
        for (sql, why) in [
            ("", "there is no statement"),
            (" ; -- c", "there is no statement"),
            ("SELECT 1; SELECT 2", "there are 2 statements, and only one may be"),
            ("DELETE FROM t", "DELETE is not a statement that only reads"),
            ("COPY t TO STDOUT", "COPY is not a statement that only reads"),
            ("SELECT 1 INTO t", "SELECT INTO makes a table"),
            ("SELECT * FROM t FOR UPDATE", "FOR UPDATE and its kind lock rows"),
            ("WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d", "DELETE is not a statement that only reads"),
            ("SELECT $1", "$1 is no param: write :name, and name it under params"),
        ] {
            assert_eq!(parse(sql).err().as_deref(), Some(why), "{sql}");
        }
        assert!(parse("SELECT 1 FROM").err().is_some());
        assert!(parse(&format!("SELECT {}1{}", "(".repeat(10_000), ")".repeat(10_000))).is_err(), "depth has a limit");
        assert!(parse(&"x".repeat(statement_text::LONGEST + 1)).is_err());
        for deep in ["+1", "::int", " UNION SELECT 1", "[1]", " IS NULL", " AND 1"] {
            let found = std::thread::Builder::new()
                .stack_size(8 << 20)
                .spawn(|| parse(&format!("SELECT 1{}", deep.repeat(50_000 / deep.len()))).is_ok());
            assert!(found.unwrap().join().is_ok(), "{deep}");
        }
    }
}
