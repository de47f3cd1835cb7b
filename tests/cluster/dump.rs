//! Dump and restore, removal of the extension, and the schemas that it and pgvector can be in.

use nl2sql_tests::{Database, rows, sqlstate, text};
use postgres::Client;
use serde_json::json;
use std::io::Write;
use std::process::{Command, Stdio};

const REGISTERED: &str = "
    CREATE SCHEMA ledger; CREATE TABLE ledger.account (number int PRIMARY KEY, balance numeric);
    CREATE SCHEMA \"Flower Garden\"; CREATE TABLE \"Flower Garden\".rose (name text PRIMARY KEY, blooms date);
    CREATE SCHEMA harbor; CREATE TABLE harbor.ship (name text PRIMARY KEY);
    SELECT nl2sql_register('ledger', description => 'books, isn''t it', domains => '{money,\"two words\"}',
        sample_questions => ARRAY['what is the balance?', E'a \"quoted\"\\nquestion, 東京'],
        options => '{\"exclude_columns\": [\"ledger.account.balance\"], \"sample_values\": true}');
    SELECT nl2sql_register('garden', schemas => '{Flower Garden}');
    SELECT nl2sql_register('gone', schemas => '{harbor}');
    SELECT nl2sql_unregister('gone')";

const CURATED: &str = r#"SELECT nl2sql_curated_import($doc$
    datasources:
      ledger:
        verified_queries:
        - {id: rich, questions: ["Who has more than {sum}?"], params: {sum: {type: float, default: 0.5}}, sql: "SELECT number FROM account WHERE number > :sum"}
        metrics: [{name: accounts, expression: count(*), table: account}]
        glossary: [{term: 'a "term"', definition: "東京", synonyms: ["it's"], tables: [account]}]
    $doc$)"#;

/// What users wrote: the whole registration, including its number.
const WRITTEN: &str = "
    SELECT d.*, s.schemas, s.options FROM nl2sql.datasource d
    JOIN nl2sql.datasource_setting s ON s.datasource = d.name ORDER BY d.name";

/// One of the server's programs, for the cluster of the client.
fn program(client: &mut Client, name: &str) -> Command {
    let bin = text(client, "SELECT setting FROM pg_config() WHERE name = 'BINDIR'").expect("BINDIR");
    let mut command = Command::new(format!("{bin}/{name}"));
    let socket = text(client, "current_setting('unix_socket_directories')").expect("a socket");
    command.args(["-h", &socket, "-U", "postgres"]).env("PGOPTIONS", "-c client_min_messages=warning");
    command
}

