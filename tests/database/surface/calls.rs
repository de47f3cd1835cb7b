//! The functions in every place where SQL allows a function: the same rows as a plain call, and a session that
//! continues after an error.

use nl2sql_tests::{Database, error, rows, sqlstate, text};
use postgres::Client;
use serde_json::Value;

const PLAIN: &str =
    "SELECT rank, id, similarity, pick, mmr_score FROM nl2sql_mmr('unpaid invoices', k => 4, lambda => 0.5)";

/// The rows of the plain call, which every other way to call must return.
fn plain(client: &mut Client) -> Value {
    let found = rows(client, PLAIN);
    assert_eq!(found.as_array().map(Vec::len), Some(4));
    found
}

#[test]
fn arguments_by_name_in_any_order() {
    let mut client = Database::demo().connect();
    let expected = plain(&mut client);
    for call in [
        "nl2sql_mmr(lambda => 0.5, k => 4, query => 'unpaid invoices')",
        "nl2sql_mmr(fetch_k => 16, tables => NULL, query => 'unpaid invoices', datasources => NULL, k => 4, lambda => 0.5)",
        "nl2sql_mmr('unpaid invoices', 4, 0.5, NULL, NULL, NULL, NULL)",
        "nl2sql_mmr('unpaid invoices', 4, 0.5, '{schema.datasource,schema.datasource_example,schema.table,schema.column,schema.relationship}')",
    ] {
        assert_eq!(
            rows(&mut client, &format!("SELECT rank, id, similarity, pick, mmr_score FROM {call}")),
            expected,
            "{call}"
        );
    }
    let routed = rows(&mut client, "SELECT * FROM nl2sql_route('late parcels', 2, 0.1, '{webshop,helpdesk}')");
    let named = "nl2sql_route(datasources => '{helpdesk,webshop}', floor_ratio => 0.1, candidates => 2, question => 'late parcels')";
    assert_eq!(rows(&mut client, &format!("SELECT * FROM {named}")), routed);
    client
        .batch_execute(
            "SELECT nl2sql_register(options => '{\"exclude\": [\"webshop.x\"]}', datasource => 'shop', sample_questions => '{a?}',
                 schemas => '{webshop}', domains => '{b}', description => 'c')",
        )
        .unwrap();
    assert_eq!(
        text(&mut client, "SELECT (schemas, description, domains, sample_questions, options) FROM nl2sql.datasources WHERE datasource = 'shop'").as_deref(),
        Some(r#"({webshop},c,{b},{a?},"{""exclude"": [""webshop.x""]}")"#)
    );
}

#[test]
fn in_joins_and_subqueries() {
    let mut client = Database::demo().connect();
    let expected = plain(&mut client);
    let columns = "m.rank, m.id, m.similarity, m.pick, m.mmr_score";
    for from in [
        "(VALUES ('unpaid invoices')) q (question), LATERAL nl2sql_mmr(q.question, k => 4, lambda => 0.5) m",
        "(VALUES (4, 0.5), (3, 0.9)) q (k, lambda) JOIN LATERAL nl2sql_mmr('unpaid invoices', q.k, q.lambda) m ON q.k = 4",
        "(SELECT * FROM nl2sql_mmr('unpaid invoices', 4, 0.5) OFFSET 0) m",
        "ROWS FROM (nl2sql_mmr('unpaid invoices', 4, 0.5), generate_series(1, 4)) m (rank, id, datasource, type, text, metadata, similarity, pick, mmr_score, n)",
    ] {
        assert_eq!(rows(&mut client, &format!("SELECT {columns} FROM {from}")), expected, "{from}");
    }
    // In a SELECT list, and in a CTE that is read twice and computed once.
    let listed = "SELECT (m).rank, (m).id, (m).similarity, (m).pick, (m).mmr_score FROM (SELECT nl2sql_mmr('unpaid invoices', 4, 0.5) m) s";
    assert_eq!(rows(&mut client, listed), expected);
    let twice = "WITH m AS MATERIALIZED (SELECT * FROM nl2sql_mmr('unpaid invoices', 4, 0.5))
        SELECT a.rank, b.id, a.similarity, b.pick, a.mmr_score FROM m a JOIN m b USING (id) ORDER BY a.rank";
    assert_eq!(rows(&mut client, twice), expected);
    let inline = "WITH m AS NOT MATERIALIZED (SELECT * FROM nl2sql_mmr('unpaid invoices', 4, 0.5))
        SELECT a.rank, b.id, a.similarity, b.pick, a.mmr_score FROM m a JOIN m b USING (id) ORDER BY a.rank";
    assert_eq!(rows(&mut client, inline), expected);
    assert_eq!(rows(&mut client, &format!("{PLAIN} LIMIT 1"))[0], expected[0]);
    // A row whose question is NULL fails, as a plain call does.
    assert_eq!(sqlstate(&mut client, "SELECT * FROM (VALUES ('a'), (NULL)) q (x), LATERAL nl2sql_mmr(q.x)"), "22004");
    assert_eq!(sqlstate(&mut client, "SELECT * FROM (VALUES ('a'), (NULL)) q (x), LATERAL nl2sql_route(q.x)"), "22004");
}

