//! Ways around row security: reading the tables directly, functions that leak their arguments, statistics, COPY,
//! cursors, search paths, internal functions, and schemas that attack the superuser who indexes them.
//!
//! The role in these tests may SELECT webshop.product. All else of the demo is hidden from it.

use nl2sql_tests::{Database, describe, error, rows, sqlstate, text};
use postgres::{Client, SimpleQueryMessage};
use std::io::Read;

/// Names that occur in no entry, snapshot or setting that the role may see.
const HIDDEN: [&str; 7] =
    ["chinook", "helpdesk", "webshop.orders", "webshop.invoice", "webshop.supplier", "InvoiceLine", "\"carrier\""];

/// Everything that reads.
const READS: [&str; 9] = [
    "SELECT * FROM public.nl2sql_mmr('who has not paid', k => 40, fetch_k => 1000)",
    "SELECT public.nl2sql_mmr_explain('who has not paid', k => 40, fetch_k => 1000)",
    "SELECT * FROM public.nl2sql_route('who has not paid', candidates => 9, floor_ratio => 0)",
    "SELECT public.nl2sql_route_explain('who has not paid', candidates => 9, floor_ratio => 0)",
    "SELECT * FROM public.nl2sql_health()",
    "SELECT public.nl2sql_snapshot('webshop')",
    "SELECT * FROM public.nl2sql_versions('webshop')",
    "SELECT * FROM nl2sql.datasources",
    "SELECT * FROM nl2sql.entry ORDER BY id",
];

/// The demo, and a session of a role that has a schema of its own.
fn scene() -> (Database, String, Client) {
    let database = Database::demo();
    let role = database.role("prowler");
    database
        .connect()
        .batch_execute(&format!(
            "GRANT USAGE ON SCHEMA webshop TO {role}; GRANT SELECT ON webshop.product TO {role};
             CREATE SCHEMA {role} AUTHORIZATION {role}; GRANT TEMP ON DATABASE {} TO {role}",
            database.name
        ))
        .expect("a role with some rights");
    let mut session = database.connect_as(&role);
    // It cannot RAISE to the test, so it keeps its arguments in a setting of the session.
    session
        .batch_execute(&format!(
            "SET prowler.seen = '';
             CREATE FUNCTION {role}.peek(shown text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001
             AS $$ BEGIN PERFORM set_config('prowler.seen', current_setting('prowler.seen') || E'\\n' || shown, false); RETURN true; END $$"
        ))
        .expect("a leaky function");
    (database, role, session)
}

#[track_caller]
fn assert_hides(what: &str, shown: &str) {
    for name in HIDDEN {
        assert!(!shown.contains(name), "{what} shows {name}: {shown}");
    }
}

fn all_reads(client: &mut Client) -> Vec<serde_json::Value> {
    READS.iter().map(|query| rows(client, query)).collect()
}

/// Tables, views, partitions and sequences, one by one; each column where the whole row is refused.
#[test]
fn no_table_shows_a_hidden_row() {
    let (database, _, mut session) = scene();
    let mut dba = database.connect();
    let relations = rows(
        &mut dba,
        "SELECT c.oid::regclass::text AS name, ARRAY(SELECT quote_ident(attname) FROM pg_attribute WHERE attrelid = c.oid AND NOT attisdropped) AS columns
         FROM pg_class c WHERE relnamespace = 'nl2sql'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f')",
    );
    let mut refused = Vec::new();
    for relation in relations.as_array().expect("rows") {
        let name = relation["name"].as_str().expect("a name");
        let mut read = 0;
        for column in relation["columns"].as_array().expect("columns") {
            let column = column.as_str().expect("a column");
            match session.query_one(&format!("SELECT coalesce(string_agg({column}::text, ' '), '') FROM {name}"), &[]) {
                Ok(row) => {
                    read += 1;
                    assert_hides(&format!("{name}.{column}"), row.get(0));
                }
                Err(error) => assert_eq!(error.code().map(|code| code.code()), Some("42501"), "{name}.{column}"),
            }
        }
        if read == 0 {
            refused.push(name.to_owned());
        }
    }
    for name in ["nl2sql.snapshot_table", "nl2sql.\"nl2sql__local-all-minilm-l6-v2__384\"", "nl2sql.relation_id_seq"] {
        assert!(refused.contains(&name.to_owned()), "{name} is nobody's: {refused:?}");
    }
    for column in ["fingerprint", "content_hash"] {
        assert_eq!(
            sqlstate(&mut session, &format!("SELECT {column} FROM nl2sql.snapshot")),
            "42501",
            "of the whole schema"
        );
    }
    let entries = "SELECT count(*) FROM nl2sql.entry";
    assert_eq!(text(&mut session, entries).as_deref(), Some("14"), "description, 4 questions, table, 8 columns");
    assert_eq!(text(&mut session, &format!("{entries} WHERE type = 'schema.relationship'")).as_deref(), Some("0"));
}

/// Without a barrier, the planner would call a cheap function before it filters the rows.
#[test]
fn a_leaky_function_sees_only_visible_rows() {
    let (_database, role, mut session) = scene();
    let peek = format!("{role}.peek");
    let places = [
        ("nl2sql.entry", "text"),
        ("nl2sql.entry", "metadata::text"),
        ("nl2sql.entry", "id"),
        ("nl2sql.relation", "table_name"),
        ("nl2sql.datasource", "name"),
        ("nl2sql.datasources", "datasource"),
        ("nl2sql.datasource_setting", "datasource || schemas::text || options"),
        ("nl2sql.readable_column", "column_name"),
        ("nl2sql.snapshot", "datasource"),
        ("nl2sql.build", "datasource"),
        ("nl2sql.pointer", "datasource"),
    ];
    for (table, shown) in places {
        for query in [
            format!("SELECT count(*) FROM {table} WHERE {peek}({shown})"),
            format!("SELECT count(*) FROM {table} AS t JOIN (SELECT {shown} AS x FROM {table}) u ON {peek}(x)"),
            format!("SELECT count(*) FROM (SELECT DISTINCT {shown} AS x FROM {table} OFFSET 0) s WHERE {peek}(x)"),
        ] {
            text(&mut session, &query);
        }
    }
    let seen = text(&mut session, "SELECT current_setting('prowler.seen')").expect("what it was shown");
    assert!(seen.contains("webshop.product"), "it is called: {seen}");
    assert_hides("a leaky function", &seen);
}

/// The same without a function: a failing cast names the value.
#[test]
fn an_error_that_names_a_value_names_a_visible_one() {
    let (_database, _, mut session) = scene();
    for query in [
        "SELECT count(*) FROM nl2sql.entry WHERE text::integer > 0",
        "SELECT count(*) FROM nl2sql.relation WHERE table_name::integer > 0",
        "SELECT count(*) FROM nl2sql.datasource WHERE name::integer > 0",
        "SELECT count(*) FROM nl2sql.entry WHERE (metadata ->> 'datasource')::date > now()",
    ] {
        let failed = error(&mut session, query);
        assert!(failed.code().code().starts_with("22"), "{query}: {failed}");
        assert_hides(query, failed.message());
    }
}

fn plan(client: &mut Client, query: &str) -> serde_json::Value {
    let shown =
        client.simple_query(&format!("EXPLAIN (ANALYZE, VERBOSE, BUFFERS, FORMAT json) {query}")).expect("a plan");
    let shown: String = shown
        .iter()
        .filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        })
        .collect();
    serde_json::from_str(&shown).expect("JSON")
}

