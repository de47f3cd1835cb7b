//! Curated content and roles that may not read all that it reads; what they may write, and what they learn.

use nl2sql_tests::{Database, error, rows, sqlstate, text};
use postgres::Client;
use serde_json::{Value, json};

const CONTENT: &str = r#"{"datasources": {"shop": {
    "verified_queries": [
        {"id": "customers", "questions": ["How many customers are there?"], "sql": "SELECT count(*) FROM customer"},
        {"id": "mails", "questions": ["Which mail addresses do we have?"], "sql": "SELECT email FROM customer"},
        {"id": "everything", "questions": ["All about our customers"], "sql": "SELECT * FROM customer"},
        {"id": "whole", "questions": ["Customers as rows"], "sql": "SELECT c FROM customer c"},
        {"id": "hidden_in_order", "questions": ["Customers in a hidden order"], "sql": "SELECT name FROM customer ORDER BY email"},
        {"id": "hidden_in_join", "questions": ["Customers and what they pay"], "sql": "SELECT c.name FROM customer c WHERE EXISTS (SELECT FROM payment p WHERE p.customer_id = c.id)"},
        {"id": "hidden_by_using", "questions": ["Customers with a twin"], "sql": "SELECT a.name FROM customer a JOIN customer b USING (email)"},
        {"id": "names", "questions": ["Which names do our customers have?"], "sql": "SELECT c.name FROM customer c WHERE c.id > 0"},
        {"id": "nothing", "questions": ["What is the answer?"], "sql": "SELECT 42"}
    ],
    "metrics": [{"name": "paid", "expression": "sum(amount)", "table": "payment"}, {"name": "named", "expression": "count(name)", "table": "customer"}],
    "glossary": [{"term": "dunning", "definition": "asking for money", "tables": ["payment"]}, {"term": "prospect", "definition": "who may buy", "tables": ["customer"]}]
}}}"#;

/// A role that may read two of the three columns of one of the two tables.
fn scene() -> (Database, Client, String, Client) {
    let database = Database::blank();
    let mut dba = database.connect();
    let role = database.role("partial");
    dba.batch_execute(&format!(
        "CREATE SCHEMA shop;
         CREATE TABLE shop.customer (id int PRIMARY KEY, name text, email text);
         CREATE TABLE shop.payment (id int PRIMARY KEY, customer_id int REFERENCES shop.customer, amount numeric);
         GRANT USAGE ON SCHEMA shop TO {role}; GRANT SELECT (id, name) ON shop.customer TO {role};
         SELECT nl2sql_index('shop');"
    ))
    .expect("a schema");
    dba.execute("SELECT nl2sql_curated_import($1)", &[&CONTENT]).expect("content");
    dba.batch_execute("SELECT nl2sql_index('shop', curated_only => true)").expect("a build");
    let session = database.connect_as(&role);
    (database, dba, role, session)
}

