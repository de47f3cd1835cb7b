//! Drafts verified queries from the statements that pg_stat_statements has counted.

use crate::catalog::identifier::TableName;
use crate::curated::content::VerifiedQuery;
use crate::curated::param::Param;
use crate::curated::validate;
use crate::mine::comparand::RowSources;
use crate::mine::literals::constants;
use crate::mine::naming;
use crate::mine::normalized_sql::NormalizedSql;
use crate::mine::params::{NamedParam, named};
use crate::mine::repeated_expressions;
use crate::mine::statement_shape::shape;
use crate::sql::analysis::{Analyst, PreparedSql, SqlType};
use crate::sql::parse;
use crate::sql::parse::Statement;
use crate::sql::placeholder::Placeholder;
use crate::sql::reads::{Names, Reads};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// A statement from pg_stat_statements, and its calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MinedStatement {
    /// Constants are replaced by `$1`, `$2`, …; some may remain.
    pub text: String,
    pub calls: i64,
}

/// A verified query for somebody to edit and import.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    pub query: VerifiedQuery,
    /// Calls of all statements of its shape.
    pub calls: i64,
    /// Relation keys.
    pub tables: Vec<String>,
    /// `schema.table.column`.
    pub columns: Vec<String>,
}

/// Drafts at most `limit` verified queries from statements that read only tables of `names`. Statements of one shape,
/// with at least `min_calls` calls together, become one suggestion, with the text that has the most calls. Sorted by calls,
/// most first, ties by SQL. `tick` is called between statements, so that the caller can cancel.
pub fn suggest(
    mined: Vec<MinedStatement>,
    names: &Names,
    min_calls: i64,
    limit: usize,
    analyst: &mut dyn Analyst,
    tick: &mut dyn FnMut(),
) -> Vec<Suggestion> {
    let mut texts: BTreeMap<String, i64> = BTreeMap::new();
    for MinedStatement { text, calls } in mined {
        let known = texts.entry(text).or_default();
        *known = known.saturating_add(calls);
    }
    let mut clusters: BTreeMap<String, Cluster> = BTreeMap::new();
    for (text, calls) in texts {
        tick();
        let Some((shape, statement)) = ParameterizedStatement::of(&text, names, analyst) else { continue };
        let new = Cluster { statement, most: calls, calls };
        match clusters.get_mut(&shape) {
            Some(cluster) => cluster.add(new),
            None => drop(clusters.insert(shape, new)),
        }
    }
    let mut clusters: Vec<Cluster> = clusters.into_values().filter(|cluster| cluster.calls >= min_calls).collect();
    clusters.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.statement.sql.cmp(&b.statement.sql)));
    let mut taken = BTreeSet::new();
    let suggestions = clusters.into_iter().filter_map(|Cluster { statement, calls, .. }| {
        tick();
        let query = statement.query(&taken)?;
        // What cannot be imported is no help.
        validate::verified_query(&query, names, analyst).ok()?;
        taken.insert(query.id.clone());
        let tables = statement.reads.tables.keys().map(TableName::to_string).collect();
        Some(Suggestion { query, calls, tables, columns: statement.reads.columns() })
    });
    suggestions.take(limit).collect()
}

/// Statements of one shape.
struct Cluster {
    statement: ParameterizedStatement,
    /// Calls of `statement` alone.
    most: i64,
    calls: i64,
}

impl Cluster {
    fn add(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        let better = self.most.cmp(&other.most).then_with(|| other.statement.sql.cmp(&self.statement.sql));
        if better == Ordering::Less {
            (self.statement, self.most) = (other.statement, other.most);
        }
    }
}

/// A statement with params for its constants.
struct ParameterizedStatement {
    sql: String,
    params: Vec<NamedParam>,
    reads: Reads,
    /// In the order of the statement.
    tables: Vec<TableName>,
}

impl ParameterizedStatement {
    /// With its shape; `None` where the statement is not one to suggest.
    fn of(text: &str, names: &Names, analyst: &mut dyn Analyst) -> Option<(String, Self)> {
        let mut read = NormalizedSql::read(text, BTreeMap::new())?;
        let mut statement = parse::parse(&read.sql).ok()?;
        let values = repeated_expressions::values(&statement.query);
        if !values.is_empty() {
            read = NormalizedSql::read(text, values)?;
            statement = parse::parse(&read.sql).ok()?;
        }
        let text = read;
        if statement.placeholders.len() != text.placeholders {
            return None; // Postgres has no `:x`
        }
        let sources = RowSources::of(&statement.query, names);
        if !sources.known {
            return None;
        }
        let found = analyst.analyze(&prepared(&text.sql, &statement.placeholders), names);
        if !found.problems.is_empty() || found.reads.tables.is_empty() {
            return None;
        }
        let sources = sources.reading(&found.reads);
        let constants = constants(&statement.query, &text, &sources);
        let (sql, params) = named(&text, &statement, &constants)?;
        let shape = shape(*parse::parse(&sql).ok()?.query, &sources);
        let mut tables = sources.tables;
        tables.extend(found.reads.tables.keys().filter(|table| !tables.contains(table)).cloned().collect::<Vec<_>>());
        Some((shape, Self { sql, params, reads: found.reads, tables }))
    }

    fn query(&self, taken: &BTreeSet<String>) -> Option<VerifiedQuery> {
        let Statement { query, .. } = parse::parse(&self.sql).ok()?;
        Some(VerifiedQuery {
            id: naming::id(&query, &self.tables, &self.params, taken),
            description: None,
            questions: vec![naming::phrasing(&query, &self.tables, &self.params)],
            params: self.params.iter().map(|param| (param.name.clone(), Param::new(param.param_type))).collect(),
            sql: self.sql.clone(),
        })
    }
}

/// A mined statement, whose params have the types that their places want.
fn prepared(sql: &str, placeholders: &[Placeholder]) -> PreparedSql {
    let names: BTreeSet<&str> = placeholders.iter().map(|place| place.name.as_str()).collect();
    PreparedSql::new(sql, placeholders, names.into_iter().map(|name| (name.to_owned(), SqlType::Unknown)).collect())
}

#[cfg(test)]
mod tests;