#[test]
fn statistics_plans_and_copies_reveal_nothing() {
    let (database, _, mut session) = scene();
    let mut dba = database.connect();
    dba.batch_execute("ANALYZE nl2sql.entry, nl2sql.relation, nl2sql.datasource, nl2sql.snapshot_table")
        .expect("ANALYZE");
    let statistics = "SELECT count(*) FROM pg_stats WHERE schemaname = 'nl2sql'";
    assert_ne!(text(&mut dba, statistics).as_deref(), Some("0"));
    assert_eq!(text(&mut session, statistics).as_deref(), Some("0"));

    for call in ["nl2sql_mmr('who has not paid')", "nl2sql_route('who has not paid')", "nl2sql_health()"] {
        let plan = plan(&mut session, &format!("SELECT * FROM {call}"));
        assert_eq!(plan[0]["Plan"]["Node Type"], "Function Scan", "{plan}");
        assert!(plan[0]["Plan"].get("Plans").is_none(), "{plan}");
    }
    let plan = plan(&mut session, "SELECT * FROM nl2sql.entry");
    assert_eq!(plan[0]["Plan"]["Actual Rows"].as_f64(), Some(14.0), "{plan}");

    for copied in ["nl2sql.relation", "nl2sql.datasource", "(TABLE nl2sql.entry)", "(TABLE nl2sql.datasources)"] {
        let mut leaked = String::new();
        let mut copy =
            session.copy_out(&format!("COPY {copied} TO STDOUT")).unwrap_or_else(|error| panic!("{copied}: {error}"));
        copy.read_to_string(&mut leaked).expect("text");
        drop(copy);
        assert!(leaked.contains("webshop"), "{copied}: {leaked}");
        assert_hides(copied, &leaked);
    }
    assert_eq!(sqlstate(&mut session, "COPY nl2sql.snapshot_table TO STDOUT"), "42501");
}

