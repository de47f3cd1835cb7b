//! `nl2sql_lookup`: definitions of named tables, and sample rows.

use nl2sql_tests::{Database, rows, text};
use postgres::Client;
use serde_json::{Value, json};

#[test]
fn lookups_and_their_sample_rows() {
    let mut client = Database::demo().connect();
    client.batch_execute("ALTER TABLE chinook.artist ADD story text; UPDATE chinook.artist SET story = repeat('é', 200); SELECT nl2sql_index('chinook')").unwrap();
    let found = rows(
        &mut client,
        "SELECT requested, table_name, note, sample_rows FROM nl2sql_lookup('chinook', '{artist,chinook.ALBUM,albm,customer}', 2)",
    );
    assert_eq!((&found[0]["table_name"], &found[1]["table_name"]), (&json!("artist"), &json!("album")));
    assert_eq!(found[2]["note"], "no such table; similar: album");
    let sample = found[0]["sample_rows"].as_array().unwrap();
    assert_eq!(sample.len(), 2);
    assert_eq!(sample[0]["story"].as_str().unwrap().chars().count(), 80);
    let customer = &found[3]["sample_rows"][0];
    assert_eq!(
        (&customer["email"], &customer["fax"]),
        (&json!("***"), &Value::Null),
        "masked, but for null: {customer}"
    );
    assert!(customer["country"].is_string() && customer["country"] != "***");
    // A bare name that exists in two schemas.
    client
        .batch_execute("SELECT nl2sql_register('two', schemas => '{chinook,webshop}'); SELECT nl2sql_index('two')")
        .unwrap();
    let note = text(&mut client, "SELECT note FROM nl2sql_lookup('two', '{customer}')").unwrap();
    assert_eq!(note, "ambiguous: chinook.customer, webshop.customer");
}

