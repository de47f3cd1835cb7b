//! Paths name code that runs: only a superuser can set or see them, by any way to set a value.

use nl2sql_tests::{Database, sqlstate, text};
use postgres::{Client, Config, NoTls};

const PATHS: [&str; 2] = ["nl2sql.model_dir", "nl2sql.onnxruntime_path"];

/// A user's session that has loaded the library.
fn loaded(database: &Database, role: &str) -> Client {
    let mut client = database.connect_as(role);
    text(&mut client, "nl2sql_embed('late parcels')");
    client
}

#[test]
fn users_neither_set_nor_see_paths() {
    let database = Database::blank();
    let role = database.role("reader");
    let mut client = loaded(&database, &role);
    for path in PATHS {
        for statement in [
            format!("SET {path} = '/nonexistent'"),
            format!("SET LOCAL {path} = '/nonexistent'"),
            format!("RESET {path}"),
            format!("SELECT set_config('{path}', '/nonexistent', false)"),
            format!("SHOW {path}"),
            format!("SELECT current_setting('{path}')"),
            format!("ALTER ROLE {role} SET {path} = '/nonexistent'"),
            format!("CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql SET {path} = '/nonexistent' RETURN 1"),
        ] {
            assert_eq!(sqlstate(&mut client, &statement), "42501", "{statement}");
        }
        let listed = text(&mut client, &format!("SELECT count(*) FROM pg_settings WHERE name = '{path}'"));
        assert_eq!(listed.as_deref(), Some("0"), "{path}");
    }
    assert!(text(&mut client, "nl2sql_embed('late parcels, again')").is_some());
}

/// Before the library is loaded, the server does not know the settings. A value that a user has set by then must not
/// take effect.
#[test]
fn a_value_that_was_set_before_the_library_came_is_not_taken() {
    let database = Database::blank();
    let role = database.role("early");
    let mut admin = database.connect();
    for path in PATHS {
        let mut client = database.connect_as(&role);
        // The server may refuse it as well.
        let _ = client.batch_execute(&format!("SET {path} = '/nonexistent'"));
        assert!(text(&mut client, "nl2sql_embed('late parcels')").is_some(), "{path} by SET");

        let mut client = Config::new()
            .host(&text(&mut admin, "current_setting('unix_socket_directories')").expect("a socket"))
            .dbname(&database.name)
            .user(&role)
            .options(&format!("-c {path}=/nonexistent"))
            .connect(NoTls)
            .expect("a connection with an option");
        assert!(text(&mut client, "nl2sql_embed('late parcels')").is_some(), "{path} by a connection's option");

        let mut client = database.connect_as(&role);
        assert_eq!(sqlstate(&mut client, &format!("ALTER ROLE {role} SET {path} = '/nonexistent'")), "42501");
    }
}

#[test]
fn superusers_set_and_see_paths() {
    let database = Database::blank();
    let mut client = database.connect();
    text(&mut client, "nl2sql_embed('late parcels')");
    for path in PATHS {
        client.batch_execute(&format!("SET {path} = '/nonexistent'")).expect("a setting");
        assert_eq!(text(&mut client, &format!("current_setting('{path}')")).as_deref(), Some("/nonexistent"));
        assert_eq!(sqlstate(&mut client, "SELECT nl2sql_embed('late parcels')"), "58P01", "{path}");
        client.batch_execute(&format!("RESET {path}")).expect("a setting");
        assert!(text(&mut client, "nl2sql_embed('late parcels')").is_some());
    }
}

/// A misspelled setting is an error.
#[test]
fn the_prefix_of_settings_is_reserved() {
    let database = Database::blank();
    let role = database.role("speller");
    for mut client in [database.connect(), loaded(&database, &role)] {
        text(&mut client, "nl2sql_embed('late parcels')");
        assert_eq!(sqlstate(&mut client, "SET nl2sql.unknown_setting = 1"), "42602");
        assert_eq!(sqlstate(&mut client, "SHOW nl2sql.unknown_setting"), "42704");
    }
}
