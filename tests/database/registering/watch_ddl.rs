//! Watching DDL.

use nl2sql_tests::{Database, rows, sqlstate, text};
use postgres::Client;
use serde_json::json;

fn touched(client: &mut Client) -> bool {
    text(client, "SELECT ddl_touched_at IS NOT NULL FROM nl2sql.datasources WHERE datasource = 's'").as_deref()
        == Some("true")
}

fn forget(client: &mut Client) {
    client.batch_execute("DELETE FROM nl2sql.ddl").unwrap();
}

#[test]
fn ddl_is_noted_while_it_is_watched() {
    let mut client = Database::blank().connect();
    client
        .batch_execute(
            "CREATE SCHEMA s; CREATE TABLE s.a (id int); SELECT nl2sql_index('s'); ALTER TABLE s.a ADD b int",
        )
        .unwrap();
    assert!(!touched(&mut client), "not asked for");
    assert_eq!(text(&mut client, "nl2sql_watch_ddl()").as_deref(), Some("true"));
    assert_eq!(text(&mut client, "nl2sql_watch_ddl()").as_deref(), Some("false"));
    for statement in [
        "ALTER TABLE s.a ADD c int",
        "CREATE TABLE s.b (id int)",
        "DROP TABLE s.b",
        "COMMENT ON TABLE s.a IS 'x'",
        "CREATE INDEX i ON s.a (c)",
        "DROP INDEX s.i",
        "CREATE VIEW s.v AS SELECT 1 AS a",
        "ALTER TABLE s.a DROP COLUMN c",
        "DROP VIEW s.v",
        "ALTER SCHEMA s RENAME TO t; ALTER SCHEMA t RENAME TO s",
        "DROP SCHEMA s CASCADE",
        "CREATE SCHEMA s; CREATE TABLE s.a (id int)",
    ] {
        forget(&mut client);
        client.batch_execute(statement).unwrap();
        assert!(touched(&mut client), "{statement}");
    }
    forget(&mut client);
    client.batch_execute("CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.t (id int); CREATE TEMP TABLE a (id int); INSERT INTO s.a VALUES (1); DROP SCHEMA elsewhere CASCADE").unwrap();
    assert!(!touched(&mut client));
    for statement in
        ["ALTER TABLE s.a SET SCHEMA public", "ALTER TABLE public.a SET SCHEMA s", "ALTER SCHEMA s RENAME TO \"T t\""]
    {
        client.batch_execute("SELECT nl2sql_index('s')").unwrap();
        forget(&mut client);
        client
            .batch_execute(if statement.contains("public.a") {
                "ALTER TABLE s.a SET SCHEMA public"
            } else {
                "SELECT 1"
            })
            .unwrap();
        forget(&mut client);
        client.batch_execute(statement).unwrap();
        assert!(touched(&mut client), "{statement}");
        client
            .batch_execute(if statement.ends_with("public") { "ALTER TABLE public.a SET SCHEMA s" } else { "SELECT 1" })
            .unwrap();
    }
    client.batch_execute("ALTER SCHEMA \"T t\" RENAME TO s").unwrap();
    forget(&mut client);
    // A rollback removes the note; a build keeps the last one.
    client.batch_execute("ALTER TABLE s.a ADD e int").unwrap();
    client.batch_execute("BEGIN; DROP TABLE s.a; ROLLBACK").unwrap();
    assert_eq!(
        rows(&mut client, "SELECT table_schema, command FROM nl2sql.ddl"),
        json!([{"table_schema": "s", "command": "ALTER TABLE"}])
    );
    client.batch_execute("CREATE VIEW s.w AS SELECT 1 AS a").unwrap();
    client.batch_execute("SELECT nl2sql_index('s')").unwrap();
    assert_eq!(rows(&mut client, "SELECT command FROM nl2sql.ddl"), json!([{"command": "CREATE VIEW"}]));
    assert_eq!(text(&mut client, "nl2sql_unwatch_ddl()").as_deref(), Some("true"));
    assert_eq!(text(&mut client, "nl2sql_unwatch_ddl()").as_deref(), Some("false"));
    assert_eq!(text(&mut client, "nl2sql_unregister('s')").as_deref(), Some("true"));
    assert_eq!(rows(&mut client, "SELECT * FROM nl2sql.ddl"), json!([]), "nothing is left");
    client.batch_execute("SELECT nl2sql_index('s')").unwrap();
    forget(&mut client);
    client.batch_execute("CREATE TABLE s.z (id int)").unwrap();
    assert!(!touched(&mut client));
}

#[test]
fn it_never_makes_a_statement_fail_or_wait() {
    let database = Database::blank();
    let role = database.role("author");
    let (mut client, mut other) = (database.connect(), database.connect());
    client.batch_execute(&format!("CREATE SCHEMA s AUTHORIZATION {role}; CREATE TABLE s.a (id int); SELECT nl2sql_index('s'); SELECT nl2sql_watch_ddl()")).unwrap();
    // An ordinary role, beside an open transaction that has touched the schema, and one that holds the lease.
    client.batch_execute("BEGIN; CREATE TABLE s.b (id int)").unwrap();
    other.batch_execute("BEGIN; SELECT nl2sql_index('s')").unwrap();
    let mut author = database.connect_as(&role);
    author.batch_execute("SET statement_timeout = '20s'; CREATE TABLE s.c (id int); DROP TABLE s.c").unwrap();
    client.batch_execute("COMMIT").unwrap();
    other.batch_execute("ROLLBACK").unwrap();
    // Two transactions that cannot see each other's notes.
    client.batch_execute("ANALYZE nl2sql.ddl").unwrap();
    client.batch_execute("BEGIN ISOLATION LEVEL SERIALIZABLE; CREATE TABLE s.e (id int)").unwrap();
    other.batch_execute("BEGIN ISOLATION LEVEL SERIALIZABLE; CREATE TABLE s.f (id int)").unwrap();
    client.batch_execute("COMMIT").unwrap();
    other.batch_execute("COMMIT").unwrap();
    // An error while the note is written.
    client.batch_execute("CREATE FUNCTION public.no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$; CREATE TRIGGER no BEFORE INSERT ON nl2sql.ddl EXECUTE FUNCTION public.no()").unwrap();
    author.batch_execute("CREATE TABLE s.d (id int); DROP TABLE s.d; CREATE TEMP TABLE t (id int)").unwrap();
    assert_eq!(sqlstate(&mut author, "SELECT nl2sql_watch_ddl()"), "42501");
    assert_eq!(sqlstate(&mut author, "SELECT nl2sql_unwatch_ddl()"), "42501");
    assert_eq!(rows(&mut author, "SELECT * FROM nl2sql.ddl"), json!([]));
}
