//! Reads and writes the document of curated content, which is YAML and may be JSON.

use crate::curated::content::Content;
use crate::curated::document::error::describe;
use crate::curated::param::null_as_default;
use serde::{Deserialize, Serialize};
use serde_saphyr::{Budget, Options, SerializerOptions};
use std::collections::BTreeMap;

/// The longest document, in bytes.
pub const LONGEST: usize = 16 << 20;
/// The depth that a document may have. Content needs eight.
const DEPTH: usize = 32;
/// The fewest bytes that a key, a value or a list takes in valid content: choices of one digit.
const BYTES_A_NODE: usize = 2;

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[serde(expecting = "datasources and their content")]
struct CuratedDocument {
    #[serde(deserialize_with = "null_as_default")]
    datasources: BTreeMap<String, Option<Content>>,
}

/// Parses curated content by datasource. `Err` describes the problem of the document and its place.
pub fn parse(text: &str) -> Result<BTreeMap<String, Content>, String> {
    if text.len() > LONGEST {
        return Err(too_long());
    }
    let document: CuratedDocument =
        serde_saphyr::from_str_with_options(text, options()).map_err(|error| describe(text, &error, &budget()))?;
    Ok(document.datasources.into_iter().map(|(name, content)| (name, content.unwrap_or_default())).collect())
}

fn too_long() -> String {
    format!("it is longer than {} MB", LONGEST >> 20)
}

fn options() -> Options {
    let mut options = Options::default();
    options.budget = Some(budget());
    options.emit_comments = false;
    // As in YAML 1.2: "no" is a string, and so is a number that starts with 0.
    options.strict_booleans = true;
    options.leading_zero_numbers_as_strings = true;
    options.underscored_numbers_as_strings = true;
    options.with_snippet = false;
    options
}

/// Plain content is limited by its length only. Aliases, which expand, keep the parser's own limits.
fn budget() -> Budget {
    let mut budget = Budget::default();
    budget.max_depth = DEPTH;
    budget.max_nodes = LONGEST / BYTES_A_NODE;
    budget.max_events = 2 * budget.max_nodes;
    budget.max_total_scalar_bytes = LONGEST;
    budget
}

