//! From a question to SQL that runs.

use super::scene::{import, index, scene};
use nl2sql_tests::{describe, error, rows, sqlstate, text};
use serde_json::json;

#[test]
fn a_question_is_matched_bound_and_run() {
    let (_database, mut client) = scene();
    let found = rows(&mut client, "SELECT * FROM nl2sql_match('top 7 customers in 2022')");
    let first = &found[0];
    assert_eq!(first["query_id"], "top_customers_by_revenue");
    assert_eq!((&first["params"]["n"]["value"], &first["params"]["n"]["source"]), (&json!(7), &json!("question")));
    assert_eq!(
        (&first["params"]["year"]["value"], &first["params"]["year"]["source"]),
        (&json!(2022), &json!("question"))
    );
    assert!(first["sql"].as_str().expect("SQL").contains(":year"));
    assert!(first["similarity"].as_f64() > found[1]["similarity"].as_f64());
    let ids: Vec<&str> =
        found.as_array().expect("rows").iter().map(|row| row["query_id"].as_str().expect("an id")).collect();
    assert_eq!(ids.len(), 3, "each query once: {ids:?}");
    let sql = text(
        &mut client,
        "SELECT nl2sql_bind(datasource, query_id, params) FROM nl2sql_match('top 7 customers in 2022', k => 1)",
    )
    .expect("SQL");
    client.batch_execute("SET search_path = ''").expect("a path");
    assert_eq!(client.query(&sql, &[]).expect("it runs").len(), 7);
    client.batch_execute("RESET search_path").expect("a path");
    let defaults =
        text(&mut client, "SELECT params -> 'since' ->> 'source' FROM nl2sql_match('sales by country', k => 1)");
    assert_eq!(defaults.as_deref(), Some("default"));
    // No verified query: no rows, and no model is needed.
    client.batch_execute("SET nl2sql.model_dir = '/nowhere'").expect("a setting");
    assert_eq!(rows(&mut client, "SELECT * FROM nl2sql_match('x', datasources => '{helpdesk}')"), json!([]));
    assert_eq!(sqlstate(&mut client, "SELECT * FROM nl2sql_match('x')"), "58P01");
}

