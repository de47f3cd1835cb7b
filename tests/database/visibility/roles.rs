//! What a role may not SELECT does not exist for it. One database holds an index over everything, and a role with some
//! privileges queries it. Another never held what the role may not see, and the superuser queries it. Every function
//! and every table of the extension must return the same in both.
//!
//! Ignored is only what must differ: versions (also within ids), timestamps, build and table numbers, and the options
//! of a registration, which only its administrators see. A table of which a role reads some columns has no
//! `schema.table` entry for the role, so that entry is deleted from the other database. Texts that both hold have the
//! same vector in both, because the last bit of a vector depends on its batch.

use super::queries::QUERIES;
use super::scene::{CLINIC, CURATED, DEPOT, SCHEMAS, SHOP};
use nl2sql_tests::{Database, rows, sqlstate, text};
use postgres::{Client, Statement};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

fn normalised(query: &str) -> String {
    format!(
        r"SELECT regexp_replace(coalesce(json_agg(t), '[]')::text, '\d{{14}}_[0-9a-f]{{8}}', 'VERSION', 'g') FROM ({query}) t"
    )
}

/// The rows, or the whole error. An open transaction stays usable.
fn ask<S: ?Sized + postgres::ToStatement>(client: &mut Client, statement: &S) -> String {
    let inside = client.batch_execute("SAVEPOINT asked").is_ok();
    let answer = match client.query_one(statement, &[]) {
        Ok(row) => row.get(0),
        Err(error) => match error.as_db_error() {
            Some(e) => format!("{} {} / {:?} / {:?}", e.code().code(), e.message(), e.detail(), e.hint()),
            None => panic!("lost the connection: {error}"),
        },
    };
    if inside {
        client.batch_execute("ROLLBACK TO asked").expect("the savepoint");
    }
    answer
}

fn answers(client: &mut Client) -> Vec<String> {
    QUERIES.iter().map(|query| ask(client, normalised(query).as_str())).collect()
}

/// The queries whose answers differ from the expected ones.
fn differences(case: &str, got: &[String], want: &[String]) -> String {
    let mut report = String::new();
    for ((query, got), want) in QUERIES.iter().zip(got).zip(want).filter(|((_, got), want)| got != want) {
        let common = got.chars().zip(want.chars()).take_while(|(a, b)| a == b).count();
        let part = |text: &str| text.chars().skip(common.saturating_sub(60)).take(300).collect::<String>();
        report.push_str(&format!("\n{case}: {query}\n  got    …{}\n  wanted …{}\n", part(got), part(want)));
    }
    report
}

#[track_caller]
fn assert_none(differences: String) {
    assert!(differences.is_empty(), "{differences}");
}

/// A database with the schemas after `change`, and an index over the datasources. Texts in `vectors` are not embedded.
fn indexed(change: &str, datasources: &[&str], vectors: Option<&str>) -> Database {
    const SEED: &str =
        "INSERT INTO nl2sql.entry (namespace, build, id, type, datasource, text, text_hash, metadata, embedding)
        SELECT 'nl2sql__local-all-minilm-l6-v2__384', 0, key, '', '', '', decode(key, 'hex'), '{}', value::vector
        FROM json_each_text($1::text::json)";
    let database = Database::blank();
    let mut client = database.connect();
    client.batch_execute(&format!("{SCHEMAS} {change}")).expect("the schemas");
    client.execute(SEED, &[&vectors.unwrap_or("{}")]).expect("vectors");
    for register in datasources {
        client.batch_execute(register).expect("a registration");
    }
    if !datasources.is_empty() {
        client.batch_execute("SELECT nl2sql_index()").expect("an index");
        client.batch_execute(CURATED).expect("curated content");
        client.batch_execute("SELECT nl2sql_index(curated_only => true)").expect("an index");
    }
    // Whether a build was replaced depends on whether curated content was imported.
    client
        .batch_execute(
            "DELETE FROM nl2sql.entry WHERE build NOT IN (SELECT build FROM nl2sql.pointer);
             DELETE FROM nl2sql.build WHERE id NOT IN (SELECT build FROM nl2sql.pointer)",
        )
        .expect("vectors and replaced builds deleted");
    database
}

