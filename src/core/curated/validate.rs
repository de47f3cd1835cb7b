//! Validates curated content: by its own rules, and its SQL by the server's analysis.

use crate::catalog::identifier::{TableName, cut, find_table_or_bare, shown};
use crate::curated::content::{Content, Item, Metric, Term, VerifiedQuery};
use crate::curated::limits::{LONGEST_NAME, LONGEST_TABLE, LONGEST_TEXT, MOST_PARAMS, MOST_TEXTS, Problems};
use crate::curated::param::{Param, ParamType};
use crate::curated::phrasing;
use crate::curated::problem::Problem;
use crate::similar_names::near_names;
use crate::sql::analysis::{Analysis, Analyst, PreparedSql, SqlType};
use crate::sql::placeholder;
use crate::sql::placeholder::Placeholder;
use crate::sql::reads;
use crate::sql::reads::{Names, Reads, perhaps};
use crate::sql::statement_text;
use std::collections::{BTreeSet, HashSet};

/// What a checked statement reads.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Checked {
    pub reads: Reads,
    /// Those of its columns that names read: see [`Analysis::named`].
    pub named: Reads,
}

impl From<Analysis> for Checked {
    fn from(analysis: Analysis) -> Self {
        Self { reads: analysis.reads, named: analysis.named }
    }
}

