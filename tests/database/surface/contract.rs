//! The SQL interface: the install script, which is written by hand, against the library's symbols and the manual's
//! signatures.

use super::functions::{FUNCTIONS, Kind};
use nl2sql_tests::{Database, describe, rows, sqlstate, text};
use postgres::Client;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Called for every row that row security looks at, so they do without the cost of a setting; they
/// run no SQL that a search path could turn. So does the third, which reads one variable.
const WITHOUT_SEARCH_PATH: [&str; 3] = ["readable_columns", "retaining", "table_access"];

/// What belongs to the extension, as rows of the catalog `class`.
fn members(class: &str) -> String {
    format!(
        "(SELECT c.* FROM {class} c JOIN pg_depend d ON d.classid = '{class}'::regclass AND d.objid = c.oid AND d.deptype = 'e'
          JOIN pg_extension x ON x.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass AND x.extname = 'nl2sql')"
    )
}

/// One column of texts.
fn names(client: &mut Client, sql: &str) -> BTreeSet<String> {
    client.query(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error}")).iter().map(|row| row.get(0)).collect()
}

#[test]
fn the_functions_are_those_of_the_contract() {
    let database = Database::blank();
    let mut client = database.connect();
    let found = rows(
        &mut client,
        &format!(
            "SELECT proname, replace(regexp_replace(pg_get_function_arguments(oid), '::[a-z]+(\\[\\])?', '', 'g'), '\"', '') AS arguments,
                    replace(pg_get_function_result(oid), 'timestamp with time zone', 'timestamptz') AS result,
                    provolatile::text || proparallel::text AS kind,
                    has_function_privilege('public', oid, 'EXECUTE') AS public,
                    coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig), false) AS fixed
             FROM {} p WHERE proname LIKE 'nl2sql\\_%' AND pronamespace = 'public'::regnamespace ORDER BY proname COLLATE \"C\"",
            members("pg_proc")
        ),
    );
    let expected: Vec<serde_json::Value> = FUNCTIONS
        .iter()
        .map(|(name, arguments, result, kind)| {
            serde_json::json!({
                "proname": name,
                "arguments": arguments,
                "result": result,
                "kind": match kind { Kind::Reads => "sr", Kind::Tries => "su", Kind::Writes => "vu" },
                "public": *kind != Kind::Writes,
                "fixed": true,
            })
        })
        .collect();
    for (found, expected) in found.as_array().expect("rows").iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.as_array().expect("rows").len(), expected.len(), "a function has no line in the table above");
}

#[test]
fn every_function_inside_has_a_fixed_search_path() {
    let database = Database::blank();
    let without = format!(
        "SELECT proname::text FROM {} p WHERE NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig), false)",
        members("pg_proc")
    );
    let without = names(&mut database.connect(), &without);
    assert_eq!(without, WITHOUT_SEARCH_PATH.map(str::to_owned).into());
}

/// Functions that only the extension calls, and functions of row security and views, which everybody may call.
#[test]
fn what_is_inside_is_not_for_everybody() {
    let database = Database::blank();
    let mut client = database.connect();
    let inside = format!(
        "SELECT proname::text FROM {} p WHERE pronamespace = 'nl2sql'::regnamespace AND has_function_privilege('public', oid, 'EXECUTE')",
        members("pg_proc")
    );
    let asked = ["current_namespace", "readable_columns", "table_access"];
    assert_eq!(names(&mut client, &inside), asked.map(str::to_owned).into());
    let writable = format!(
        "SELECT relname::text FROM {} c CROSS JOIN unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS right_to
         WHERE relkind IN ('r', 'p', 'v') AND has_table_privilege('public', c.oid, right_to)",
        members("pg_class")
    );
    assert_eq!(names(&mut client, &writable), BTreeSet::new());
    let open = format!(
        "SELECT relname::text FROM {} c WHERE relkind IN ('r', 'p') AND NOT relrowsecurity",
        members("pg_class")
    );
    assert_eq!(names(&mut client, &open), BTreeSet::new(), "every table has row security");
    let lending = format!(
        "SELECT relname::text FROM {} c WHERE relkind = 'v' AND NOT coalesce('security_invoker=true' = ANY (reloptions)
             OR 'security_invoker=on' = ANY (reloptions), false)",
        members("pg_class")
    );
    assert_eq!(names(&mut client, &lending), BTreeSet::new(), "no view lends its owner's rights");
    let definer = format!("SELECT proname::text FROM {} p WHERE prosecdef", members("pg_proc"));
    // DDL of every role is noted.
    assert_eq!(names(&mut client, &definer), ["note_ddl"].map(str::to_owned).into());
    assert_eq!(text(&mut client, "has_schema_privilege('public', 'nl2sql', 'CREATE')").as_deref(), Some("false"));
}