#[test]
fn no_value_leaves_its_literal() {
    let (_database, mut client) = scene();
    let echo = json!({"datasources": {"chinook": {"verified_queries": [{
        "id": "echo", "questions": ["{s} {i} {f} {d}"],
        "params": {"s": {"type": "string"}, "i": {"type": "int", "default": 1}, "f": {"type": "float", "default": 0.5}, "d": {"type": "date", "default": "2020-02-29"}},
        "sql": "SELECT :s || '' AS s, 1 -:i AS i, :f::float8 AS f, :d AS d, ':s' AS t /* :s */ FROM genre LIMIT 1 -- :s"}]}}});
    text(&mut client, &format!("SELECT count(*) FROM nl2sql_curated_import($d${echo}$d$, replace => false)"));
    let hostile = [
        "'",
        "''",
        "\\",
        "\\'",
        "'; DROP TABLE genre; --",
        "*/ SELECT 1 /*",
        "--",
        "$$",
        "$d$",
        "E'\\''",
        "\n-- x\n",
        ":i",
        "{s}",
        "\u{2019}",
        "a\\\\'b",
        "%s",
        "\u{1}",
        "' || pg_sleep(1) || '",
        "U&'\\0027'",
        "💥",
        "\u{feff}",
        " ",
    ];
    for conforming in ["on", "off"] {
        client
            .batch_execute(&format!("SET standard_conforming_strings = {conforming}; SET escape_string_warning = off"))
            .expect("a setting");
        for value in hostile {
            let params = json!({"s": value, "i": -3, "f": -1.5e-7}).to_string();
            let sql: String = client
                .query_one("SELECT nl2sql_bind('chinook', 'echo', $1::text::jsonb)", &[&params])
                .expect("SQL")
                .get(0);
            let row = client.query_one(&sql, &[]).unwrap_or_else(|error| panic!("{sql}: {}", describe(&error)));
            assert_eq!(row.get::<_, String>(0), value, "{sql}");
            assert_eq!(
                (row.get::<_, i32>(1), row.get::<_, f64>(2), row.get::<_, String>(4)),
                (4, -1.5e-7, ":s".to_owned())
            );
        }
    }
    for (params, message, hint) in [
        (r#"{}"#, "needs a value for s", "\"s\": …"),
        (r#"{"s": 1}"#, "param \"s\" must be a string, not 1", ""),
        (r#"{"s": "x", "i": "1; DROP TABLE genre"}"#, "param \"i\" must be a whole number", ""),
        (r#"{"s": "x", "d": "2019-02-29"}"#, "param \"d\" must be a date", ""),
        (r#"{"s": "x", "f": 1e999}"#, "", ""),
        (r#"{"s": "x", "t": 1}"#, "has no param \"t\"", "Its params: d, f, i, s."),
        (r#"[1]"#, "params must be a JSON object", ""),
    ] {
        let found = error(&mut client, &format!("SELECT nl2sql_bind('chinook', 'echo', '{params}')"));
        assert_eq!(found.code().code(), "22023", "{params}: {found}");
        assert!(
            found.message().contains(message) && found.hint().unwrap_or_default().contains(hint),
            "{params}: {found:?}"
        );
    }
    let found = error(&mut client, "SELECT nl2sql_bind('chinook', 'ecko', '{}')");
    assert_eq!((found.code().code(), found.hint()), ("42704", Some("Perhaps you meant \"echo\".")));
    assert_eq!(text(&mut client, "SELECT count(*) > 0 FROM chinook.genre").as_deref(), Some("true"));
}

#[test]
fn many_phrasings_leave_room_for_others() {
    let (_database, mut client) = scene();
    let questions: Vec<String> = (0..60).map(|n| format!("How many genres are there, number {n}?")).collect();
    let many = json!({"datasources": {"chinook": {"verified_queries": [{"id": "genres", "questions": questions, "sql": "SELECT count(*) FROM genre"}]}}});
    text(&mut client, &format!("SELECT count(*) FROM nl2sql_curated_import($d${many}$d$, replace => false)"));
    index(&mut client);
    assert_eq!(
        rows(&mut client, "SELECT query_id FROM nl2sql_match('number of genres', k => 3)").as_array().map(Vec::len),
        Some(3)
    );
}

/// A whole number of a float param divides as one, and an operator before a param stays one.
#[test]
fn what_was_checked_is_what_is_bound() {
    let (_database, mut client) = scene();
    let query = json!({"datasources": {"chinook": {"verified_queries": [{"id": "q", "questions": ["{x} {u}"],
        "params": {"x": {"type": "float"}, "u": {"type": "string", "default": "4"}},
        "sql": "SELECT 7/:x AS half, g.u&:u AS u FROM (SELECT 5 AS u FROM genre LIMIT 1) g"}]}}});
    text(&mut client, &format!("SELECT count(*) FROM nl2sql_curated_import($d${query}$d$, replace => false)"));
    let sql = text(&mut client, "nl2sql_bind('chinook', 'q', '{\"x\": 2}')").expect("SQL");
    assert_eq!(rows(&mut client, &sql), json!([{"half": 3.5, "u": 4}]), "{sql}");
}

/// Postgres writes such a number with all of its digits.
#[test]
fn the_largest_numbers_are_read_as_they_were_written() {
    let (_database, mut client) = scene();
    for number in ["1.7976931348623157e308", "-1.7976931348623157e308", "5e-324", "0.1"] {
        let query = format!(
            "{{id: n, questions: ['{{n}}'], params: {{n: {{type: float, default: {number}}}}}, sql: 'SELECT :n AS n'}}"
        );
        import(&mut client, &format!("datasources: {{chinook: {{verified_queries: [{query}]}}}}"));
        let export = text(&mut client, "nl2sql_curated_export('chinook')").expect("a document");
        import(&mut client, &export);
        assert_eq!(text(&mut client, "nl2sql_curated_export('chinook')").as_deref(), Some(export.as_str()));
        assert_eq!(rows(&mut client, "SELECT * FROM nl2sql_curated_validate()"), json!([]));
        assert_eq!(index(&mut client)["issues"], json!([]));
        assert_eq!(text(&mut client, "SELECT status FROM nl2sql_health('chinook')").as_deref(), Some("ok"));
        let bound = text(&mut client, "nl2sql_bind('chinook', 'n')").expect("a statement");
        assert_eq!(
            text(&mut client, &format!("SELECT n = {number} FROM ({bound}) b")).as_deref(),
            Some("true"),
            "{bound}"
        );
    }
}

/// A question that is none ends, too.
#[test]
fn a_question_of_megabytes_is_answered() {
    let (_database, mut client) = scene();
    for question in
        ["repeat('lost ‘customers gross ', 200000)", "repeat('“', 1000000)", "repeat('top 7,8 2011 ', 300000)"]
    {
        let found = text(&mut client, &format!("SELECT count(*) FROM nl2sql_match({question})"));
        assert_eq!(found.as_deref(), Some("3"), "{question}");
    }
}