#[test]
fn prepared_and_through_a_cursor() {
    let mut client = Database::demo().connect();
    let expected = plain(&mut client);
    let statement = client.prepare("SELECT id, pick FROM nl2sql_mmr($1, $2, $3, $4, $5)").unwrap();
    let types: Option<Vec<&str>> = None;
    // More executions than it takes to switch to a generic plan.
    for _ in 0..8 {
        let found = client.query(&statement, &[&"unpaid invoices", &4i32, &0.5f64, &types, &types]).unwrap();
        let ids: Vec<String> = found.iter().map(|row| row.get(0)).collect();
        let wanted: Vec<&str> = expected.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(ids, wanted);
    }
    let nothing = client.query(&statement, &[&None::<&str>, &4i32, &0.5f64, &types, &types]).unwrap_err();
    assert_eq!(nothing.code().map(|code| code.code()), Some("22004"));
    client.batch_execute(&format!("BEGIN; DECLARE c SCROLL CURSOR FOR {PLAIN}; MOVE 2 IN c")).unwrap();
    assert_eq!(client.query_one("FETCH c", &[]).unwrap().get::<_, &str>(1), expected[2]["id"]);
    assert_eq!(client.query_one("FETCH FIRST c", &[]).unwrap().get::<_, &str>(1), expected[0]["id"]);
    client.batch_execute("COMMIT").unwrap();
}

#[test]
fn in_a_language_that_catches_errors() {
    let mut client = Database::demo().connect();
    let expected = plain(&mut client);
    client
        .batch_execute(
            "CREATE FUNCTION ask(questions text[]) RETURNS text[] LANGUAGE plpgsql AS $$
             DECLARE question text; found text[] := '{}'; hit record;
             BEGIN
                 FOREACH question IN ARRAY questions LOOP
                     BEGIN
                         FOR hit IN SELECT id FROM nl2sql_mmr(question, k => 4, lambda => 0.5) LOOP
                             found := found || hit.id;
                         END LOOP;
                     EXCEPTION WHEN OTHERS THEN
                         found := found || SQLSTATE;
                     END;
                 END LOOP;
                 RETURN found;
             END $$",
        )
        .unwrap();
    let found =
        rows(&mut client, "SELECT unnest(ask(ARRAY[NULL, '', 'unpaid invoices', ' ', 'unpaid invoices'])) AS id");
    let found: Vec<&str> = found.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    let wanted: Vec<&str> = expected.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(found[..2], ["22004", "22023"]);
    assert_eq!(found[2..6], wanted);
    assert_eq!(found[6], "22023");
    assert_eq!(found[7..], wanted);
}

#[test]
fn in_plans_forced_to_be_parallel() {
    let database = Database::demo();
    let mut client = database.connect();
    let expected = plain(&mut client);
    let health = rows(&mut client, "SELECT * FROM nl2sql_health()");
    // The setting's name changed in Postgres 16.
    let setting =
        text(&mut client, "SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')")
            .unwrap();
    client
        .batch_execute(&format!(
            "SET {setting} = on; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0"
        ))
        .unwrap();
    assert_eq!(plain(&mut client), expected);
    assert_eq!(rows(&mut client, "SELECT * FROM nl2sql_health()"), health);
    let many =
        "SELECT count(*) FROM nl2sql.entry e WHERE e.id IN (SELECT id FROM nl2sql_mmr('unpaid invoices', k => 4))";
    assert_eq!(text(&mut client, many).as_deref(), Some("4"));
    // The functions of row security run in the workers, which load the library themselves.
    let role = database.role("reader");
    client
        .batch_execute(&format!(
            "GRANT USAGE ON SCHEMA helpdesk TO {role}; GRANT SELECT ON helpdesk.ticket TO {role}; SET ROLE {role}"
        ))
        .unwrap();
    assert_eq!(text(&mut client, "SELECT count(DISTINCT datasource) FROM nl2sql.entry").as_deref(), Some("1"));
    let found = text(&mut client, "SELECT count(*) FROM nl2sql_mmr('unpaid invoices', k => 4)");
    assert_eq!(found.as_deref(), Some("4"));
}

