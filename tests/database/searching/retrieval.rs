//! What `nl2sql_retrieve` returns for a question: tables, columns, joins, values.

use nl2sql_tests::{Database, error, rows, text};
use postgres::Client;
use serde_json::{Value, json};

/// The demo, with every datasource searched however small it is.
fn searched() -> (Database, Client) {
    let database = Database::demo();
    let mut client = database.connect();
    client.batch_execute("SELECT nl2sql_health(); SET nl2sql.full_snapshot_max_tables = 0").unwrap();
    (database, client)
}

fn sent(client: &mut Client, call: &str) -> Vec<(String, String, Vec<String>)> {
    let found = rows(client, &format!("SELECT table_name, via, definition FROM {call} ORDER BY rank"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let columns = |row: &Value| {
        row["definition"]["columns"].as_array().unwrap().iter().map(|column| text(&column["name"])).collect()
    };
    found.as_array().unwrap().iter().map(|row| (text(&row["table_name"]), text(&row["via"]), columns(row))).collect()
}

fn tables(client: &mut Client, call: &str) -> Vec<String> {
    sent(client, call).into_iter().map(|(table, ..)| table).collect()
}

#[test]
fn a_small_datasource_is_sent_whole() {
    let mut client = Database::demo().connect();
    let found = sent(&mut client, "nl2sql_retrieve('chinook', 'anything at all')");
    assert_eq!(found.len(), 11);
    assert!(found.iter().all(|(_, via, _)| via == "small"));
    assert_eq!(found[0].0, "album");
    let explained: Value =
        serde_json::from_str(&text(&mut client, "nl2sql_retrieve_explain('chinook', 'anything')").unwrap()).unwrap();
    assert_eq!((&explained["small"], explained.get("pool")), (&json!(true), None));
}

#[test]
fn a_join_has_both_its_ends_and_what_lies_between() {
    let (_database, mut client) = searched();
    let found =
        sent(&mut client, "nl2sql_retrieve('chinook', 'Which playlists hold tracks of the genre jazz?', table_k => 2)");
    let names: Vec<&str> = found.iter().map(|(table, ..)| table.as_str()).collect();
    assert!(names.contains(&"track"), "{found:?}");
    // The chosen tables are connected: each joins another.
    let keys = rows(
        &mut client,
        "WITH r AS (SELECT * FROM nl2sql_retrieve('chinook', 'artists in playlists', table_k => 2))
         SELECT count(*) AS tables, count(*) FILTER (WHERE via = 'join') > 0 AS joined,
                bool_and(EXISTS (SELECT FROM jsonb_array_elements(r.definition -> 'foreign_keys'))
                         OR EXISTS (SELECT FROM r o, jsonb_array_elements(o.definition -> 'foreign_keys') f WHERE f ->> 'referred_table' = r.table_name)) AS connected
         FROM r",
    );
    assert_eq!(keys[0]["connected"], true, "{keys}");
    // Both ends of every foreign key are in the result.
    let broken = "SELECT count(*) FROM (
        WITH r AS (SELECT * FROM nl2sql_retrieve('chinook', 'revenue of each artist from customers in Brazil'))
        SELECT f FROM r, jsonb_array_elements(r.definition -> 'foreign_keys') f
        WHERE NOT EXISTS (SELECT FROM r t, jsonb_array_elements(t.definition -> 'columns') c WHERE t.table_name = f ->> 'referred_table' AND c ->> 'name' = f -> 'referred_columns' ->> 0)
           OR NOT EXISTS (SELECT FROM jsonb_array_elements(r.definition -> 'columns') c WHERE c ->> 'name' = f -> 'columns' ->> 0)) broken";
    assert_eq!(text(&mut client, broken).as_deref(), Some("0"));
}

#[test]
fn a_large_table_is_cut_and_a_small_one_is_not() {
    let (_database, mut client) = searched();
    let definition = |client: &mut Client| {
        let found = rows(
            client,
            "SELECT definition FROM nl2sql_retrieve('chinook', 'Which employees were hired in 2019?') WHERE table_name = 'employee'",
        );
        found[0]["definition"].clone()
    };
    let cut = definition(&mut client);
    let names: Vec<&str> =
        cut["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
    for needed in ["employee_id", "hire_date", "first_name", "last_name"] {
        assert!(names.contains(&needed), "{names:?}");
    }
    assert_eq!(cut["other_columns"], 15 - names.len());
    client.batch_execute("SET nl2sql.whole_table_columns = 15").unwrap();
    assert_eq!(definition(&mut client)["columns"].as_array().unwrap().len(), 15);
    assert_eq!(definition(&mut client).get("other_columns"), None);
}

#[test]
fn values_lead_to_their_columns() {
    let (_database, mut client) = searched();
    client
        .batch_execute(
            "SELECT nl2sql_register('chinook', options => '{\"sample_values\": true}'); SELECT nl2sql_index('chinook')",
        )
        .unwrap();
    for (question, table, column, value) in [
        ("How many bossa nova songs are there?", "genre", "name", "Bossa Nova"),
        ("What was sold to Brasil?", "customer", "country", "Brazil"),
        ("tickets that are pending", "ticket", "status", "pending"),
    ] {
        let datasource = if table == "ticket" { "helpdesk" } else { "chinook" };
        let matched = format!(
            "SELECT c ->> 'matched_value' FROM nl2sql_retrieve('{datasource}', '{question}') r, jsonb_array_elements(r.definition -> 'columns') c
             WHERE table_name = '{table}' AND c ->> 'name' = '{column}'"
        );
        assert_eq!(text(&mut client, &matched).as_deref(), Some(value), "{question}");
    }
}

#[test]
fn preferred_tables_come_first() {
    let (_database, mut client) = searched();
    let call = "nl2sql_retrieve('webshop', 'Which parcels arrived late?', table_k => 2)";
    let before = tables(&mut client, call);
    client.batch_execute("SELECT nl2sql_register('webshop', options => '{\"preferred_tables\": [\"carrier\", \"webshop.orders\"]}'); SELECT nl2sql_index('webshop')").unwrap();
    let after = rows(&mut client, &format!("SELECT rank, table_name, preferred FROM {call} ORDER BY rank"));
    assert!(after[0]["preferred"] == true, "{before:?} {after}");
    let first_lines = text(
        &mut client,
        "SELECT split_part(nl2sql_schema_prompt('webshop', 'Which parcels arrived late?'), E'\\n', 1)",
    )
    .unwrap();
    assert_eq!(serde_json::from_str::<Value>(&first_lines).unwrap()["preferred"], true);
}

#[test]
fn definitions_come_from_the_version_that_is_named() {
    let (_database, mut client) = searched();
    let before = text(&mut client, "SELECT schema_version FROM nl2sql_versions('webshop')").unwrap();
    client.batch_execute("ALTER TABLE webshop.carrier ADD hotline text; CREATE TABLE webshop.parcel_locker (locker_id int); SELECT nl2sql_index('webshop'); DROP TABLE webshop.parcel_locker").unwrap();
    let carrier = |client: &mut Client, version: &str| {
        let call = format!(
            "SELECT definition -> 'columns' AS c FROM nl2sql_retrieve('webshop', 'hotline of the carrier', schema_version => {version}) WHERE table_name = 'carrier'"
        );
        rows(client, &call).to_string().contains("hotline")
    };
    assert!(carrier(&mut client, "NULL"));
    assert!(!carrier(&mut client, &format!("'{before}'")));
    let lockers = format!("nl2sql_retrieve('webshop', 'parcel lockers', schema_version => '{before}')");
    assert!(!tables(&mut client, &lockers).contains(&"parcel_locker".to_owned()));
}

#[test]
fn strategies_and_what_explains_them() {
    let (_database, mut client) = searched();
    for strategy in ["fused", "dense", "mmr"] {
        let call =
            format!("('webshop', 'Which carrier delivers late most often?', table_k => 3, strategy => '{strategy}')");
        let found = tables(&mut client, &format!("nl2sql_retrieve{call}"));
        assert!(
            found.contains(&"shipment".to_owned()) || found.contains(&"carrier".to_owned()),
            "{strategy}: {found:?}"
        );
        let explained: Value =
            serde_json::from_str(&text(&mut client, &format!("nl2sql_retrieve_explain{call}")).unwrap()).unwrap();
        assert_eq!(explained["strategy"], strategy);
        assert_eq!(explained["picks"].as_array().unwrap().len(), 3);
        let listed: Vec<&str> = explained["sent"]
            .as_array()
            .unwrap()
            .iter()
            .map(|sent| sent["table"].as_str().unwrap().trim_start_matches("webshop."))
            .collect();
        assert_eq!(listed, found);
    }
    let explained = text(
        &mut client,
        "nl2sql_retrieve_explain('webshop', 'late parcels', '{\"intent\": \"count\", \"filters\": [\"december\"]}')",
    )
    .unwrap();
    assert_eq!(serde_json::from_str::<Value>(&explained).unwrap()["text"], "late parcels\ncount\ndecember");
    // The same rows on every run.
    let call = "SELECT * FROM nl2sql_retrieve('webshop', 'who pays late?')";
    let once = rows(&mut client, call);
    assert_eq!(rows(&mut client, call), once);
}

#[test]
fn search_tables_over_one_and_over_all() {
    let mut client = Database::demo().connect();
    let found = rows(
        &mut client,
        "SELECT rank, datasource, table_name, similarity BETWEEN -1 AND 1 AS similar, summary FROM nl2sql_search_tables('satisfaction of customers with tickets')",
    );
    assert_eq!(found.as_array().unwrap().len(), 10);
    assert_eq!(found[0]["datasource"], "helpdesk");
    assert!(found[0]["summary"].as_str().unwrap().starts_with("Table "));
    let one = rows(&mut client, "SELECT DISTINCT datasource FROM nl2sql_search_tables('tickets', 'chinook', 30)");
    assert_eq!(one, json!([{"datasource": "chinook"}]));
}

#[test]
fn the_prompt_is_a_line_a_table() {
    let (_database, mut client) = searched();
    let prompt = text(&mut client, "nl2sql_schema_prompt('webshop', 'What has to be reordered for Hamburg?')").unwrap();
    assert!(prompt.lines().all(|line| line.starts_with("{\"table\":\"webshop.")), "{prompt}");
    let lines: Vec<Value> = prompt.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let stock = lines.iter().find(|line| line["table"] == "webshop.stock").unwrap();
    let columns = stock["columns"].as_array().unwrap();
    assert!(columns.iter().any(|column| column["name"] == "reorder_level" && column["range"].is_array()), "{stock}");
    assert!(
        columns.iter().all(|column| column["name"] != "product_id" || column.get("range").is_none()),
        "a key has no range"
    );
    let names: Vec<&str> = lines.iter().map(|line| line["table"].as_str().unwrap()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(names, sorted);
    assert!(!prompt.contains("null") && !prompt.contains("[]"), "empty values are left out");
}

/// A pinned version has its own tables and values.
#[test]
fn a_pinned_version_is_searched_for_what_it_has() {
    let database = Database::blank();
    let mut client = database.connect();
    client
        .batch_execute(
            "CREATE SCHEMA p; CREATE TABLE p.legacy (id int, memo text); CREATE TABLE p.orders (id int, state text CHECK (state IN ('open', 'cancelled')));
             SELECT nl2sql_index('p'); DROP TABLE p.legacy; ALTER TABLE p.orders DROP CONSTRAINT orders_state_check, ADD CHECK (state IN ('paid', 'open'));
             CREATE TABLE p.extra (id int, legacy_memo text); SELECT nl2sql_index('p'); SET nl2sql.full_snapshot_max_tables = 0",
        )
        .unwrap();
    let first =
        text(&mut client, "SELECT schema_version FROM nl2sql_versions('p') ORDER BY created_at LIMIT 1").unwrap();
    let call = format!("nl2sql_retrieve('p', 'legacy memo', schema_version => '{first}', table_k => 1)");
    assert_eq!(tables(&mut client, &call), ["orders"], "what it lacks takes no place");
    let paid = format!(
        "SELECT definition::text LIKE '%matched_value%' FROM nl2sql_retrieve('p', 'paid orders', schema_version => '{first}') WHERE table_name = 'orders'"
    );
    assert_eq!(text(&mut client, &paid).as_deref(), Some("false"));
    assert_eq!(text(&mut client, "SELECT definition::text LIKE '%matched_value%' FROM nl2sql_retrieve('p', 'paid orders') WHERE table_name = 'orders'").as_deref(), Some("true"));
    client.batch_execute("DROP TABLE p.orders; SELECT nl2sql_index('p')").unwrap();
    let call = format!("nl2sql_retrieve('p', 'legacy memo', schema_version => '{first}', table_k => 1)");
    let whole: Vec<String> =
        sent(&mut client, &call).into_iter().map(|(table, via, _)| format!("{via} {table}")).collect();
    assert_eq!(whole, ["full legacy", "full orders"]);
}

#[test]
fn endless_questions_and_sub_queries_end() {
    let (_database, mut client) = searched();
    client.batch_execute("SET statement_timeout = '60s'").unwrap();
    for question in ["(SELECT string_agg('w' || i, ' ') FROM generate_series(1, 160000) i)", "repeat('x', 1000000)"] {
        for call in [
            format!("SELECT count(*) FROM nl2sql_retrieve('chinook', {question})"),
            format!("SELECT count(*) FROM nl2sql_search_tables({question})"),
            format!("SELECT count(*) FROM nl2sql_route({question})"),
            format!(
                "SELECT count(*) FROM nl2sql_retrieve('chinook', 'x', jsonb_build_object('filters', (SELECT jsonb_agg('w' || i) FROM generate_series(1, 100000) i), 'intent', {question}))"
            ),
        ] {
            assert_ne!(text(&mut client, &call).as_deref(), Some("0"));
        }
    }
}

#[test]
fn arguments_are_checked() {
    let (_database, mut client) = searched();
    let long = "x ".repeat(500_000);
    assert!(
        error(&mut client, "SELECT nl2sql_retrieve('chinook', 'x', strategy => 'best')")
            .hint()
            .unwrap()
            .contains("fused")
    );
    for question in [long.as_str(), "'' \\ : & | ! ( ) <-> *", "🦀 ~~~", "the of and"] {
        let question = question.replace('\'', "''");
        let found = rows(
            &mut client,
            &format!(
                "SELECT table_name FROM nl2sql_retrieve('chinook', '{question}', table_k => 2000000000, planning_k => 2000000000)"
            ),
        );
        assert_eq!(found.as_array().unwrap().len(), 11);
    }
}
