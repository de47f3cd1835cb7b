use super::*;
use crate::catalog::schema::{ColumnContract, ColumnMetadata, Schema, Table, TableContract, TableKind, TableMetadata};
use crate::sql::analysis::tests::Stub;
use proptest::prelude::*;

fn table(name: &str, columns: &[(&str, &str)]) -> Table {
    let column = |(name, data_type): &(&str, &str)| ColumnContract {
        name: (*name).to_owned(),
        data_type: (*data_type).to_owned(),
        nullable: true,
        primary_key: false,
    };
    Table {
        name: TableName::new("music", name),
        contract: TableContract {
            kind: TableKind::Table,
            primary_key: Vec::new(),
            columns: columns.iter().map(column).collect(),
            foreign_keys: Vec::new(),
        },
        metadata: TableMetadata { columns: vec![ColumnMetadata::default(); columns.len()], ..TableMetadata::default() },
    }
}

fn schema() -> Schema {
    Schema {
        tables: vec![
            table(
                "Invoice",
                &[
                    ("InvoiceId", "integer"),
                    ("CustomerId", "integer"),
                    ("InvoiceDate", "timestamp without time zone"),
                    ("BillingCountry", "character varying(40)"),
                    ("Total", "numeric(10,2)"),
                ],
            ),
            table(
                "customer",
                &[
                    ("customer_id", "bigint"),
                    ("name", "text"),
                    ("country", "text"),
                    ("born", "date"),
                    ("data", "jsonb"),
                    ("tags", "text[]"),
                    ("größe", "real"),
                    ("active", "boolean"),
                ],
            ),
        ],
    }
}

fn suggestions(texts: &[(&str, i64)], min_calls: i64, limit: usize) -> Vec<Suggestion> {
    let schema = schema();
    let path = ["music".to_owned()];
    let mined = texts.iter().map(|(text, calls)| MinedStatement { text: (*text).to_owned(), calls: *calls }).collect();
    suggest(mined, &Names::new(&path, &schema), min_calls, limit, &mut Stub, &mut || ())
}

/// Cases of two lines each, with empty lines between them. Lines that start with `#` are comments.
fn cases(text: &str) -> Vec<(&str, &str)> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert!(lines.len() >= 10 && lines.len().is_multiple_of(2));
    lines.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}

fn one(text: &str) -> Suggestion {
    let mut found = suggestions(&[(text, 5)], 5, 50);
    assert_eq!(found.len(), 1, "{text}");
    found.remove(0)
}

/// The SQL that is made of a statement after `FROM …`.
fn after_from(source: &str, rest: &str) -> String {
    let sql = one(&format!("SELECT name FROM {source} {rest}")).query.sql;
    sql.strip_prefix(&format!("SELECT name FROM {source} ")).unwrap().to_owned()
}

fn types(suggestion: &Suggestion) -> Vec<String> {
    suggestion.query.params.iter().map(|(name, param)| format!("{name} {}", param.param_type.name())).collect()
}

#[test]
fn a_suggestion_is_a_verified_query() {
    let found =
        one("SELECT \"BillingCountry\", sum(\"Total\")\nFROM \"Invoice\" WHERE \"BillingCountry\" = $1 GROUP BY 1");
    assert_eq!(found.query.id, "invoice_by_billing_country");
    assert_eq!(
        found.query.sql,
        "SELECT \"BillingCountry\", sum(\"Total\") FROM \"Invoice\" WHERE \"BillingCountry\" = :billing_country GROUP BY 1"
    );
    assert_eq!(
        found.query.questions,
        ["invoice: billing country, sum total by billing country, for billing country {billing_country}"]
    );
    assert_eq!((found.query.description.clone(), types(&found)), (None, vec!["billing_country string".to_owned()]));
    assert_eq!((found.calls, found.tables), (5, vec!["music.\"Invoice\"".to_owned()]));
    assert_eq!(found.columns, ["music.\"Invoice\".\"BillingCountry\"", "music.\"Invoice\".\"Total\""]);
    let found = one(
        "select * from customer c join \"Invoice\" on \"CustomerId\" = customer_id where country = $1 order by born limit $2 offset $3",
    );
    assert_eq!(found.query.id, "customer_invoice_by_country");
    assert_eq!(
        found.query.questions,
        ["customer and invoice: all columns, for country {country}, at most {n}, leaving out {skip}"]
    );
    assert_eq!(types(&found), ["country string", "n int", "skip int"]);
    let found = one("SELECT count(*), extract(year FROM born) AS year FROM customer GROUP BY 2");
    assert_eq!(
        (found.query.id.as_str(), found.query.questions[0].as_str()),
        ("customer_by_year", "customer: count, year by year")
    );
    assert_eq!(one("SELECT count(*) FROM customer").query.id, "customer");
}