#[test]
fn everything_has_a_comment() {
    let database = Database::blank();
    let mut client = database.connect();
    let (functions, relations) = (members("pg_proc"), members("pg_class"));
    // A namespace's partition repeats the columns of nl2sql.entry, where they are explained.
    let missing = names(
        &mut client,
        &format!(
            "SELECT oid::regprocedure::text FROM {functions} p WHERE obj_description(oid, 'pg_proc') IS NULL
             UNION ALL
             SELECT oid::regclass::text FROM {relations} c WHERE relkind IN ('r', 'p', 'v') AND obj_description(oid, 'pg_class') IS NULL
             UNION ALL
             SELECT c.oid::regclass || '.' || a.attname FROM {relations} c JOIN pg_attribute a ON a.attrelid = c.oid
             WHERE c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped
               AND col_description(c.oid, a.attnum) IS NULL
             UNION ALL
             SELECT 'trigger ' || t.tgname || ' on ' || c.oid::regclass FROM {relations} c JOIN pg_trigger t ON t.tgrelid = c.oid
             WHERE NOT t.tgisinternal AND obj_description(t.oid, 'pg_trigger') IS NULL
             UNION ALL
             SELECT 'schema ' || nspname FROM {} n WHERE obj_description(oid, 'pg_namespace') IS NULL
             UNION ALL
             SELECT 'extension' FROM pg_extension WHERE extname = 'nl2sql' AND obj_description(oid, 'pg_extension') IS NULL",
            members("pg_namespace")
        ),
    );
    assert_eq!(missing, BTreeSet::new());
    let seen = format!("SELECT count(*) >= 10 FROM {relations} c WHERE relkind IN ('r', 'p', 'v')");
    assert_eq!(text(&mut client, &seen).as_deref(), Some("true"), "the extension's tables are found");
}

/// Symbols that the library exports for SQL.
fn exported(client: &mut Client) -> BTreeSet<String> {
    let directory = text(client, "SELECT setting FROM pg_config WHERE name = 'PKGLIBDIR'").expect("a directory");
    let library = Path::new(&directory).join("nl2sql.so");
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(&library).output().expect("nm, of binutils");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    listed.lines().filter_map(|line| line.split_whitespace().last().map(str::to_owned)).collect()
}

#[test]
fn the_script_and_the_library_name_the_same_symbols() {
    let database = Database::blank();
    let exported = exported(&mut database.connect());
    let functions: BTreeSet<&str> = exported
        .iter()
        .map(String::as_str)
        .filter(|name| name.ends_with("_wrapper") && !name.starts_with("pg_finfo_"))
        .collect();
    let mut called = BTreeSet::new();
    let share =
        text(&mut database.connect(), "SELECT setting FROM pg_config() WHERE name = 'SHAREDIR'").expect("a path");
    let folder = Path::new(&share).join("extension");
    let version = text(&mut database.connect(), "SELECT extversion FROM pg_extension WHERE extname = 'nl2sql'")
        .expect("a version");
    for file in std::fs::read_dir(folder).expect("the installed scripts") {
        let file = file.expect("a file").path();
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // The script of the current version; older scripts may call symbols that the library keeps for them.
        if name.starts_with("nl2sql--") && name.ends_with(".sql") {
            let script = std::fs::read_to_string(&file).expect("a script");
            let symbols: Vec<String> = script
                .split("'MODULE_PATHNAME'")
                .skip(1)
                .map(|rest| rest.split('\'').nth(1).unwrap_or_default().to_owned())
                .collect();
            for symbol in &symbols {
                assert!(exported.contains(symbol), "{name} calls {symbol}, which the library does not export");
                assert!(exported.contains(&format!("pg_finfo_{symbol}")), "{symbol} has no calling convention");
            }
            if name == format!("nl2sql--{version}.sql") {
                called.extend(symbols);
            }
        }
    }
    assert_eq!(functions, called.iter().map(String::as_str).collect(), "exported, called");
}

