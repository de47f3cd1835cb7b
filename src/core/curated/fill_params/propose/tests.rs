use super::*;
use serde_json::json;

fn query(params: Value, questions: &[&str]) -> VerifiedQuery {
    serde_json::from_value(json!({"id": "q", "questions": questions, "params": params, "sql": "SELECT 1"})).unwrap()
}

fn proposed(query: &VerifiedQuery, question: &str) -> Vec<(String, Value, &'static str)> {
    propose(query, &Question::of(question))
        .into_iter()
        .map(|(name, proposal)| (name, proposal.value.unwrap_or_default(), proposal.source.name()))
        .collect()
}

fn top() -> VerifiedQuery {
    query(
        json!({"n": {"type": "int", "default": 10, "min": 1, "max": 100}, "year": {"type": "int", "min": 2009, "max": 2013, "example": 2012}}),
        &["Who are our top {n} customers by revenue in {year}?", "Best {n} customers in {year}"],
    )
}

#[test]
fn numbers_find_their_params() {
    for (question, n, year) in [
        ("top 7 customers in 2011", json!(7), json!(2011)),
        ("Which 12 customers spent the most in 2009?", json!(12), json!(2009)),
        ("in 2013, the best 3 customers", json!(3), json!(2013)),
        ("first 5 of 2010", json!(5), json!(2010)),
    ] {
        assert_eq!(
            proposed(&top(), question),
            [("n".into(), n, "question"), ("year".into(), year, "question")],
            "{question}"
        );
    }
    assert_eq!(
        proposed(&top(), "top 700 customers in 1999"),
        [("n".into(), json!(10), "default"), ("year".into(), json!(null), "missing")]
    );
    assert_eq!(proposed(&top(), "customers of 2011")[1].1, 2011);
}

#[test]
fn texts_dates_and_choices() {
    let query = query(
        json!({
            "country": {"type": "string", "choices": ["USA", "United Kingdom", "Kingdom"]}, "who": {"type": "string"},
            "since": {"type": "date", "min": "2000-01-01"}, "share": {"type": "float", "default": 0.5}
        }),
        &["{who} of {country} since {since} above {share} percent"],
    );
    let found = proposed(&query, "orders of \"O'Neill & Co\" from the united kingdom since 2012-02-29, above 2.5");
    assert_eq!(
        found,
        [
            ("country".into(), json!("United Kingdom"), "question"),
            ("share".into(), json!(2.5), "question"),
            ("since".into(), json!("2012-02-29"), "question"),
            ("who".into(), json!("O'Neill & Co"), "question"),
        ]
    );
    let found = proposed(&query, "don't know 2012-02-30 'n'");
    assert_eq!(found[2], ("since".into(), json!(null), "missing"));
    assert_eq!(found[3].1, "n");
    assert_eq!(proposed(&query, "above .5")[1].1, 0.5);
}

#[test]
fn two_of_a_kind_are_taken_in_turn() {
    let query = query(json!({"from_year": {"type": "int"}, "to_year": {"type": "int"}}), &["{from_year} {to_year}"]);
    assert_eq!(
        proposed(&query, "between 2010 and 2012").into_iter().map(|(_, value, _)| value).collect::<Vec<_>>(),
        [json!(2010), json!(2012)]
    );
}

fn values(query: &VerifiedQuery, question: &str) -> Vec<Value> {
    proposed(query, question).into_iter().map(|(_, value, _)| value).collect()
}

#[test]
fn a_number_of_four_digits_is_one_where_a_phrasing_has_it() {
    let orders = query(
        json!({"days": {"type": "int", "default": 1}, "amt": {"type": "float", "default": 0}}),
        &["orders within {days} days over {amt}"],
    );
    for (question, amt, days) in [
        ("orders over 2000", json!(2000), json!(1)),
        ("orders over 2000 within 1500 days", json!(2000), json!(1500)),
        ("orders over 12,345.5 within 1,500 days", json!(12345.5), json!(1500)),
        ("orders within 7,8 days over 1.234,50", json!(0), json!(1)),
        ("orders over 1,2,3 within 1.234.567 days", json!(0), json!(1)),
    ] {
        assert_eq!(values(&orders, question), [amt, days], "{question}");
    }
}

