//! `nl2sql_catalog`, and the views over what is live.

use nl2sql_tests::{Database, rows, sqlstate, text};
use postgres::Client;
use serde_json::json;

#[test]
fn a_catalogue_within_its_budget() {
    let mut client = Database::demo().connect();
    let all = text(&mut client, "nl2sql_catalog('webshop')").unwrap();
    let tables = text(&mut client, "SELECT count(*) FROM nl2sql.tables WHERE datasource = 'webshop'").unwrap();
    assert_eq!(all.lines().count().to_string(), tables);
    assert!(all.contains("webshop.order_item | 6c | ") && all.contains("-> webshop.orders, webshop.product"), "{all}");
    let few = text(&mut client, "nl2sql_catalog('webshop', 60)").unwrap();
    assert!(few.chars().count() <= 240 && few.lines().count() >= 1, "{few}");
    assert_eq!(sqlstate(&mut client, "SELECT nl2sql_catalog('webshop', 0)"), "22023");
    client.batch_execute("SELECT nl2sql_register('new', schemas => '{webshop}')").unwrap();
    assert_eq!(sqlstate(&mut client, "SELECT nl2sql_catalog('new')"), "55000");
}

#[test]
fn the_views_show_what_is_live() {
    let mut client = Database::demo().connect();
    client.batch_execute("SELECT nl2sql_index()").unwrap();
    let counts = rows(
        &mut client,
        "SELECT (SELECT count(*) FROM nl2sql.tables) AS tables, (SELECT count(*) FROM nl2sql.columns) AS columns, (SELECT count(*) FROM nl2sql.relationships) AS relationships,
                (SELECT count(*) FROM nl2sql.metrics) AS metrics, (SELECT count(*) FROM nl2sql.builds WHERE live) AS builds, (SELECT count(*) FROM nl2sql.health WHERE status = 'ok') AS sound",
    );
    let entries = |client: &mut Client, kind: &str| {
        text(client, &format!("SELECT count(*) FROM nl2sql.entry e JOIN nl2sql.pointer p ON p.build = e.build WHERE type = 'schema.{kind}'")).unwrap().parse::<i64>().unwrap()
    };
    let expected = json!({
        "tables": entries(&mut client, "table"), "columns": entries(&mut client, "column"), "relationships": entries(&mut client, "relationship"),
        "metrics": 0, "builds": 3, "sound": 3,
    });
    assert_eq!(counts[0], expected);
    let album = rows(
        &mut client,
        "SELECT description, primary_key, columns FROM nl2sql.tables WHERE datasource = 'chinook' AND table_name = 'album'",
    );
    assert_eq!((&album[0]["primary_key"], &album[0]["columns"]), (&json!(["album_id"]), &json!(3)));
    let quantity = rows(
        &mut client,
        "SELECT data_type, pii, null_share, min IS NOT NULL AS has_min FROM nl2sql.columns WHERE table_name = 'stock' AND column_name = 'quantity'",
    );
    assert_eq!(quantity[0], json!({"data_type": "integer", "pii": false, "null_share": 0, "has_min": true}));
}
