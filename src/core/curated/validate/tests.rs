use super::*;
use crate::fixture::schema;
use crate::sql::analysis::tests::Stub;
use serde_json::json;

fn problems_of(query: serde_json::Value) -> Vec<String> {
    let query: VerifiedQuery = serde_json::from_value(query).unwrap();
    let schema = schema();
    let path = ["shop".to_owned()];
    verified_query(&query, &Names::new(&path, &schema), &mut Stub)
        .err()
        .unwrap_or_default()
        .iter()
        .map(Problem::to_string)
        .collect()
}

#[test]
fn a_valid_query() {
    let query: VerifiedQuery = serde_json::from_value(json!({
        "id": "orders_of", "questions": ["Orders of {who} since {day}", "Top {n} orders"],
        "params": {"who": {"type": "string"}, "n": {"type": "int", "default": 5}, "day": {"type": "date"}},
        "sql": "SELECT o.id FROM orders o JOIN customers c ON c.id = o.\"customerId\" WHERE email = :who AND now() > :day LIMIT :n"
    }))
    .unwrap();
    let schema = schema();
    let path = ["shop".to_owned()];
    let checked = verified_query(&query, &Names::new(&path, &schema), &mut Stub).unwrap();
    let prepared = prepared(&query, &statement_text::placeholders(&query.sql).unwrap());
    let types: Vec<SqlType> = prepared.params().iter().map(|(_, sql_type)| *sql_type).collect();
    assert_eq!(types, [SqlType::Date, SqlType::Int4, SqlType::Unknown]);
    assert!(prepared.sql().ends_with("WHERE email = $3 AND now() > $1 LIMIT $2"), "{}", prepared.sql());
    assert_eq!(
        checked.reads.columns(),
        ["shop.customers.email", "shop.customers.id", "shop.orders.\"customerId\"", "shop.orders.id"]
    );
}

#[test]
fn every_problem_has_its_place() {
    for (query, expected) in [
        (
            json!({"id": "Top", "questions": ["x"], "sql": "SELECT 1"}),
            "verified query \"Top\": id: it must start with a letter",
        ),
        (json!({"id": "a", "sql": "SELECT 1"}), "verified query \"a\": questions: there must be at least one"),
        (
            json!({"id": "a", "questions": ["x", " "], "sql": "SELECT 1"}),
            "verified query \"a\": question 2: it must not be empty",
        ),
        (
            json!({"id": "a", "questions": ["{n}"], "sql": "SELECT 1"}),
            "verified query \"a\": questions: {n} is not a param",
        ),
        (json!({"id": "a", "questions": ["x"], "sql": "SELECT :n"}), "verified query \"a\": sql: :n is not a param"),
        (
            json!({"id": "a", "questions": ["x"], "sql": "SELECT id\nFROM orders\nWHERE stat = 1"}),
            "verified query \"a\": sql, line 3: column \"stat\" does not exist (near it: state)",
        ),
        (
            json!({"id": "a", "questions": ["x"], "sql": "SELECT id FROM order_s"}),
            "verified query \"a\": sql, line 1: table \"order_s\" does not exist (near it: orders)",
        ),
        (
            json!({"id": "a", "questions": ["{n}"], "params": {"n": {"type": "string"}}, "sql": "SELECT '\\' || :n"}),
            "verified query \"a\": sql: beside a string param",
        ),
        (
            json!({"id": "a", "questions": ["{n}"], "params": {"n": {"type": "int", "default": "x"}}, "sql": "SELECT :n"}),
            "verified query \"a\": params.n: default must be a whole number",
        ),
    ] {
        let problems = problems_of(query);
        assert!(problems.iter().any(|problem| problem.starts_with(expected)), "{expected}: {problems:?}");
    }
    let unused =
        problems_of(json!({"id": "a", "questions": ["x"], "params": {"n": {"type": "int"}}, "sql": "SELECT 1"}));
    assert_eq!(unused.len(), 2, "{unused:?}");
}

#[test]
fn metrics_and_terms() {
    let schema = schema();
    let path = ["shop".to_owned()];
    let names = Names::new(&path, &schema);
    let one = |expression: &str, table: &str| {
        metric(
            &Metric { name: "m".into(), description: None, expression: expression.into(), table: table.into() },
            &names,
            &mut Stub,
        )
    };
    let (table, checked) = one("count(DISTINCT \"customerId\")", "orders").unwrap();
    assert_eq!(
        (table.to_string().as_str(), checked.reads.columns()),
        ("shop.orders", vec!["shop.orders.\"customerId\"".to_owned()])
    );
    for (expression, table) in [
        ("count(x)", "orders"),
        ("1 FROM orders", "orders"),
        ("count(*)", "gone"),
        ("count(:x)", "orders"),
        ("", "orders"),
    ] {
        assert!(one(expression, table).is_err(), "{expression} {table}");
    }
    assert!(
        term(
            &Term {
                term: "churn".into(),
                definition: "who left".into(),
                tables: vec!["shop.customers".into()],
                ..Default::default()
            },
            &names
        )
        .is_ok()
    );
    assert!(term(&Term { term: "churn".into(), definition: " ".into(), ..Default::default() }, &names).is_err());
    let twice = Content { metrics: vec![Metric { name: "m".into(), ..Default::default() }; 2], ..Default::default() };
    assert_eq!(repeated(&twice)[0].to_string(), "metric \"m\": name: it is defined twice");
}