/// Renders the document of this content. Parsing it returns the same content. `Err` if it is too long.
pub fn render(datasources: &BTreeMap<String, Content>) -> Result<String, String> {
    let content = datasources.iter().map(|(name, content)| (name.clone(), Some(content.clone())));
    let document = CuratedDocument { datasources: content.collect() };
    let text = serde_saphyr::to_string_with_options(&document, SerializerOptions::default())
        .map_err(|error| error.to_string())?;
    // Some strings do not survive YAML. JSON, which is YAML, too, holds any string.
    if parse(&text).is_ok_and(|read| read == *datasources) {
        return Ok(text);
    }
    let text = serde_json::to_string_pretty(&document).map_err(|error| error.to_string())?;
    if text.len() <= LONGEST {
        return Ok(text);
    }
    let text = serde_json::to_string(&document).map_err(|error| error.to_string())?;
    if text.len() <= LONGEST { Ok(text) } else { Err(too_long()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curated::content::{Metric, Term, VerifiedQuery};
    use proptest::prelude::*;
    use serde_json::json;

    const EXAMPLE: &str = "
datasources:
  shop:
    verified_queries:
    - id: top
      description: ~
      questions: ['Top {n}', no]
      params:
        n: {type: int, default: 10, min: 1, choices: [10, 20]}
        day: {type: date, example: 2012-01-31}
      sql: |
        SELECT 1
        LIMIT :n
    metrics:
    - {name: revenue, expression: 'sum(total)', table: shop.orders}
    glossary:
  other:
";

    #[test]
    fn reads_yaml_and_json() {
        let content = parse(EXAMPLE).unwrap();
        let shop = &content["shop"];
        assert_eq!(shop.verified_queries[0].questions, ["Top {n}", "no"]);
        assert_eq!(shop.verified_queries[0].sql, "SELECT 1\nLIMIT :n\n");
        assert_eq!(shop.verified_queries[0].params["day"].example, Some(json!("2012-01-31")));
        assert_eq!((shop.metrics.len(), shop.glossary.len(), content["other"].is_empty()), (1, 0, true));
        let json = serde_json::to_string(&json!({ "datasources": content })).unwrap();
        assert_eq!(parse(&json).unwrap(), content);
    }

    #[test]
    fn problems_have_lines() {
        for (text, problem) in [
            ("datasources:\n  a: {verified_queries: [}", "line 2"),
            ("datasources:\n  a:\n    queries: []", "line 3"),
            ("datasources:\n  a:\n    verified_queries:\n    - {id: a, params: {n: {type: integer}}}", "line 4"),
            ("datasources:\n  a: 1\n  a: 2\n", "line 2"),
            ("[1]", "line 1"),
            ("", "line 1"),
            ("sources: {}", "line 1"),
            ("datasources: {a: {verified_queries: [[1]]}}", "line 1"),
            ("a: 1\n---\nb: 2", ""),
            ("datasources: {a: {metrics: [{name: a, name: b}]}}", "duplicate"),
            ("datasources: {a: {verified_queries: [{params: {n: 1}}]}}", "line 1"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(problem) && !error.contains('\n'), "{text}: {error}");
        }
    }

    #[test]
    fn problems_have_places() {
        let with = |more: &str| {
            format!("datasources:\n  shop:\n    verified_queries:\n    - id: first\n    - id: top\n{more}")
        };
        for (more, problem) in [
            (
                "      quest: [x]\n",
                "verified query \"top\" (line 6): unknown field \"quest\", expected one of id, description, questions, params, sql",
            ),
            ("      id: again\n", "verified query \"top\" (line 6): duplicate key \"id\""),
            ("      questions: 5\n", "verified query \"top\", questions (line 6): it must be a list"),
            ("      sql: [x]\n", "verified query \"top\", sql (line 6): it must be a string"),
            (
                "      params: {n: {type: int}, n: {type: int}}\n",
                "verified query \"top\", params (line 6): duplicate key \"n\"",
            ),
            (
                "      params:\n        n: {type: integer}\n",
                "verified query \"top\", params.n.type (line 7): unknown value \"integer\", expected one of int, float, string, date",
            ),
            ("      params: {n: {min: 5}}\n", "verified query \"top\", params.n (line 6): missing field \"type\""),
            (
                "    - questions: [[]]\n      id: late\n",
                "verified query \"late\", questions (line 6): it must be a string",
            ),
            ("    - 5\n", "verified query 3 (line 6): it must be a mapping"),
            (
                "    metrics: [{name: m, table: t}, {expr: x}]\n",
                "metric 2 (line 6): unknown field \"expr\", expected one of name, description, expression, table",
            ),
            (
                "    glossary: [{synonym: x, term: t}]\n",
                "term \"t\" (line 6): unknown field \"synonym\", expected one of term, definition, synonyms, tables",
            ),
        ] {
            assert_eq!(parse(&with(more)).unwrap_err(), format!("datasource \"shop\", {problem}"));
        }
        for (more, problem) in [
            ("    verified_queries: []\n", "duplicate key \"verified_queries\""),
            ("  shop: {}\n", "duplicate key \"shop\""),
        ] {
            assert_eq!(parse(&with(more)).unwrap_err(), format!("datasource \"shop\" (line 6): {problem}"));
        }
        for value in [".inf", "-.Inf", ".nan", "1e400", "-1e309"] {
            let error =
                parse(&with(&format!("      params:\n        n: {{type: float, default: {value}}}\n"))).unwrap_err();
            assert_eq!(
                error,
                format!(
                    "datasource \"shop\", verified query \"top\", params.n.default (line 7): it must be a finite number, not {value}"
                )
            );
        }
    }

    #[test]
    fn numbers_survive() {
        let long = format!("17976931348623157{}", "0".repeat(292));
        let small = format!("0.{}5", "0".repeat(323));
        for (text, number) in [
            (long.clone(), f64::MAX),
            (format!("-{long}"), f64::MIN),
            (small, 5e-324),
            ("0.1".into(), 0.1),
            ("1e20".into(), 1e20),
        ] {
            let param: crate::curated::param::Param =
                serde_json::from_str(&format!("{{\"type\": \"float\", \"default\": {text}}}")).unwrap();
            assert_eq!(
                (param.default.as_ref().and_then(serde_json::Value::as_f64), param.problems().len()),
                (Some(number), 0),
                "{text}"
            );
            let written = format!(
                "datasources: {{a: {{verified_queries: [{{params: {{n: {{type: float, default: {text}}}}}}}]}}}}"
            );
            let content = parse(&written).unwrap();
            assert_eq!(content["a"].verified_queries[0].params["n"], param, "{text}");
            assert_eq!(parse(&render(&content).unwrap()).unwrap(), content, "{text}");
        }
    }

    /// The largest items that can be stored, and more items than the parser accepts by default.
    #[test]
    fn large_content_is_read_again() {
        let long = "x".repeat(10_000);
        let param = json!({"type": "string", "default": long, "choices": (0..10_000).map(|n| n.to_string()).collect::<Vec<_>>()});
        let query = VerifiedQuery {
            id: "a".repeat(200),
            description: Some(long.clone()),
            questions: vec![long.clone(); 1000],
            sql: long.repeat(10),
            params: [("n".repeat(63), serde_json::from_value(param).unwrap())].into(),
        };
        let short = |n: usize| VerifiedQuery {
            id: format!("q{n}"),
            questions: vec!["Why?".into(); 30],
            sql: "SELECT 1".into(),
            ..Default::default()
        };
        for queries in [vec![query], (0..10_000).map(short).collect()] {
            let content =
                BTreeMap::from([("shop".to_owned(), Content { verified_queries: queries, ..Default::default() })]);
            let json = serde_json::to_string(&json!({ "datasources": content })).unwrap();
            assert!(parse(&json).unwrap() == content && parse(&render(&content).unwrap()).unwrap() == content);
        }
        let metric = Metric { name: "m".into(), description: None, expression: "x".repeat(LONGEST), table: "t".into() };
        let content = BTreeMap::from([("shop".to_owned(), Content { metrics: vec![metric], ..Default::default() })]);
        assert!(render(&content).unwrap_err().starts_with("it is longer than"));
    }

    #[test]
    fn a_limit_is_named() {
        let content = |lists: &str| format!("datasources: {{a: {{verified_queries: [{lists}]}}}}");
        let one = format!("{{questions: &a [{}]}}", vec!["x"; 1000].join(","));
        for (text, limit) in [
            (
                content(&format!("{{params: {{n: {{default: {}{}}}}}}}", "[".repeat(100), "]".repeat(100))),
                "nests deeper than 32",
            ),
            (
                content(&format!("{one}{}", ", {questions: *a}".repeat(1100))),
                "its aliases expand to more than 1000000 nodes",
            ),
            (content(&format!("{{id: &a x}}{}", ", {id: *a}".repeat(60_000))), "more than 50000 aliases"),
            (content(&format!("{{id: &a x}}{}", ", {id: *a}".repeat(200))), "too many aliases, 200 of 1 anchors"),
            (
                content(&format!("{{id: &a {}}}{}", "x".repeat(1 << 20), ", {id: *a}".repeat(LONGEST >> 20))),
                "its strings are longer than",
            ),
            ("datasources: {}\n---\ndatasources: {}".to_owned(), "it is more than one document"),
        ] {
            let error = parse(&text).unwrap_err();
            assert!(error.contains(limit), "{limit}: {error}");
        }
    }

    #[test]
    fn hostile_documents_are_rejected() {
        let bomb = format!(
            "a: &a [x]\n{}",
            (1..20)
                .map(|n| format!(
                    "k{n}: &k{n} [{}]\n",
                    vec![format!("*{}", if n == 1 { "a".into() } else { format!("k{}", n - 1) }); 10].join(", ")
                ))
                .collect::<String>()
        );
        let rejected = |text: &str| {
            let error = parse(text).unwrap_err();
            assert!(
                ["budget", "struct", "Policy", "from_", "Option"].iter().all(|word| !error.contains(word))
                    && error.len() < 1300,
                "{error}"
            );
        };
        rejected(&bomb);
        rejected(&"[".repeat(100_000));
        rejected(&format!("datasources: {{a: {{{}: 1}}}}", "x".repeat(100_000)));
        assert!(parse("datasources:\n").unwrap().is_empty());
        assert!(parse(&"a: ".repeat(10_000)).is_err());
        assert!(
            parse(&format!(
                "datasources: {{a: {{verified_queries: [{{params: {{n: {{type: int, default: {}1{}}}}}}}]}}}}",
                "[".repeat(5000),
                "]".repeat(5000)
            ))
            .is_err()
        );
        assert!(parse(&" ".repeat(LONGEST + 1)).is_err());
    }

    proptest! {
        #[test]
        fn rendered_content_parses_to_itself(texts in proptest::collection::vec("(?s)[ -~\\n\\t]{0,30}|(?s).{0,12}|[-?:,\\[\\]{}#&*!|>'\"%@` ]{1,4}|~|null|yes|0x1f|1_000|012|1e3|\\.inf|2012-01-01|=|<<", 8)) {
            let [id, description, question, sql, name, term, other, value]: [String; 8] = texts.try_into().unwrap();
            let query = VerifiedQuery {
                id, description: Some(description), questions: vec![question, other.clone()], sql,
                params: [("n".to_owned(), serde_json::from_value(json!({"type": "string", "default": value, "choices": [other]})).unwrap())].into(),
            };
            let metric = Metric { name, description: None, expression: other.clone(), table: "t".into() };
            let content = Content {
                verified_queries: vec![query], metrics: vec![metric],
                glossary: vec![Term { term: term.clone(), definition: other.clone(), synonyms: vec![term.clone()], tables: vec![] }],
            };
            let content = BTreeMap::from([(term, content), ("x".to_owned(), Content::default())]);
            prop_assert_eq!(parse(&render(&content).unwrap()).unwrap(), content);
        }
    }
}
