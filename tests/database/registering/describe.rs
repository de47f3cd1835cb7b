//! Descriptions of what has no comment.

use nl2sql_tests::{Database, error, sqlstate, text};
use postgres::Client;

#[test]
fn descriptions_go_before_comments() {
    let database = Database::demo();
    let mut client = database.connect();
    let described = |client: &mut Client, table: &str, column: &str| -> (Option<String>, Option<String>) {
        let table_of = format!(
            "SELECT t FROM jsonb_array_elements(nl2sql_snapshot('chinook') -> 'tables') t WHERE t ->> 'name' = '{table}'"
        );
        (
            text(client, &format!("SELECT t ->> 'description' FROM ({table_of}) AS x (t)")),
            text(
                client,
                &format!(
                    "SELECT c ->> 'description' || ' ' || (c ->> 'synonyms') FROM ({table_of}) AS x (t), jsonb_array_elements(t -> 'columns') c WHERE c ->> 'name' = '{column}'"
                ),
            ),
        )
    };
    let before = described(&mut client, "album", "title");
    client
        .batch_execute(
            "SELECT nl2sql_describe('chinook', 'chinook.album', ' A long player ');
             SELECT nl2sql_describe('chinook', 'Chinook.ALBUM', 'What the cover says', 'title', synonyms => '{disc,longplay}')",
        )
        .unwrap();
    assert_eq!(described(&mut client, "album", "title"), before, "from the next build on");
    client.batch_execute("SELECT nl2sql_index('chinook')").unwrap();
    let after = described(&mut client, "album", "title");
    assert_eq!(after, (Some("A long player".into()), Some("What the cover says [\"disc\", \"longplay\"]".into())));
    let entry = "SELECT count(*) FROM nl2sql.entry WHERE text LIKE '%What the cover says%longplay%'";
    assert_eq!(text(&mut client, entry).as_deref(), Some("1"));
    // Synonyms beside the comment, then nothing: the comment again.
    client.batch_execute("SELECT nl2sql_describe('chinook', 'chinook.album', NULL, 'title', '{disc}'); SELECT nl2sql_describe('chinook', 'chinook.album', ' '); SELECT nl2sql_index('chinook')").unwrap();
    assert_eq!(described(&mut client, "album", "title").1.unwrap(), "Name printed on the record [\"disc\"]");
    client
        .batch_execute(
            "SELECT nl2sql_describe('chinook', 'chinook.album', NULL, 'title'); SELECT nl2sql_index('chinook')",
        )
        .unwrap();
    assert_eq!(described(&mut client, "album", "title"), before);
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql.description").as_deref(), Some("0"));
    // A description of a dropped table can be removed.
    client.batch_execute("SELECT nl2sql_describe('chinook', 'chinook.genre', 'x'); ALTER TABLE chinook.genre RENAME TO style; SELECT nl2sql_index('chinook'); SELECT nl2sql_describe('chinook', 'chinook.genre', NULL)").unwrap();
    assert_eq!(text(&mut client, "SELECT count(*) FROM nl2sql.description").as_deref(), Some("0"));
}

#[test]
fn describing_what_is_not_there() {
    let database = Database::demo();
    let role = database.role("curator");
    let mut client = database.connect();
    assert!(
        error(&mut client, "SELECT nl2sql_describe('chinook', 'chinook.albm', 'x')")
            .hint()
            .unwrap()
            .contains("chinook.album")
    );
    assert!(
        error(&mut client, "SELECT nl2sql_describe('chinook', 'chinook.album', 'x', 'titel')")
            .hint()
            .unwrap()
            .contains("\"title\"")
    );
    // A role with EXECUTE may describe what it may read.
    client.batch_execute(&format!("GRANT EXECUTE ON FUNCTION nl2sql_describe TO {role}; GRANT USAGE ON SCHEMA chinook TO {role}; GRANT SELECT ON chinook.album TO {role}")).unwrap();
    let mut curator = database.connect_as(&role);
    curator.batch_execute("SELECT nl2sql_describe('chinook', 'chinook.album', 'mine')").unwrap();
    let hidden = error(&mut curator, "SELECT nl2sql_describe('chinook', 'chinook.artist', 'x')");
    assert_eq!(hidden.code().code(), "42704");
    assert!(!format!("{hidden:?}").contains("track"));
    let mut reader = database.connect_as(&database.role("reader"));
    assert_eq!(sqlstate(&mut reader, "SELECT nl2sql_describe('chinook', 'chinook.album', 'x')"), "42501");
}
