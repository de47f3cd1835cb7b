//! Writing down, giving back, refusing.

use super::scene::{document, import, index, one_query, refused, scene};
use nl2sql_tests::{rows, sqlstate, text};
use serde_json::{Value, json};

#[test]
fn an_export_imports_as_it_is() {
    let (_database, mut client) = scene();
    assert_eq!(rows(&mut client, "SELECT * FROM nl2sql_curated_validate()"), json!([]));
    let before = "SELECT 'q' AS kind, id AS name, changed_at, xmin::text FROM nl2sql.verified_query UNION ALL
        SELECT 'm', name, changed_at, xmin::text FROM nl2sql.metric UNION ALL SELECT 't', term, changed_at, xmin::text FROM nl2sql.term ORDER BY 1, 2";
    let stored = rows(&mut client, before);
    assert_eq!(stored.as_array().map(Vec::len), Some(5));
    let export = text(&mut client, "nl2sql_curated_export()").expect("a document");
    let counts = json!([{"datasource": "chinook", "verified_queries": 3, "metrics": 1, "terms": 1}]);
    assert_eq!(import(&mut client, &export), counts);
    assert_eq!(rows(&mut client, before), stored, "no row was written again");
    assert_eq!(text(&mut client, "nl2sql_curated_export('chinook')").expect("a document"), export);
    assert_eq!(index(&mut client)["status"], "unchanged");
    // JSON is YAML; another order is the same.
    let json =
        rows(&mut client, "SELECT id, questions, sql, description, params FROM nl2sql.verified_query ORDER BY id DESC");
    let again = json!({"datasources": {"chinook": {"verified_queries": json}}}).to_string();
    text(&mut client, &format!("SELECT count(*) FROM nl2sql_curated_import($d${again}$d$, replace => false)"));
    assert_eq!(rows(&mut client, before), stored);
    assert_eq!(
        text(&mut client, "nl2sql_curated_export('helpdesk')").as_deref(),
        Some("datasources:\n  helpdesk: {}\n")
    );
}

