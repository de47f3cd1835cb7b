//! What a change of the schema does to content that was written down before.

use super::scene::{import, index, one_query, scene};
use nl2sql_tests::{Database, error, rows, text};
use serde_json::{Value, json};

#[test]
fn drift_says_what_it_breaks() {
    let (_database, mut client) = scene();
    let impact =
        "SELECT impact -> 'verified_queries' AS queries, impact -> 'metrics' AS metrics FROM nl2sql_check('chinook')";
    client.batch_execute("ALTER TABLE chinook.customer ADD nickname text").expect("a column that nobody reads");
    assert_eq!(rows(&mut client, impact), json!([{"queries": [], "metrics": []}]));
    client
        .batch_execute(
            "ALTER TABLE chinook.invoice ALTER total TYPE float8; ALTER TABLE chinook.customer DROP last_name;
             ALTER TABLE chinook.track ADD name_2 text; DROP TABLE chinook.genre CASCADE",
        )
        .expect("drift");
    let found = rows(&mut client, impact);
    assert_eq!(
        found[0]["queries"],
        json!([
            {"query_id": "sales_by_country", "reasons": ["reads retyped column chinook.invoice.total"]},
            {"query_id": "top_customers_by_revenue", "reasons": ["reads dropped column chinook.customer.last_name", "reads retyped column chinook.invoice.total"]},
            {"query_id": "tracks_of_genre", "reasons": ["reads dropped table chinook.genre"]},
        ])
    );
    assert_eq!(
        found[0]["metrics"],
        json!([{"name": "average_invoice", "reasons": ["reads retyped column chinook.invoice.total"]}])
    );
    // A build of the new schema leaves out what fits it no more, and says so.
    let built = rows(&mut client, "SELECT status, issues FROM nl2sql_index('chinook')");
    let message = "3 pieces of curated content do not fit the schema, and are left out: SELECT * FROM nl2sql_curated_validate('chinook');";
    assert_eq!(
        built[0]["issues"],
        json!([{"stage": "curated", "message": message}]),
        "who may build need not be told more"
    );
    let matched = rows(&mut client, "SELECT query_id FROM nl2sql_match('top 5 customers in 2022')");
    assert_eq!(matched, json!([{"query_id": "sales_by_country"}]), "what cannot run is not offered");
    let problems = rows(&mut client, "SELECT query_id, problem FROM nl2sql_curated_validate('chinook')");
    let ids: Vec<&Value> = problems.as_array().expect("rows").iter().map(|row| &row["query_id"]).collect();
    // round(double precision, integer) does not exist: the server says so of the metric.
    assert_eq!(
        ids,
        ["top_customers_by_revenue", "tracks_of_genre"]
            .iter()
            .map(|id| json!(id))
            .collect::<Vec<_>>()
            .iter()
            .collect::<Vec<_>>()
            .into_iter()
            .chain([&Value::Null])
            .collect::<Vec<_>>(),
        "{problems}"
    );
    assert!(
        problems[2]["problem"].as_str().is_some_and(|text| text
            .starts_with("metric \"average_invoice\": expression, line 1: function round(double precision, integer)")),
        "{problems}"
    );
    let warning =
        "curated content does not fit the schema and is left out: SELECT * FROM nl2sql_curated_validate('chinook');";
    assert_eq!(rows(&mut client, "SELECT warnings FROM nl2sql_health('chinook')"), json!([{"warnings": [warning]}]));
    // A name that has become ambiguous.
    import(&mut client, &one_query("long", "SELECT title, t.name FROM album JOIN track t USING (album_id)"));
    assert_eq!(index(&mut client)["status"], "indexed");
    client.batch_execute("ALTER TABLE chinook.track ADD title text").expect("a column");
    assert_eq!(
        rows(&mut client, impact)[0]["queries"],
        json!([{"query_id": "long", "reasons": ["may read chinook.album.title", "may read chinook.track.title"]}])
    );
}

