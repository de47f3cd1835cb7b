//! Tables ranked for a question.

use crate::pg::index::embedder;
use crate::pg::search::builds::Builds;
use crate::pg::search::evidence;
use crate::pg::search::evidence::TableEvidence;
use crate::pg::search::nearest;
use crate::pg::search::query_terms::QueryTerms;
use crate::pg::search::strategy::Strategy;
use crate::pg::server::error::Result;
use crate::pg::server::{interrupt, query};
use nl2sql_core::catalog::identifier::TableName;
use nl2sql_core::search::mmr;
use nl2sql_core::search::mmr::Candidate;
use nl2sql_core::search::value_match::{ValueMatch, ValueMatcher};
use nl2sql_core::search::{pagerank, table_rank, z_scores};
use std::collections::{BTreeSet, HashMap, HashSet};

/// A table with its evidence and score.
pub struct RankedTable {
    /// The number by which entries refer to it.
    pub number: i32,
    pub datasource: String,
    pub name: TableName,
    pub evidence: TableEvidence,
    /// From 0 to 1.
    pub score: f64,
}

/// All tables that exist for the current user, and their order.
pub struct Ranking {
    pub strategy: Strategy,
    /// Stems of the question's words.
    pub stems: Vec<String>,
    /// Ordered by name.
    pub tables: Vec<RankedTable>,
    /// Places in `tables`, best first.
    pub order: Vec<usize>,
    /// The tables that foreign keys join each table with, by their places.
    pub neighbours: Vec<Vec<usize>>,
    /// Values that the question names, by table and place of the column.
    pub matches: HashMap<(usize, i16), ValueMatch>,
}

/// Ranks the tables of the builds for a question. A strategy that picks tables one by one picks `limit`.
pub fn rank(builds: &Builds, question: &str, strategy: Strategy, limit: usize) -> Result<Ranking> {
    let terms = QueryTerms::new(question)?;
    let vector = embedder::embed_question(question)?;
    let mut found = evidence::read(builds, &vector, &terms)?;
    let mut tables: Vec<RankedTable> = Vec::with_capacity(found.tables.len());
    for (number, datasource, name) in names(builds)? {
        if let Some(evidence) = found.tables.remove(&number) {
            tables.push(RankedTable { number, datasource, name, evidence, score: 0.0 });
        }
    }
    tables.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.datasource.cmp(&b.datasource)));
    let places: HashMap<i32, usize> = tables.iter().enumerate().map(|(place, table)| (table.number, place)).collect();
    let mut ranking = Ranking {
        strategy,
        stems: terms.stems,
        neighbours: neighbours(&found.joins, &places),
        tables,
        order: Vec::new(),
        matches: HashMap::new(),
    };
    ranking.match_values(builds, question, &places)?;
    match strategy {
        Strategy::Fused => ranking.fuse(),
        Strategy::Dense => ranking.by(|table| table.evidence.signals.table.unwrap_or(-1.0)),
        Strategy::Mmr => ranking.pick(builds, &vector, limit)?,
    }
    Ok(ranking)
}

/// Numbers and names of the tables that exist for the current user.
fn names(builds: &Builds) -> Result<Vec<(i32, String, TableName)>> {
    query::read(
        "SELECT id, datasource, table_schema, table_name FROM nl2sql.relation WHERE live AND datasource = ANY ($1)",
        &[builds.datasources.clone().into()],
        |row| Ok((row.must(1)?, row.must(2)?, TableName::new(row.must::<String>(3)?, row.must::<String>(4)?))),
    )
}

fn neighbours(joins: &[(i32, i32)], places: &HashMap<i32, usize>) -> Vec<Vec<usize>> {
    let mut neighbours: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); places.len()];
    for (from, to) in joins {
        if let (Some(&from), Some(&to)) = (places.get(from), places.get(to)) {
            neighbours[from].insert(to);
            neighbours[to].insert(from);
        }
    }
    neighbours.into_iter().map(|tables| tables.into_iter().collect()).collect()
}

impl Ranking {
    /// Raises the similarity of each column that has a value which the question names.
    fn match_values(&mut self, builds: &Builds, question: &str, places: &HashMap<i32, usize>) -> Result<()> {
        let named = ValueMatcher::new(question);
        for (number, place, values) in evidence::known_values(builds)? {
            interrupt::check();
            let (Some(&table), Some(found)) = (places.get(&number), named.best(&values)) else { continue };
            let evidence = &mut self.tables[table].evidence;
            if let Some(column) = evidence.columns.iter_mut().find(|column| column.place == place) {
                column.similarity = column.similarity.max(found.similarity);
                let best = evidence.signals.column.unwrap_or(found.similarity);
                evidence.signals.column = Some(best.max(found.similarity));
                self.matches.insert((table, place), found);
            }
        }
        Ok(())
    }

    fn fuse(&mut self) {
        let evidence: Vec<_> = self.tables.iter().map(|table| table.evidence.signals.clone()).collect();
        let scores = pagerank::propagate(&table_rank::fuse(&evidence), &self.neighbours);
        for (table, score) in self.tables.iter_mut().zip(&scores) {
            table.score = *score;
        }
        self.order = z_scores::order(&scores);
    }

    fn by(&mut self, score: impl Fn(&RankedTable) -> f64) {
        let scores: Vec<f64> = self.tables.iter().map(score).collect();
        for (table, score) in self.tables.iter_mut().zip(&scores) {
            table.score = *score;
        }
        self.order = z_scores::order(&scores);
    }

    /// Orders by maximal marginal relevance over the tables' own entries, as `nl2sql_mmr` does; the rest of the pool follows.
    fn pick(&mut self, builds: &Builds, vector: &[f32], limit: usize) -> Result<()> {
        const LAMBDA: f64 = 0.7;
        let fetch = i64::try_from(limit.saturating_mul(4)).unwrap_or(i64::MAX);
        let pool = nearest::nearest(builds, vector, Some(&["schema.table".to_owned()]), None, fetch)?;
        let candidates: Vec<Candidate> = pool
            .iter()
            .map(|near| Candidate { id: &near.id, similarity: near.similarity, vector: &near.vector })
            .collect();
        let picks = mmr::select(&candidates, limit, LAMBDA, &mut interrupt::check);
        let keys: HashMap<(&str, String), usize> = self
            .tables
            .iter()
            .enumerate()
            .map(|(place, table)| ((table.datasource.as_str(), table.name.to_string()), place))
            .collect();
        let place = |at: usize| {
            let key = pool[at].metadata["table"].as_str().unwrap_or_default().to_owned();
            keys.get(&(pool[at].datasource.as_str(), key)).copied()
        };
        let mut ordered: Vec<(usize, f64)> =
            picks.iter().filter_map(|pick| Some((place(pick.at)?, pool[pick.at].similarity))).collect();
        let picked: HashSet<usize> = ordered.iter().map(|(place, _)| *place).collect();
        let rest = pool.iter().enumerate().filter_map(|(at, near)| Some((place(at)?, near.similarity)));
        ordered.extend(rest.filter(|(place, _)| !picked.contains(place)));
        for (place, similarity) in &ordered {
            self.tables[*place].score = *similarity;
        }
        self.order = ordered.into_iter().map(|(place, _)| place).collect();
        Ok(())
    }
}
