//! Checking curated content: by its own rules against the live snapshot, then by the server.

use super::datasource::Datasource;
use super::error::{Error, Result};
use super::{interrupt, namespace, prepare, snapshot};
use nl2sql_core::curated::{Content, Item};
use nl2sql_core::name::shown;
use nl2sql_core::reads::{Names, Reads};
use nl2sql_core::schema::Schema;
use nl2sql_core::validate::{self, Checked, Problem};
use std::collections::BTreeMap;

/// Problems that an error lists.
const LISTED: usize = 20;

/// What is right, with what it reads, and what is not.
#[derive(Default)]
pub struct Verdict {
    pub reads: BTreeMap<Item, Reads>,
    pub problems: Vec<Problem>,
}

/// The part of the live snapshot that exists for the current user; 55000 where nothing is live.
pub fn live_schema(name: &str) -> Result<Schema> {
    let namespace = namespace::current()?;
    let version = snapshot::live_version(name, &namespace)?.ok_or_else(|| Error::not_indexed(name, &namespace))?;
    snapshot::load_visible(name, &version)
}

/// Checks content as the current user, for whom `schema` is what there is.
pub fn check(datasource: &Datasource, content: &Content, schema: &Schema) -> Result<Verdict> {
    let names = Names::new(&datasource.schemas, schema);
    let mut verdict = Verdict { problems: validate::repeated(content), ..Verdict::default() };
    for query in &content.verified_queries {
        interrupt::check();
        let item = Item::VerifiedQuery(query.id.clone());
        verdict.add(item, "sql", validate::verified_query(query, &names), datasource)?;
    }
    for metric in &content.metrics {
        interrupt::check();
        let checked = validate::metric(metric, &names).map(|(table, mut checked)| {
            checked.reads.add_table(&table);
            checked
        });
        verdict.add(Item::Metric(metric.name.clone()), "expression", checked, datasource)?;
    }
    for term in &content.glossary {
        match validate::term(term, &names) {
            Ok(tables) => {
                let mut reads = Reads::default();
                tables.iter().for_each(|table| reads.add_table(table));
                verdict.reads.insert(Item::Term(term.term.clone()), reads);
            }
            Err(problems) => verdict.problems.extend(problems),
        }
    }
    Ok(verdict)
}

impl Verdict {
    fn add(
        &mut self,
        item: Item,
        place: &str,
        checked: std::result::Result<Checked, Vec<Problem>>,
        datasource: &Datasource,
    ) -> Result<()> {
        match checked {
            Err(problems) => self.problems.extend(problems),
            Ok(checked) => match prepare::objection(&checked.sql, &checked.types, &datasource.schemas)? {
                Some(message) => self.problems.push(Problem { item, place: place.to_owned(), message }),
                None => drop(self.reads.insert(item, checked.reads)),
            },
        }
        Ok(())
    }

    /// 22023 that names every problem, where there is one.
    pub fn refuse(&self, name: &str) -> Result<()> {
        let Some(first) = self.problems.first() else { return Ok(()) };
        let error = Error::invalid(format!("curated content of datasource \"{}\" is not valid: {first}", shown(name)));
        let others: Vec<String> = self.problems.iter().skip(1).take(LISTED).map(Problem::to_string).collect();
        let error = match self.problems.len().saturating_sub(1 + LISTED) {
            _ if others.is_empty() => error,
            0 => error.detail(others.join("\n")),
            more => error.detail(format!("{}\nand {more} more", others.join("\n"))),
        };
        let index = super::error::call("nl2sql_index", name);
        Err(error.hint(format!("Names are looked up in the live snapshot; SELECT {index}; reads the schema anew.")))
    }
}
