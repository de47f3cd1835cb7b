//! A read-only transaction: reading works there, writing reports why it does not.

use nl2sql_tests::read_only::{READS, SCHEMAS, assert_refuses_to_write, read_all};
use nl2sql_tests::{Database, describe, text};

#[test]
fn a_read_only_transaction_reads_and_refuses_to_write() {
    let database = Database::blank();
    let mut client = database.connect();
    client.batch_execute(SCHEMAS).expect("two datasources");
    let outside = read_all(&mut client);
    client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").expect("a transaction");
    assert_eq!(read_all(&mut client), outside);
    client.batch_execute("COMMIT; SET default_transaction_read_only = on").expect("a setting");
    assert_eq!(read_all(&mut client), outside);
    assert_refuses_to_write(&mut client);
    client.batch_execute("SET default_transaction_read_only = off").expect("a setting");
    assert_eq!(read_all(&mut client), outside);
}

/// Reading assigns no transaction id: a standby has none, and a busy primary should not waste them.
#[test]
fn reading_takes_no_transaction_id() {
    let database = Database::blank();
    let mut client = database.connect();
    client.batch_execute(SCHEMAS).expect("two datasources");
    for sql in READS {
        client.batch_execute(&format!("BEGIN; {sql}")).unwrap_or_else(|error| panic!("{sql}: {}", describe(&error)));
        assert_eq!(text(&mut client, "pg_current_xact_id_if_assigned()"), None, "{sql}");
        client.batch_execute("COMMIT").expect("a commit");
    }
}