#[test]
fn sample_rows_are_read_with_the_callers_rights_and_change_nothing() {
    let database = Database::blank();
    let (author, reader) = (database.role("author"), database.role("reader"));
    let mut client = database.connect();
    client.batch_execute(&format!("CREATE SCHEMA s AUTHORIZATION {author}")).unwrap();
    database
        .connect_as(&author)
        .batch_execute(&format!(
            "SET search_path = s; CREATE TABLE note (id int, owner text); INSERT INTO note VALUES (1, '{reader}'), (2, 'other');
             ALTER TABLE note ENABLE ROW LEVEL SECURITY; CREATE POLICY mine ON note USING (owner = current_user);
             CREATE TABLE parts (id int, secret text); INSERT INTO parts VALUES (1, 'hidden');
             CREATE FUNCTION rise(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'ALTER ROLE {author} SUPERUSER'; RETURN 1; END $$;
             CREATE FUNCTION write(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO s.parts VALUES (9, 'written'); RETURN 1; END $$;
             CREATE FUNCTION who(int) RETURNS text LANGUAGE sql AS 'SELECT current_user::text';
             CREATE VIEW rising AS SELECT rise(id) AS a FROM parts; CREATE VIEW writing AS SELECT write(id) AS a FROM parts; CREATE VIEW asking AS SELECT who(id) AS a FROM parts;
             GRANT USAGE ON SCHEMA s TO {reader}; GRANT SELECT ON note, rising, writing, asking TO {reader}; GRANT SELECT (id) ON parts TO {reader}"
        ))
        .unwrap();
    client.batch_execute("SELECT nl2sql_index('s')").unwrap();
    let sample = |client: &mut Client, table: &str| {
        rows(client, &format!("SELECT sample_rows, note FROM nl2sql_lookup('s', '{{{table}}}', 3)"))
    };
    let mut reading = database.connect_as(&reader);
    assert_eq!(
        sample(&mut reading, "note")[0]["sample_rows"],
        json!([{"id": "1", "owner": reader}]),
        "row security is the reader's"
    );
    assert_eq!(sample(&mut reading, "parts")[0]["sample_rows"], json!([{"id": "1"}]));
    assert_eq!(sample(&mut reading, "asking")[0]["sample_rows"], json!([{"a": reader}]));
    for client in [&mut client, &mut reading] {
        for table in ["rising", "writing"] {
            let found = sample(client, table);
            assert_eq!(found[0]["sample_rows"], Value::Null);
            assert!(found[0]["note"].as_str().unwrap().starts_with("no sample rows: "), "{found}");
        }
    }
    assert_eq!(
        sample(&mut client, "asking")[0]["sample_rows"],
        json!([{"a": author}]),
        "not with a superuser's rights"
    );
    assert_eq!(sample(&mut client, "note")[0]["sample_rows"].as_array().unwrap().len(), 2);
    assert_eq!(
        text(&mut client, &format!("SELECT rolsuper FROM pg_roles WHERE rolname = '{author}'")).as_deref(),
        Some("false")
    );
    assert_eq!(text(&mut client, "SELECT count(*) FROM s.parts").as_deref(), Some("1"));
    assert_eq!(text(&mut client, "current_user").as_deref(), Some("postgres"));
}

/// Casts of types are code of their owners. A table of the snapshot may have become something else.
#[test]
fn sample_rows_run_no_casts_and_read_columns_alone() {
    let database = Database::blank();
    let (author, writer) = (database.role("author"), database.role("writer"));
    let mut client = database.connect();
    client
        .batch_execute(&format!(
            "CREATE SCHEMA s; GRANT ALL ON SCHEMA s TO {author}; GRANT USAGE ON SCHEMA s TO {writer}; GRANT pg_write_server_files, pg_execute_server_program TO {writer}; SET ROLE {author};
             CREATE TYPE s.t AS ENUM ('x', 'y'); CREATE FUNCTION s.ct(s.t) RETURNS text LANGUAGE sql AS 'SELECT current_user::text'; CREATE CAST (s.t AS text) WITH FUNCTION s.ct(s.t);
             CREATE TABLE s.note (id int, note text, email text); INSERT INTO s.note VALUES (1, 'n', 'me@example.com'); CREATE VIEW s.v AS SELECT id FROM s.note;
             GRANT SELECT ON s.note, s.v TO {writer}; RESET ROLE; CREATE TABLE s.typed (v s.t); INSERT INTO s.typed VALUES ('y');
             DO $$ BEGIN EXECUTE 'CREATE TABLE s.wide (' || (SELECT string_agg('c' || i || ' int', ', ') FROM generate_series(1, 300) i) || ')'; END $$; INSERT INTO s.wide (c300) VALUES (7);
             CREATE TABLE s.own (id int); INSERT INTO s.own VALUES (1); ALTER TABLE s.own ENABLE ROW LEVEL SECURITY"
        ))
        .unwrap();
    client.batch_execute("SELECT nl2sql_index('s'); ALTER TABLE s.note DROP COLUMN note").unwrap();
    let sample = |client: &mut Client, table: &str| {
        rows(client, &format!("SELECT sample_rows, note FROM nl2sql_lookup('s', '{{{table}}}', 3)"))
    };
    assert_eq!(sample(&mut client, "typed")[0]["sample_rows"], json!([{"v": "y"}]));
    assert_eq!(sample(&mut client, "note")[0]["sample_rows"], json!([{"id": "1", "email": "***"}]));
    assert_eq!(sample(&mut client, "wide")[0]["sample_rows"][0]["c300"], "7");
    assert!(sample(&mut client, "own")[0]["note"].as_str().unwrap().contains("row security"));
    let mut writing = database.connect_as(&writer);
    assert_eq!(sample(&mut writing, "note")[0]["sample_rows"], json!([{"id": "1", "email": "***"}]));
    assert!(sample(&mut writing, "v")[0]["note"].as_str().unwrap().contains("programs"));
    client.batch_execute("DROP TABLE s.own").unwrap();
    assert!(sample(&mut client, "own")[0]["note"].as_str().unwrap().contains("not there"));
}
