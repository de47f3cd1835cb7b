//! What a table's author wrote runs, if at all, with the rights of the author.

use nl2sql_tests::{Database, rows, sqlstate, text};
use postgres::Client;
use serde_json::{Value, json};

/// A schema of an unprivileged role, made by it.
fn authored(statements: &str) -> (Client, String) {
    let database = Database::blank();
    let role = database.role("author");
    let mut client = database.connect();
    client.batch_execute(&format!("CREATE SCHEMA s AUTHORIZATION {role}")).unwrap();
    let statements = statements.replace("{role}", &role);
    database.connect_as(&role).batch_execute(&format!("SET search_path = s; {statements}")).unwrap();
    (client, role)
}

fn issues(client: &mut Client) -> Vec<(String, Option<String>, String)> {
    let found = rows(client, "SELECT jsonb_array_elements(issues) AS issue FROM nl2sql_index('s')");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let issue = |row: &Value| {
        (text(&row["issue"]["table"]).unwrap(), text(&row["issue"]["column"]), text(&row["issue"]["message"]).unwrap())
    };
    found.as_array().unwrap().iter().map(issue).collect()
}

const EVIL: &str = "
    CREATE TABLE note (id int, word text); INSERT INTO note SELECT i, 'secret' || i FROM generate_series(1, 3) i;
    CREATE FUNCTION rise(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'ALTER ROLE {role} SUPERUSER'; RETURN 1; END $$;
    CREATE FUNCTION rise_if(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
        IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN EXECUTE 'ALTER ROLE {role} SUPERUSER'; END IF; RETURN $1; END $$;
    CREATE FUNCTION become(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'RESET ROLE'; EXECUTE 'SET SESSION AUTHORIZATION DEFAULT'; RETURN s.rise(1); END $$;
    CREATE FUNCTION own(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO s.note VALUES (99, 'written'); RETURN 1; END $$;
    CREATE FUNCTION later() RETURNS boolean LANGUAGE sql AS $$ SELECT set_config('search_path', 's', false) IS NOT NULL AND set_config('nl2sql.max_versions', '1', false) IS NOT NULL $$;
    CREATE FUNCTION tell(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING MESSAGE = $1, DETAIL = $1, HINT = $1; END $$;
    CREATE VIEW altering AS SELECT rise(id) AS a FROM note;
    CREATE VIEW becoming AS SELECT become(id) AS a FROM note;
    CREATE VIEW writing AS SELECT own(id) AS a FROM note;
    CREATE VIEW sets AS SELECT later() AS a, id FROM note;
    CREATE VIEW writable AS SELECT set_config('transaction_read_only', 'off', false) AS a FROM note;
    CREATE VIEW telling AS SELECT tell(word) AS a FROM note;
    CREATE VIEW casting AS SELECT word::date AS a, id FROM note;
    CREATE VIEW notifying AS SELECT pg_notify('leak', word) IS NULL AS a FROM note;
    CREATE DOMAIN checked AS int CHECK (rise_if(value) > 0); CREATE VIEW casting_up AS SELECT id::checked AS a, id AS b FROM note;
    CREATE FUNCTION pretend(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE EXCEPTION 'secret word' USING ERRCODE = CASE WHEN $1 = 1 THEN '57014' ELSE '40001' END; END $$;
    CREATE DOMAIN cancelling AS int CHECK (pretend(1)); CREATE DOMAIN serializing AS int CHECK (pretend(2));
    CREATE VIEW cancels AS SELECT id::cancelling AS a FROM note; CREATE VIEW serializes AS SELECT id::serializing AS a FROM note;
    CREATE FUNCTION linger(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN FOR i IN 1..15 LOOP BEGIN PERFORM pg_sleep(0.1); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; RETURN true; END $$;
    CREATE DOMAIN lingering AS int CHECK (linger(value)); CREATE VIEW lingers AS SELECT 1::lingering AS a, id FROM note WHERE id = 1;
    CREATE TABLE generated (id checked, g int GENERATED ALWAYS AS (rise_if(id)) STORED); INSERT INTO generated VALUES (1), (2);
    CREATE INDEX ON generated (rise_if(id));
    CREATE TABLE policed (id int); INSERT INTO policed VALUES (1); ALTER TABLE policed ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
    CREATE POLICY p ON policed USING (rise(id) = 1);
    CREATE TABLE virtual (id int CHECK (rise_if(id) > 0)); INSERT INTO virtual VALUES (1);
    CREATE TYPE pair AS (a int, b int);
    CREATE FUNCTION compare(pair, pair) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM s.rise_if(1); RETURN ($1).a - ($2).a; END $$;
    CREATE FUNCTION hash(pair) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN s.rise_if(1); END $$;
    CREATE FUNCTION hash(pair, bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN s.rise_if(1); END $$;
    CREATE FUNCTION equal(pair, pair) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN s.rise_if(1) > 0; END $$;
    CREATE OPERATOR === (LEFTARG = pair, RIGHTARG = pair, FUNCTION = equal);
    CREATE TABLE paired (p pair); INSERT INTO paired VALUES ((1, 2)), ((2, 3))";

#[test]
fn nothing_happens_but_issues() {
    let (mut client, role) = authored(EVIL);
    // Only a superuser can make an operator class; it may belong to anyone.
    client
        .batch_execute(&format!(
            "CREATE OPERATOR CLASS s.pair_hash DEFAULT FOR TYPE s.pair USING hash AS OPERATOR 1 s.===, FUNCTION 1 s.hash(s.pair), FUNCTION 2 s.hash(s.pair, bigint);
             ALTER OPERATOR CLASS s.pair_hash USING hash OWNER TO {role}; CREATE TABLE s.mine (p s.pair, n int); INSERT INTO s.mine VALUES ((1, 2), 7);
             CREATE SCHEMA above; CREATE VIEW above.over AS SELECT * FROM s.casting_up; LISTEN leak; SET nl2sql.profile_timeout = '700ms'"
        ))
        .unwrap();
    client.batch_execute("SELECT nl2sql_index('s')").unwrap(); // loads the library and its settings
    let settings =
        "SELECT string_agg(name || setting, ',' ORDER BY name) FROM pg_settings WHERE name <> 'transaction_isolation'";
    let before = text(&mut client, settings);
    let mut found: Vec<_> = issues(&mut client).into_iter().map(|(table, column, _)| (table, column)).collect();
    found.sort();
    let table = |name: &str| (format!("s.{name}"), None);
    assert_eq!(
        found,
        [
            table("altering"),
            table("becoming"),
            ("s.cancels".to_owned(), Some("a".to_owned())),
            ("s.casting".to_owned(), Some("a".to_owned())),
            table("lingers"),
            table("policed"),
            ("s.serializes".to_owned(), Some("a".to_owned())),
            table("sets"),
            table("telling"),
            table("writable"),
            table("writing"),
        ]
    );
    // What a superuser made over it is not read as the superuser.
    client.batch_execute("SELECT nl2sql_index('above')").unwrap();
    assert_eq!(
        text(&mut client, &format!("SELECT rolsuper FROM pg_roles WHERE rolname = '{role}'")).as_deref(),
        Some("false")
    );
    assert_eq!(text(&mut client, "SELECT count(*) FROM s.note").as_deref(), Some("3"));
    assert_eq!(text(&mut client, settings), before, "no setting outlives the reading");
    assert_eq!(text(&mut client, "current_user").as_deref(), Some("postgres"));
    assert!(client.notifications().is_empty());
    // The other columns and tables are read.
    let read = rows(
        &mut client,
        "SELECT t ->> 'name' AS name, t -> 'row_count' AS rows FROM jsonb_array_elements(nl2sql_snapshot('s') -> 'tables') t WHERE t ->> 'name' IN ('casting', 'casting_up', 'generated', 'mine', 'paired', 'virtual') ORDER BY 1",
    );
    assert_eq!(
        read,
        json!([{"name": "casting", "rows": 3}, {"name": "casting_up", "rows": 3}, {"name": "generated", "rows": 2}, {"name": "mine", "rows": 1}, {"name": "paired", "rows": 2}, {"name": "virtual", "rows": 1}])
    );
}

#[test]
fn issues_and_logs_quote_no_data() {
    let (mut client, _) = authored(EVIL);
    for (_, _, message) in issues(&mut client) {
        assert!(!message.contains("secret"), "{message}");
    }
    let every = rows(&mut client, "SELECT status, error FROM nl2sql_index()");
    assert_eq!(every, json!([{"status": "unchanged", "error": null}]), "nobody's view ends it");
    let stored = text(&mut client, "SELECT issues FROM nl2sql.build ORDER BY id DESC LIMIT 1").unwrap();
    assert!(stored.contains("22007") && !stored.contains("secret"), "{stored}");
    let role = text(&mut client, "SELECT rolname FROM pg_roles WHERE rolname LIKE 'author%' LIMIT 1").unwrap();
    client.batch_execute(&format!("SET ROLE {role}")).unwrap();
    assert_eq!(sqlstate(&mut client, "SELECT issues FROM nl2sql.build"), "42501");
}

#[test]
fn what_cannot_be_read_is_indexed_without_it() {
    let (mut client, role) = authored(
        "CREATE TABLE mine (id int); CREATE TABLE lost (a int, b text); INSERT INTO lost VALUES (1, 'x'); CREATE VIEW over_lost AS SELECT a, b FROM lost;
         CREATE MATERIALIZED VIEW unfilled AS SELECT 1 AS a WITH NO DATA; CREATE VIEW slow AS SELECT pg_sleep(60) IS NULL AS a; CREATE VIEW divided AS SELECT 1 / (a - 1) AS a, a AS b FROM lost",
    );
    // A server that cannot be reached; where the wrapper is not installed, one that has no wrapper to reach it.
    let installed =
        text(&mut client, "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'").unwrap() == "1";
    let down = if installed {
        "CREATE EXTENSION postgres_fdw; CREATE SERVER down FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '/nonexistent', dbname 'x')"
    } else {
        "CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER down FOREIGN DATA WRAPPER nothing"
    };
    client
        .batch_execute(&format!(
            "ALTER TABLE s.lost OWNER TO postgres;
             {down}; CREATE USER MAPPING FOR {role} SERVER down; GRANT USAGE ON FOREIGN SERVER down TO {role};
             CREATE FOREIGN TABLE s.far (id int) SERVER down; ALTER FOREIGN TABLE s.far OWNER TO {role}; SET nl2sql.profile_timeout = '300ms'"
        ))
        .unwrap();
    let found = issues(&mut client);
    let message = |table: &str| {
        found.iter().find(|issue| issue.0 == format!("s.{table}")).map(|issue| issue.2.as_str()).unwrap_or("")
    };
    assert!(message("over_lost").contains("42501"), "{found:?}");
    assert!(message("unfilled").contains("55000"), "{found:?}");
    assert!(message("slow").contains("nl2sql.profile_timeout"), "{found:?}");
    assert!(message("far").contains("SQLSTATE"), "{found:?}");
    assert_eq!((message("mine"), message("lost")), ("", ""));
    let status = rows(&mut client, "SELECT status, entries > 10 AS whole FROM nl2sql_index('s')");
    assert_eq!(status, json!([{"status": "unchanged", "whole": true}]));
    assert_eq!(text(&mut client, "current_setting('statement_timeout')").as_deref(), Some("0"));
}

/// The limit on a table's reading leaves the limit on the statement as it was.
#[test]
fn the_statements_own_limit_still_ends_it() {
    let (mut client, _) = authored(
        "CREATE VIEW slow AS SELECT pg_sleep(60) IS NULL AS a; CREATE VIEW slow2 AS SELECT pg_sleep(60) IS NULL AS a; CREATE TABLE t (id int)",
    );
    client.batch_execute("SET statement_timeout = '700ms'; SET nl2sql.profile_timeout = '400ms'").unwrap();
    assert_eq!(sqlstate(&mut client, "SELECT * FROM nl2sql_index('s')"), "57014");
    client.batch_execute("SET nl2sql.profile_timeout = 0").unwrap();
    assert_eq!(sqlstate(&mut client, "SELECT * FROM nl2sql_index('s')"), "57014");
    client
        .batch_execute("SET statement_timeout = '60s'; SET nl2sql.profile_timeout = '100ms'; SELECT nl2sql_index('s')")
        .unwrap();
    assert_eq!(text(&mut client, "SELECT status FROM nl2sql_health('s')").as_deref(), Some("ok"));
}

/// An error that goes on leaves the session as any error does.
#[test]
fn a_cancelled_call_leaves_no_transaction_behind() {
    let (mut client, _) = authored("CREATE VIEW slow AS SELECT pg_sleep(60) IS NULL AS a");
    client.batch_execute("SELECT nl2sql_register('s'); SET statement_timeout = '300ms'").unwrap();
    for call in ["SELECT nl2sql_index('s')", "SELECT count(*) FROM nl2sql_index()"] {
        assert_eq!(sqlstate(&mut client, call), "57014");
        assert_eq!(text(&mut client, "1").as_deref(), Some("1"), "after {call}");
    }
}

/// Between reading the structure and reading the rows, a table may become another one.
#[test]
fn a_table_that_changes_hands_is_not_read() {
    let (mut client, role) = authored("CREATE VIEW a_slow AS SELECT pg_sleep(1.5) IS NULL AS a");
    client.batch_execute("CREATE TABLE s.later (id int); INSERT INTO s.later VALUES (1); GRANT ALL ON SCHEMA s TO PUBLIC; SELECT nl2sql_register('s')").unwrap();
    let name = text(&mut client, "current_database()").unwrap();
    let host = text(&mut client, "current_setting('unix_socket_directories')").unwrap();
    let author = std::thread::spawn(move || {
        let mut author =
            postgres::Config::new().host_path(host).user(&role).dbname(&name).connect(postgres::NoTls).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(600));
        author
            .batch_execute(
                "BEGIN; DROP TABLE s.later; CREATE VIEW s.later AS SELECT pg_read_file('/etc/hostname') AS id; COMMIT",
            )
            .unwrap();
    });
    let found = issues(&mut client);
    author.join().unwrap();
    assert!(found.iter().any(|issue| issue.0 == "s.later" && issue.2.contains("changed")), "{found:?}");
}

#[test]
fn a_types_own_functions_cannot_close_the_cursor() {
    let database = Database::blank();
    let role = database.role("author");
    let mut client = database.connect();
    client
        .batch_execute(&format!(
            "CREATE SCHEMA s; GRANT ALL ON SCHEMA s TO {role}; CREATE TYPE s.mt;
             CREATE FUNCTION s.mtin(cstring) RETURNS s.mt LANGUAGE internal IMMUTABLE STRICT AS 'int4in'; CREATE FUNCTION s.mtout(s.mt) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
             CREATE TYPE s.mt (INPUT = s.mtin, OUTPUT = s.mtout, LIKE = int4, CATEGORY = 'N');
             CREATE FUNCTION s.h(s.mt) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 1; END';
             CREATE FUNCTION s.hx(s.mt, int8) RETURNS int8 LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 1; END';
             CREATE FUNCTION s.eq(s.mt, s.mt) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END';
             CREATE OPERATOR s.= (LEFTARG = s.mt, RIGHTARG = s.mt, FUNCTION = s.eq, HASHES);
             CREATE OPERATOR CLASS s.hops DEFAULT FOR TYPE s.mt USING hash AS OPERATOR 1 s.=, FUNCTION 1 s.h(s.mt), FUNCTION 2 s.hx(s.mt, int8);
             ALTER FUNCTION s.hx(s.mt, int8) OWNER TO {role}; SET ROLE {role};
             CREATE TABLE s.t (a s.mt, b int); INSERT INTO s.t SELECT g::text::s.mt, g FROM generate_series(1, 1200) g;
             CREATE OR REPLACE FUNCTION s.hx(s.mt, int8) RETURNS int8 LANGUAGE plpgsql VOLATILE AS $$ DECLARE c refcursor; BEGIN
                 c := (SELECT name FROM pg_cursors WHERE statement LIKE 'SELECT nl2sql.%' LIMIT 1); IF c IS NOT NULL THEN CLOSE c; END IF; RETURN 1; END $$;
             RESET ROLE"
        ))
        .unwrap();
    let found = issues(&mut client);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].1.as_deref(), Some("a"), "the other column is read: {found:?}");
}
