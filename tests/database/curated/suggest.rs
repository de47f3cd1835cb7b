//! `nl2sql_suggest_queries` without pg_stat_statements.

use nl2sql_tests::{Database, error};

#[test]
fn without_it_the_hint_says_how_to_get_it() {
    let database = Database::demo();
    let found = error(&mut database.connect(), "SELECT * FROM nl2sql_suggest_queries('chinook')");
    assert_eq!(found.code().code(), "55000");
    assert!(found.hint().is_some_and(|hint| hint.contains("CREATE EXTENSION pg_stat_statements")), "{found:?}");
}