/// Whether a text is a valid id of a verified query.
pub(crate) fn is_id(id: &str) -> bool {
    let mut bytes = id.bytes();
    id.len() <= LONGEST_NAME
        && bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn is_param_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    name.len() <= 63
        && bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The problems of the content apart from its items: names that occur twice.
pub fn repeated(content: &Content) -> Vec<Problem> {
    let items = content
        .verified_queries
        .iter()
        .map(|query| (Item::VerifiedQuery(query.id.clone()), "id"))
        .chain(content.metrics.iter().map(|metric| (Item::Metric(metric.name.clone()), "name")))
        .chain(content.glossary.iter().map(|term| (Item::Term(term.term.clone()), "term")));
    let mut known = HashSet::new();
    let mut problems = Vec::new();
    for (item, place) in items {
        if !known.insert(item.clone()) {
            problems.push(Problem { item, place: place.to_owned(), message: "it is defined twice".to_owned() });
        }
    }
    problems
}

/// Validates a verified query.
pub fn verified_query(
    query: &VerifiedQuery,
    names: &Names,
    analyst: &mut dyn Analyst,
) -> Result<Checked, Vec<Problem>> {
    let mut problems = Problems::new(Item::VerifiedQuery(query.id.clone()));
    if !is_id(&query.id) {
        problems.add("id", "it must start with a letter and hold only lower-case letters, digits and underscores");
    }
    problems.size(query);
    if query.questions.is_empty() {
        problems.add("questions", "there must be at least one");
    }
    problems.at_most("questions", query.questions.len(), MOST_TEXTS);
    for (question, number) in query.questions.iter().zip(1..=MOST_TEXTS) {
        problems.text(&format!("question {number}"), question);
    }
    problems.description(query.description.as_deref());
    problems.at_most("params", query.params.len(), MOST_PARAMS);
    for (name, param) in query.params.iter().take(MOST_PARAMS) {
        let place = format!("params.{}", shown(name));
        if !is_param_name(name) {
            problems.add(&place, "its name must be letters, digits and underscores");
        }
        problems.param(&place, param);
    }
    let known: BTreeSet<String> = query.params.keys().cloned().collect();
    let asked: BTreeSet<String> = query.questions.iter().flat_map(|question| phrasing::params(question)).collect();
    for name in asked.difference(&known) {
        problems.add("questions", format!("{{{name}}} is not a param"));
    }
    for name in known.difference(&asked) {
        problems.add("questions", format!("none has {{{}}}, which is a param", shown(name)));
    }
    let mut checked = Checked::default();
    match statement_text::placeholders(&query.sql) {
        Err(problem) => problems.add("sql", problem),
        Ok(placeholders) => {
            let used: BTreeSet<String> = placeholders.iter().map(|place| place.name.clone()).collect();
            let unknown: Vec<&String> = used.difference(&known).collect();
            for name in &unknown {
                problems.add("sql", format!(":{} is not a param", shown(name)));
            }
            for name in known.difference(&used) {
                problems.add("sql", format!("it does not use :{}, which is a param", shown(name)));
            }
            let texts = query.params.values().any(|param| param.param_type == ParamType::String);
            if texts && placeholder::has_plain_backslash(&query.sql) {
                problems.add("sql", "beside a string param, a literal with a backslash must be written as E'…' or $$…$$: in plain quotes, where it ends depends on standard_conforming_strings");
            }
            if unknown.is_empty() {
                let analysis = analyst.analyze(&prepared(query, &placeholders), names);
                for problem in &analysis.problems {
                    problems.add("sql", problem);
                }
                checked = analysis.into();
            }
        }
    }
    problems.or(checked)
}

/// A verified query's SQL, as the server is asked about it; each placeholder names one of its params.
pub fn prepared(query: &VerifiedQuery, placeholders: &[Placeholder]) -> PreparedSql {
    let params = query.params.iter().map(|(name, param)| (name.clone(), sql_type(param))).collect();
    PreparedSql::new(&query.sql, placeholders, params)
}

/// A metric's expression over its table, as the server is asked about it.
pub fn prepared_expression(expression: &str, table: &TableName) -> Result<PreparedSql, String> {
    match statement_text::placeholders(expression)?.first() {
        Some(placeholder) => Err(format!("there is no param :{} here", placeholder.name)),
        None => Ok(PreparedSql::of_expression(expression, table)),
    }
}

/// The problem that the names of a query or metric mean other columns than when it was imported.
pub fn captured(item: &Item, before: &Reads, checked: &Checked) -> Option<Problem> {
    let new = reads::captured(before, &checked.named)?;
    let what = new.columns().join(", ");
    let message = format!(
        "its names mean other columns than when it was imported: {}; qualify them and import it again",
        cut(&what)
    );
    Some(Problem::of_sql(item.clone(), message))
}

fn sql_type(param: &Param) -> SqlType {
    match param.param_type {
        ParamType::Int if param.is_small() => SqlType::Int4,
        ParamType::Int => SqlType::Int8,
        ParamType::Float => SqlType::Numeric,
        ParamType::Date => SqlType::Date,
        ParamType::String => SqlType::Unknown,
    }
}

/// Validates a metric. Also returns its table.
pub fn metric(metric: &Metric, names: &Names, analyst: &mut dyn Analyst) -> Result<(TableName, Checked), Vec<Problem>> {
    let mut problems = Problems::new(Item::Metric(metric.name.clone()));
    problems.name("name", &metric.name);
    problems.description(metric.description.as_deref());
    let fits = problems.within("expression", &metric.expression, LONGEST_TEXT);
    let table = table(&metric.table, names);
    let checked = match &table {
        Err(problem) => {
            problems.add("table", problem);
            Checked::default()
        }
        Ok(_) if !fits => Checked::default(),
        Ok(table) => match prepared_expression(&metric.expression, table) {
            Err(problem) => {
                problems.add("expression", problem);
                Checked::default()
            }
            Ok(prepared) => {
                let mut analysis = analyst.analyze(&prepared, names);
                for problem in &analysis.problems {
                    problems.add("expression", problem);
                }
                analysis.reads.note_bare(&metric.table, table);
                analysis.into()
            }
        },
    };
    match table {
        Ok(table) => problems.or((table.clone(), checked)),
        Err(_) => Err(problems.problems),
    }
}

/// Validates a term. Returns the tables that it is about, as what it reads.
pub fn term(term: &Term, names: &Names) -> Result<Reads, Vec<Problem>> {
    let mut problems = Problems::new(Item::Term(term.term.clone()));
    problems.phrase("term", &term.term);
    problems.text("definition", &term.definition);
    problems.at_most("synonyms", term.synonyms.len(), MOST_TEXTS);
    for synonym in term.synonyms.iter().take(MOST_TEXTS) {
        problems.phrase("synonyms", synonym);
    }
    let mut reads = Reads::default();
    problems.at_most("tables", term.tables.len(), MOST_TEXTS);
    for reference in term.tables.iter().take(MOST_TEXTS) {
        match table(reference, names) {
            Ok(table) => {
                reads.add_table(table);
                reads.note_bare(reference, table);
            }
            Err(problem) => problems.add("tables", problem),
        }
    }
    problems.or(reads)
}

/// Finds a table by its relation key or by a bare name: the table that the name meant before, the only one with that
/// name, or the first one on the path.
pub fn table<'a>(reference: &str, names: &Names<'a>) -> Result<&'a TableName, String> {
    if reference.len() > LONGEST_TABLE {
        return Err(format!("it is longer than {LONGEST_TABLE} bytes"));
    }
    if let Some([name]) = crate::catalog::identifier::parse_identifiers(reference).as_deref()
        && names.is_pinned(name)
    {
        return names.find(None, name).map(|table| &table.name);
    }
    let on_path = || match crate::catalog::identifier::parse_identifiers(reference).as_deref() {
        Some([name]) => names.find(None, name).ok().map(|table| &table.name),
        _ => None,
    };
    find_table_or_bare(reference, names.tables()).or_else(on_path).ok_or_else(|| {
        // Compare a bare name with bare names.
        let bare = !reference.contains('.');
        let known: Vec<String> =
            names.tables().map(|table| if bare { table.name.clone() } else { table.to_string() }).collect();
        let similar = near_names(reference, known.iter().map(String::as_str));
        format!("table \"{}\" does not exist{}", shown(reference), perhaps(&similar))
    })
}

#[cfg(test)]
mod tests;
