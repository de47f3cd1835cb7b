//! What the server is asked about a statement, and that nobody's code runs for it.

use nl2sql_tests::{Database, describe, error, rows, sqlstate, text};
use postgres::Client;
use serde_json::{Value, json};

/// A datasource with types of its own; a domain whose CHECK raises whatever it is asked.
fn scene() -> (Database, Client) {
    let database = Database::blank();
    let mut client = database.connect();
    client
        .batch_execute(
            "CREATE SCHEMA shop;
             CREATE TYPE shop.mood AS ENUM ('ok', 'bad');
             CREATE FUNCTION shop.double(int) RETURNS int LANGUAGE sql AS 'SELECT 2 * $1';
             CREATE TABLE shop.item (id int PRIMARY KEY, name text, count int, since date, mood shop.mood, tags text[], data jsonb);
             CREATE FUNCTION public.ran(text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it ran'; END $$;
             CREATE DOMAIN public.evil AS text CHECK (public.ran(value));
             CREATE TYPE public.pair AS (one public.evil);
             CREATE TABLE shop.note (id int, labels public.evil[]);
             SELECT nl2sql_index('shop');",
        )
        .expect("a schema");
    (database, client)
}

fn write_down(sql: &str, params: &Value) -> String {
    let question = params.as_object().expect("params").keys().map(|name| format!(" {{{name}}}")).collect::<String>();
    format!("SELECT nl2sql_verified_query('shop', 'q', ARRAY['what{question}'], $sql${sql}$sql$, params => '{params}')")
}

/// An input function of an array or a row checks the domains in it, which is code of whoever made these.
#[test]
fn no_code_of_a_domain_runs() {
    let (database, mut client) = scene();
    for sql in [
        "SELECT '{x}'::public.evil[]",
        "SELECT '(x)'::public.pair",
        "SELECT CAST('{\"(x)\"}' AS public.pair[])",
        "SELECT public.pair '(x)'",
        "SELECT id FROM note WHERE labels @> '{a}'",
        "SELECT id FROM note WHERE labels = '{a}' OR 'x' = ANY (labels)",
        "SELECT id FROM note WHERE labels IN ('{a}', '{b}') UNION SELECT id FROM note WHERE '{c}' <> labels",
        "VALUES ('{x}'::public.evil[])",
        "SELECT rank('{a}'::public.evil[]) WITHIN GROUP (ORDER BY '{x}') FROM note",
        "SELECT mode() WITHIN GROUP (ORDER BY '{x}'::public.evil[]) FROM note",
        "SELECT rank(labels) WITHIN GROUP (ORDER BY '{x}') FROM note GROUP BY labels",
        "SELECT count(*) OVER (PARTITION BY '{x}'::public.evil[] ORDER BY '(x)'::public.pair) FROM note ORDER BY '{y}'::public.evil[]",
    ] {
        let planned = error(&mut client, &format!("EXPLAIN {}", sql.replace("note", "shop.note")));
        assert_eq!(planned.message(), "it ran", "{sql}");
        text(&mut client, &write_down(sql, &json!({})));
        assert_eq!(rows(&mut client, "SELECT * FROM nl2sql_curated_validate()"), json!([]), "{sql}");
        assert_eq!(
            rows(&mut client, "SELECT issues FROM nl2sql_index('shop', curated_only => true)"),
            json!([{"issues": []}]),
            "{sql}"
        );
    }
    // Nor does it where the statement comes from a document, or its writer has hardly a right.
    let role = database.role("writer");
    client
        .batch_execute(&format!(
            "GRANT USAGE ON SCHEMA shop TO {role}; GRANT SELECT ON shop.note TO {role};
             GRANT EXECUTE ON FUNCTION nl2sql_verified_query(text, text, text[], text, text, jsonb), nl2sql_curated_import(text, boolean) TO {role}"
        ))
        .expect("rights");
    let mut writer = database.connect_as(&role);
    text(&mut writer, &write_down("SELECT id FROM note WHERE labels @> '{b}'", &json!({})));
    text(&mut writer, "SELECT count(*) FROM nl2sql_curated_import(nl2sql_curated_export())");
    text(&mut client, "SELECT count(*) FROM nl2sql_index('shop')");
}

#[test]
fn what_a_literal_says_is_checked() {
    let (_database, mut client) = scene();
    for (sql, message) in [
        ("SELECT id FROM item WHERE since > 'soon'", "invalid input syntax for type date: \"soon\""),
        ("SELECT id FROM item WHERE count = '1x'", "invalid input syntax for type integer: \"1x\""),
        ("SELECT id FROM item WHERE mood = 'nice'", "invalid input value for enum shop.mood: \"nice\""),
        ("SELECT id FROM item ORDER BY 'x'", "non-integer constant in ORDER BY"),
        ("SELECT count(*) FROM item GROUP BY 'x'", "non-integer constant in GROUP BY"),
        ("SELECT count(*) FROM item GROUP BY GROUPING SETS (('x'), ())", "non-integer constant in GROUP BY"),
        ("SELECT 'x', count(*) FROM item GROUP BY ROLLUP ('x', id)", "non-integer constant in GROUP BY"),
        ("SELECT DISTINCT ON ('x') id FROM item", "non-integer constant in DISTINCT ON"),
        ("SELECT id FROM item UNION SELECT 1 ORDER BY 'x'", "non-integer constant in ORDER BY"),
        ("SELECT '{ok,nice}'::shop.mood[]", "invalid input value for enum shop.mood: \"nice\""),
        ("SELECT 'x'::no_such_type", "type \"no_such_type\" does not exist"),
        ("SELECT '{a'::text[]", "malformed array literal: \"{a\""),
        ("SELECT to_tsvector('no_such', name) FROM item", "text search configuration \"no_such\" does not exist"),
    ] {
        let found = error(&mut client, &write_down(sql, &json!({})));
        assert!(found.code().code() == "22023" && found.message().contains(message), "{sql}: {found}");
    }
    for sql in [
        "SELECT format('%s', 'x'), jsonb_build_object('a', id, 'b', 'c'), concat('a', name), 'x', NULL FROM item",
        "SELECT date_trunc('month', since), count(*) FILTER (WHERE mood = 'ok') FROM item GROUP BY date_trunc('month', since)",
        "SELECT coalesce(name, 'none') || '!' FROM item GROUP BY coalesce(name, 'none') || '!' HAVING min(since) < '2020-01-01'",
        "SELECT count(*) OVER (ORDER BY since RANGE '1 day' PRECEDING) FROM item WHERE since < timestamp '2020-01-01' - interval '1' day",
        "SELECT id FROM item WHERE name LIKE 'a!%' ESCAPE '!' AND data['x'] = '1' AND data ->> 'y' = 'z' AND tags && '{a,b}' AND (name, mood) = ('x', 'ok')",
        "SELECT id, 'new' AS state FROM item UNION ALL SELECT 1, 'old' ORDER BY state LIMIT '5'",
        "SELECT '2020'::text, '2020'::int, '2020'::numeric(6, 2), x FROM (VALUES ('a'), ('b')) v (x) WHERE x IN ('a', 'c') AND extract('year' FROM date '2020-01-01') > 1",
        "SELECT interval '1 2' day to hour, '1 2'::interval day to hour, CAST('1 2' AS interval day to hour), '1'::interval(3), '101'::bit(3), 'abc'::varchar(2)",
        "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY '5'::int), '{ok,bad}'::shop.mood[] FROM item WHERE mood = ANY ('{ok}')",
        "WITH w AS (SELECT 'a' AS x) SELECT CASE x WHEN 'a' THEN 'b' ELSE 'c' END, ARRAY['a', x], trim(both 'a' FROM x), x COLLATE \"C\" FROM w",
    ] {
        text(&mut client, &write_down(sql, &json!({})));
    }
}

/// A text that stands for a param becomes what its place wants, each time anew, as the literal does.
#[test]
fn a_text_param_is_what_its_place_wants() {
    let (_database, mut client) = scene();
    let params = json!({"x": {"type": "string", "example": "1"}});
    for sql in [
        "SELECT id FROM item WHERE :x IS NULL OR name = :x",
        "SELECT id FROM item WHERE count = :x AND name = :x",
        "SELECT id FROM item WHERE mood = :x::shop.mood OR tags @> ARRAY[:x]",
        "SELECT name || :x FROM item GROUP BY name || :x",
        "SELECT format('%s', :x), jsonb_build_object('a', :x)",
    ] {
        text(&mut client, &write_down(sql, &params));
        let bound = text(&mut client, r#"nl2sql_bind('shop', 'q', '{"x": "1"}')"#).expect("a statement");
        match client.batch_execute(&format!("SET search_path = ''; {bound}")) {
            Ok(()) => {}
            // '1' is no mood.
            Err(error) => {
                assert!(describe(&error).contains("invalid input value for enum"), "{bound}: {}", describe(&error))
            }
        }
        client.batch_execute("RESET search_path").expect("the path");
    }
    let typed = json!({"x": {"type": "date", "example": "2020-01-01"}});
    let found = error(&mut client, &write_down("SELECT id FROM item WHERE count = :x", &typed));
    assert!(found.message().contains("operator does not exist: integer = date"), "{found}");
}

/// `nl2sql_bind` writes a schema before tables alone.
#[test]
fn names_of_functions_and_types_have_their_schema() {
    let (_database, mut client) = scene();
    let params = json!({"x": {"type": "string", "choices": ["ok", "bad"]}});
    for (wrong, right) in [
        ("SELECT id FROM item WHERE mood = :x::mood", "SELECT id FROM item WHERE mood = :x::shop.mood"),
        ("SELECT double(count), :x FROM item", "SELECT shop.double(count), :x FROM item"),
    ] {
        let found = error(&mut client, &write_down(wrong, &params));
        assert!(
            found.message().ends_with(
                "does not exist (found in the datasource's schemas alone: write the schema before its name)"
            ),
            "{found}"
        );
        text(&mut client, &write_down(right, &params));
        let bound = text(&mut client, r#"nl2sql_bind('shop', 'q', '{"x": "ok"}')"#).expect("a statement");
        client.batch_execute(&format!("SET search_path = pg_catalog; {bound}; RESET search_path")).expect("it runs");
    }
}

/// A build asks, too: what the server would not take any more is not offered.
#[test]
fn what_would_not_run_is_left_out_of_a_build() {
    let (_database, mut client) = scene();
    client
        .batch_execute(
            "SELECT nl2sql_verified_query('shop', 'big', ARRAY['big ones'], 'SELECT id FROM item WHERE count > 5');
             SELECT nl2sql_verified_query('shop', 'doubled', ARRAY['doubled'], 'SELECT shop.double(7)');
             SELECT nl2sql_verified_query('shop', 'all_of_it', ARRAY['all'], 'SELECT id FROM item');
             SELECT nl2sql_curated_import('{\"datasources\": {\"shop\": {\"metrics\": [{\"name\": \"total\", \"expression\": \"sum(count)\", \"table\": \"item\"}]}}}', false);
             SELECT nl2sql_index('shop');
             ALTER TABLE shop.item ALTER count TYPE text; DROP FUNCTION shop.double(int);",
        )
        .expect("content, then changes");
    let told = "3 pieces of curated content do not fit the schema, and are left out: SELECT * FROM nl2sql_curated_validate('shop');";
    for call in ["nl2sql_index('shop', curated_only => true)", "nl2sql_index('shop')"] {
        let built = rows(&mut client, &format!("SELECT status, issues FROM {call}"));
        assert_eq!(built, json!([{"status": "indexed", "issues": [{"stage": "curated", "message": told}]}]), "{call}");
        assert_eq!(
            rows(&mut client, "SELECT query_id FROM nl2sql_match('big ones')"),
            json!([{"query_id": "all_of_it"}])
        );
    }
    assert_eq!(rows(&mut client, "SELECT name FROM nl2sql.metrics"), json!([]));
    let warnings = text(&mut client, "SELECT warnings[1] FROM nl2sql_health('shop')").expect("a warning");
    assert!(warnings.contains("does not fit the schema and is left out"), "{warnings}");
    let problems = rows(&mut client, "SELECT query_id FROM nl2sql_curated_validate() ORDER BY query_id");
    assert_eq!(problems, json!([{"query_id": "big"}, {"query_id": "doubled"}, {"query_id": null}]));
}

/// What the server raises while a statement is looked at is an error like any other, on every way.
#[test]
fn a_statement_too_deep_leaves_the_session_as_it_was() {
    let (database, mut client) = scene();
    let role = database.role("writer");
    client
        .batch_execute(&format!(
            "GRANT USAGE ON SCHEMA shop TO {role}; GRANT SELECT ON shop.item TO {role};
             GRANT EXECUTE ON FUNCTION nl2sql_verified_query(text, text, text[], text, text, jsonb), nl2sql_index(text, boolean, boolean) TO {role};
             CREATE FUNCTION public.tried(statement text) RETURNS text LANGUAGE plpgsql AS $$
             BEGIN EXECUTE statement; RETURN 'done'; EXCEPTION WHEN OTHERS THEN RETURN sqlstate; END $$"
        ))
        .expect("rights");
    let mut writer = database.connect_as(&role);
    let terms = |count: usize| write_down(&format!("SELECT 'a'{}", " || 'a'".repeat(count)), &json!({}));
    let unchanged = |client: &mut Client, user: &str| {
        let found = text(
            client,
            "current_user || ' ' || current_setting('search_path') || ' ' || current_setting('transaction_read_only')",
        );
        assert_eq!(found.as_deref(), Some(format!("{user} \"$user\", public off").as_str()));
    };
    let mut accepted = 0;
    let mut told = Vec::new();
    for count in [100, 400, 800, 1000, 1200, 1300, 1400, 1500, 1700, 2000, 3000, 4900] {
        writer.batch_execute("BEGIN").expect("a transaction");
        let tried =
            writer.query_one("SELECT public.tried($1)", &[&terms(count)]).expect("an answer").get::<_, String>(0);
        unchanged(&mut writer, &role);
        writer.batch_execute("COMMIT").expect("the transaction ends");
        unchanged(&mut writer, &role);
        assert!(["done", "22023"].contains(&tried.as_str()), "{count}: {tried}");
        if tried == "done" {
            accepted = count;
        }
        for call in ["nl2sql_index(''shop'', curated_only => true)", "nl2sql_index(''shop'')", "nl2sql_index()"] {
            writer.batch_execute("BEGIN").expect("a transaction");
            let built = text(&mut writer, &format!("public.tried('SELECT count(*) FROM {call}')"));
            unchanged(&mut writer, &role);
            writer.batch_execute("COMMIT").expect("the transaction ends");
            assert_eq!(built.as_deref(), Some("done"), "{count}: {call}");
        }
        told.push((count, tried));
    }
    assert!(accepted >= 100 && told.iter().any(|(_, tried)| tried == "22023"), "{told:?}");
}

/// A lock that is not to be had says nothing of a statement: the build fails, and leaves nothing out.
#[test]
fn a_lock_is_no_objection() {
    let (database, mut client) = scene();
    text(&mut client, &write_down("SELECT id FROM item", &json!({})));
    let mut other = database.connect();
    other.batch_execute("BEGIN; LOCK shop.item").expect("a lock");
    client.batch_execute("SET lock_timeout = '20ms'").expect("a limit");
    assert_eq!(sqlstate(&mut client, "SELECT count(*) FROM nl2sql_index('shop', curated_only => true)"), "55P03");
    other.batch_execute("ROLLBACK").expect("the end of it");
    assert_eq!(
        rows(&mut client, "SELECT status, issues FROM nl2sql_index('shop', curated_only => true)"),
        json!([{"status": "indexed", "issues": []}])
    );
}
