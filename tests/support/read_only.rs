//! Calls that read and calls that write, for servers and transactions where nothing can be written.

use crate::{error, rows};
use postgres::Client;
use serde_json::Value;

/// Every function that reads, and the tables and views that a user reads.
pub const READS: [&str; 22] = [
    "SELECT nl2sql_embed('which rose blooms first?')",
    "SELECT * FROM nl2sql_mmr('which rose blooms first?', k => 5)",
    "SELECT * FROM nl2sql_mmr('balance', types => '{schema.column}', datasources => '{ledger}')",
    "SELECT nl2sql_mmr_explain('which rose blooms first?')",
    "SELECT * FROM nl2sql_route('which rose blooms first?')",
    "SELECT nl2sql_route_explain('which rose blooms first?')",
    "SELECT * FROM nl2sql_health()",
    "SELECT * FROM nl2sql_health('ledger')",
    "SELECT * FROM nl2sql_versions('ledger')",
    "SELECT nl2sql_snapshot('ledger')",
    "SELECT nl2sql_snapshot('garden', (SELECT min(schema_version) FROM nl2sql_versions('garden')))",
    "SELECT * FROM nl2sql.datasources ORDER BY datasource",
    "SELECT datasource, id, text FROM nl2sql.entry ORDER BY build, id",
    "SELECT * FROM nl2sql.pointer ORDER BY datasource",
    "SELECT * FROM nl2sql.build ORDER BY id",
    "SELECT * FROM nl2sql.relation ORDER BY id",
    "SELECT * FROM nl2sql_match('what is on account 7?')",
    "SELECT nl2sql_bind('ledger', 'one', '{\"n\": 7}')",
    "SELECT nl2sql_curated_export()",
    "SELECT count(*) FROM nl2sql_curated_validate()",
    "SELECT * FROM nl2sql_check()",
    "SELECT nl2sql_schema_prompt('ledger', 'what is the balance?')",
];

pub const WRITES: [&str; 11] = [
    "SELECT * FROM nl2sql_index()",
    "SELECT * FROM nl2sql_index('ledger')",
    "SELECT * FROM nl2sql_index('unregistered')",
    "SELECT nl2sql_register('ledger', description => 'books')",
    "SELECT nl2sql_unregister('ledger')",
    "SELECT nl2sql_unregister('nothing')",
    "SELECT * FROM nl2sql_prune()",
    "SELECT * FROM nl2sql_index('ledger', curated_only => true)",
    "SELECT * FROM nl2sql_curated_import('datasources: {}')",
    "SELECT nl2sql_verified_query('ledger', 'two', '{two?}', 'SELECT 2')",
    "SELECT nl2sql_remove_verified_query('ledger', 'one')",
];

pub const SCHEMAS: &str = "
    CREATE SCHEMA ledger; CREATE TABLE ledger.account (number int PRIMARY KEY, balance numeric);
    CREATE TABLE ledger.booking (number int PRIMARY KEY, account int REFERENCES ledger.account, amount numeric);
    CREATE SCHEMA garden; CREATE TABLE garden.rose (name text PRIMARY KEY, blooms date);
    CREATE SCHEMA unregistered; CREATE TABLE unregistered.nothing (number int);
    SELECT nl2sql_register('ledger', sample_questions => '{what is the balance?}');
    SELECT nl2sql_register('garden', description => 'roses and their seasons');
    SELECT nl2sql_index();
    SELECT nl2sql_verified_query('ledger', 'one', ARRAY['what is on account {n}?'], 'SELECT balance FROM account WHERE number = :n',
        params => '{\"n\": {\"type\": \"int\"}}');
    SELECT nl2sql_index('ledger', curated_only => true)";

pub fn read_all(client: &mut Client) -> Vec<Value> {
    READS.iter().map(|sql| rows(client, sql)).collect()
}

pub fn assert_refuses_to_write(client: &mut Client) {
    for statement in WRITES {
        let refused = error(client, statement);
        assert_eq!(refused.code().code(), "25006", "{statement}: {refused}");
        let function = statement.split_once("nl2sql_").and_then(|(_, call)| call.split_once('(')).expect("a call").0;
        assert!(refused.message().contains(&format!("nl2sql_{function}()")), "{statement}: {refused}");
    }
}
