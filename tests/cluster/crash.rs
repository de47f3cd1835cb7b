//! A build that ends with a crash: recovery brings back what was committed before, and nothing else.

use nl2sql_tests::builds::{PARTITION, Running, assert_as_before, assert_sound, grow, index, plant, state};
use nl2sql_tests::curated_builds::{BUILD_CURATED, plant_with_content};
use nl2sql_tests::{Cluster, rows, text};
use postgres::{Client, Config, NoTls};
use std::process::Command;

/// A commit must be on disk when the next line runs, as on a production server.
const SETTINGS: [&str; 1] = ["synchronous_commit=on"];

/// Connects again as soon as recovery allows it.
fn reconnect(cluster: &Cluster, database: &str) -> Client {
    loop {
        if let Ok(client) = Config::new().host_path(cluster.dir()).user("postgres").dbname(database).connect(NoTls) {
            return client;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn a_killed_backend_leaves_the_previous_build() {
    let cluster = Cluster::start(&SETTINGS);
    let database = cluster.database();
    let mut witness = database.connect();
    plant(&mut witness, "plant");
    assert_eq!(index(&mut witness, "plant"), "indexed");
    let before = state(&mut witness);
    grow(&mut witness, "plant", 8, 200);
    let running = Running::start(&mut witness, "", "SELECT * FROM nl2sql_index('plant')");
    running.reach_model(&mut witness, "plant");
    let killed = Command::new("kill").args(["-9", &running.pid.to_string()]).status().expect("kill");
    assert!(killed.success());
    assert_eq!(running.failure(), None, "the connection breaks without an error of the server's");
    // The server ends every other session before it recovers.
    while witness.simple_query("SELECT 1").is_ok() {}
    let mut witness = reconnect(&cluster, &database.name);
    assert!(cluster.log().contains("was terminated by signal 9"), "{}", cluster.log());
    assert_as_before(&mut witness, &before);
    assert_eq!(index(&mut witness, "plant"), "indexed");
    assert_sound(&mut witness);
    let tables = text(&mut witness, "SELECT counts -> 'schema.table' FROM nl2sql_health('plant')");
    assert_eq!(tables.as_deref(), Some("200"));
}

/// The server stops while entries are being written: a trigger holds the build there.
#[test]
fn an_immediate_shutdown_leaves_the_previous_build() {
    let cluster = Cluster::start(&SETTINGS);
    let database = cluster.database();
    let mut witness = database.connect();
    plant(&mut witness, "plant");
    assert_eq!(index(&mut witness, "plant"), "indexed");
    let before = state(&mut witness);
    grow(&mut witness, "plant", 8, 20);
    witness
        .batch_execute(&format!(
            "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN
                 IF NEW.id LIKE '%saddle%' THEN PERFORM pg_advisory_xact_lock(7); END IF;
                 RETURN NEW;
             END $$;
             CREATE TRIGGER hold BEFORE INSERT ON {PARTITION} FOR EACH ROW EXECUTE FUNCTION hold();
             SELECT pg_advisory_lock(7)"
        ))
        .expect("a trigger that waits");
    let running = Running::start(&mut witness, "", "SELECT * FROM nl2sql_index('plant')");
    assert!(running.reaches("nl2sql: writing entries"), "the build has ended");
    let waiting = format!("SELECT pid FROM pg_stat_activity WHERE pid = {} AND wait_event_type = 'Lock'", running.pid);
    while rows(&mut witness, &waiting) == serde_json::json!([]) {
        running.assert_building(&mut witness, "plant");
    }
    cluster.restart("immediate", &SETTINGS);
    assert_eq!(running.failure(), None, "the connection breaks after a warning");
    let mut witness = database.connect();
    assert!(cluster.log().contains("automatic recovery in progress"), "{}", cluster.log());
    assert_as_before(&mut witness, &before);
    witness.batch_execute(&format!("DROP TRIGGER hold ON {PARTITION}")).expect("no trigger");
    assert_eq!(index(&mut witness, "plant"), "indexed");
    assert_sound(&mut witness);
}

#[test]
fn a_killed_backend_leaves_the_previous_build_and_content() {
    let cluster = Cluster::start(&["synchronous_commit=on"]);
    let database = cluster.database();
    let mut witness = database.connect();
    plant_with_content(&mut witness, 600);
    let content_of = "SELECT id, questions, sql, reads FROM nl2sql.verified_query ORDER BY id";
    let (before, content) = (state(&mut witness), rows(&mut witness, content_of));
    let import = format!(
        "BEGIN; SELECT nl2sql_curated_import('datasources: {{plant: {{}}}}'); {BUILD_CURATED}; SELECT pg_sleep(600)"
    );
    for (sql, stage) in [(BUILD_CURATED, "nl2sql: embedding"), (import.as_str(), "build datasource")] {
        let running = Running::start(&mut witness, "", sql);
        if stage.starts_with("nl2sql") {
            assert!(running.reaches(stage), "the build has ended");
        } else {
            let asleep =
                format!("EXISTS (SELECT FROM pg_stat_activity WHERE pid = {} AND wait_event = 'PgSleep')", running.pid);
            while text(&mut witness, &asleep).as_deref() == Some("false") {}
        }
        let killed = Command::new("kill").args(["-9", &running.pid.to_string()]).status().expect("kill");
        assert!(killed.success());
        assert_eq!(running.failure(), None, "the connection breaks");
        while witness.simple_query("SELECT 1").is_ok() {}
        witness = reconnect(&cluster, &database.name);
        assert_as_before(&mut witness, &before);
        assert_eq!(rows(&mut witness, content_of), content);
    }
    witness.batch_execute(BUILD_CURATED).expect("the next build");
    assert_sound(&mut witness);
    assert_eq!(
        text(&mut witness, "SELECT counts -> 'curated.verified_query' FROM nl2sql_health('plant')").as_deref(),
        Some("600")
    );
}
