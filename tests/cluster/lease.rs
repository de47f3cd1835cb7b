//! A lease that no session holds.

use nl2sql_tests::lease::{holder, status, two};
use nl2sql_tests::{Cluster, error};
use postgres::Client;

/// A build in a prepared transaction holds the lease without a session: the error names the transaction, which somebody
/// has to end.
#[test]
fn a_prepared_transaction_is_named() {
    let settings = ["max_prepared_transactions=2", "synchronous_commit=on"];
    let cluster = Cluster::start(&settings);
    let database = cluster.database();
    let mut client = two(&database);
    let (mut first, _) = holder(&database, "ledger");
    first.batch_execute("PREPARE TRANSACTION 'left behind'").expect("a prepared transaction");
    drop(first);
    let refused = |client: &mut Client, when: &str| {
        let refused = error(client, "SELECT nl2sql_index('ledger')");
        assert_eq!(refused.code().code(), "55P03", "{when}");
        assert!(refused.detail().is_some_and(|detail| detail.contains("left behind")), "{when}: {refused:?}");
    };
    refused(&mut client, "in the session's time");
    cluster.restart("fast", &settings);
    let mut client = database.connect();
    refused(&mut client, "after a restart");
    client.batch_execute("COMMIT PREPARED 'left behind'").expect("a commit");
    assert_eq!(status(&mut client, "ledger"), "unchanged");
}
