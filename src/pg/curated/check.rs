//! Checking curated content against a schema.

use crate::pg::catalog;
use crate::pg::curated::analyze::ServerAnalyst;
use crate::pg::datasource::Datasource;
use crate::pg::server::error::{Error, Result};
use crate::pg::server::identity;
use nl2sql_core::catalog::identifier::{TableName, cut, shown};
use nl2sql_core::catalog::schema::Schema;
use nl2sql_core::catalog::scope::Scope;
use nl2sql_core::chunk::curated_chunks;
use nl2sql_core::chunk::curated_chunks::CuratedChunks;
use nl2sql_core::chunk::cutter::Cutter;
use nl2sql_core::curated::content::{Content, Item};
use nl2sql_core::curated::problem::Problem;
use nl2sql_core::curated::validate;
use nl2sql_core::curated::validate::Checked;
use nl2sql_core::sql::reads::{Names, Reads};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Problems that an error lists.
const LISTED: usize = 20;
/// Bytes of its DETAIL.
const DETAIL: usize = 1200;

/// What is right, with what it reads, and what is not.
#[derive(Default)]
pub struct Verdict {
    pub reads: BTreeMap<Item, Reads>,
    pub problems: Vec<Problem>,
}

/// Tables of which an option leaves columns out, so that a star reads more than the datasource has.
pub fn wider(datasource: &Datasource) -> Result<HashSet<TableName>> {
    if datasource.options.exclude_columns.is_empty() {
        return Ok(HashSet::new());
    }
    let scope = Scope::new(&datasource.options)?;
    let catalogue = identity::as_owner(|owner| catalog::structure(owner, &datasource.schemas))?;
    let tables: HashMap<u32, TableName> =
        catalogue.tables.iter().map(|table| (table.oid, table.table_name())).collect();
    let columns =
        catalogue.columns.iter().filter_map(|column| Some((tables.get(&column.table)?, column.name.as_str())));
    Ok(columns.filter(|(table, column)| scope.excludes_column(table, column)).map(|(table, _)| table.clone()).collect())
}

/// Checks content as the current user, for whom `schema` is what there is. `before`: what the pieces read when they
/// were written down, which their names go on meaning; where they do not, it is a problem.
pub fn check(
    datasource: &Datasource,
    content: &Content,
    schema: &Schema,
    before: &BTreeMap<Item, Reads>,
) -> Result<Verdict> {
    let names = Names::new(&datasource.schemas, schema).with_wider(wider(datasource)?);
    let mut verdict = Verdict { problems: validate::repeated(content), ..Verdict::default() };
    let mut analyst = ServerAnalyst::strict(&datasource.schemas)?;
    for query in &content.verified_queries {
        let item = Item::VerifiedQuery(query.id.clone());
        let before = before.get(&item);
        verdict.add(item, validate::verified_query(query, &names.reading(before), &mut analyst), before);
    }
    for metric in &content.metrics {
        let item = Item::Metric(metric.name.clone());
        let before = before.get(&item);
        let checked = validate::metric(metric, &names.reading(before), &mut analyst).map(|(_, checked)| checked);
        verdict.add(item, checked, before);
    }
    for term in &content.glossary {
        let item = Item::Term(term.term.clone());
        match validate::term(term, &names.reading(before.get(&item))) {
            Ok(reads) => drop(verdict.reads.insert(item, reads)),
            Err(problems) => verdict.problems.extend(problems),
        }
    }
    analyst.found(verdict)
}

/// Cuts the content against the schema, and leaves out what the server would not take of it, as the current user.
pub fn chunks(
    datasource: &Datasource,
    cutter: &Cutter,
    content: &Content,
    before: &BTreeMap<Item, Reads>,
    schema: &Schema,
) -> Result<CuratedChunks> {
    if content.is_empty() {
        return Ok(CuratedChunks::default());
    }
    let names = Names::new(&datasource.schemas, schema).with_wider(wider(datasource)?);
    let mut analyst = ServerAnalyst::new(&datasource.schemas)?;
    let cut = curated_chunks::cut(cutter, content, before, &names, &mut analyst);
    analyst.found(cut)
}

impl Verdict {
    fn add(&mut self, item: Item, checked: std::result::Result<Checked, Vec<Problem>>, before: Option<&Reads>) {
        match checked {
            Err(problems) => self.problems.extend(problems),
            Ok(checked) => {
                self.problems.extend(before.and_then(|before| validate::captured(&item, before, &checked)));
                self.reads.insert(item, checked.reads);
            }
        }
    }

    /// 22023 that names every problem, where there is one.
    pub fn refuse(&self, name: &str) -> Result<()> {
        let Some(first) = self.problems.first() else { return Ok(()) };
        let error = Error::invalid(format!(
            "curated content of datasource \"{}\" is not valid: {}",
            shown(name),
            cut(&first.to_string())
        ));
        let others: Vec<String> =
            self.problems.iter().skip(1).take(LISTED).map(|problem| cut(&problem.to_string()).into_owned()).collect();
        let mut length = 0;
        let listed = others.iter().take_while(|problem| {
            length += problem.len();
            length < DETAIL
        });
        let others: Vec<String> = listed.cloned().collect();
        let error = match self.problems.len() - 1 - others.len() {
            _ if others.is_empty() => error,
            0 => error.detail(others.join("\n")),
            more => error.detail(format!("{}\nand {more} more", others.join("\n"))),
        };
        let index = crate::pg::server::error::call("nl2sql_index", name);
        Err(error.hint(format!("Names are looked up in the live snapshot; SELECT {index}; reads the schema anew.")))
    }
}