#[test]
fn a_year_has_the_first_claim() {
    let year = json!({"type": "int", "min": 2000, "max": 2030});
    let any = query(
        json!({"n": {"type": "int", "default": 10}, "year": year}),
        &["top {n} customers in {year}", "in {n} days of {year}"],
    );
    for (question, n, year) in [
        ("top 7 customers in 2011", json!(7), json!(2011)),
        ("Which customers spent most in 2011?", json!(10), json!(2011)),
        ("2011 customers", json!(10), json!(2011)),
        ("in 1999", json!(10), json!(null)),
        ("top 1999 customers in 2011", json!(1999), json!(2011)),
        ("in 1999 days of 2011", json!(1999), json!(2011)),
    ] {
        assert_eq!(values(&any, question), [n, year], "{question}");
    }
    let both = query(json!({"amt": {"type": "float", "default": 1}, "year": year}), &["orders of {year} over {amt}"]);
    assert_eq!(values(&both, "orders over 2000 in 2011"), [json!(2000), json!(2011)]);
    assert_eq!(values(&both, "orders over 2000"), [json!(1), json!(2000)]);
}

#[test]
fn dates_find_their_params() {
    let params = json!({"from_date": {"type": "date"}, "to_date": {"type": "date"}});
    let orders = query(params.clone(), &["orders from {from_date} until {to_date}"]);
    for question in
        ["orders until 2020-02-03 from 2020-01-05", "from 2020-01-05 until 2020-02-03", "2020-01-05 .. 2020-02-03"]
    {
        assert_eq!(values(&orders, question), ["2020-01-05", "2020-02-03"], "{question}");
    }
    assert_eq!(values(&orders, "orders until 2020-02-03"), [json!(null), json!("2020-02-03")]);
    // Without context, as the phrasing that names both has them.
    let params = json!({"end": params["to_date"], "start": params["from_date"]});
    let orders = query(params.clone(), &["orders until {end}", "orders from {start} to {end}"]);
    assert_eq!(values(&orders, "2020-01-05 .. 2020-02-03"), ["2020-02-03", "2020-01-05"]);
    assert_eq!(values(&query(params, &[]), "2020-01-05 .. 2020-02-03"), ["2020-01-05", "2020-02-03"]);
}

#[test]
fn a_place_that_fits_on_both_sides_is_better() {
    let customers =
        query(json!({"a": {"type": "int"}, "n": {"type": "int"}}), &["{a} customers", "the top {n} customers"]);
    assert_eq!(values(&customers, "of 3 customers the top 5 customers"), [json!(3), json!(5)]);
    assert_eq!(values(&customers, "top 5 customers"), [json!(null), json!(5)]);
    let customers = query(json!({"n": {"type": "int"}}), &["the top {n} customers", "{n} clients"]);
    for question in
        ["top 3, then top 5 customers", "3 clients or the top 5 clients", "the first 3 of 7 customers, top 5 clients"]
    {
        assert_eq!(values(&customers, question), [5], "{question}");
    }
}

/// Fails if anything takes time quadratic in the question, or the question times all choices.
#[test]
fn a_hostile_question_is_read_in_linear_time() {
    let choices: Vec<String> = (0..3_000).map(|number| format!("gross lost {number}")).collect();
    let numbers: Vec<i64> = (0..3_000).map(|number| number * 7 + 50_000).collect();
    let phrasings: Vec<String> =
        (0..1_000).map(|number| format!("over {{n}} w{number} {{year}} over {{amt}} of {{who}} {{day}}")).collect();
    let phrasings: Vec<&str> = phrasings.iter().map(String::as_str).collect();
    let params = json!({
        "kind": {"type": "string", "choices": choices}, "amt": {"type": "float", "choices": numbers}, "n": {"type": "int", "max": 0},
        "year": {"type": "int", "max": 0}, "who": {"type": "string"}, "day": {"type": "date", "max": "0001-01-01"}
    });
    let query = query(params, &phrasings);
    for text in [
        "“",
        "‘",
        "lost ‘customers gross ",
        "gross ",
        "gross lost ",
        "over 1 ",
        "over 2011 ",
        "2020-01-01 ",
        "1,234",
        "a",
        "'",
        "'a' ",
        "over 1,234 w1 ",
        "\0'",
    ] {
        let text = text.repeat(5_000_000 / text.len());
        assert_eq!(propose(&query, &Question::of(&text)).len(), 6);
    }
}

proptest::proptest! {
    #[test]
    fn every_proposal_passes_its_check(question in "(?s).{0,60}|([a-z]{1,5} |[0-9]{1,5} |top |'[a-z ]{1,6}' ){0,10}") {
        for (name, proposal) in propose(&top(), &Question::of(&question)) {
            if let Some(value) = proposal.value {
                proptest::prop_assert_eq!(top().params[&name].check(&value), Ok(()));
            }
        }
    }
}
