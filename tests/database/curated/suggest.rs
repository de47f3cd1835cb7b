//! `nl2sql_suggest_queries` without pg_stat_statements.

use nl2sql_tests::{Database, error, sqlstate};

#[test]
fn without_it_the_hint_says_how_to_get_it() {
    let database = Database::demo();
    let found = error(&mut database.connect(), "SELECT * FROM nl2sql_suggest_queries('chinook')");
    assert_eq!(found.code().code(), "55000");
    assert!(found.hint().is_some_and(|hint| hint.contains("CREATE EXTENSION pg_stat_statements")), "{found:?}");
    for (call, code) in
        [("'chinok'", "42704"), ("NULL", "22004"), ("'chinook', 0", "22023"), ("'chinook', 1, 0", "22023")]
    {
        assert_eq!(
            sqlstate(&mut database.connect(), &format!("SELECT * FROM nl2sql_suggest_queries({call})")),
            code,
            "{call}"
        );
    }
}