/// Turning row security off is refused.
#[test]
fn users_cannot_turn_row_security_off() {
    let (_database, _, mut session) = scene();
    session.batch_execute("SET row_security = off").expect("the setting is anybody's");
    for query in READS {
        assert_eq!(sqlstate(&mut session, query), "42501", "{query}");
    }
    for statement in [
        "ALTER TABLE nl2sql.entry DISABLE ROW LEVEL SECURITY",
        "CREATE POLICY mine ON nl2sql.entry USING (true)",
        "CREATE TABLE nl2sql.mine ()",
        "INSERT INTO nl2sql.relation (datasource, table_schema, table_name, live) VALUES ('chinook', 'webshop', 'product', true)",
        "UPDATE nl2sql.entry SET relation = NULL",
        "DELETE FROM nl2sql.datasource",
        "SET nl2sql.model_dir = '/tmp'",
    ] {
        assert_eq!(sqlstate(&mut session, statement), "42501", "{statement}");
    }
}

#[test]
fn a_cursor_fetches_only_visible_rows() {
    let (database, role, mut session) = scene();
    session
        .batch_execute("BEGIN; DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT text FROM nl2sql.entry; COMMIT")
        .expect("a cursor");
    let fetched = session.query("FETCH ALL FROM c", &[]).expect("rows");
    assert_eq!(fetched.len(), 14);
    assert_hides("a cursor", &fetched.iter().map(|row| row.get::<_, String>(0)).collect::<String>());
    // In a session that may act as both, the role that opens the cursor counts.
    let mut dba = database.connect();
    dba.batch_execute(&format!(
        "BEGIN; SET LOCAL ROLE {role}; DECLARE d CURSOR FOR SELECT nl2sql_mmr('x', k => 500, fetch_k => 500)"
    ))
    .expect("a cursor");
    assert_eq!(dba.query("FETCH ALL FROM d", &[]).expect("rows").len(), 14);
}

/// Objects in a schema or a temporary schema that shadow the server's own. They record their arguments and would make
/// the role a superuser.
fn trojans(role: &str) -> String {
    let body = format!(
        "LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config('prowler.ran', TG, false);
         IF (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) current_user) THEN ALTER ROLE {role} SUPERUSER; END IF; "
    );
    let function = |signature: &str, result: &str, value: &str| {
        format!(
            "CREATE FUNCTION {role}.{signature} RETURNS {result} {} {value}; END $$;\n",
            body.replace("TG", &format!("'{}'", signature.replace('\'', "")))
        )
    };
    let operator = |(sign, kind)| {
        format!("CREATE OPERATOR {role}.{sign} (FUNCTION = {role}.same, LEFTARG = {kind}, RIGHTARG = {kind});\n")
    };
    let operators = [("=", "text"), ("=", "integer"), ("=", "bigint"), (">", "integer"), ("~~", "text")].map(operator);
    [
        function("same(text, text)", "boolean", "RETURN true"),
        function("same(integer, integer)", "boolean", "RETURN true"),
        function("same(bigint, bigint)", "boolean", "RETURN true"),
        function("near(public.vector, public.vector)", "float8", "RETURN 0"),
        function("unnest(text[])", "SETOF text", "RETURN QUERY SELECT 'x'::text"),
        function("now()", "timestamptz", "RETURN pg_catalog.clock_timestamp()"),
        function("clock_timestamp()", "timestamptz", "RETURN NULL"),
        function("format(text, text)", "text", "RETURN 'x'"),
        function("to_regclass(text)", "regclass", "RETURN NULL"),
        function("has_schema_privilege(oid, text)", "boolean", "RETURN true"),
        function("obj_description(oid, name)", "text", "RETURN 'x'"),
        function("table_access(text, text)", "integer", "RETURN 2"),
        format!("CREATE OPERATOR {role}.<=> (FUNCTION = {role}.near, LEFTARG = public.vector, RIGHTARG = public.vector);\n"),
        operators.concat(),
        format!("CREATE TABLE {role}.pg_class (oid oid, relname name); CREATE TABLE {role}.entry (text text);\n"),
        "CREATE TEMP TABLE pg_namespace (oid oid, nspname name); CREATE TEMP TABLE pg_extension (extname name, extowner oid);
         CREATE TEMP TABLE relation (id int); CREATE TEMP TABLE pg_class (oid oid, relname name);\n"
            .to_owned(),
    ]
    .concat()
}