/// The database that holds everything. Its options name a table that they exclude.
fn everything() -> MutexGuard<'static, Database> {
    static EVERYTHING: LazyLock<Mutex<Database>> = LazyLock::new(|| {
        let clinic = CLINIC.replace("domains =>", r#"options => '{"exclude": ["clinic.secret*"]}', domains =>"#);
        Mutex::new(indexed("", &[SHOP, &clinic, DEPOT], None))
    });
    EVERYTHING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The answers of an index that never held what `drops` drops. Tables in `partly` keep only some columns, and so have
/// no entry of their own.
fn never_held(all: &Database, drops: &str, partly: &[&str], datasources: &[&str], afterwards: &str) -> Vec<String> {
    const VECTORS: &str = "SELECT json_object_agg(encode(text_hash, 'hex'), embedding::text) FROM (SELECT DISTINCT ON (text_hash) * FROM nl2sql.entry) e";
    let vectors = text(&mut all.connect(), VECTORS);
    let database = indexed(&format!("DROP TABLE clinic.secret_trial; {drops}"), datasources, vectors.as_deref());
    let mut client = database.connect();
    for table in partly {
        let own = "DELETE FROM nl2sql.entry WHERE type = 'schema.table' AND metadata ->> 'table' = $1";
        let deleted = client.execute(own, &[table]);
        assert_eq!(deleted.expect("entries"), 1, "{table}");
        let own = "DELETE FROM nl2sql.document d USING nl2sql.relation r
                   WHERE d.relation = r.id AND d.place = 0 AND d.referred IS NULL AND r.table_schema || '.' || r.table_name = $1";
        assert_eq!(client.execute(own, &[table]).expect("documents"), 1, "{table}");
    }
    client.batch_execute(afterwards).expect("what happens afterwards");
    answers(&mut client)
}

/// The queries as prepared statements.
fn prepare(session: &mut Client) -> Vec<Statement> {
    QUERIES.iter().map(|query| session.prepare(&normalised(query)).expect("a statement")).collect()
}

fn ask_all(session: &mut Client, prepared: &[Statement]) -> Vec<String> {
    prepared.iter().map(|statement| ask(session, statement)).collect()
}

fn grant_all(role: &str) -> String {
    ["shop", "clinic", "clinic_archive", "depot"]
        .map(|s| format!("GRANT USAGE ON SCHEMA {s} TO {role}; GRANT SELECT ON ALL TABLES IN SCHEMA {s} TO {role};"))
        .concat()
}

const NO_VISIT: &str = "DROP TABLE clinic.visit;";
const NO_CARD: &str = "DROP TABLE clinic.visit; ALTER TABLE shop.customer DROP email, DROP card_number;";
const NO_SHOP: &str = "DROP TABLE clinic.visit; DROP SCHEMA shop CASCADE;";
const ONLY_DEPOT: &str = "DROP SCHEMA shop, clinic, clinic_archive CASCADE;";

/// One session with prepared statements stays open; its next query already follows the change.
#[test]
fn each_revoked_privilege_hides_what_it_showed() {
    let all = everything();
    let (reader, group) = (all.role("reader"), all.role("readers"));
    let mut dba = all.connect();
    dba.batch_execute(&grant_all(&group)).expect("rights");
    let mut session = all.connect_as(&reader);
    let mut prepared = prepare(&mut session);

    let every = [SHOP, CLINIC, DEPOT];
    let whole = never_held(&all, "", &[], &every, "");
    let no_visit = never_held(&all, NO_VISIT, &[], &every, "");
    let no_card = never_held(&all, NO_CARD, &["shop.customer"], &every, "");
    let no_key = format!("{NO_CARD} ALTER TABLE shop.customer DROP id CASCADE");
    let no_key = never_held(&all, &no_key, &["shop.customer"], &every, "");
    let no_shop = never_held(&all, NO_SHOP, &[], &[CLINIC, DEPOT], "");
    let only_depot = never_held(&all, ONLY_DEPOT, &[], &[DEPOT], "");
    let nothing = never_held(&all, "", &[], &[], "");
    assert!(whole != no_visit && only_depot != nothing, "the comparison compares something");
    let steps: [(&str, &str, &[String]); 14] = [
        ("superuser", "ALTER ROLE {r} SUPERUSER", &whole),
        ("bypasses row security", "ALTER ROLE {r} NOSUPERUSER BYPASSRLS", &whole),
        ("no right at all", "ALTER ROLE {r} NOBYPASSRLS", &nothing),
        ("member", "GRANT {g} TO {r}", &whole),
        ("a table less", "REVOKE SELECT ON clinic.visit FROM {g}", &no_visit),
        (
            "columns one by one",
            "REVOKE SELECT ON shop.customer FROM {g}; GRANT SELECT (id, name) ON shop.customer TO {g};
            GRANT SELECT (email, card_number) ON shop.customer TO {r}",
            &no_visit,
        ),
        ("two columns less", "REVOKE SELECT (email, card_number) ON shop.customer FROM {r}", &no_card),
        ("a key's column less", "REVOKE SELECT (id) ON shop.customer FROM {g}", &no_key),
        ("a schema less", "REVOKE USAGE ON SCHEMA shop FROM {g}", &no_shop),
        (
            "PUBLIC's",
            "GRANT SELECT ON depot.pallet, depot.shipment TO PUBLIC; REVOKE ALL ON depot.pallet FROM {g}",
            &no_shop,
        ),
        ("a datasource less", "REVOKE USAGE ON SCHEMA clinic, clinic_archive FROM {g}", &only_depot),
        (
            "PUBLIC's less",
            "REVOKE ALL ON depot.shipment FROM {g}; REVOKE ALL ON depot.pallet, depot.shipment FROM PUBLIC",
            &nothing,
        ),
        ("owner", "ALTER TABLE depot.pallet OWNER TO {r}; ALTER TABLE depot.shipment OWNER TO {r}", &only_depot),
        ("not a member", "REVOKE {g} FROM {r}", &nothing),
    ];
    let mut report = String::new();
    for (case, statements, want) in steps {
        dba.batch_execute(&statements.replace("{r}", &reader).replace("{g}", &group)).expect(case);
        // Postgres decides whether a plan has row security when it makes the plan, and keeps the plan when the role's
        // own attributes change. It checks privileges at every execution.
        if statements.starts_with("ALTER ROLE") {
            prepared = prepare(&mut session);
        }
        let (mut got, mut want) = (ask_all(&mut session, &prepared), want.to_vec());
        if case == "bypasses row security" {
            // The whole index exists for such a role, but it may not read the tables' rows, nor let the server analyze
            // SQL over them.
            let asks_the_server =
                |query: &str| query.contains("nl2sql_lookup") || query.contains("nl2sql_curated_validate");
            for at in (0..QUERIES.len()).filter(|at| asks_the_server(QUERIES[*at])) {
                got[at].clear();
                want[at].clear();
            }
        }
        report.push_str(&differences(case, &got, &want));
    }
    dba.batch_execute(&format!("REASSIGN OWNED BY {reader} TO postgres")).expect("the owner of before");
    assert_none(report);
}

/// The current user counts, not the login role: SET ROLE, SECURITY DEFINER, views.
#[test]
fn the_current_role_counts() {
    let all = everything();
    let (clerk, visitor) = (all.role("clerk"), all.role("visitor"));
    let mut dba = all.connect();
    dba.batch_execute(&format!(
        "GRANT USAGE ON SCHEMA depot TO {clerk}; GRANT SELECT ON ALL TABLES IN SCHEMA depot TO {clerk};
         ALTER ROLE {visitor} NOINHERIT; GRANT {clerk} TO {visitor};
         CREATE FUNCTION of_clerk() RETURNS SETOF record LANGUAGE sql STABLE SECURITY DEFINER
             AS $$ SELECT id, text, similarity FROM public.nl2sql_mmr('who paid the orders', k => 50) $$;
         ALTER FUNCTION of_clerk() OWNER TO {clerk};
         CREATE FUNCTION of_visitor() RETURNS bigint LANGUAGE plpgsql STABLE SECURITY DEFINER
             AS $$ BEGIN RETURN (SELECT count(*) FROM nl2sql.entry); END $$;
         ALTER FUNCTION of_visitor() OWNER TO {visitor};
         CREATE VIEW mmr_of_postgres AS SELECT id, text, similarity FROM nl2sql_mmr('who paid the orders', k => 50);
         GRANT SELECT ON mmr_of_postgres TO PUBLIC"
    ))
    .expect("roles, functions and a view");
    let only_depot = never_held(&all, ONLY_DEPOT, &[], &[DEPOT], "");
    let nothing = never_held(&all, "", &[], &[], "");
    let mut session = all.connect_as(&visitor);
    let prepared = prepare(&mut session);
    let mut report = String::new();
    for (role, want) in [("NONE", &nothing), (clerk.as_str(), &only_depot), ("NONE", &nothing)] {
        session.batch_execute(&format!("SET ROLE {role}")).expect("SET ROLE");
        report.push_str(&differences(&format!("as {role}"), &ask_all(&mut session, &prepared), want));
    }
    assert_none(report);

    const DIRECT: &str = "SELECT id, text, similarity FROM nl2sql_mmr('who paid the orders', k => 50)";
    const DEFINED: &str = "SELECT * FROM of_clerk() AS f (id text, text text, similarity float8)";
    let as_clerk = rows(&mut all.connect_as(&clerk), DIRECT);
    assert_eq!(rows(&mut session, DEFINED), as_clerk, "the definer's rights");
    assert_eq!(rows(&mut dba, DEFINED), as_clerk, "the definer's rights, not the superuser's");
    assert_ne!(rows(&mut dba, DIRECT), as_clerk, "the superuser sees more");
    assert_eq!(text(&mut dba, "of_visitor()").as_deref(), Some("0"), "the definer has no rights");
    assert_eq!(
        sqlstate(&mut session, "SELECT * FROM mmr_of_postgres"),
        "55000",
        "a view lends no rights to a function"
    );
    session.batch_execute(&format!("SET ROLE {clerk}")).expect("SET ROLE");
    assert_eq!(rows(&mut session, "SELECT * FROM mmr_of_postgres"), as_clerk, "the reader's rights");
}

/// What a role with all privileges sees after `statements`, which are rolled back.
fn seen_after(all: &Database, rights: &str, statements: &str) -> Vec<String> {
    let role = all.role("seer");
    let rights = if rights.is_empty() { grant_all(&role) } else { rights.replace("{r}", &role) };
    let mut client = all.connect();
    client.batch_execute(&format!("BEGIN; {rights} {statements}; SET LOCAL ROLE {role}")).expect(statements);
    answers(&mut client)
}

/// Names are resolved at query time: what was dropped is hidden, and counts do not reveal it.
#[test]
fn dropped_objects_are_hidden() {
    let all = everything();
    let every = [SHOP, CLINIC, DEPOT];
    let new_table =
        "CREATE TABLE clinic.stay (id int PRIMARY KEY, patient_id int REFERENCES clinic.patient, fee numeric(8,2));";
    let dropped = never_held(&all, NO_VISIT, &[], &every, "");
    let renamed = never_held(&all, NO_VISIT, &[], &every, new_table);
    let no_archive = never_held(&all, "DROP SCHEMA clinic_archive CASCADE", &[], &every, "");
    let recreate = format!("{NO_VISIT} {}", new_table.replace("stay", "visit"));
    let cases: [(&str, &[String]); 4] = [
        (NO_VISIT, &dropped),
        (recreate.as_str(), &dropped),
        ("ALTER TABLE clinic.visit RENAME TO stay", &renamed),
        ("ALTER SCHEMA clinic_archive RENAME TO archive", &no_archive),
    ];
    assert_none(cases.map(|(change, want)| differences(change, &seen_after(&all, "", change), want)).concat());
    let mut dba = all.connect();
    let entries = "SELECT count(*) FROM nl2sql.entry WHERE text LIKE '%clinic.visit%'";
    let before = text(&mut dba, entries);
    dba.batch_execute("BEGIN; DROP TABLE clinic.visit").expect("a table dropped");
    assert_eq!(text(&mut dba, entries), before, "the superuser sees what the index holds");
}

/// A column that was hidden stays hidden when it is dropped, although the role now may SELECT every remaining column.
#[test]
fn a_column_dropped_later_stays_hidden() {
    let all = everything();
    let rights = "REVOKE SELECT ON shop.customer FROM {r}; GRANT SELECT (id, name) ON shop.customer TO {r};";
    let rights = grant_all("{r}") + rights;
    let change = "ALTER TABLE shop.customer DROP email, DROP card_number";
    let want = never_held(&all, change, &["shop.customer"], &[SHOP, CLINIC, DEPOT], "");
    assert_none(differences("hidden", &seen_after(&all, &rights, "SELECT"), &want));
    assert_none(differences("hidden, then dropped", &seen_after(&all, &rights, change), &want));
}

/// One column of a two-column key is hidden: the other is no key by itself. And depot refers to a table that the role
/// may read, which reveals nothing of depot.
#[test]
fn keys_reveal_nothing_beyond_privileges() {
    let all = everything();
    let half = "GRANT SELECT (order_id, sku) ON shop.order_item TO {r}; GRANT SELECT ON shop.orders TO {r};";
    let half_left = "DROP TABLE shop.payment, shop.customer CASCADE; DROP VIEW shop.open_order;
        ALTER TABLE shop.order_item DROP line_no;";
    let far = "GRANT SELECT ON ALL TABLES IN SCHEMA shop TO {r};";
    for (case, rights, left, partly) in [("half", half, half_left, &["shop.order_item"][..]), ("far", far, "", &[])] {
        let left = format!("{left} DROP SCHEMA clinic, clinic_archive, depot CASCADE");
        let want = never_held(&all, &left, partly, &[SHOP], "");
        let seen = seen_after(&all, &format!("GRANT USAGE ON SCHEMA shop TO {{r}}; {rights}"), "SELECT");
        assert_none(differences(case, &seen, &want));
    }
}

/// Whether a datasource waits for its first build depends on what the role sees.
#[test]
fn a_hidden_datasource_does_not_show_in_the_health_of_another() {
    let all = everything();
    let late = "CREATE SCHEMA late; CREATE TABLE late.thing (id int); SELECT nl2sql_register('late');";
    let want = never_held(&all, "", &[], &[], late);
    let public = "GRANT USAGE ON SCHEMA late TO PUBLIC; GRANT SELECT ON late.thing TO PUBLIC";
    let seen = seen_after(&all, "SELECT;", &format!("{late} {public}"));
    assert!(want.iter().any(|answer| answer.contains("missing")), "{want:?}");
    assert_none(differences("late", &seen, &want));
}

/// Schemas and options name tables: only those who register see them.
#[test]
fn registrations_do_not_name_what_is_hidden() {
    let all = everything();
    let (reader, registrar) = (all.role("reader"), all.role("registrar"));
    let rights = format!(
        "GRANT USAGE ON SCHEMA clinic TO {reader}, {registrar}; GRANT SELECT ON clinic.patient TO {reader}, {registrar};
         GRANT EXECUTE ON FUNCTION nl2sql_register TO {registrar}"
    );
    all.connect().batch_execute(&rights).expect("rights");
    let mut session = all.connect_as(&reader);
    let seen = rows(&mut session, "SELECT datasource, schemas, options FROM nl2sql.datasources");
    assert_eq!(seen, serde_json::json!([{ "datasource": "clinic", "schemas": ["clinic"], "options": null }]));
    assert_eq!(text(&mut session, "SELECT count(*) FROM nl2sql.datasource_setting").as_deref(), Some("0"));
    for query in
        ["TABLE nl2sql.datasources", "SELECT * FROM nl2sql_health()", "SELECT * FROM nl2sql_mmr('x', k => 300)"]
    {
        let shown = rows(&mut session, query).to_string();
        for hidden in ["secret", "clinic.visit", "archive", "depot", "shop"] {
            assert!(!shown.contains(hidden), "{query} names {hidden}: {shown}");
        }
    }
    let options = "SELECT options ->> 'exclude' FROM nl2sql.datasources";
    assert_eq!(text(&mut all.connect_as(&registrar), options).as_deref(), Some(r#"["clinic.secret*"]"#));
}

/// An error suggests only names that exist for the role.
#[test]
fn an_error_does_not_suggest_a_hidden_name() {
    let all = everything();
    let role = all.role("guesser");
    let mut dba = all.connect();
    dba.batch_execute(&format!(
        "GRANT USAGE ON SCHEMA shop, depot TO {role}; GRANT SELECT ON shop.open_order TO {role}"
    ))
    .expect("rights");
    let mut session = all.connect_as(&role);
    for (near, hidden) in [
        ("SELECT * FROM nl2sql_mmr('x', tables => ARRAY['shop.paymnt'])", "shop.payment"),
        ("SELECT * FROM nl2sql_mmr('x', datasources => ARRAY['depo'])", "depot"),
        ("SELECT * FROM nl2sql_route('x', datasources => ARRAY['clinc'])", "clinic"),
        ("SELECT nl2sql_snapshot('depo')", "depot"),
        ("SELECT * FROM nl2sql_health('clinik')", "clinic"),
        ("SELECT * FROM nl2sql_versions('clnic')", "clinic"),
    ] {
        let (offered, got) = (ask(&mut dba, near), ask(&mut session, near));
        assert!(offered.contains(hidden), "{near} offers it to the superuser: {offered}");
        assert!(got.starts_with("42704 ") && !got.contains(hidden), "{near}: {got}");
    }
}
