//! What a build makes of the content, and what searches find of it.

use super::scene::{document, import, index, scene};
use nl2sql_tests::{Database, error, rows, sqlstate, text};
use postgres::Client;
use serde_json::{Value, json};

#[test]
fn curated_only_leaves_all_else_as_it_is() {
    let database = Database::demo();
    let mut client = database.connect();
    let schema = "SELECT id, type, text, metadata, embedding::text, relation, columns FROM nl2sql.entry e JOIN nl2sql.pointer p USING (build)
        WHERE p.datasource = 'chinook' AND e.type LIKE 'schema.%' AND e.type <> 'schema.metric' ORDER BY id";
    let documents = "SELECT relation, place, columns, words::text, embedding::text FROM nl2sql.document d JOIN nl2sql.pointer p USING (build)
        WHERE p.datasource = 'chinook' ORDER BY 1, 2, 3, 4";
    let (entries, words) = (rows(&mut client, schema), rows(&mut client, documents));
    let version = rows(
        &mut client,
        "SELECT schema_version, (SELECT count(*) FROM nl2sql.snapshot) AS snapshots FROM nl2sql.pointer WHERE datasource = 'chinook'",
    );
    import(&mut client, &document());
    let warning = "SELECT warnings FROM nl2sql_health('chinook')";
    let call =
        "curated content has changed since it was indexed: SELECT nl2sql_index('chinook', curated_only => true);";
    assert_eq!(rows(&mut client, warning), json!([{"warnings": [call]}]));
    // A table that has changed is not read: only a build of the schema sees it.
    client.batch_execute("CREATE TABLE chinook.late (id int)").expect("a table");
    let built = index(&mut client);
    let phrasings = 2 + 2 + 1 + 3; // questions, and a description each
    assert_eq!(
        built,
        json!({"status": "indexed", "entries": 92 + phrasings + 2, "embedded": phrasings + 2, "reused": 92, "issues": []})
    );
    client.batch_execute("DROP TABLE chinook.late").expect("no table");
    assert_eq!(rows(&mut client, schema), entries);
    assert_eq!(rows(&mut client, documents), words);
    assert_eq!(
        rows(
            &mut client,
            "SELECT schema_version, (SELECT count(*) FROM nl2sql.snapshot) AS snapshots FROM nl2sql.pointer WHERE datasource = 'chinook'"
        ),
        version
    );
    assert_eq!(rows(&mut client, warning), json!([{"warnings": []}]));
    assert_eq!(index(&mut client)["status"], "unchanged");
    // A whole build holds the same.
    assert_eq!(text(&mut client, "SELECT status FROM nl2sql_index('chinook')").as_deref(), Some("unchanged"));
    assert_eq!(
        text(&mut client, "SELECT count(*) FROM nl2sql.entry WHERE text ILIKE '%SELECT %'").as_deref(),
        Some("0"),
        "SQL is never indexed"
    );
    assert_eq!(
        text(&mut client, "SELECT count(*) FROM nl2sql.entry WHERE text = 'How many Jazz tracks do we have?'")
            .as_deref(),
        Some("1")
    );
}

#[test]
fn what_was_never_indexed_has_nothing_to_stand_beside() {
    let database = Database::blank();
    let mut client = database.connect();
    client
        .batch_execute("CREATE SCHEMA shop; CREATE TABLE shop.t (id int); SELECT nl2sql_register('shop')")
        .expect("a datasource");
    for call in
        ["SELECT nl2sql_index('shop', curated_only => true)", "SELECT nl2sql_curated_import('datasources: {shop: {}}')"]
    {
        let found = error(&mut client, call);
        assert_eq!((found.code().code(), found.hint()), ("55000", Some("Run: SELECT nl2sql_index('shop');")), "{call}");
    }
    client.batch_execute("CREATE SCHEMA other").expect("a schema");
    assert_eq!(sqlstate(&mut client, "SELECT nl2sql_index('other', curated_only => true)"), "55000");
    assert_eq!(sqlstate(&mut client, "SELECT nl2sql_index('gone', curated_only => true)"), "42704");
    assert_eq!(
        text(&mut client, "SELECT count(*) FROM nl2sql.datasource").as_deref(),
        Some("1"),
        "nothing is registered by it"
    );
    let all = rows(&mut client, "SELECT datasource, status FROM nl2sql_index(curated_only => true)");
    assert_eq!(all, json!([{"datasource": "shop", "status": "failed"}]));
}

