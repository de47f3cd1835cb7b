//! The server's log: one line for each build, without questions or stored values.

use nl2sql_tests::{Cluster, rows, text};
use postgres::Client;
use serde_json::json;

fn builds(cluster: &Cluster) -> Vec<String> {
    cluster.log().lines().filter(|line| line.contains("nl2sql: build ")).map(str::to_owned).collect()
}

fn ask(client: &mut Client, question: &str) {
    for function in ["nl2sql_mmr", "nl2sql_route"] {
        // As a parameter: the server itself logs the text of a statement.
        client.query(&format!("SELECT * FROM {function}($1)"), &[&question]).expect(function);
    }
    for function in ["nl2sql_embed", "nl2sql_mmr_explain", "nl2sql_route_explain"] {
        client.query(&format!("SELECT {function}($1)::text"), &[&question]).expect(function);
    }
}

#[test]
fn a_build_is_one_line_and_nothing_that_was_said_is_in_it() {
    let cluster = Cluster::start(&["log_min_messages=log"]);
    let database = cluster.database();
    let mut client = database.connect();
    client
        .batch_execute(
            "CREATE SCHEMA ledger; CREATE TABLE ledger.account (number int PRIMARY KEY, owner text);
             INSERT INTO ledger.account SELECT n, 'xanthippe' FROM generate_series(1, 100) n; ANALYZE ledger.account;
             CREATE SCHEMA empty; CREATE TABLE empty.gone (number int)",
        )
        .expect("two schemas");
    assert_eq!(text(&mut client, "SELECT status FROM nl2sql_index('ledger')").as_deref(), Some("indexed"));
    let lines = builds(&cluster);
    assert_eq!(lines.len(), 1, "{}", cluster.log());
    assert!(lines[0].contains(" LOG:  nl2sql: build datasource=\"ledger\" status=\"indexed\" build=1 "), "{lines:?}");
    let version = text(&mut client, "SELECT schema_version FROM nl2sql.pointer").expect("a version");
    for words in [&format!("schema_version=\"{version}\""), "entries=4", "embedded=4", "reused=0", "seconds="] {
        assert!(lines[0].contains(words), "{words}: {lines:?}");
    }
    assert_eq!(text(&mut client, "SELECT status FROM nl2sql_index('empty')").as_deref(), Some("indexed"));
    client.batch_execute("DROP SCHEMA empty CASCADE").expect("a schema less");
    let statuses = rows(&mut client, "SELECT datasource, status FROM nl2sql_index() ORDER BY 1");
    assert_eq!(
        statuses,
        json!([{ "datasource": "empty", "status": "failed" }, { "datasource": "ledger", "status": "unchanged" }])
    );
    let lines = builds(&cluster);
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[2].contains("datasource=\"empty\" status=\"failed\""), "{lines:?}");
    assert!(lines[3].contains("datasource=\"ledger\" status=\"unchanged\""), "{lines:?}");

    ask(&mut client, "does the zyzzyva weevil pay its bills?");
    let log = cluster.log();
    assert!(!log.contains("zyzzyva"), "{log}");
    assert!(!log.contains("xanthippe"), "{log}");
    assert!(!log.contains("backtrace") && !log.contains("panicked"), "{log}");

    client.batch_execute("SET log_min_messages = debug1").expect("a setting");
    ask(&mut client, "does the zyzzyva weevil pay its debts?");
    client.batch_execute("COMMENT ON TABLE ledger.account IS 'books'").expect("a comment");
    assert_eq!(text(&mut client, "SELECT status FROM nl2sql_index('ledger')").as_deref(), Some("indexed"));
    let log = cluster.log();
    assert!(log.contains("DEBUG:  nl2sql: "), "{log}");
    assert!(!log.contains("xanthippe"), "rows are in no log: {log}");
    assert_eq!(builds(&cluster).len(), 5);
}
