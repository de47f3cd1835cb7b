//! The chunks of curated content: phrasings and descriptions of verified queries, metrics, and terms.

use crate::catalog::identifier::{TableName, quote_identifier};
use crate::catalog::identifier_words::split_identifier;
use crate::chunk::chunk_type::ChunkType;
use crate::chunk::cutter::{Chunk, Cutter};
use crate::chunk::schema_text::sentence;
use crate::chunk::visible_if::VisibleIf;
use crate::curated::content::{Content, Item, Metric, Term, VerifiedQuery, item_hash};
use crate::curated::phrasing;
use crate::curated::problem::Problem;
use crate::curated::validate;
use crate::curated::validate::Checked;
use crate::snapshot::fingerprint::sha256_hex;
use crate::sql::analysis::Analyst;
use crate::sql::reads;
use crate::sql::reads::Names;
use serde_json::json;
use std::collections::{BTreeMap, HashSet};

/// The chunks of one datasource's content, and the problems of items that no longer fit the schema.
#[derive(Debug, Default)]
pub struct CuratedChunks {
    pub chunks: Vec<Chunk>,
    /// What each item reads of this schema.
    pub reads: Vec<(Item, reads::Reads)>,
    /// The problems of items that are left out.
    pub problems: Vec<Problem>,
}

/// Cuts the content, checked against the schema of `names`. An item is left out if it is invalid, because its SQL would
/// fail and its visibility would be unknown, or if it would read other columns than it did `before`.
pub fn cut<'a>(
    cutter: &Cutter,
    content: &Content,
    before: &'a BTreeMap<Item, reads::Reads>,
    names: &Names<'a>,
    analyst: &mut dyn Analyst,
) -> CuratedChunks {
    let mut cut = CuratedChunks::default();
    for query in &content.verified_queries {
        let item = Item::VerifiedQuery(query.id.clone());
        let before = before.get(&item);
        let checked = validate::verified_query(query, &names.reading(before), analyst);
        match checked.and_then(|checked| fits(&item, before, checked)) {
            Ok(checked) => {
                cut.chunks.extend(verified_query(cutter, query, &checked.reads));
                cut.reads.push((item, checked.reads));
            }
            Err(problems) => cut.problems.extend(problems),
        }
    }
    for metric in &content.metrics {
        let item = Item::Metric(metric.name.clone());
        let before = before.get(&item);
        let found = validate::metric(metric, &names.reading(before), analyst);
        match found.and_then(|(table, checked)| Ok((table, fits(&item, before, checked)?))) {
            Ok((table, checked)) => {
                cut.chunks.push(self::metric(cutter, metric, &table, &checked.reads));
                cut.reads.push((item, checked.reads));
            }
            Err(problems) => cut.problems.extend(problems),
        }
    }
    for term in &content.glossary {
        let item = Item::Term(term.term.clone());
        match validate::term(term, &names.reading(before.get(&item))) {
            Ok(reads) => {
                cut.chunks.push(self::term(cutter, term, &reads));
                cut.reads.push((item, reads));
            }
            Err(problems) => cut.problems.extend(problems),
        }
    }
    cut
}

/// Returns the checked item if it reads what it read before.
fn fits(item: &Item, before: Option<&reads::Reads>, checked: Checked) -> Result<Checked, Vec<Problem>> {
    match before.and_then(|before| validate::captured(item, before, &checked)) {
        Some(problem) => Err(vec![problem]),
        None => Ok(checked),
    }
}

/// The distinct texts that are embedded for a query: its phrasings, then its description. `{param}` is replaced by the
/// param's example, else its default, else its name.
pub fn phrasings(query: &VerifiedQuery) -> Vec<String> {
    let fill = |text: &str| {
        phrasing::fill(text.trim(), |name| {
            query.params.get(name).map(|param| param.sample().unwrap_or_else(|| name.to_owned()))
        })
    };
    let texts = query.questions.iter().chain(&query.description).map(|text| fill(text));
    let mut known = HashSet::new();
    texts.filter(|text| !text.is_empty() && known.insert(text.clone())).collect()
}

fn verified_query(cutter: &Cutter, query: &VerifiedQuery, reads: &reads::Reads) -> Vec<Chunk> {
    let hash = item_hash(query);
    let cut = |text: String| {
        let place = format!("{}:{}", query.id, &sha256_hex(&text)[..12]);
        let fields = json!({ "query_id": query.id });
        let reads = VisibleIf::Several(reads.clone());
        let chunk = cutter.chunk(ChunkType::VerifiedQuery, Some(&place), text, fields, reads);
        Chunk { curated_hash: Some(hash.clone()), ..chunk }
    };
    phrasings(query).into_iter().map(cut).collect()
}

