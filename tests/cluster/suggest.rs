//! `nl2sql_suggest_queries` on what pg_stat_statements has recorded.

use nl2sql_tests::{Cluster, Database, rows, text};
use serde_json::json;

/// Whether this server has pg_stat_statements: not every second major does.
fn available(database: &Database) -> bool {
    let found = "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_stat_statements'";
    text(&mut database.connect(), found).as_deref() == Some("1")
}

#[test]
fn what_is_asked_often_is_suggested_and_can_be_imported() {
    if !available(&Database::blank()) {
        return;
    }
    let cluster = Cluster::start(&["shared_preload_libraries=pg_stat_statements"]);
    let database = cluster.database();
    let mut client = database.connect();
    client
        .batch_execute(
            "CREATE EXTENSION pg_stat_statements;
             CREATE SCHEMA shop; CREATE SCHEMA other;
             CREATE TABLE shop.\"Invoice\" (id int PRIMARY KEY, \"BillingCountry\" text, total numeric, day date);
             CREATE TABLE other.secret (id int);
             SELECT nl2sql_index('shop');
             SELECT pg_stat_statements_reset()",
        )
        .expect("a schema");
    client.batch_execute("SET search_path = shop").expect("a path");
    for (country, limit) in [("USA", 3), ("Norway", 5), ("Chile", 9)] {
        for list in ["\"BillingCountry\", sum(total)", "sum(total), \"BillingCountry\""] {
            client
                .simple_query(&format!("SELECT {list} FROM \"Invoice\" WHERE \"BillingCountry\" = '{country}' AND day >= '2020-01-01' GROUP BY \"BillingCountry\" LIMIT {limit}"))
                .expect("a query");
        }
    }
    for _ in 0..7 {
        for sql in [
            "SELECT count(*) FROM other.secret WHERE id = 1",
            "SELECT count(*) FROM pg_class WHERE relname = 'x'",
            "UPDATE \"Invoice\" SET total = 1 WHERE id = 2",
            "SELECT 1",
        ] {
            client.simple_query(sql).expect("a query");
        }
    }
    client.simple_query("SELECT id FROM \"Invoice\" WHERE id = 3").expect("a rare query");
    client.batch_execute("RESET search_path").expect("a path");
    let found = rows(&mut client, "SELECT * FROM nl2sql_suggest_queries('shop')");
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    let one = &found[0];
    assert_eq!(one["calls"], 6, "both orders of the select list");
    assert_eq!(one["tables"], json!(["shop.\"Invoice\""]));
    assert_eq!(
        one["columns"],
        json!(["shop.\"Invoice\".\"BillingCountry\"", "shop.\"Invoice\".day", "shop.\"Invoice\".total"])
    );
    let sql = one["sql"].as_str().expect("SQL");
    assert!(
        sql.contains("\"BillingCountry\" = :billing_country")
            && sql.contains("day >= :day")
            && sql.contains("LIMIT :n"),
        "{sql}"
    );
    for word in ["USA", "Norway", "Chile", "2020"] {
        assert!(!found.to_string().contains(word), "no value is kept: {found}");
    }
    let document = one["document"].as_str().expect("a document");
    client.execute("SELECT nl2sql_curated_import($1)", &[&document]).expect("it imports as it stands");
    let bound = text(
        &mut client,
        "nl2sql_bind('shop', (SELECT id FROM nl2sql.verified_query), '{\"billing_country\": \"USA\", \"day\": \"2020-01-01\", \"n\": 3}')",
    );
    client.simple_query(&bound.expect("SQL")).expect("it runs");
    assert_eq!(
        rows(
            &mut client,
            "SELECT calls FROM nl2sql_suggest_queries('shop', min_calls => 1, \"limit\" => 5) ORDER BY calls"
        ),
        json!([{"calls": 1}, {"calls": 7}]),
        "with the bound one"
    );
    assert_eq!(rows(&mut client, "SELECT calls FROM nl2sql_suggest_queries('shop', 1, 1)"), json!([{"calls": 7}]));
    // Another role sees only what pg_stat_statements shows it, not the statements of others.
    let role = database.role("curious");
    client
        .batch_execute(&format!("GRANT USAGE ON SCHEMA shop TO {role}; GRANT SELECT ON shop.\"Invoice\" TO {role}"))
        .expect("rights");
    let mut session = database.connect_as(&role);
    assert_eq!(rows(&mut session, "SELECT * FROM nl2sql_suggest_queries('shop', 1)"), json!([]));
    session.simple_query("SELECT total FROM shop.\"Invoice\" WHERE id = 4").expect("a query of its own");
    assert_eq!(
        rows(&mut session, "SELECT sql FROM nl2sql_suggest_queries('shop', 1)"),
        json!([{"sql": "SELECT total FROM shop.\"Invoice\" WHERE id = :id"}])
    );
}