fn dump(database: &Database, args: &[&str]) -> Vec<u8> {
    let output = program(&mut database.connect(), "pg_dump").args(args).arg(&database.name).output().expect("pg_dump");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Restores a dump into a new database; the first error ends it.
fn restore(dump: &[u8]) -> Database {
    let database = Database::blank();
    // The dump creates the extension itself.
    database.connect().batch_execute("DROP EXTENSION nl2sql; DROP EXTENSION vector").expect("an empty database");
    let mut psql = program(&mut database.connect(), "psql");
    psql.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", &database.name]).stdin(Stdio::piped());
    let mut psql = psql.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("psql");
    psql.stdin.take().expect("a pipe").write_all(dump).expect("psql reads on");
    let output = psql.wait_with_output().expect("psql");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    database
}

#[test]
fn registrations_come_back_and_indexes_are_rebuilt() {
    let database = Database::blank();
    let mut client = database.connect();
    client.batch_execute(REGISTERED).expect("two datasources");
    text(&mut client, "SELECT count(*) FROM nl2sql_index()");
    client.batch_execute(CURATED).expect("curated content");
    client.batch_execute("SELECT nl2sql_index('ledger', curated_only => true)").expect("indexed");
    let dumped = dump(&database, &[]);
    let script = String::from_utf8_lossy(&dumped);
    assert!(script.contains("CREATE EXTENSION IF NOT EXISTS nl2sql"));
    for line in script.lines().filter(|line| line.contains("nl2sql")) {
        assert!(!line.starts_with("CREATE TABLE") && !line.starts_with("ALTER TABLE"), "the extension's own: {line}");
    }
    let copied: Vec<&str> = script.lines().filter(|line| line.starts_with("COPY nl2sql.")).collect();
    assert_eq!(copied.len(), 6, "what users wrote, and nothing derived from it: {copied:?}");

    let restored = restore(&dumped);
    let mut copy = restored.connect();
    assert_eq!(rows(&mut copy, WRITTEN), rows(&mut client, WRITTEN));
    assert_eq!(text(&mut copy, "nl2sql_curated_export()"), text(&mut client, "nl2sql_curated_export()"));
    let health = rows(&mut copy, "SELECT datasource, status, problems FROM nl2sql_health() ORDER BY datasource");
    for one in health.as_array().expect("rows") {
        let name = one["datasource"].as_str().expect("a name");
        assert_eq!(one["status"], "missing", "{one}");
        let problem = one["problems"][0].as_str().expect("a problem");
        assert!(problem.contains(&format!("nl2sql_index('{name}')")), "{one}");
    }
    assert_eq!(health.as_array().map(Vec::len), Some(2));
    for name in ["garden", "ledger"] {
        text(&mut copy, &format!("SELECT status FROM nl2sql_index('{name}')"));
    }
    assert_eq!(rows(&mut copy, "SELECT DISTINCT status FROM nl2sql_health()"), json!([{ "status": "ok" }]));
    let question =
        "SELECT datasource, text, similarity FROM nl2sql_mmr('what is the balance?') ORDER BY text, datasource";
    assert_eq!(rows(&mut copy, question), rows(&mut client, question));

    // The sequence is restored, too: a number is not given twice, not even that of a removed datasource.
    let last = text(&mut client, "SELECT last_value FROM nl2sql.datasource_id_seq");
    assert_eq!(text(&mut copy, "SELECT last_value FROM nl2sql.datasource_id_seq"), last);
    text(&mut copy, "nl2sql_register('harbor')");
    let id = text(&mut copy, "SELECT id FROM nl2sql.datasource WHERE name = 'harbor'").expect("a number");
    assert!(id.parse::<i32>().expect("a number") > last.expect("a number").parse().expect("a number"));
    assert_eq!(text(&mut copy, "SELECT status FROM nl2sql_index('harbor')").as_deref(), Some("indexed"));
}

/// A dump of a restored database equals the dump that it was restored from.
#[test]
fn a_second_dump_is_the_first() {
    let database = Database::blank();
    database.connect().batch_execute(REGISTERED).expect("two datasources");
    let own = |dump: &[u8]| -> Vec<String> {
        let script = String::from_utf8_lossy(dump).into_owned();
        // Newer versions of pg_dump put a random key around the script.
        script
            .lines()
            .filter(|line| !line.starts_with("\\restrict") && !line.starts_with("\\unrestrict"))
            .map(str::to_owned)
            .collect()
    };
    let first = dump(&database, &[]);
    let second = dump(&restore(&first), &[]);
    assert_eq!(own(&second), own(&first));
}

#[test]
fn schema_and_data_can_be_dumped_apart() {
    let database = Database::blank();
    let mut client = database.connect();
    client.batch_execute(REGISTERED).expect("two datasources");
    let mut script = dump(&database, &["--schema-only"]);
    script.extend(dump(&database, &["--data-only"]));
    let mut copy = restore(&script).connect();
    assert_eq!(rows(&mut copy, WRITTEN), rows(&mut client, WRITTEN));
}

/// A namespace that was created after the installation belongs to the extension like the first one.
#[test]
fn a_namespace_that_was_made_again_is_not_dumped() {
    let database = Database::blank();
    let mut client = database.connect();
    client.batch_execute(REGISTERED).expect("two datasources");
    let partition = "nl2sql.\"nl2sql__local-all-minilm-l6-v2__384\"";
    client
        .batch_execute(&format!("ALTER EXTENSION nl2sql DROP TABLE {partition}; DROP TABLE {partition}"))
        .expect("a namespace less");
    text(&mut client, "SELECT count(*) FROM nl2sql_index()");
    let script = String::from_utf8_lossy(&dump(&database, &[])).into_owned();
    assert!(!script.lines().any(|line| line.starts_with("CREATE TABLE nl2sql.")), "{script}");
    client.batch_execute("DROP EXTENSION nl2sql").expect("nothing depends on it");
}

/// Rows, in any catalog, of objects whose name or schema is the extension's.
const LEFT: &str = "
    SELECT 'schema' AS kind, nspname::text AS name FROM pg_namespace WHERE nspname LIKE 'nl2sql%'
    UNION ALL SELECT 'function', proname FROM pg_proc WHERE proname LIKE 'nl2sql%'
    UNION ALL SELECT 'relation', relname FROM pg_class WHERE relname LIKE 'nl2sql%'
    UNION ALL SELECT 'type', typname FROM pg_type WHERE typname LIKE '%nl2sql%'
    UNION ALL SELECT 'extension', extname FROM pg_extension WHERE extname = 'nl2sql'
    UNION ALL SELECT 'privilege', defaclobjtype::text FROM pg_default_acl";

#[test]
fn the_extension_goes_without_a_trace_and_comes_back() {
    let database = Database::demo();
    let mut client = database.connect();
    assert_ne!(rows(&mut client, LEFT), json!([]));
    client.batch_execute("DROP EXTENSION nl2sql CASCADE").expect("it goes");
    assert_eq!(rows(&mut client, LEFT), json!([]));
    assert_eq!(sqlstate(&mut client, "SELECT nl2sql_embed('gone')"), "42883");
    // In the same session, with the library still loaded and new OIDs.
    client.batch_execute("CREATE EXTENSION nl2sql CASCADE").expect("it comes back");
    assert_eq!(rows(&mut client, "SELECT * FROM nl2sql.datasources"), json!([]));
    assert_eq!(text(&mut client, "SELECT status FROM nl2sql_index('helpdesk')").as_deref(), Some("indexed"));
    assert_eq!(text(&mut client, "SELECT datasource FROM nl2sql_route('open tickets')").as_deref(), Some("helpdesk"));
    client.batch_execute("DROP EXTENSION vector CASCADE").expect("pgvector goes, and nl2sql with it");
    assert_eq!(rows(&mut client, LEFT), json!([]));
}

/// All public functions, qualified with their schema.
fn assert_works(client: &mut Client, functions: &str) {
    client
        .batch_execute("CREATE SCHEMA ledger; CREATE TABLE ledger.account (number int PRIMARY KEY, balance numeric)")
        .expect("a schema");
    for call in [
        "register('ledger', description => 'books')",
        "index('ledger')",
        "index()",
        "embed('what is the balance?')",
        "mmr('what is the balance?')",
        "mmr_explain('what is the balance?', types => '{schema.column}')",
        "route('what is the balance?')",
        "route_explain('what is the balance?')",
        "versions('ledger')",
        "snapshot('ledger')",
        "health()",
    ] {
        let found = rows(client, &format!("SELECT * FROM {functions}.nl2sql_{call}"));
        assert_ne!(found, json!([]), "{call}");
    }
    let health = rows(client, &format!("SELECT status FROM {functions}.nl2sql_health()"));
    assert_eq!(health, json!([{ "status": "ok" }]));
    assert_ne!(rows(client, "SELECT * FROM nl2sql.datasources"), json!([]));
    assert_eq!(rows(client, &format!("SELECT * FROM {functions}.nl2sql_prune()")), json!([]));
    assert_eq!(text(client, &format!("{functions}.nl2sql_unregister('ledger')")).as_deref(), Some("true"));
}

/// A database without extensions.
fn empty() -> (Database, Client) {
    let database = Database::blank();
    let mut client = database.connect();
    client.batch_execute("DROP EXTENSION nl2sql; DROP EXTENSION vector").expect("no extension");
    (database, client)
}

#[test]
fn it_works_in_a_schema_outside_the_search_path() {
    let (_database, mut client) = empty();
    client.batch_execute("CREATE SCHEMA ext; CREATE EXTENSION nl2sql SCHEMA ext CASCADE").expect("both extensions");
    assert_eq!(
        rows(
            &mut client,
            "SELECT extname, extnamespace::regnamespace::text AS schema FROM pg_extension
                           WHERE extname IN ('nl2sql', 'vector') ORDER BY 1"
        ),
        json!([{ "extname": "nl2sql", "schema": "ext" }, { "extname": "vector", "schema": "ext" }])
    );
    for path in ["pg_catalog", "''", "\"$user\", public"] {
        client.batch_execute(&format!("SET search_path = {path}")).expect("a search path");
        assert_works(&mut client, "ext");
        client.batch_execute("DROP SCHEMA ledger CASCADE").expect("a schema less");
    }
}

#[test]
fn it_works_with_pgvector_in_a_third_schema() {
    let (_database, mut client) = empty();
    client
        .batch_execute(
            "CREATE SCHEMA \"Vector Home\"; CREATE EXTENSION vector SCHEMA \"Vector Home\";
             CREATE SCHEMA \"Own Home\"; CREATE EXTENSION nl2sql SCHEMA \"Own Home\"",
        )
        .expect("each in its own schema");
    assert_works(&mut client, "\"Own Home\"");
    // pgvector may move afterwards: its schema is not stored.
    client.batch_execute("DROP SCHEMA ledger CASCADE; ALTER EXTENSION vector SET SCHEMA public").expect("a move");
    assert_works(&mut client, "\"Own Home\"");
}

/// The dump of a database with extensions in other schemas restores there.
#[test]
fn a_dump_restores_into_the_same_schemas() {
    for extensions in [
        "CREATE SCHEMA ext; CREATE EXTENSION nl2sql SCHEMA ext CASCADE",
        "CREATE SCHEMA ext; CREATE SCHEMA zone; CREATE EXTENSION vector SCHEMA zone; CREATE EXTENSION nl2sql SCHEMA ext",
    ] {
        let (database, mut client) = empty();
        client.batch_execute(extensions).expect(extensions);
        client
            .batch_execute(
                "CREATE SCHEMA ledger; CREATE TABLE ledger.account (number int PRIMARY KEY);
                 SELECT ext.nl2sql_register('ledger', description => 'books'); SELECT ext.nl2sql_index('ledger')",
            )
            .expect("a datasource");
        let mut copy = restore(&dump(&database, &[])).connect();
        assert_eq!(rows(&mut copy, WRITTEN), rows(&mut client, WRITTEN), "{extensions}");
        let status = text(&mut copy, "SELECT status FROM ext.nl2sql_index('ledger')");
        assert_eq!(status.as_deref(), Some("indexed"), "{extensions}");
    }
}

/// A user who may create extensions but is no superuser gets an error that names what is missing.
#[test]
fn only_a_superuser_installs_it() {
    let database = Database::blank();
    let role = database.role("installer");
    let mut client = database.connect();
    client
        .batch_execute(&format!("DROP EXTENSION nl2sql; GRANT CREATE ON DATABASE {} TO {role}", database.name))
        .expect("a right");
    assert_eq!(sqlstate(&mut database.connect_as(&role), "CREATE EXTENSION nl2sql"), "42501");
    assert_eq!(rows(&mut client, LEFT), json!([]));
}