#[test]
fn terms_and_metrics_find_their_tables() {
    let (_database, mut client) = scene();
    client.batch_execute("SET nl2sql.full_snapshot_max_tables = 0").expect("a setting");
    let via = |client: &mut Client, question: &str| {
        rows(
            client,
            &format!(
                "SELECT table_name, via FROM nl2sql_retrieve('chinook', '{question}', table_k => 1) WHERE via IN ('term', 'metric')"
            ),
        )
    };
    let platinum = json!({"datasources": {"chinook": {"glossary": [
        {"term": "gone platinum", "definition": "sold a thousand times", "synonyms": ["million-seller"], "tables": ["invoice_line"]}],
        "metrics": [{"name": "grand_yield", "expression": "sum(quantity)", "table": "invoice_line"}]}}});
    text(&mut client, &format!("SELECT count(*) FROM nl2sql_curated_import($d${platinum}$d$, replace => false)"));
    index(&mut client);
    assert_eq!(
        via(&mut client, "Which employee has gone platinum?"),
        json!([{"table_name": "invoice_line", "via": "term"}])
    );
    assert_eq!(
        via(&mut client, "Which employee has Million-Sellers?"),
        json!([{"table_name": "invoice_line", "via": "term"}])
    );
    assert_eq!(via(&mut client, "Which employee has a platinum ring?"), json!([]));
    assert_eq!(via(&mut client, "Employees by grand yield"), json!([{"table_name": "invoice_line", "via": "metric"}]));
    let prompt = text(&mut client, "nl2sql_schema_prompt('chinook', 'the average invoice for a live record')")
        .expect("a prompt");
    let lines: Vec<Value> = prompt.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.iter().any(|line| line["table"] == "chinook.album"));
    assert_eq!(
        lines[lines.len() - 2],
        json!({"term": "live record", "definition": "An album recorded on stage; its title says so", "synonyms": ["concert album"], "tables": ["chinook.album"]})
    );
    assert_eq!(lines[lines.len() - 1]["metric"], "average_invoice");
    client.batch_execute("RESET nl2sql.full_snapshot_max_tables").expect("a setting");
    let prompt = text(&mut client, "nl2sql_schema_prompt('chinook', 'concert albums')").expect("a prompt");
    assert!(
        prompt.lines().last().is_some_and(|line| line.starts_with("{\"term\":\"live record\"")),
        "also where all tables are sent"
    );
    // There nothing is searched, so no model is needed.
    client.batch_execute("SET nl2sql.model_dir = '/nowhere'").expect("a setting");
    text(&mut client, "nl2sql_schema_prompt('chinook', 'the grand yield of concert albums')").expect("a prompt");
    client.batch_execute("RESET nl2sql.model_dir").expect("a setting");
    assert_eq!(
        rows(&mut client, "SELECT name, expression, table_key FROM nl2sql.metrics ORDER BY name"),
        json!([{"name": "average_invoice", "expression": "round(avg(total), 2)", "table_key": "chinook.invoice"},
               {"name": "grand_yield", "expression": "sum(quantity)", "table_key": "chinook.invoice_line"}])
    );
    let explained =
        text(&mut client, "nl2sql_retrieve_explain('chinook', 'live records') -> 'used'").expect("a record");
    assert_eq!(explained, r#"[{"term": "live record", "tables": ["chinook.album"]}]"#);
}

#[test]
fn routing_learns_from_what_is_curated() {
    let (_database, mut client) = scene();
    let question = "How many Jazz tracks do we have?";
    let explained =
        text(&mut client, &format!("nl2sql_route_explain('{question}', fusion => 'rrf')")).expect("a record");
    let explained: Value = serde_json::from_str(&explained).expect("JSON");
    let curated = &explained["signals"][2];
    assert_eq!((&curated["signal"], &curated["ranking"][0]["datasource"]), (&json!("curated"), &json!("chinook")));
    assert!(curated["ranking"][0]["similarity"].as_f64().is_some_and(|similarity| similarity > 0.999));
    for fusion in ["rrf", "score"] {
        let first = rows(
            &mut client,
            &format!("SELECT datasource, ranks FROM nl2sql_route('{question}', fusion => '{fusion}') LIMIT 1"),
        );
        assert_eq!(
            (&first[0]["datasource"], &first[0]["ranks"]["curated"]),
            (&json!("chinook"), &json!(1)),
            "{fusion}"
        );
    }
}
