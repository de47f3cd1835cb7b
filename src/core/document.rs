//! The document that curated content is written in: YAML, and so JSON.

use crate::curated::{Content, some};
use crate::name::cut;
use serde::{Deserialize, Serialize};
use serde_saphyr::{Budget, Options, SerializerOptions};
use std::collections::BTreeMap;

/// The longest document that is read, in bytes.
pub const LONGEST: usize = 16 << 20;
/// How deep a document may nest: it has no use for more than eight.
const DEPTH: usize = 32;

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[serde(expecting = "datasources and their content")]
struct Document {
    #[serde(deserialize_with = "some")]
    datasources: BTreeMap<String, Option<Content>>,
}

/// Curated content by datasource; `Err` says what is wrong with the document, and in which line.
pub fn parse(text: &str) -> Result<BTreeMap<String, Content>, String> {
    if text.len() > LONGEST {
        return Err(format!("it is longer than {} MB", LONGEST >> 20));
    }
    let mut budget = Budget::default();
    budget.max_depth = DEPTH;
    let mut options = Options::default();
    options.budget = Some(budget);
    // As YAML 1.2 and JSON have it: "no" is a word, and so is a number that begins with 0.
    options.strict_booleans = true;
    options.leading_zero_numbers_as_strings = true;
    options.underscored_numbers_as_strings = true;
    options.with_snippet = false;
    let document: Document = serde_saphyr::from_str_with_options(text, options).map_err(|error| plain(&error.to_string()))?;
    Ok(document.datasources.into_iter().map(|(name, content)| (name, content.unwrap_or_default())).collect())
}

/// The parser's message, without what only a programmer could do about it.
fn plain(message: &str) -> String {
    let message = message.split(", set DuplicateKeyPolicy").next().unwrap_or_default();
    if message.contains("budget") || message.contains("rejected by") || message.contains("limit") {
        return "it nests too deep, or has too many parts or aliases".to_owned();
    }
    if message.contains("from_str_multiple") || message.contains("from_multiple") {
        return "it is more than one document".to_owned();
    }
    cut(message).into_owned()
}

/// The document that holds this content; reading it gives the same.
pub fn render(datasources: &BTreeMap<String, Content>) -> Result<String, String> {
    let content = datasources.iter().map(|(name, content)| (name.clone(), Some(content.clone())));
    let document = Document { datasources: content.collect() };
    let text = serde_saphyr::to_string_with_options(&document, SerializerOptions::default()).map_err(|error| error.to_string())?;
    // A text that YAML cannot hold as it is would come back changed: JSON is YAML, too.
    match parse(&text) {
        Ok(read) if read == *datasources => Ok(text),
        _ => serde_json::to_string_pretty(&document).map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curated::{Metric, Term, VerifiedQuery};
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
    fn what_is_wrong_has_its_line() {
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
    fn hostile_documents_end() {
        let bomb = format!("a: &a [x]\n{}", (1..20).map(|n| format!("k{n}: &k{n} [{}]\n", vec![format!("*{}", if n == 1 { "a".into() } else { format!("k{}", n - 1) }); 10].join(", "))).collect::<String>());
        let told = |text: &str| {
            let error = parse(text).unwrap_err();
            assert!(["budget", "struct", "Policy", "from_", "Option"].iter().all(|word| !error.contains(word)) && error.len() < 1300, "{error}");
        };
        told(&bomb);
        told(&"[".repeat(100_000));
        told(&format!("datasources: {{a: {{{}: 1}}}}", "x".repeat(100_000)));
        assert!(parse("datasources:\n").unwrap().is_empty());
        assert!(parse(&"a: ".repeat(10_000)).is_err());
        assert!(parse(&format!("datasources: {{a: {{verified_queries: [{{params: {{n: {{type: int, default: {}1{}}}}}}}]}}}}", "[".repeat(5000), "]".repeat(5000))).is_err());
        assert!(parse(&" ".repeat(LONGEST + 1)).is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(texts in proptest::collection::vec("(?s)[ -~\\n\\t]{0,30}|(?s).{0,12}|[-?:,\\[\\]{}#&*!|>'\"%@` ]{1,4}|~|null|yes|0x1f|1_000|012|1e3|\\.inf|2012-01-01|=|<<", 8)) {
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
