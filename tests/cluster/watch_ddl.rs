//! Watching DDL ends with the extension.

use nl2sql_tests::{Cluster, text};

#[test]
fn it_goes_with_the_extension() {
    let cluster = Cluster::start(&[]);
    let database = cluster.database();
    let mut client = database.connect();
    client.batch_execute("SELECT nl2sql_watch_ddl(); DROP EXTENSION nl2sql; CREATE TABLE t (id int)").unwrap();
    assert_eq!(text(&mut client, "SELECT count(*) FROM pg_event_trigger").as_deref(), Some("0"));
}