/// A table named like each keyword: the extension quotes names as the server does.
#[test]
fn keywords_are_quoted_as_the_server_quotes_them() {
    let database = Database::blank();
    let mut client = database.connect();
    client
        .batch_execute(
            "CREATE SCHEMA words;
             DO $$ DECLARE word text; BEGIN
                 FOR word IN SELECT k.word FROM pg_get_keywords() k LOOP EXECUTE format('CREATE TABLE words.%I ()', word); END LOOP;
             END $$;
             -- No text needs the model: quoting is in the metadata.
             INSERT INTO nl2sql.entry (namespace, build, id, type, datasource, text, text_hash, metadata, embedding)
             SELECT 'nl2sql__local-all-minilm-l6-v2__384', 0, 'seed ' || n, '', '', '', sha256(convert_to(format('Table %s (words.%s).', n, q), 'UTF8')), '{}',
                    array_fill(0.5, ARRAY[384])::vector
             FROM (SELECT replace(word, '_', ' '), quote_ident(word) FROM pg_get_keywords()) AS k (n, q);
             SELECT nl2sql_index('words');",
        )
        .expect("tables named by keywords");
    let written = "SELECT k.word || ' ' || (e.metadata ->> 'table') FROM pg_get_keywords() k
        LEFT JOIN nl2sql.entry e ON e.type = 'schema.table' AND (parse_ident(e.metadata ->> 'table'))[2] = k.word";
    let all = text(&mut client, "SELECT count(*) FROM pg_get_keywords()");
    let found = format!("SELECT count(*) FROM ({written}) AS w (line) WHERE line IS NOT NULL");
    assert_eq!(text(&mut client, &found), all, "every keyword reads back as itself");
    // Words that a later Postgres reserves are quoted in an earlier one too, so that a key is the same in both.
    let wrong = "SELECT k.word FROM pg_get_keywords() k
        JOIN nl2sql.entry e ON e.type = 'schema.table' AND (parse_ident(e.metadata ->> 'table'))[2] = k.word
        WHERE quote_ident(k.word) <> k.word AND e.metadata ->> 'table' <> 'words.' || quote_ident(k.word)";
    assert_eq!(names(&mut client, wrong), BTreeSet::new());
    let plain = "SELECT k.word FROM pg_get_keywords() k
        JOIN nl2sql.entry e ON e.type = 'schema.table' AND (parse_ident(e.metadata ->> 'table'))[2] = k.word
        WHERE quote_ident(k.word) = k.word AND e.metadata ->> 'table' <> 'words.' || k.word";
    let needless = names(&mut client, plain);
    let later = [
        "json",
        "json_array",
        "json_arrayagg",
        "json_exists",
        "json_object",
        "json_objectagg",
        "json_query",
        "json_scalar",
        "json_serialize",
        "json_table",
        "json_value",
        "merge_action",
        "system_user",
    ];
    assert!(needless.iter().all(|word| later.contains(&word.as_str())), "quoted without need: {needless:?}");
}

/// The functions of row security return the same for a hidden table and for a missing one.
#[test]
fn the_extensions_own_functions_are_no_oracle() {
    let database = Database::demo();
    let role = database.role("asker");
    let rights = format!(
        "GRANT USAGE ON SCHEMA webshop TO {role}; GRANT SELECT ON webshop.product TO {role}; GRANT TEMP ON DATABASE {} TO {role}",
        database.name
    );
    database.connect().batch_execute(&rights).expect("some rights");
    let mut session = database.connect_as(&role);
    let long = "x".repeat(5000);
    for (schema, table) in [
        ("chinook", "Track"),
        ("webshop", "orders"),
        ("webshop", "nothing"),
        ("webshop", "product_pkey"),
        ("nothing", "x"),
        ("", ""),
        ("webshop\"", "'"),
        (long.as_str(), long.as_str()),
    ] {
        let row = session
            .query_one("SELECT nl2sql.table_access($1, $2), nl2sql.readable_columns($1, $2)", &[&schema, &table]);
        let row = row.unwrap_or_else(|error| panic!("{schema}.{table}: {}", describe(&error)));
        assert_eq!((row.get::<_, i32>(0), row.get::<_, Vec<String>>(1)), (0, vec![]), "{schema}.{table}");
    }
    assert_eq!(
        text(&mut session, "nl2sql.table_access('webshop', 'product')").as_deref(),
        Some("2"),
        "the one that it may read"
    );
    assert_eq!(text(&mut session, "nl2sql.table_access(NULL, 'product') IS NULL").as_deref(), Some("true"));
    for call in [
        "nl2sql.retaining()",
        "nl2sql.refuse_change()",
        "nl2sql.create_namespace('nl2sql__mine__3', 3)",
        "nl2sql_register('webshop')",
        "nl2sql_unregister('webshop')",
        "nl2sql_index('webshop')",
        "nl2sql_prune()",
    ] {
        assert_eq!(sqlstate(&mut session, &format!("SELECT {call}")), "42501", "{call}");
    }
    let trigger =
        "CREATE TEMP TABLE mine (); CREATE TRIGGER t BEFORE DELETE ON mine EXECUTE FUNCTION nl2sql.refuse_change()";
    assert_eq!(sqlstate(&mut session, trigger), "42501");
}