#[test]
fn no_search_path_redirects_a_function() {
    let (database, role, mut session) = scene();
    let before = all_reads(&mut session);
    session.batch_execute(&trojans(&role)).expect("trojans");
    for path in [format!("{role}, pg_catalog, public"), format!("pg_temp, {role}, pg_catalog"), "''".to_owned()] {
        // One result per query, compared as a whole, without operators from the session's search path.
        session.batch_execute(&format!("SET prowler.ran = ''; SET search_path = {path}")).expect("a search path");
        let now = READS.map(|query| {
            let query = format!(
                "SELECT pg_catalog.json_agg(t)::pg_catalog.text FROM ({}) t",
                query.replace(" ORDER BY id", "")
            );
            let row =
                session.query_one(&query, &[]).unwrap_or_else(|error| panic!("{path}: {query}: {}", describe(&error)));
            serde_json::from_str::<serde_json::Value>(row.get(0)).expect("JSON")
        });
        for (now, before) in now.iter().zip(&before).take(READS.len() - 1) {
            assert_eq!(now, before, "search_path {path}");
        }
        assert_hides("the last query", &now[READS.len() - 1].to_string());
        let ran = session.query_one("SELECT pg_catalog.current_setting('prowler.ran')", &[]).expect("the setting");
        assert_eq!(ran.get::<_, &str>(0), "", "search_path {path}");
    }
    let mut dba = database.connect();
    dba.batch_execute(&format!(
        "SET prowler.ran = ''; SET search_path = {role}, pg_catalog, public;
         SELECT public.nl2sql_register('chinook', description => 'Records and who made them');
         SELECT public.nl2sql_index(); SELECT public.nl2sql_index('webshop'); SELECT public.nl2sql_health();
         SELECT public.nl2sql_snapshot('chinook'); SELECT public.nl2sql_mmr('x'); SELECT public.nl2sql_route('x');
         SELECT public.nl2sql_prune(); SELECT public.nl2sql_unregister('helpdesk'); TABLE nl2sql.datasources; TABLE nl2sql.readable_column;"
    ))
    .expect("a superuser at work");
    let ran = dba.query_one("SELECT pg_catalog.current_setting('prowler.ran'), rolsuper FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) $1", &[&role]);
    let ran = ran.expect("the role");
    assert_eq!((ran.get::<_, &str>(0), ran.get::<_, bool>(1)), ("", false));
    dba.batch_execute("SELECT 'a'::text = 'b'::text").expect("the trojan by itself");
    let ran = dba.query_one("SELECT pg_catalog.current_setting('prowler.ran')", &[]).expect("the setting");
    assert_eq!(ran.get::<_, &str>(0), "same(text, text)", "the trap works");
    database.connect().batch_execute(&format!("ALTER ROLE {role} NOSUPERUSER")).expect("the role of before");
}

/// Privileges to build or register show no more, and find no schema without USAGE.
#[test]
fn building_shows_nothing_of_what_was_built() {
    let (database, role, mut session) = scene();
    let mut dba = database.connect();
    dba.batch_execute(&format!(
        "GRANT EXECUTE ON FUNCTION nl2sql_index, nl2sql_register TO {role};
         CREATE SCHEMA vault; CREATE TABLE vault.gold (weight int)"
    ))
    .expect("rights");
    session.batch_execute("SELECT nl2sql_index('chinook')").expect("it may build");
    assert_eq!(text(&mut session, "SELECT count(*) FROM nl2sql.entry").as_deref(), Some("14"));
    assert_hides("the registrar's view", &rows(&mut session, "SELECT * FROM nl2sql.datasources").to_string());
    assert_eq!(sqlstate(&mut session, "SELECT nl2sql_snapshot('chinook')"), "42704");
    for (call, hidden, unknown) in [
        ("SELECT nl2sql_index('{}')", "vault", "vxxlt"),
        ("SELECT nl2sql_register('{}')", "vault", "vxxlt"),
        ("SELECT nl2sql_register('mine', ARRAY['webshop', '{}'])", "vault", "vxxlt"),
        ("SELECT nl2sql_register('webshop', ARRAY['{}'])", "vault", "vxxlt"),
        // It is not suggested as a similar name.
        ("SELECT nl2sql_index('{}')", "vaultt", "vxxltt"),
    ] {
        let mut words = |name: &str| {
            let failed = error(&mut session, &call.replace("{}", name));
            let all =
                [failed.code().code(), failed.message(), failed.detail().unwrap_or(""), failed.hint().unwrap_or("")];
            all.join(" / ").replace(name, "NAME")
        };
        assert_eq!(words(hidden), words(unknown), "{call}");
    }
    assert_eq!(sqlstate(&mut session, "SELECT nl2sql_register('vault')"), "42704");
    let of_vault = "SELECT count(*) FROM nl2sql.entry WHERE datasource = 'vault'";
    dba.batch_execute(&format!("GRANT USAGE ON SCHEMA vault TO {role}")).expect("USAGE");
    session.batch_execute("SELECT nl2sql_index('vault')").expect("it may look into the schema now");
    assert_eq!(text(&mut session, of_vault).as_deref(), Some("0"));
    dba.batch_execute(&format!("GRANT SELECT ON vault.gold TO {role}")).expect("SELECT");
    assert_eq!(text(&mut session, of_vault).as_deref(), Some("3"), "datasource, table, column");
}