#[test]
fn params_are_named_after_their_comparands() {
    for (mined, named) in cases(include_str!("cases/comparands.txt")) {
        assert_eq!(after_from("customer c", &format!("WHERE {mined}")), format!("WHERE {named}"));
    }
}

#[test]
fn literals_of_clauses_that_filter_become_params() {
    for (mined, named) in cases(include_str!("cases/literals.txt")) {
        assert_eq!(after_from("customer c", mined), named);
    }
    let kept = "SELECT 1, 'x', country = 'y', count(*) FILTER (WHERE name = 'z'), numeric(4, 2) '7', CAST(customer_id AS numeric(5, 1)) FROM customer GROUP BY 3";
    assert_eq!(one(kept).query.sql, kept);
    let inner = one(
        "SELECT (SELECT max(born) FROM customer WHERE country = 'x') FROM customer WHERE name IN (SELECT 'a' FROM customer WHERE name > 'b')",
    );
    assert_eq!(
        inner.query.sql,
        "SELECT (SELECT max(born) FROM customer WHERE country = :country) FROM customer WHERE name IN (SELECT 'a' FROM customer WHERE name > :name)"
    );
}

#[test]
fn replaced_constants_become_params() {
    for (mined, named) in cases(include_str!("cases/replaced.txt")) {
        assert_eq!(one(mined).query.sql, named);
    }
}

#[test]
fn types_are_those_of_the_columns() {
    for (clause, expected) in cases(include_str!("cases/types.txt")) {
        let found =
            one(&format!("SELECT 1 FROM customer, \"Invoice\", (SELECT count(*) AS s FROM customer) x WHERE {clause}"));
        let mut found = types(&found);
        found.sort();
        let mut expected: Vec<&str> = expected.split(", ").collect();
        expected.sort();
        assert_eq!(found, expected, "{clause}");
    }
}

#[test]
fn unsuitable_statements_are_left_out() {
    let long = format!("SELECT name FROM customer WHERE customer_id IN ({}1)", "1, ".repeat(250));
    let huge = format!("SELECT name FROM customer -- {}", "x".repeat(100_000));
    let deep = format!("SELECT {}name{} FROM customer", "(".repeat(200), ")".repeat(200));
    for text in [
        "",
        "SELECT",
        "TABLE customer",
        "SELECT 1 + 1",
        "SELECT now()",
        "SELECT * FROM pg_class",
        "SELECT * FROM pg_catalog.pg_class, customer",
        "SELECT * FROM information_schema.tables",
        "SELECT * FROM other.customer",
        "SELECT x FROM customer",
        "SELECT name FROM customer FOR UPDATE",
        "UPDATE customer SET name = $1",
        "INSERT INTO customer SELECT * FROM customer",
        "DELETE FROM customer",
        "BEGIN",
        "SET search_path TO music",
        "WITH d AS (DELETE FROM customer RETURNING *) SELECT * FROM d",
        "COPY customer TO STDOUT",
        "EXPLAIN SELECT * FROM customer",
        "CREATE TABLE t AS SELECT * FROM customer",
        "SELECT name FROM customer; SELECT name FROM customer",
        "SELECT name FROM customer WHERE name = :x",
        "SELECT name FROM customer WHERE name = 'a'\n'b'",
        "SELECT name INTO t FROM customer",
        "DECLARE c CURSOR FOR SELECT * FROM customer",
        "SELECT name FROM customer, \"CUSTOMER\"",
        "SELECT \0 name FROM customer",
        "<insufficient privilege>",
        &long,
        &huge,
        &deep,
    ] {
        assert_eq!(suggestions(&[(text, 5)], 0, 50), [], "{text}");
    }
}