/// The tests of documents read items as large as these.
#[test]
fn items_have_limits() {
    let schema = schema();
    let path = ["shop".to_owned()];
    let names = Names::new(&path, &schema);
    let long = |length: usize| "x".repeat(length);
    let query = |text: usize, questions: usize, choices: usize| {
        let choices: Vec<String> = (0..choices).map(|n| format!("{n}")).chain([long(text)]).collect();
        problems_of(json!({
            "id": "a", "description": long(text), "questions": vec![format!("{{n}}{}", long(text - 3)); questions],
            "params": {"n": {"type": "string", "default": long(text), "example": long(text), "choices": choices}}, "sql": "SELECT :n",
        }))
    };
    assert_eq!(query(10_000, 1000, 9_999), [""; 0]);
    let of = |place: &str| format!("verified query \"a\": {place}");
    let params = ["an element of choices", "default", "example"]
        .map(|name| of(&format!("params.n: {name} is longer than 10000 bytes")));
    let mut problems = query(10_001, 1, 1);
    problems.sort();
    let [element, default, example] = params;
    assert_eq!(
        problems,
        [
            of("description: it is longer than 10000 bytes"),
            element,
            default,
            example,
            of("question 1: it is longer than 10000 bytes")
        ]
    );
    assert_eq!(
        query(10, 1001, 10_000),
        [
            of("questions: there are 1001, but at most 1000 are allowed"),
            of("params.n, choices: there are 10001, but at most 10000 are allowed")
        ]
    );
    let control = json!({"id": "a", "questions": vec!["\u{1}".repeat(10_000); 250], "sql": "SELECT 1"});
    assert_eq!(problems_of(control), [of("query: as JSON it is longer than 12 MB")]);
    let many: serde_json::Map<String, serde_json::Value> =
        (0..101).map(|n| (format!("p{n}"), json!({"type": "int"}))).collect();
    let texts = |mark: &str| many.keys().map(|name| mark.replace('x', name)).collect::<Vec<_>>().join(", ");
    let problems = problems_of(
        json!({"id": "a", "questions": [texts("{x}")], "params": many, "sql": format!("SELECT {}", texts(":x"))}),
    );
    assert_eq!(problems, [of("params: there are 101, but at most 100 are allowed")]);

    let metric = |name: usize, text: usize| {
        let one = Metric {
            name: long(name),
            description: Some(long(text)),
            expression: format!("count('{}')", long(text - 9)),
            table: "orders".into(),
        };
        metric(&one, &names, &mut Stub).err().unwrap_or_default().iter().map(Problem::without_item).collect::<Vec<_>>()
    };
    assert_eq!(metric(200, 10_000), [""; 0]);
    assert_eq!(
        metric(201, 10_001),
        [
            "name: it is longer than 200 bytes",
            "description: it is longer than 10000 bytes",
            "expression: it is longer than 10000 bytes"
        ]
    );
    let term = |term_: String, synonym: String, text: usize, number: usize| {
        let one = Term {
            term: term_,
            definition: long(text),
            synonyms: vec![synonym; number],
            tables: vec!["orders".into(); number],
        };
        term(&one, &names).err().unwrap_or_default().iter().map(Problem::without_item).collect::<Vec<_>>()
    };
    assert_eq!(term(long(200), long(200), 10_000, 1000), [""; 0]);
    let name = "it is longer than 200 bytes";
    assert_eq!(
        term(long(201), long(201), 10_001, 1),
        [format!("term: {name}"), "definition: it is longer than 10000 bytes".into(), format!("synonyms: {name}")]
    );
    assert_eq!(
        term("t".into(), "s".into(), 1, 1001),
        [
            "synonyms: there are 1001, but at most 1000 are allowed",
            "tables: there are 1001, but at most 1000 are allowed"
        ]
    );
    let unmatchable = "\"%\" has no letter or digit, so that no question can contain it";
    assert_eq!(
        term("%".into(), "%".into(), 1, 1),
        [format!("term: {unmatchable}"), format!("synonyms: {unmatchable}")]
    );
    assert_eq!(term("№ 5".into(), "größe".into(), 1, 1), [""; 0]);
    assert!(table(&format!("{}orders", " ".repeat(1000)), &names).is_err());
}
