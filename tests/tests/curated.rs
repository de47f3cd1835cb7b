//! Curated content on the demo's chinook: what `sql/demo/curated.sql` imports, and what becomes of it.

use nl2sql_tests::{Database, describe, error, rows, sqlstate, text};
use postgres::Client;
use serde_json::{Value, json};

/// The document of the demo, cut out of its script.
fn document() -> String {
    let script = include_str!("../../sql/demo/curated.sql");
    script.split("$yaml$").nth(1).expect("a document").to_owned()
}

/// The demo with its curated content imported and indexed.
fn scene() -> (Database, Client) {
    let database = Database::demo();
    let mut client = database.connect();
    import(&mut client, &document());
    index(&mut client);
    (database, client)
}

fn import(client: &mut Client, document: &str) -> Value {
    let found = client.query_one(
        "SELECT coalesce(json_agg(t), '[]')::text FROM nl2sql_curated_import($1) t",
        &[&document],
    );
    let found: String = found.unwrap_or_else(|error| panic!("{}", describe(&error))).get(0);
    serde_json::from_str(&found).expect("JSON")
}

fn refused(client: &mut Client, document: &str) -> postgres::error::DbError {
    let call = format!("SELECT * FROM nl2sql_curated_import($doc${document}$doc$)");
    error(client, &call)
}

fn index(client: &mut Client) -> Value {
    rows(client, "SELECT status, entries, embedded, reused, issues FROM nl2sql_index('chinook', curated_only => true)")[0].clone()
}

fn one_query(id: &str, sql: &str) -> String {
    json!({"datasources": {"chinook": {"verified_queries": [{"id": id, "questions": ["What?"], "sql": sql}]}}}).to_string()
}

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
    let json = rows(&mut client, "SELECT id, questions, sql, description, params FROM nl2sql.verified_query ORDER BY id DESC");
    let again = json!({"datasources": {"chinook": {"verified_queries": json}}}).to_string();
    text(&mut client, &format!("SELECT count(*) FROM nl2sql_curated_import($d${again}$d$, replace => false)"));
    assert_eq!(rows(&mut client, before), stored);
    assert_eq!(text(&mut client, "nl2sql_curated_export('helpdesk')").as_deref(), Some("datasources:\n  helpdesk: {}\n"));
}

#[test]
fn curated_only_leaves_all_else_as_it_is() {
    let database = Database::demo();
    let mut client = database.connect();
    let schema = "SELECT id, type, text, metadata, embedding::text, relation, columns FROM nl2sql.entry e JOIN nl2sql.pointer p USING (build)
        WHERE p.datasource = 'chinook' AND e.type LIKE 'schema.%' AND e.type <> 'schema.metric' ORDER BY id";
    let documents = "SELECT relation, place, columns, words::text, embedding::text FROM nl2sql.document d JOIN nl2sql.pointer p USING (build)
        WHERE p.datasource = 'chinook' ORDER BY 1, 2, 3, 4";
    let (entries, words) = (rows(&mut client, schema), rows(&mut client, documents));
    let version = rows(&mut client, "SELECT schema_version, (SELECT count(*) FROM nl2sql.snapshot) AS snapshots FROM nl2sql.pointer WHERE datasource = 'chinook'");
    import(&mut client, &document());
    let warning = "SELECT warnings FROM nl2sql_health('chinook')";
    let call = "curated content has changed since it was indexed: SELECT nl2sql_index('chinook', curated_only => true);";
    assert_eq!(rows(&mut client, warning), json!([{"warnings": [call]}]));
    // A table that has changed is not read: only a build of the schema sees it.
    client.batch_execute("CREATE TABLE chinook.late (id int)").expect("a table");
    let built = index(&mut client);
    let phrasings = 2 + 2 + 1 + 3; // questions, and a description each
    assert_eq!(built, json!({"status": "indexed", "entries": 92 + phrasings + 2, "embedded": phrasings + 2, "reused": 92, "issues": []}));
    client.batch_execute("DROP TABLE chinook.late").expect("no table");
    assert_eq!(rows(&mut client, schema), entries);
    assert_eq!(rows(&mut client, documents), words);
    assert_eq!(
        rows(&mut client, "SELECT schema_version, (SELECT count(*) FROM nl2sql.snapshot) AS snapshots FROM nl2sql.pointer WHERE datasource = 'chinook'"),
        version
    );
    assert_eq!(rows(&mut client, warning), json!([{"warnings": []}]));
    assert_eq!(index(&mut client)["status"], "unchanged");
    // A whole build holds the same.
    assert_eq!(text(&mut client, "SELECT status FROM nl2sql_index('chinook')").as_deref(), Some("unchanged"));
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql.entry WHERE text ILIKE '%SELECT %'").as_deref(), Some("0"), "SQL is never indexed");
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql.entry WHERE text = 'How many Jazz tracks do we have?'").as_deref(), Some("1"));
}