#[test]
fn an_error_leaves_the_session_as_it_was() {
    let mut client = Database::demo().connect();
    let expected = plain(&mut client);
    for bad in [
        "nl2sql_mmr('x', k => 0)",
        "nl2sql_route('')",
        "nl2sql_health('nope')",
        "nl2sql_index('nope')",
        "nl2sql_snapshot('nope')",
    ] {
        client.batch_execute("BEGIN; SAVEPOINT s").unwrap();
        error(&mut client, &format!("SELECT * FROM {bad}"));
        assert_eq!(sqlstate(&mut client, PLAIN), "25P02", "the transaction is aborted, like after any error");
        client.batch_execute("ROLLBACK TO s").unwrap();
        assert_eq!(plain(&mut client), expected, "after {bad}");
        client.batch_execute("COMMIT").unwrap();
    }
    // The current user and its privileges are restored, although the extension acts as its owner inside.
    assert_eq!(text(&mut client, "current_user || ' ' || session_user").as_deref(), Some("postgres postgres"));
    client.batch_execute("SET ROLE pg_monitor; RESET ROLE").unwrap();
}

#[test]
fn searches_fail_while_nothing_is_indexed() {
    let mut client = Database::blank().connect();
    for call in ["nl2sql_mmr('x')", "nl2sql_mmr_explain('x')", "nl2sql_route('x')", "nl2sql_route_explain('x')"] {
        let found = error(&mut client, &format!("SELECT * FROM {call}"));
        assert_eq!((found.code().code(), found.message()), ("55000", "no datasource has been indexed"), "{call}");
        assert!(found.hint().unwrap_or_default().contains("SELECT nl2sql_index('…')"), "{:?}", found.hint());
    }
    for call in ["nl2sql_health()", "nl2sql_index()", "nl2sql_prune()", "nl2sql.datasources"] {
        assert_eq!(rows(&mut client, &format!("SELECT * FROM {call}")), serde_json::json!([]), "{call}");
    }
}

#[test]
fn what_writes_is_refused_in_a_read_only_transaction() {
    let mut client = Database::demo().connect();
    client.batch_execute("SET default_transaction_read_only = on").unwrap();
    for call in [
        "nl2sql_index()",
        "nl2sql_index('chinook')",
        "nl2sql_register('chinook')",
        "nl2sql_unregister('chinook')",
        "nl2sql_prune()",
    ] {
        let found = error(&mut client, &format!("SELECT * FROM {call}"));
        assert_eq!(found.code().code(), "25006", "{call}");
        assert!(found.message().contains("nl2sql_"), "{}", found.message());
    }
    plain(&mut client);
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql_health()").as_deref(), Some("3"));
    assert!(text(&mut client, "nl2sql_snapshot('chinook')").is_some());
}

#[test]
fn a_database_that_is_not_utf8_is_refused() {
    let mut database = Database::blank();
    let (mut client, own) = (database.connect(), database.name.clone());
    for encoding in ["LATIN1", "SQL_ASCII"] {
        database.name = format!("{own}_{}", encoding.to_lowercase());
        client
            .batch_execute(&format!(
                "CREATE DATABASE {} TEMPLATE template0 ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'",
                database.name
            ))
            .unwrap();
        let mut there = database.connect();
        there.batch_execute("CREATE EXTENSION vector").unwrap();
        let found = error(&mut there, "CREATE EXTENSION nl2sql");
        assert_eq!(found.code().code(), "0A000", "{}", found.message());
        assert!(found.message().contains("UTF8") && found.hint().is_some(), "{}", found.message());
    }
}