fn ids(client: &mut Client) -> Vec<String> {
    let found = rows(client, "SELECT query_id FROM nl2sql_match('customers', k => 50) ORDER BY query_id");
    found.as_array().expect("rows").iter().map(|row| row["query_id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn a_query_exists_for_who_may_read_all_that_it_reads() {
    let (_database, mut dba, role, mut session) = scene();
    assert_eq!(ids(&mut dba).len(), 9);
    let seen = ["customers", "names", "nothing"];
    assert_eq!(ids(&mut session), seen);
    let export = text(&mut session, "nl2sql_curated_export()").expect("a document");
    for hidden in ["mail", "payment", "paid", "dunning", "everything", "whole", "hidden"] {
        assert!(!export.contains(hidden), "{hidden}: {export}");
    }
    assert!(export.contains("named") && export.contains("prospect"));
    assert_eq!(rows(&mut session, "SELECT name FROM nl2sql.metrics"), json!([{"name": "named"}]));
    assert_eq!(rows(&mut session, "SELECT * FROM nl2sql_curated_validate()"), json!([]));
    assert_eq!(rows(&mut session, "SELECT warnings FROM nl2sql_health()"), json!([{"warnings": []}]));
    let hidden = error(&mut session, "SELECT nl2sql_bind('shop', 'mails')");
    let unknown = error(&mut session, "SELECT nl2sql_bind('shop', 'mailz')");
    assert_eq!((hidden.code().code(), hidden.message()), ("42704", "verified query \"mails\" does not exist"));
    assert_eq!(
        (unknown.code().code(), unknown.hint()),
        ("42704", hidden.hint()),
        "near names are those that exist for the role"
    );
    // What it may not read does not vote.
    let record = text(
        &mut session,
        "nl2sql_route_explain('mail addresses of payments', fusion => 'rrf') -> 'signals' -> 2 -> 'hits'",
    )
    .expect("hits");
    let hits: Value = serde_json::from_str(&record).expect("JSON");
    assert_eq!(hits.as_array().map(Vec::len), Some(3), "{hits}");
    let prompt = text(&mut session, "nl2sql_schema_prompt('shop', 'dunning a prospect')").expect("a prompt");
    assert!(prompt.contains("prospect") && !prompt.contains("dunning"), "{prompt}");
    // The very next question obeys.
    dba.batch_execute(&format!("GRANT SELECT (email) ON shop.customer TO {role}")).expect("a right");
    assert_eq!(ids(&mut session).len(), 8);
    dba.batch_execute(&format!("REVOKE SELECT (name) ON shop.customer FROM {role}")).expect("a right less");
    assert_eq!(ids(&mut session), ["customers", "mails", "nothing"]);
    dba.batch_execute(&format!("REVOKE USAGE ON SCHEMA shop FROM {role}")).expect("a right less");
    assert_eq!(sqlstate(&mut session, "SELECT nl2sql_curated_export('shop')"), "42704");
    assert_eq!(text(&mut session, "nl2sql_curated_export()").as_deref(), Some("datasources: {}\n"));
}

/// The tables behind the functions show an ordinary role no more than they do.
#[test]
fn no_table_shows_hidden_content() {
    let (_database, _dba, _role, mut session) = scene();
    for table in ["verified_query", "metric", "term"] {
        assert_eq!(sqlstate(&mut session, &format!("SELECT * FROM nl2sql.{table}")), "42501");
    }
    assert_eq!(sqlstate(&mut session, "SELECT curated_hash FROM nl2sql.pointer"), "42501");
    let entries =
        text(&mut session, "SELECT string_agg(text || metadata::text, ' ') FROM nl2sql.entry").expect("entries");
    for hidden in ["mail", "payment", "dunning", "All about", "hidden order"] {
        assert!(!entries.contains(hidden), "{hidden}: {entries}");
    }
}

#[test]
fn nobody_writes_who_was_not_granted_it() {
    let (_database, _dba, _role, mut session) = scene();
    for call in [
        "SELECT nl2sql_curated_import('datasources: {}')",
        "SELECT nl2sql_verified_query('shop', 'q', '{What?}', 'SELECT 1')",
        "SELECT nl2sql_remove_verified_query('shop', 'names')",
        "SELECT nl2sql_index('shop', curated_only => true)",
    ] {
        assert_eq!(sqlstate(&mut session, call), "42501", "{call}");
    }
}

/// A curator with rights on a part: the rest is neither named nor touched.
#[test]
fn a_curator_writes_within_its_rights() {
    let (_database, mut dba, role, mut session) = scene();
    dba.batch_execute(&format!(
        "GRANT EXECUTE ON FUNCTION nl2sql_curated_import(text, boolean), nl2sql_verified_query(text, text, text[], text, text, jsonb),
             nl2sql_remove_verified_query(text, text) TO {role}"
    ))
    .expect("rights");
    let before = text(&mut dba, "nl2sql_curated_export()");
    let own = text(&mut session, "nl2sql_curated_export()").expect("a document");
    session.execute("SELECT nl2sql_curated_import($1)", &[&own]).expect("what it sees");
    assert_eq!(
        text(&mut dba, "nl2sql_curated_export()"),
        before,
        "import of an export changes nothing, also of a part"
    );
    for (sql, words) in [
        ("SELECT email FROM customer", "column \"email\" does not exist"),
        ("SELECT c.email FROM customer c", "column c.email does not exist"),
        ("SELECT amount FROM payment", "table \"payment\" does not exist"),
        ("SELECT amount FROM shop.payment", "table \"shop.payment\" does not exist"),
    ] {
        let found = error(&mut session, &format!("SELECT nl2sql_verified_query('shop', 'q', '{{What?}}', '{sql}')"));
        assert_eq!(found.code().code(), "22023");
        assert!(found.message().contains(words) && !found.message().contains("near it: email"), "{found}");
    }
    session
        .batch_execute("SELECT nl2sql_verified_query('shop', 'mine', '{What?}', 'SELECT id, name FROM customer')")
        .expect("a query");
    let found = error(&mut session, "SELECT nl2sql_verified_query('shop', 'mails', '{What?}', 'SELECT 1')");
    assert_eq!(
        (found.code().code(), found.message()),
        ("42501", "cannot change verified query \"mails\" of datasource \"shop\"")
    );
    assert_eq!(text(&mut session, "nl2sql_remove_verified_query('shop', 'mails')").as_deref(), Some("false"));
    // What reads only what is gone can be mended.
    dba.batch_execute("ALTER TABLE shop.payment RENAME TO payments").expect("a table is renamed");
    session
        .batch_execute("SELECT nl2sql_verified_query('shop', 'hidden_in_join', '{What?}', 'SELECT name FROM customer')")
        .expect("mended");
    session.execute("SELECT nl2sql_curated_import($1)", &[&"datasources: {shop: {}}"]).expect("what it sees goes");
    let left = rows(&mut dba, "SELECT id FROM nl2sql.verified_query ORDER BY id");
    assert_eq!(
        left,
        json!([{"id": "everything"}, {"id": "hidden_by_using"}, {"id": "hidden_in_order"}, {"id": "mails"}, {"id": "whole"}])
    );
    assert_eq!(
        text(&mut dba, "SELECT count(*) FROM nl2sql.metric").as_deref(),
        Some("0"),
        "the metric of what is gone went too"
    );
}

/// Checking somebody's SQL runs none of it, whoever checks it.
#[test]
fn checking_runs_nothing() {
    let (_database, mut dba, _role, mut session) = scene();
    dba.batch_execute(
        "CREATE FUNCTION shop.trap() RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN CREATE TABLE public.sprung (); RETURN 1; END $$;
         CREATE VIEW shop.trapped AS SELECT shop.trap() AS id;
         SELECT nl2sql_register('shop', options => '{\"profile\": \"catalog\"}'); SELECT nl2sql_index('shop');
         SELECT nl2sql_verified_query('shop', 'trap', '{What?}', 'SELECT id + shop.trap() FROM trapped WHERE shop.trap() = 1 LIMIT shop.trap()');
         SELECT nl2sql_curated_validate(); SELECT nl2sql_index('shop', curated_only => true); SELECT nl2sql_match('what?'); SELECT nl2sql_bind('shop', 'trap');
         SELECT nl2sql_check()",
    )
    .expect("every check");
    assert_eq!(text(&mut dba, "to_regclass('public.sprung')"), None);
    assert_eq!(rows(&mut session, "SELECT * FROM nl2sql_curated_validate()"), json!([]));
}

/// Health tells a role of what exists for it alone.
#[test]
fn health_tells_of_ones_own_part() {
    let (_database, mut dba, _role, mut session) = scene();
    let warnings = |client: &mut Client| text(client, "SELECT cardinality(warnings) FROM nl2sql_health('shop')");
    dba.batch_execute("SELECT nl2sql_verified_query('shop', 'more', '{What?}', 'SELECT amount FROM payment')")
        .expect("a hidden query");
    assert_eq!((warnings(&mut dba), warnings(&mut session)), (Some("1".into()), Some("0".into())));
    dba.batch_execute("SELECT nl2sql_index('shop', curated_only => true)").expect("a build");
    for change in [
        "SELECT nl2sql_verified_query('shop', 'also', '{What?}', 'SELECT name FROM customer')",
        "SELECT nl2sql_verified_query('shop', 'also', '{What?}', 'SELECT upper(name) FROM customer')",
        "SELECT nl2sql_remove_verified_query('shop', 'also')",
    ] {
        dba.batch_execute(change).expect("a change");
        assert_eq!((warnings(&mut dba), warnings(&mut session)), (Some("1".into()), Some("1".into())), "{change}");
        dba.batch_execute("SELECT nl2sql_index('shop', curated_only => true)").expect("a build");
        assert_eq!((warnings(&mut dba), warnings(&mut session)), (Some("0".into()), Some("0".into())), "{change}");
    }
}