#[test]
fn nothing_is_written_where_something_is_wrong() {
    let (_database, mut client) = scene();
    let before = text(&mut client, "nl2sql_curated_export()");
    let query = |fields: Value| {
        let mut query = json!({"id": "q", "questions": ["What?"], "sql": "SELECT 1"});
        for (name, value) in fields.as_object().expect("fields") {
            query[name] = value.clone();
        }
        json!({"datasources": {"chinook": {"verified_queries": [query]}}}).to_string()
    };
    for (document, words) in [
        (query(json!({"id": "Q"})), "verified query \"Q\": id"),
        (query(json!({"id": "a-b"})), "id: it must start with a letter"),
        (query(json!({"questions": []})), "questions: there must be at least one"),
        (query(json!({"questions": ["{n}"]})), "{n} is not a param"),
        (query(json!({"params": {"n": {"type": "int"}}})), "none has {n}"),
        (query(json!({"sql": "SELECT * FROM chinook.trak"})), "sql, line 1: table \"chinook.trak\" does not exist (near it: chinook.track, "),
        (query(json!({"sql": "SELECT nme\nFROM track"})), "sql, line 1: column \"nme\" does not exist (near it: name)"),
        (query(json!({"sql": "DELETE FROM track"})), "DELETE is not a statement that only reads"),
        (query(json!({"sql": "SELECT name FROM track JOIN genre USING (genre_id)"})), "column \"name\" is ambiguous"),
        (query(json!({"sql": "SELECT * FROM pg_class"})), "table \"pg_class\" does not exist"),
        (query(json!({"sql": "SELECT sum(name) FROM track"})), "function sum(character varying) does not exist"),
        (query(json!({"sql": "SELECT no_such(name) FROM track"})), "no_such"),
        (query(json!({"sql": "SELECT name + 1 FROM track"})), "operator does not exist"),
        (query(json!({"questions": ["{n}"], "params": {"n": {"type": "string"}}, "sql": "SELECT name FROM track WHERE track_id = date :n"})), "sql"),
        (query(json!({"questions": ["{n}"], "params": {"n": {"type": "date"}}, "sql": "SELECT name FROM track WHERE track_id = :n"})), "operator does not exist: integer = date"),
        (json!({"datasources": {"chinook": {"metrics": [{"name": "m", "expression": "sum(totl)", "table": "invoice"}]}}}).to_string(), "metric \"m\": expression"),
        (json!({"datasources": {"chinook": {"metrics": [{"name": "m", "expression": "sum(total)", "table": "invoise"}]}}}).to_string(), "metric \"m\": table: table \"invoise\" does not exist (near it: invoice"),
        (json!({"datasources": {"chinook": {"glossary": [{"term": "t", "definition": "", "tables": []}]}}}).to_string(), "term \"t\": definition"),
        ("datasources:\n  chinook:\n    verified_queries:\n    - id: [".into(), "line 4"),
        ("datasources: {chinook: {queries: []}}".into(), "queries"),
        ("{".into(), "the document cannot be read"),
        ("datasources: {chinook: {verified_queries: [{id: q, questions: [x], sql: 'SELECT 1', params: {n: {type: integer}}}]}}".into(), "datasource \"chinook\", verified query \"q\", params.n.type (line 1): "),
        ("datasources: {chinook: {verified_queries: [{id: q, params: {n: {type: float, max: 1e400}}}]}}".into(), "params.n.max (line 1): it must be a finite number"),
        ("datasources: {chinook: {verified_queries: [{id: q, id: r}]}}".into(), "verified query \"q\" (line 1): duplicate key \"id\""),
        ("datasources: {chinook: {glossary: [{term: '%', definition: x}]}}".into(), "term \"%\": term: \"%\" has no letter or digit"),
    ] {
        let found = refused(&mut client, &document);
        assert_eq!(found.code().code(), "22023", "{document}: {found}");
        assert!(found.message().contains(words), "{document}: {found}");
    }
    for (document, code) in [("datasources: {chinok: {}}", "42704"), ("", "22023"), ("x: 1", "22023")] {
        assert_eq!(refused(&mut client, document).code().code(), code, "{document}");
    }
    let mixed = json!({"datasources": {
        "chinook": {"verified_queries": [{"id": "good", "questions": ["What?"], "sql": "SELECT count(*) FROM genre"}]},
        "webshop": {"verified_queries": [{"id": "bad", "questions": ["What?"], "sql": "SELECT count(*) FROM genre"}]}}});
    assert!(
        refused(&mut client, &mixed.to_string())
            .message()
            .starts_with("curated content of datasource \"webshop\" is not valid: verified query \"bad\"")
    );
    assert_eq!(text(&mut client, "nl2sql_curated_export()"), before);
    let many: Vec<Value> =
        (0..40).map(|n| json!({"id": format!("q{n}"), "questions": ["?"], "sql": "SELECT x FROM genre"})).collect();
    let found = refused(&mut client, &json!({"datasources": {"chinook": {"verified_queries": many}}}).to_string());
    let detail = found.detail().expect("the others");
    let listed = detail.lines().count() - 1;
    assert!(listed >= 10 && detail.len() < 1500 && detail.ends_with(&format!("and {} more", 39 - listed)), "{detail}");
    let long = "x".repeat(100_000);
    for document in [
        format!("{{\"{long}\": 1}}"),
        query(json!({"sql": format!("SELECT {long} FROM genre")})),
        query(json!({"sql": format!("SELECT '{long}'::int")})),
        query(json!({"id": long})),
        query(
            json!({"questions": ["{n}"], "sql": "SELECT :n", "params": {"n": {"type": "string", "choices": (0..3000).collect::<Vec<_>>()}}}),
        ),
        json!({"datasources": {"chinook": {"glossary": [{"term": long, "definition": "x"}]}}}).to_string(),
    ] {
        let found = refused(&mut client, &document);
        assert_eq!(found.code().code(), "22023", "{found}");
        let length =
            found.message().len() + found.detail().unwrap_or_default().len() + found.hint().unwrap_or_default().len();
        assert!(length < 2000, "{length}");
    }
}

