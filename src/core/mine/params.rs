//! Replaces the constants of a mined statement by params, named after the columns that they are compared with.

use crate::curated::param::ParamType;
use crate::mine::literals::{Bound, Constants, LiteralInfo, Site};
use crate::mine::normalized_sql::NormalizedSql;
use crate::sql::parse::Statement;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A param of a mined statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NamedParam {
    pub name: String,
    pub param_type: ParamType,
    /// The name of the column that it is compared with.
    pub column: Option<String>,
    /// Which bound of the column it is: `_from`, `_to` or empty.
    pub suffix: &'static str,
    /// The count of LIMIT or OFFSET.
    pub rows: bool,
}

/// Returns the SQL with params, and the params in the order of their places. `None` if places overlap, which does not
/// happen for a statement that was read correctly.
pub(crate) fn named(
    text: &NormalizedSql,
    statement: &Statement,
    constants: &Constants,
) -> Option<(String, Vec<NamedParam>)> {
    let edits = edits(statement, constants)?;
    let used = edits.iter().filter_map(|(_, site)| site.as_ref());
    let mut namer = ParamNamer::new(used.filter_map(|site| constants.known.get(site)));
    let mut names: BTreeMap<&Site, String> = BTreeMap::new();
    let mut sql = String::with_capacity(text.sql.len());
    let mut from = 0;
    for (bytes, site) in &edits {
        sql.push_str(text.sql.get(from..bytes.start)?);
        match site {
            Some(site) => {
                let name = names.entry(site).or_insert_with(|| namer.name(constants.known.get(site)));
                sql.push(':');
                sql.push_str(name);
            }
            None => sql.push('1'),
        }
        from = bytes.end;
    }
    sql.push_str(text.sql.get(from..)?);
    Some((sql, namer.params))
}

/// The places of constants, in order; without a site if the value does not matter.
fn edits(statement: &Statement, constants: &Constants) -> Option<Vec<(Range<usize>, Option<Site>)>> {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for place in &statement.placeholders {
        *times.entry(&place.name).or_default() += 1;
    }
    let placeholders = statement.placeholders.iter().map(|place| {
        let idle = constants.idle.get(&place.name) == times.get(place.name.as_str());
        (place.start..place.end, (!idle).then(|| Site::Placeholder(place.name.clone())))
    });
    let literals = constants.known.keys().filter_map(|site| match site {
        &Site::Literal(start, end) => Some((start..end, Some(site.clone()))),
        Site::Placeholder(_) => None,
    });
    let mut edits: Vec<_> = placeholders.chain(literals).collect();
    edits.sort_by_key(|(bytes, _)| bytes.start);
    let apart = edits.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start);
    apart.then_some(edits)
}

struct ParamNamer {
    params: Vec<NamedParam>,
    taken: BTreeSet<String>,
    /// Columns with a lower and an upper bound.
    ranges: BTreeSet<String>,
}

impl ParamNamer {
    fn new<'k>(known: impl Iterator<Item = &'k LiteralInfo>) -> Self {
        let (mut lower, mut upper) = (BTreeSet::new(), BTreeSet::new());
        for (column, bound) in known.filter_map(|known| known.bound.as_ref()) {
            match bound {
                Bound::Lower => lower.insert(column.clone()),
                Bound::Upper => upper.insert(column.clone()),
            };
        }
        let ranges = lower.intersection(&upper).cloned().collect();
        Self { params: Vec::new(), taken: BTreeSet::new(), ranges }
    }

    fn name(&mut self, known: Option<&LiteralInfo>) -> String {
        let suffix = match known.and_then(|known| known.bound.as_ref().map(|(column, bound)| (known, column, bound))) {
            Some((known, column, bound)) if known.between || self.ranges.contains(column) => match bound {
                Bound::Lower => "_from",
                Bound::Upper => "_to",
            },
            _ => "",
        };
        let column = known.and_then(|known| known.name.as_ref());
        let name = match column {
            Some(column) => {
                let first = format!("{column}{suffix}");
                let next = |number: usize| if number == 1 { first.clone() } else { format!("{first}_{number}") };
                self.free(next)
            }
            None => self.free(|number| format!("p{number}")),
        };
        self.taken.insert(name.clone());
        self.params.push(NamedParam {
            name: name.clone(),
            param_type: known.and_then(|known| known.param_type).unwrap_or(ParamType::String),
            column: column.cloned(),
            suffix,
            rows: known.is_some_and(|known| known.rows),
        });
        name
    }

    fn free(&self, name: impl Fn(usize) -> String) -> String {
        // There are fewer names taken than numbers tried.
        (1..=self.taken.len() + 1).map(name).find(|name| !self.taken.contains(name)).unwrap_or_default()
    }
}