/// `net revenue. What is invoiced, less refunds. sum(total) of invoice (shop.invoice).`
fn metric(cutter: &Cutter, metric: &Metric, table: &TableName, reads: &reads::Reads) -> Chunk {
    let words = split_identifier(&metric.name);
    let name = if words.is_empty() { metric.name.clone() } else { words };
    let mut text = sentence(&name);
    if let Some(description) = metric.description.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        text = format!("{text} {}", sentence(description));
    }
    let of = split_identifier(&table.name);
    text = format!("{text} {} of {of} ({table}).", metric.expression.split_whitespace().collect::<Vec<_>>().join(" "));
    let fields = json!({
        "name": metric.name,
        "description": metric.description,
        "expression": metric.expression,
        "table": table.to_string(),
    });
    let mut reads = reads.clone();
    reads.add_table(table);
    let chunk =
        cutter.chunk(ChunkType::Metric, Some(&quote_identifier(&metric.name)), text, fields, VisibleIf::Several(reads));
    Chunk { curated_hash: Some(item_hash(metric)), ..chunk }
}

/// `churn rate: the share of customers who left in a month. Also: attrition.`
fn term(cutter: &Cutter, term: &Term, reads: &reads::Reads) -> Chunk {
    let mut text = sentence(&format!("{}: {}", term.term.trim(), term.definition.trim()));
    if !term.synonyms.is_empty() {
        text = format!("{text} Also: {}.", term.synonyms.join(", "));
    }
    let keys: Vec<String> = reads.tables.keys().map(TableName::to_string).collect();
    let fields = json!({ "term": term.term, "definition": term.definition, "synonyms": term.synonyms, "tables": keys });
    let chunk = cutter.chunk(
        ChunkType::Term,
        Some(&quote_identifier(&term.term)),
        text,
        fields,
        VisibleIf::Several(reads.clone()),
    );
    Chunk { curated_hash: Some(item_hash(term)), ..chunk }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::schema;
    use crate::sql::analysis::tests::Stub;

    fn content() -> Content {
        serde_json::from_value(json!({
            "verified_queries": [
                {"id": "top", "description": "Best customers", "questions": ["Top {n} of {state}", "Top 5 of {state} ", "Top {n} of {state}"],
                 "params": {"n": {"type": "int", "default": 5}, "state": {"type": "string"}},
                 "sql": "SELECT id FROM orders WHERE state::text = :state LIMIT :n"},
                {"id": "gone", "questions": ["?"], "sql": "SELECT x FROM orders"}
            ],
            "metrics": [{"name": "open_orders", "description": "What is open", "expression": "count(*)\n  FILTER (WHERE state = 'open')", "table": "orders"}],
            "glossary": [{"term": "churn rate", "definition": "who left", "synonyms": ["attrition"], "tables": ["customers"]}]
        }))
        .unwrap()
    }

    #[test]
    fn cuts_what_fits_the_schema() {
        let (schema, path) = (schema(), ["shop".to_owned()]);
        let cutter = Cutter { datasource: "shop", schema_version: "v1", quote_values: false };
        let before = BTreeMap::new();
        let cut = cut(&cutter, &content(), &before, &Names::new(&path, &schema), &mut Stub);
        let texts: Vec<&str> = cut.chunks.iter().map(|chunk| chunk.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "Top 5 of state",
                "Best customers",
                "open orders. What is open. count(*) FILTER (WHERE state = 'open') of orders (shop.orders).",
                "churn rate: who left. Also: attrition.",
            ]
        );
        let hash = &sha256_hex("Best customers")[..12];
        assert_eq!(cut.chunks[1].id, format!("curated.verified_query:shop:v1:top:{hash}"));
        assert_eq!(cut.chunks[1].metadata["query_id"], "top");
        assert_eq!(cut.chunks[2].metadata["table"], "shop.orders");
        assert_eq!(cut.chunks[3].id, "curated.term:shop:v1:\"churn rate\"");
        assert!(cut.chunks.iter().all(|chunk| !chunk.text.contains("SELECT") && chunk.curated_hash.is_some()));
        let VisibleIf::Several(reads) = &cut.chunks[0].reads else { panic!() };
        assert_eq!(reads.columns(), ["shop.orders.id", "shop.orders.state"]);
        assert_eq!(cut.problems.len(), 1);
        assert!(cut.problems[0].to_string().starts_with("verified query \"gone\": sql, line 1: column \"x\""));
    }
}