/// What a name meant when a query was written down is what it goes on meaning, or the query is left out.
#[test]
fn names_are_not_captured() {
    let database = Database::blank();
    let mut client = database.connect();
    client
        .batch_execute(
            "CREATE SCHEMA d1; CREATE SCHEMA d2;
             CREATE TABLE d2.t (x int); CREATE TABLE d2.a (id int, secret text); CREATE TABLE d2.b (id int); CREATE TABLE d2.r (id int, hid text);
             SELECT nl2sql_register('d', schemas => '{d1,d2}', options => '{\"exclude_columns\": [\"d2.r.hid\"]}'); SELECT nl2sql_index('d');
             SELECT nl2sql_verified_query('d', 'path', '{What is x?}', 'SELECT x FROM t');
             SELECT nl2sql_verified_query('d', 'inner', '{Who has a b?}', 'SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE secret = ''z'')');
             SELECT nl2sql_verified_query('d', 'joined', '{What do they share?}', 'SELECT secret FROM a NATURAL JOIN b');
             SELECT nl2sql_curated_import('datasources: {d: {metrics: [{name: m, expression: \"count((SELECT min(x) FROM t))\", table: d2.a}]}}', false);
             SELECT nl2sql_verified_query('d', 'star', '{All of b?}', 'SELECT * FROM b');
             CREATE TABLE d1.t (x int); ALTER TABLE d2.b ADD secret text",
        )
        .expect("a schema");
    let found = rows(&mut client, "SELECT impact -> 'verified_queries' AS q FROM nl2sql_check('d')");
    assert_eq!(
        found[0]["q"],
        json!([{"query_id": "inner", "reasons": ["may read d2.b.secret"]}, {"query_id": "joined", "reasons": ["may read d2.b.secret"]},
               {"query_id": "path", "reasons": ["may read d1.t"]}])
    );
    let built = rows(&mut client, "SELECT issues FROM nl2sql_index('d')");
    assert!(built[0]["issues"][0]["message"].as_str().is_some_and(|text| text.starts_with("2 pieces")), "{built}");
    assert_eq!(
        text(&mut client, "nl2sql_bind('d', 'path')").as_deref(),
        Some("SELECT x FROM d2.t"),
        "what it was written for"
    );
    let pinned = text(&mut client, "SELECT reads FROM nl2sql.metric").expect("reads");
    assert!(pinned.contains("\"t\"") && !pinned.contains("\"d1\""), "a metric, too: {pinned}");
    let problems = rows(&mut client, "SELECT query_id, problem FROM nl2sql_curated_validate('d')");
    let ids: Vec<&str> =
        problems.as_array().expect("rows").iter().map(|row| row["query_id"].as_str().expect("an id")).collect();
    assert_eq!(ids, ["inner", "joined"], "{problems}");
    assert!(problems[0]["problem"].as_str().is_some_and(|text| text.contains("d2.b.secret")), "{problems}");
    let matched = rows(&mut client, "SELECT query_id FROM nl2sql_match('b', k => 9) ORDER BY 1");
    assert_eq!(matched, json!([{"query_id": "path"}, {"query_id": "star"}]));
    // Columns that an option leaves out are not read by a star.
    for sql in [
        "SELECT * FROM r",
        "SELECT r FROM r",
        "SELECT to_jsonb(r) FROM r",
        "SELECT r.* FROM r",
        "SELECT count(r) FROM r",
    ] {
        let found = error(&mut client, &format!("SELECT nl2sql_verified_query('d', 'all', '{{What?}}', '{sql}')"));
        assert!(
            found.message().contains("all columns of d2.r are more than the datasource takes in"),
            "{sql}: {found}"
        );
    }
    client
        .batch_execute("SELECT nl2sql_verified_query('d', 'part', '{What?}', 'SELECT id, count(*) FROM r GROUP BY id')")
        .expect("a part");
}