#[test]
fn statements_of_one_shape_are_one_suggestion() {
    let found = suggestions(
        &[
            ("SELECT name, born FROM customer WHERE country = $1", 3),
            ("SELECT born, name FROM customer WHERE country = $1", 4),
            ("select BORN,\n name from music.customer where country='Peru'", 2),
            ("SELECT name, born FROM customer WHERE country = $1", 2),
            ("SELECT name FROM customer WHERE country IN ($1)", 3),
            ("SELECT name FROM customer WHERE country IN ($1, $2)", 3),
            ("SELECT name FROM customer WHERE country <> $1", 6),
            ("SELECT name FROM customer WHERE name = $1", 4),
            ("SELECT nothing FROM customer WHERE name = $1", 100),
        ],
        5,
        50,
    );
    let shown: Vec<(&str, &str, i64)> =
        found.iter().map(|one| (one.query.id.as_str(), one.query.sql.as_str(), one.calls)).collect();
    assert_eq!(
        shown,
        [
            ("customer_by_country", "SELECT name, born FROM customer WHERE country = :country", 11),
            ("customer_by_country_2", "SELECT name FROM customer WHERE country <> :country", 6),
            ("customer_by_country_3", "SELECT name FROM customer WHERE country IN (:country)", 6),
        ]
    );
    let texts = [
        ("SELECT name FROM customer", i64::MAX),
        ("SELECT NAME FROM customer", i64::MAX),
        ("SELECT born FROM customer", -1),
    ];
    assert_eq!(suggestions(&texts, 1, 50).iter().map(|one| one.calls).collect::<Vec<_>>(), [i64::MAX]);
    assert_eq!(suggestions(&texts, i64::MIN, 1).len(), 1);
    assert_eq!(suggestions(&texts, 0, 0), []);
}

/// Pieces that statements are made of, and others.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "SELECT", "FROM", "WHERE", "customer", "\"Invoice\"", "name", "country", "c", "\"Total\"", "born", "$1", "$2",
    "$3", "'x'", "5", "-", "=", "<", ">=", "(", ")", ",", "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "LIMIT",
    "OFFSET", "GROUP BY", "ORDER BY", "HAVING", "count(*)", "lower(", "extract(", "interval", "date",
    "timestamp with time zone", "::", "int", "JOIN", "ON", "*", "||", "UNION", "EXISTS", "CASE WHEN", "THEN", "END",
    "[", "]", ":", ":x", "::text", "WITH d AS (", "AS", "d", "$$", "E'\\'", "é", "\n", "/*", "*/", "--", ";", "{",
    "\0", "ANY", "ARRAY[",
];

/// Checks that a text becomes a valid verified query, or none. Returns whether it becomes one.
fn sound(text: &str) -> bool {
    let schema = schema();
    let path = ["music".to_owned()];
    let names = Names::new(&path, &schema);
    let Some((_, statement)) = ParameterizedStatement::of(text, &names, &mut Stub) else { return false };
    let query = statement.query(&BTreeSet::new()).unwrap();
    let checked = validate::verified_query(&query, &names, &mut Stub);
    assert!(checked.is_ok(), "{text}: {checked:?}");
    true
}

#[test]
fn a_statement_with_constants_becomes_a_query() {
    for (text, becomes) in [
        ("SELECT name FROM customer WHERE name = $1", true),
        ("SELECT name FROM customer, \"Invoice\" WHERE born > date '2000-01-01' LIMIT $1 OFFSET $9", true),
        ("SELECT name FROM customer WHERE", false),
    ] {
        assert_eq!(sound(text), becomes, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_is_too_odd(text in "\\PC{0,80}", pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..30)) {
        sound(&text);
        sound(&pieces.join(" "));
        sound(&format!("SELECT name FROM customer WHERE {}", pieces.join(" ")));
        sound(&format!("SELECT name FROM customer WHERE name = $1{}", pieces.concat()));
    }

    #[test]
    fn statements_give_sound_drafts(
        items in proptest::collection::vec(proptest::sample::select(&["name", "$1", "$7", "count($1)", "date_trunc($2, born)", "'x'", "customer_id * 2"][..]), 1..4),
        conditions in proptest::collection::vec(
            (
                proptest::sample::select(&["name", "born", "\"Total\"", "$4", "lower(name)", "extract($5 from born)", "5", "(name, born)", "5 * customer_id"][..]),
                proptest::sample::select(&["=", ">", "<=", "LIKE", "@>", "IS DISTINCT FROM", "= ANY", "||"][..]),
                proptest::sample::select(&["$1", "($6)", "'é'", "-5", "date '2000-01-01'", "interval $3", "$2 - 30", "(ARRAY[$1, 'y'])", "($1, $2)", "\"CustomerId\""][..]),
            ),
            1..6,
        ),
        rest in proptest::sample::select(&["", "GROUP BY date_trunc($8, born)", "ORDER BY 1 LIMIT 5", "LIMIT $1 OFFSET $9"][..]),
    ) {
        let conditions: Vec<String> = conditions.iter().map(|(left, op, right)| format!("{left} {op} {right}")).collect();
        sound(&format!("SELECT {} FROM customer, \"Invoice\" WHERE {} {rest}", items.join(", "), conditions.join(" AND ")));
    }
}