#[test]
fn queries_row_by_row() {
    let (_database, mut client) = scene();
    let write = "SELECT nl2sql_verified_query('chinook', 'longest', ARRAY['What is the longest track of {genre}?'],
        'SELECT t.name FROM track t JOIN genre g USING (genre_id) WHERE g.name = :genre ORDER BY t.milliseconds DESC LIMIT 1',
        params => '{\"genre\": {\"type\": \"string\", \"default\": \"Rock\"}}')";
    client.batch_execute(write).expect("a query");
    assert_eq!(
        text(&mut client, "SELECT count(*) FROM nl2sql.verified_query").as_deref(),
        Some("4"),
        "the others stay"
    );
    assert_eq!(index(&mut client)["embedded"], 1);
    assert_eq!(
        text(&mut client, "SELECT query_id FROM nl2sql_match('longest track of Rock?', k => 1)").as_deref(),
        Some("longest")
    );
    assert_eq!(sqlstate(&mut client, &write.replace(":genre", ":gender")), "22023");
    assert_eq!(sqlstate(&mut client, &write.replace("\"string\"", "\"text\"")), "22023");
    assert_eq!(sqlstate(&mut client, &write.replace("'longest'", "NULL")), "22004");
    assert_eq!(text(&mut client, "nl2sql_remove_verified_query('chinook', 'longest')").as_deref(), Some("true"));
    assert_eq!(text(&mut client, "nl2sql_remove_verified_query('chinook', 'longest')").as_deref(), Some("false"));
    assert_eq!(
        text(&mut client, "SELECT count(*) FROM nl2sql_match('longest track of Rock?') WHERE query_id = 'longest'")
            .as_deref(),
        Some("0"),
        "gone at once"
    );
    assert_eq!(
        text(&mut client, "SELECT warnings::text LIKE '%curated content has changed%' FROM nl2sql_health('chinook')")
            .as_deref(),
        Some("true")
    );
    // In place of what was there, and beside it.
    import(&mut client, &one_query("only", "SELECT count(*) FROM genre"));
    assert_eq!(rows(&mut client, "SELECT id FROM nl2sql.verified_query"), json!([{"id": "only"}]));
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql.metric").as_deref(), Some("0"));
    text(&mut client, &format!("SELECT count(*) FROM nl2sql_curated_import($d${}$d$, replace => false)", document()));
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql.verified_query").as_deref(), Some("4"));
    assert_eq!(text(&mut client, "nl2sql_unregister('chinook')").as_deref(), Some("true"));
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql.verified_query").as_deref(), Some("0"));
}

/// Two sessions at once: the second is refused, and sees no half.
#[test]
fn a_session_that_writes_holds_the_lease() {
    let (database, mut client) = scene();
    let mut other = database.connect();
    client.batch_execute("BEGIN").expect("a transaction");
    import(&mut client, &one_query("mine", "SELECT count(*) FROM genre"));
    assert_eq!(text(&mut other, "SELECT count(*) FROM nl2sql.verified_query").as_deref(), Some("3"));
    for call in [
        format!("SELECT * FROM nl2sql_curated_import($d${}$d$)", one_query("yours", "SELECT 1")),
        "SELECT nl2sql_verified_query('chinook', 'yours', '{What?}', 'SELECT 1')".into(),
        "SELECT nl2sql_remove_verified_query('chinook', 'sales_by_country')".into(),
        "SELECT nl2sql_index('chinook', curated_only => true)".into(),
    ] {
        assert_eq!(sqlstate(&mut other, &call), "55P03", "{call}");
    }
    assert_eq!(
        text(&mut other, "SELECT query_id FROM nl2sql_match('sales by country', k => 1)").as_deref(),
        Some("sales_by_country"),
        "reading waits for nobody"
    );
    client.batch_execute("ROLLBACK").expect("the end");
    assert_eq!(text(&mut other, "SELECT count(*) FROM nl2sql.verified_query").as_deref(), Some("3"));
    // In a read-only transaction nothing is written, and everything is read.
    other.batch_execute("BEGIN READ ONLY").expect("a transaction");
    for reading in [
        "nl2sql_curated_export()",
        "nl2sql_bind('chinook', 'sales_by_country')",
        "SELECT count(*) FROM nl2sql_match('sales')",
        "SELECT count(*) FROM nl2sql_curated_validate()",
    ] {
        text(&mut other, reading);
    }
    assert_eq!(sqlstate(&mut other, "SELECT nl2sql_curated_import('datasources: {chinook: {}}')"), "25006");
}

/// Content is what users wrote: a dump holds it, and a restored database indexes it again.
#[test]
fn the_owner_of_the_content_is_the_user() {
    let (_database, mut client) = scene();
    let (hash, export) = (
        text(&mut client, "SELECT curated_hash FROM nl2sql.pointer WHERE datasource = 'chinook'"),
        text(&mut client, "nl2sql_curated_export()"),
    );
    client.batch_execute("DELETE FROM nl2sql.pointer WHERE datasource = 'chinook'").expect("as after a restore");
    assert_eq!(text(&mut client, "nl2sql_curated_export()"), export);
    let validated = rows(&mut client, "SELECT query_id, problem FROM nl2sql_curated_validate('chinook')");
    assert_eq!(
        validated,
        json!([{"query_id": null, "problem": "it has not been indexed: SELECT nl2sql_index('chinook');"}])
    );
    text(&mut client, "SELECT status FROM nl2sql_index('chinook')");
    assert_eq!(text(&mut client, "SELECT curated_hash FROM nl2sql.pointer WHERE datasource = 'chinook'"), hash);
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql_match('sales by country')").as_deref(), Some("3"));
}