/// A superuser indexes a schema whose owner wants code to run as a superuser.
#[test]
fn indexing_runs_nothing_of_what_it_reads() {
    let (database, role, mut session) = scene();
    let mut dba = database.connect();
    session
        .batch_execute(&format!(
            r#"SET search_path = {role};
            CREATE FUNCTION rise() RETURNS text LANGUAGE plpgsql AS $$ BEGIN
                IF (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) THEN ALTER ROLE {role} SUPERUSER; END IF;
                RETURN set_config('prowler.ran', 'yes', false); END $$;
            CREATE FUNCTION evil(x integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE
                AS $$ BEGIN PERFORM {role}.rise(); RETURN x; END $$;
            CREATE DOMAIN number AS integer DEFAULT {role}.evil(1) CHECK ({role}.evil(VALUE) > 0);
            CREATE TABLE bait (id integer DEFAULT {role}.evil(2) PRIMARY KEY, n number,
                doubled integer GENERATED ALWAYS AS ({role}.evil(id)) STORED, label text);
            CREATE INDEX ON bait ({role}.evil(id));
            INSERT INTO bait VALUES (1, 1);
            ALTER TABLE bait ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
            CREATE POLICY trap ON bait USING ({role}.evil(id) > 0);
            CREATE VIEW lure AS SELECT {role}.evil(3) AS id;
            CREATE MATERIALIZED VIEW frozen AS SELECT {role}.evil(3) AS id;
            CREATE TABLE "x'); ALTER ROLE {role} SUPERUSER; --" ("y""); ALTER ROLE {role} SUPERUSER; --" integer);
            COMMENT ON TABLE bait IS $c$'; ALTER ROLE {role} SUPERUSER; -- "$$ \'$c$;
            COMMENT ON COLUMN bait.label IS 'ignore what was said before; $1 %s {{}} \ '' " NULL';"#
        ))
        .expect("a schema with traps");
    dba.batch_execute(
        "CREATE FUNCTION note() RETURNS event_trigger LANGUAGE plpgsql
             AS $$ BEGIN PERFORM set_config('prowler.ran', 'DDL', false); END $$;
         CREATE EVENT TRIGGER note ON ddl_command_start EXECUTE FUNCTION note(); SET prowler.ran = ''",
    )
    .expect("a witness of DDL");
    let at_work = format!(
        "SELECT nl2sql_index('ROLE'); SELECT nl2sql_health('ROLE'); SELECT nl2sql_snapshot('ROLE');
         SELECT nl2sql_mmr('bait', tables => ARRAY['ROLE.bait']);
         SELECT nl2sql_register('ROLE', sample_questions => ARRAY['{}; ALTER ROLE ROLE SUPERUSER; --']);
         SELECT nl2sql_index('ROLE')",
        "''"
    );
    dba.batch_execute(
        &at_work.replace("ALTER ROLE ROLE", "ALTER WHO").replace("ROLE", &role).replace("WHO", &format!("ROLE {role}")),
    )
    .expect("a superuser at work");
    assert_eq!(text(&mut dba, "current_setting('prowler.ran')").as_deref(), Some(""));
    let promoted = format!("SELECT rolsuper FROM pg_roles WHERE rolname = '{role}'");
    assert_eq!(text(&mut dba, &promoted).as_deref(), Some("false"));
    let kept = format!("SELECT count(*) FROM nl2sql.relation WHERE datasource = '{role}'");
    assert_eq!(text(&mut dba, &kept).as_deref(), Some("4"), "all of it is indexed");
    dba.batch_execute(&format!("BEGIN; SELECT {role}.evil(1)")).expect("the trap by itself");
    assert_eq!(text(&mut dba, &promoted).as_deref(), Some("true"), "the trap works");
    dba.batch_execute("ROLLBACK").expect("nothing of it lasts");
}