#[test]
fn what_was_never_indexed_has_nothing_to_stand_beside() {
    let database = Database::blank();
    let mut client = database.connect();
    client.batch_execute("CREATE SCHEMA shop; CREATE TABLE shop.t (id int); SELECT nl2sql_register('shop')").expect("a datasource");
    for call in ["SELECT nl2sql_index('shop', curated_only => true)", "SELECT nl2sql_curated_import('datasources: {shop: {}}')"] {
        let found = error(&mut client, call);
        assert_eq!((found.code().code(), found.hint()), ("55000", Some("Run: SELECT nl2sql_index('shop');")), "{call}");
    }
    client.batch_execute("CREATE SCHEMA other").expect("a schema");
    assert_eq!(sqlstate(&mut client, "SELECT nl2sql_index('other', curated_only => true)"), "55000");
    assert_eq!(sqlstate(&mut client, "SELECT nl2sql_index('gone', curated_only => true)"), "42704");
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql.datasource").as_deref(), Some("1"), "nothing is registered by it");
    let all = rows(&mut client, "SELECT datasource, status FROM nl2sql_index(curated_only => true)");
    assert_eq!(all, json!([{"datasource": "shop", "status": "failed"}]));
}

#[test]
fn a_question_is_matched_bound_and_run() {
    let (_database, mut client) = scene();
    let found = rows(&mut client, "SELECT * FROM nl2sql_match('top 7 customers in 2022')");
    let first = &found[0];
    assert_eq!(first["query_id"], "top_customers_by_revenue");
    assert_eq!((&first["params"]["n"]["value"], &first["params"]["n"]["source"]), (&json!(7), &json!("question")));
    assert_eq!((&first["params"]["year"]["value"], &first["params"]["year"]["source"]), (&json!(2022), &json!("question")));
    assert!(first["sql"].as_str().expect("SQL").contains(":year"));
    assert!(first["similarity"].as_f64() > found[1]["similarity"].as_f64());
    let ids: Vec<&str> = found.as_array().expect("rows").iter().map(|row| row["query_id"].as_str().expect("an id")).collect();
    assert_eq!(ids.len(), 3, "each query once: {ids:?}");
    let sql = text(&mut client, "SELECT nl2sql_bind(datasource, query_id, params) FROM nl2sql_match('top 7 customers in 2022', k => 1)").expect("SQL");
    client.batch_execute("SET search_path = ''").expect("a path");
    assert_eq!(client.query(&sql, &[]).expect("it runs").len(), 7);
    client.batch_execute("RESET search_path").expect("a path");
    let defaults = text(&mut client, "SELECT params -> 'since' ->> 'source' FROM nl2sql_match('sales by country', k => 1)");
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
        "'", "''", "\\", "\\'", "'; DROP TABLE genre; --", "*/ SELECT 1 /*", "--", "$$", "$d$", "E'\\''", "\n-- x\n", ":i", "{s}", "\u{2019}", "a\\\\'b", "%s", "\u{1}",
        "' || pg_sleep(1) || '", "U&'\\0027'", "💥", "\u{feff}", " ",
    ];
    for conforming in ["on", "off"] {
        client.batch_execute(&format!("SET standard_conforming_strings = {conforming}; SET escape_string_warning = off")).expect("a setting");
        for value in hostile {
            let params = json!({"s": value, "i": -3, "f": -1.5e-7}).to_string();
            let sql: String = client.query_one("SELECT nl2sql_bind('chinook', 'echo', $1::text::jsonb)", &[&params]).expect("SQL").get(0);
            let row = client.query_one(&sql, &[]).unwrap_or_else(|error| panic!("{sql}: {}", describe(&error)));
            assert_eq!(row.get::<_, String>(0), value, "{sql}");
            assert_eq!((row.get::<_, i32>(1), row.get::<_, f64>(2), row.get::<_, String>(4)), (4, -1.5e-7, ":s".to_owned()));
        }
    }
    for (params, message, hint) in [
        (r#"{}"#, "needs a value for s", "\"s\": …"),
        (r#"{"s": 1}"#, "param \"s\" must be a text, not 1", ""),
        (r#"{"s": "x", "i": "1; DROP TABLE genre"}"#, "param \"i\" must be a whole number", ""),
        (r#"{"s": "x", "d": "2019-02-29"}"#, "param \"d\" must be a date", ""),
        (r#"{"s": "x", "f": 1e999}"#, "", ""),
        (r#"{"s": "x", "t": 1}"#, "has no param \"t\"", "Its params: d, f, i, s."),
        (r#"[1]"#, "params must be a JSON object", ""),
    ] {
        let found = error(&mut client, &format!("SELECT nl2sql_bind('chinook', 'echo', '{params}')"));
        assert_eq!(found.code().code(), "22023", "{params}: {found}");
        assert!(found.message().contains(message) && found.hint().unwrap_or_default().contains(hint), "{params}: {found:?}");
    }
    let found = error(&mut client, "SELECT nl2sql_bind('chinook', 'ecko', '{}')");
    assert_eq!((found.code().code(), found.hint()), ("42704", Some("Perhaps you meant \"echo\".")));
    assert_eq!(text(&mut client, "SELECT count(*) > 0 FROM chinook.genre").as_deref(), Some("true"));
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
        (query(json!({"id": "a-b"})), "id: it must be"),
        (query(json!({"questions": []})), "questions: there must be at least one"),
        (query(json!({"questions": ["{n}"]})), "{n} is not among the params"),
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
        ("datasources: {chinook: {verified_queries: [{id: q, questions: [x], sql: 'SELECT 1', params: {n: {type: integer}}}]}}".into(), "line 1"),
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
    assert!(refused(&mut client, &mixed.to_string()).message().starts_with("curated content of datasource \"webshop\" is not valid: verified query \"bad\""));
    assert_eq!(text(&mut client, "nl2sql_curated_export()"), before);
    let many: Vec<Value> = (0..40).map(|n| json!({"id": format!("q{n}"), "questions": ["?"], "sql": "SELECT x FROM genre"})).collect();
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
        query(json!({"questions": ["{n}"], "sql": "SELECT :n", "params": {"n": {"type": "string", "choices": (0..3000).collect::<Vec<_>>()}}})),
        json!({"datasources": {"chinook": {"glossary": [{"term": long, "definition": "x"}]}}}).to_string(),
    ] {
        let found = refused(&mut client, &document);
        assert_eq!(found.code().code(), "22023", "{found}");
        let length = found.message().len() + found.detail().unwrap_or_default().len() + found.hint().unwrap_or_default().len();
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
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql.verified_query").as_deref(), Some("4"), "the others stay");
    assert_eq!(index(&mut client)["embedded"], 1);
    assert_eq!(text(&mut client, "SELECT query_id FROM nl2sql_match('longest track of Rock?', k => 1)").as_deref(), Some("longest"));
    assert_eq!(sqlstate(&mut client, &write.replace(":genre", ":gender")), "22023");
    assert_eq!(sqlstate(&mut client, &write.replace("\"string\"", "\"text\"")), "22023");
    assert_eq!(sqlstate(&mut client, &write.replace("'longest'", "NULL")), "22004");
    assert_eq!(text(&mut client, "nl2sql_remove_verified_query('chinook', 'longest')").as_deref(), Some("true"));
    assert_eq!(text(&mut client, "nl2sql_remove_verified_query('chinook', 'longest')").as_deref(), Some("false"));
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql_match('longest track of Rock?') WHERE query_id = 'longest'").as_deref(), Some("0"), "gone at once");
    assert_eq!(text(&mut client, "SELECT warnings::text LIKE '%curated content has changed%' FROM nl2sql_health('chinook')").as_deref(), Some("true"));
    // In place of what was there, and beside it.
    import(&mut client, &one_query("only", "SELECT count(*) FROM genre"));
    assert_eq!(rows(&mut client, "SELECT id FROM nl2sql.verified_query"), json!([{"id": "only"}]));
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql.metric").as_deref(), Some("0"));
    text(&mut client, &format!("SELECT count(*) FROM nl2sql_curated_import($d${}$d$, replace => false)", document()));
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql.verified_query").as_deref(), Some("4"));
    assert_eq!(text(&mut client, "nl2sql_unregister('chinook')").as_deref(), Some("true"));
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql.verified_query").as_deref(), Some("0"));
}

#[test]
fn drift_says_what_it_breaks() {
    let (_database, mut client) = scene();
    let impact = "SELECT impact -> 'verified_queries' AS queries, impact -> 'metrics' AS metrics FROM nl2sql_check('chinook')";
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
    assert_eq!(found[0]["metrics"], json!([{"name": "average_invoice", "reasons": ["reads retyped column chinook.invoice.total"]}]));
    // A build of the new schema leaves out what fits it no more, and says so.
    let built = rows(&mut client, "SELECT status, issues FROM nl2sql_index('chinook')");
    let message = "2 pieces of curated content do not fit the schema, and are left out: SELECT * FROM nl2sql_curated_validate('chinook');";
    assert_eq!(built[0]["issues"], json!([{"stage": "curated", "message": message}]), "who may build need not be told more");
    let matched = rows(&mut client, "SELECT query_id FROM nl2sql_match('top 5 customers in 2022')");
    assert_eq!(matched, json!([{"query_id": "sales_by_country"}]), "what cannot run is not offered");
    let problems = rows(&mut client, "SELECT query_id, problem FROM nl2sql_curated_validate('chinook')");
    let ids: Vec<&Value> = problems.as_array().expect("rows").iter().map(|row| &row["query_id"]).collect();
    // round(double precision, integer) does not exist: the server says so of the metric.
    assert_eq!(ids, ["top_customers_by_revenue", "tracks_of_genre"].iter().map(|id| json!(id)).collect::<Vec<_>>().iter().collect::<Vec<_>>()
        .into_iter().chain([&Value::Null]).collect::<Vec<_>>(), "{problems}");
    assert!(problems[2]["problem"].as_str().is_some_and(|text| text.starts_with("metric \"average_invoice\": expression: function round(double precision, integer)")), "{problems}");
    let warning = "curated content does not fit the schema and is left out: SELECT * FROM nl2sql_curated_validate('chinook');";
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

#[test]
fn terms_and_metrics_find_their_tables() {
    let (_database, mut client) = scene();
    client.batch_execute("SET nl2sql.full_snapshot_max_tables = 0").expect("a setting");
    let via = |client: &mut Client, question: &str| {
        rows(client, &format!("SELECT table_name, via FROM nl2sql_retrieve('chinook', '{question}', table_k => 1) WHERE via IN ('term', 'metric')"))
    };
    let platinum = json!({"datasources": {"chinook": {"glossary": [
        {"term": "gone platinum", "definition": "sold a thousand times", "synonyms": ["million-seller"], "tables": ["invoice_line"]}],
        "metrics": [{"name": "grand_yield", "expression": "sum(quantity)", "table": "invoice_line"}]}}});
    text(&mut client, &format!("SELECT count(*) FROM nl2sql_curated_import($d${platinum}$d$, replace => false)"));
    index(&mut client);
    assert_eq!(via(&mut client, "Which employee has gone platinum?"), json!([{"table_name": "invoice_line", "via": "term"}]));
    assert_eq!(via(&mut client, "Which employee has Million-Sellers?"), json!([{"table_name": "invoice_line", "via": "term"}]));
    assert_eq!(via(&mut client, "Which employee has a platinum ring?"), json!([]));
    assert_eq!(via(&mut client, "Employees by grand yield"), json!([{"table_name": "invoice_line", "via": "metric"}]));
    let prompt = text(&mut client, "nl2sql_schema_prompt('chinook', 'the average invoice for a live record')").expect("a prompt");
    let lines: Vec<Value> = prompt.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.iter().any(|line| line["table"] == "chinook.album"));
    assert_eq!(lines[lines.len() - 2], json!({"term": "live record", "definition": "An album recorded on stage; its title says so", "synonyms": ["concert album"], "tables": ["chinook.album"]}));
    assert_eq!(lines[lines.len() - 1]["metric"], "average_invoice");
    client.batch_execute("RESET nl2sql.full_snapshot_max_tables").expect("a setting");
    let prompt = text(&mut client, "nl2sql_schema_prompt('chinook', 'concert albums')").expect("a prompt");
    assert!(prompt.lines().last().is_some_and(|line| line.starts_with("{\"term\":\"live record\"")), "also where all tables are sent");
    assert_eq!(
        rows(&mut client, "SELECT name, expression, table_key FROM nl2sql.metrics ORDER BY name"),
        json!([{"name": "average_invoice", "expression": "round(avg(total), 2)", "table_key": "chinook.invoice"},
               {"name": "grand_yield", "expression": "sum(quantity)", "table_key": "chinook.invoice_line"}])
    );
    let explained = text(&mut client, "nl2sql_retrieve_explain('chinook', 'live records') -> 'used'").expect("a record");
    assert_eq!(explained, r#"[{"term": "live record", "tables": ["chinook.album"]}]"#);
}

#[test]
fn routing_learns_from_what_is_curated() {
    let (_database, mut client) = scene();
    let question = "How many Jazz tracks do we have?";
    let explained = text(&mut client, &format!("nl2sql_route_explain('{question}', fusion => 'rrf')")).expect("a record");
    let explained: Value = serde_json::from_str(&explained).expect("JSON");
    let curated = &explained["signals"][2];
    assert_eq!((&curated["signal"], &curated["ranking"][0]["datasource"]), (&json!("curated"), &json!("chinook")));
    assert!(curated["ranking"][0]["similarity"].as_f64().is_some_and(|similarity| similarity > 0.999));
    for fusion in ["rrf", "score"] {
        let first = rows(&mut client, &format!("SELECT datasource, ranks FROM nl2sql_route('{question}', fusion => '{fusion}') LIMIT 1"));
        assert_eq!((&first[0]["datasource"], &first[0]["ranks"]["curated"]), (&json!("chinook"), &json!(1)), "{fusion}");
    }
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
    assert_eq!(text(&mut client, "nl2sql_bind('d', 'path')").as_deref(), Some("SELECT x FROM d2.t"), "what it was written for");
    let problems = rows(&mut client, "SELECT query_id, problem FROM nl2sql_curated_validate('d')");
    let ids: Vec<&str> = problems.as_array().expect("rows").iter().map(|row| row["query_id"].as_str().expect("an id")).collect();
    assert_eq!(ids, ["inner", "joined"], "{problems}");
    assert!(problems[0]["problem"].as_str().is_some_and(|text| text.contains("d2.b.secret")), "{problems}");
    let matched = rows(&mut client, "SELECT query_id FROM nl2sql_match('b', k => 9) ORDER BY 1");
    assert_eq!(matched, json!([{"query_id": "path"}, {"query_id": "star"}]));
    // Columns that an option leaves out are not read by a star.
    for sql in ["SELECT * FROM r", "SELECT r FROM r", "SELECT to_jsonb(r) FROM r", "SELECT r.* FROM r", "SELECT count(r) FROM r"] {
        let found = error(&mut client, &format!("SELECT nl2sql_verified_query('d', 'all', '{{What?}}', '{sql}')"));
        assert!(found.message().contains("all columns of d2.r are more than the datasource takes in"), "{sql}: {found}");
    }
    client.batch_execute("SELECT nl2sql_verified_query('d', 'part', '{What?}', 'SELECT id, count(*) FROM r GROUP BY id')").expect("a part");
}

#[test]
fn many_phrasings_leave_room_for_others() {
    let (_database, mut client) = scene();
    let questions: Vec<String> = (0..60).map(|n| format!("How many genres are there, number {n}?")).collect();
    let many = json!({"datasources": {"chinook": {"verified_queries": [{"id": "genres", "questions": questions, "sql": "SELECT count(*) FROM genre"}]}}});
    text(&mut client, &format!("SELECT count(*) FROM nl2sql_curated_import($d${many}$d$, replace => false)"));
    index(&mut client);
    assert_eq!(rows(&mut client, "SELECT query_id FROM nl2sql_match('number of genres', k => 3)").as_array().map(Vec::len), Some(3));
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
    assert_eq!(text(&mut other, "SELECT query_id FROM nl2sql_match('sales by country', k => 1)").as_deref(), Some("sales_by_country"), "reading waits for nobody");
    client.batch_execute("ROLLBACK").expect("the end");
    assert_eq!(text(&mut other, "SELECT count(*) FROM nl2sql.verified_query").as_deref(), Some("3"));
    // In a read-only transaction nothing is written, and everything is read.
    other.batch_execute("BEGIN READ ONLY").expect("a transaction");
    for reading in ["nl2sql_curated_export()", "nl2sql_bind('chinook', 'sales_by_country')", "SELECT count(*) FROM nl2sql_match('sales')", "SELECT count(*) FROM nl2sql_curated_validate()"] {
        text(&mut other, reading);
    }
    assert_eq!(sqlstate(&mut other, "SELECT nl2sql_curated_import('datasources: {chinook: {}}')"), "25006");
}

/// Content is what users wrote: a dump holds it, and a restored database indexes it again.
#[test]
fn the_owner_of_the_content_is_the_user() {
    let (_database, mut client) = scene();
    let (hash, export) = (text(&mut client, "SELECT curated_hash FROM nl2sql.pointer WHERE datasource = 'chinook'"), text(&mut client, "nl2sql_curated_export()"));
    client.batch_execute("DELETE FROM nl2sql.pointer WHERE datasource = 'chinook'").expect("as after a restore");
    assert_eq!(text(&mut client, "nl2sql_curated_export()"), export);
    let validated = rows(&mut client, "SELECT query_id, problem FROM nl2sql_curated_validate('chinook')");
    assert_eq!(validated, json!([{"query_id": null, "problem": "it has not been indexed: SELECT nl2sql_index('chinook');"}]));
    text(&mut client, "SELECT status FROM nl2sql_index('chinook')");
    assert_eq!(text(&mut client, "SELECT curated_hash FROM nl2sql.pointer WHERE datasource = 'chinook'"), hash);
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql_match('sales by country')").as_deref(), Some("3"));
}
