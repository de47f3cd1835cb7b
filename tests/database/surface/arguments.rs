//! Every function with every argument NULL, empty, huge, out of range, unknown and of the wrong type: an error with the
//! SQLSTATE that the manual lists, in plain words, or a correct result; never a panic or a lost connection.

use nl2sql_tests::{Database, rows, text};
use postgres::Client;
use postgres::error::DbError;
use serde_json::{Value, json};

const INVALID: &str = "22023";
const NULL: &str = "22004";
const UNKNOWN: &str = "42704";
const NOT_INDEXED: &str = "55000";
const LATER: &str = "0A000";

/// A call that must fail: the call, its SQLSTATE, a part of the message and of the hint ("" for any).
type Refusal<'a> = (&'a str, &'a str, &'a str, &'a str);

/// Words of the implementation, which mean nothing to a user.
const INTERNAL_WORDS: [&str; 8] =
    ["panic", "internal", "unwrap", "error(", "err(", "spierror", "query failed", "rust_begin_unwind"];

/// What is wrong with an error as a user reads it.
fn faults(found: &DbError, (sql, code, message, hint): Refusal) -> Vec<String> {
    let mut faults = Vec::new();
    let shown = format!("{} {}", found.message(), found.detail().unwrap_or_default());
    if found.code().code() != code {
        faults.push(format!("SQLSTATE {}, not {code}", found.code().code()));
    }
    if !found.message().contains(message) {
        faults.push(format!("the message lacks {message:?}"));
    }
    if !found.hint().unwrap_or_default().contains(hint) {
        faults.push(format!("the hint {:?} lacks {hint:?}", found.hint()));
    }
    if let Some(word) = INTERNAL_WORDS.iter().find(|word| shown.to_lowercase().contains(*word)) {
        faults.push(format!("not plain words: {word:?}"));
    }
    // A long argument in a message floods the client and the server's log.
    if shown.len() + found.hint().unwrap_or_default().len() > 2000 {
        faults.push("repeats the whole argument".to_owned());
    }
    let cut: String = sql.chars().take(120).collect();
    let shown: String = found.message().chars().take(120).collect();
    faults.into_iter().map(|fault| format!("{cut}: {fault} (message: {shown:?})")).collect()
}

/// One session that must survive every call. Reports all faults when it is dropped.
struct Session {
    client: Client,
    pid: Option<String>,
    faults: Vec<String>,
}

impl Session {
    fn new(database: &Database) -> Self {
        let mut client = database.connect();
        let pid = text(&mut client, "pg_backend_pid()");
        Self { client, pid, faults: Vec::new() }
    }

    /// Runs calls that must fail.
    fn refuse<'a>(&mut self, cases: impl IntoIterator<Item = Refusal<'a>>) {
        for case in cases {
            match self.client.simple_query(case.0) {
                Ok(_) => self.faults.push(format!("succeeds: {:.120}", case.0)),
                Err(error) => match error.as_db_error() {
                    Some(found) => self.faults.extend(faults(found, case)),
                    None => panic!("lost the connection: {:.120}: {error}", case.0),
                },
            }
        }
        assert_eq!(text(&mut self.client, "pg_backend_pid()"), self.pid);
    }

    /// Runs the calls of a data file: JSON lines with `call`, `sqlstate` and, where they matter, parts of `message` and
    /// `hint`. Lines that begin with `#` are comments.
    fn refuse_all(&mut self, file: &str) {
        let cases: Vec<Value> = file
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
            .collect();
        assert!(!cases.is_empty());
        let part = |case: &'_ Value, name: &str| case[name].as_str().unwrap_or_default().to_owned();
        for case in &cases {
            let [call, code, message, hint] = ["call", "sqlstate", "message", "hint"].map(|name| part(case, name));
            self.refuse([(call.as_str(), code.as_str(), message.as_str(), hint.as_str())]);
        }
    }

    /// Runs a call that must fail with each of the values: `{}` stands for them.
    fn refuse_each(&mut self, call: &str, code: &str, message: &str, hint: &str, values: &[&str]) {
        let calls: Vec<String> = values.iter().map(|value| call.replace("{}", value)).collect();
        self.refuse(calls.iter().map(|sql| (sql.as_str(), code, message, hint)));
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.faults.is_empty(), "{}", self.faults.join("\n"));
        }
    }
}

fn count(client: &mut Client, sql: &str) -> String {
    text(client, &format!("SELECT count(*) FROM {sql}")).unwrap()
}

const SEARCHES: [(&str, &str); 4] = [
    ("SELECT * FROM nl2sql_mmr", "query"),
    ("SELECT nl2sql_mmr_explain", "query"),
    ("SELECT * FROM nl2sql_route", "question"),
    ("SELECT nl2sql_route_explain", "question"),
];

#[test]
fn questions_are_checked() {
    let mut session = Session::new(&Database::demo());
    for (call, name) in SEARCHES {
        session.refuse_each(&format!("{call}({{}})"), NULL, name, "", &["NULL"]);
        let blank = ["''", "'   '", "E'\\t\\r\\n'", "E'\\u3000'"];
        session.refuse_each(&format!("{call}({{}})"), INVALID, &format!("{name} must not be empty"), "", &blank);
    }
}

#[test]
fn numbers_are_checked() {
    let mut session = Session::new(&Database::demo());
    let too_few = ["0", "-1", "-2147483648"];
    let no_share = ["'NaN'", "'Infinity'", "'-Infinity'", "-0.1", "1.1", "1e308"];
    for (call, counts, share) in [
        ("SELECT * FROM nl2sql_mmr", &["k", "fetch_k"][..], "lambda"),
        ("SELECT nl2sql_mmr_explain", &["k", "fetch_k"], "lambda"),
        ("SELECT * FROM nl2sql_route", &["candidates"], "floor_ratio"),
        ("SELECT nl2sql_route_explain", &["candidates"], "floor_ratio"),
    ] {
        for name in counts {
            let call = format!("{call}('rock', {name} => {{}})");
            session.refuse_each(&call, INVALID, &format!("{name} must be at least 1, not"), "", &too_few);
            if *name != "fetch_k" {
                session.refuse_each(&call, NULL, &format!("{name} must not be null"), "", &["NULL"]);
            }
        }
        let call = format!("{call}('rock', {share} => {{}})");
        session.refuse_each(&call, INVALID, &format!("{share} must be between 0 and 1"), "", &no_share);
        session.refuse_each(&call, NULL, &format!("{share} must not be null"), "", &["NULL"]);
    }
    let entries = text(&mut session.client, "SELECT sum(entries) FROM nl2sql_health()").unwrap();
    for (call, expected) in [
        ("nl2sql_mmr('rock', k => 2147483647)", entries.as_str()),
        ("nl2sql_mmr('rock', k => 2147483647, fetch_k => 2147483647)", &entries),
        ("nl2sql_mmr('rock', k => 1, fetch_k => 2147483647)", "1"),
        ("nl2sql_mmr('rock', k => 5, fetch_k => 1)", "1"),
        ("nl2sql_mmr('rock', k => 5, fetch_k => 2)", "2"),
        ("nl2sql_mmr('rock', k => 3, fetch_k => NULL, lambda => '-0')", "3"),
        ("nl2sql_mmr('rock', k => 3, lambda => 1)", "3"),
        ("nl2sql_mmr('rock', k => 3, lambda => 1e-320)", "3"),
        ("nl2sql_route('rock', candidates => 2147483647, floor_ratio => 0)", "3"),
        ("nl2sql_route('rock', floor_ratio => 1)", "1"),
    ] {
        assert_eq!(count(&mut session.client, call), expected, "{call}");
    }
}

#[test]
fn filters_are_checked() {
    let mut session = Session::new(&Database::demo());
    session.client.batch_execute("CREATE SCHEMA bare; SELECT nl2sql_register('bare')").unwrap();
    let lists = |name: &str| if name == "query" { &["types", "datasources", "tables"][..] } else { &["datasources"] };
    for (call, name) in SEARCHES {
        for list in lists(name) {
            let call = format!("{call}('rock', {list} => {{}})");
            let empty = format!("{list} must not be empty");
            session.refuse_each(&call, INVALID, &empty, "Pass NULL", &["'{}'", "ARRAY[]::text[]"]);
            let null = format!("an element of {list} must not be null");
            session.refuse_each(&call, NULL, &null, "", &["'{NULL}'", "ARRAY['chinook', NULL]"]);
        }
        let call_datasources = format!("{call}('rock', datasources => {{}})");
        let strangers = [
            "'{nope}'",
            "'{\"\"}'",
            "'{CHINOOK}'",
            "ARRAY[E'a\\nb']",
            "ARRAY['it''s \"x\"']",
            "'{🦀}'",
            "ARRAY['\\x00']",
            "ARRAY[repeat('é', 32)]",
            "ARRAY[repeat('x', 63)]",
            "ARRAY[repeat('x', 64)]",
            "'{chinook,nope}'",
            "ARRAY[repeat('x', 1000000)]",
        ];
        session.refuse_each(&call_datasources, UNKNOWN, "datasource \"", "", &strangers);
        session.refuse_each(&call_datasources, UNKNOWN, "\"chinok\" does not exist", "chinook", &["'{chinok}'"]);
        let run = "SELECT nl2sql_index('bare');";
        let never = ["'{bare}'", "'{chinook,bare}'"];
        session.refuse_each(&call_datasources, NOT_INDEXED, "\"bare\" has not been indexed", run, &never);
    }
    for call in ["SELECT * FROM nl2sql_mmr", "SELECT nl2sql_mmr_explain"] {
        let types = ["'{nope}'", "'{schema.tables}'", "'{Schema.Table}'", "'{\"\"}'", "'{schema.table,🦀}'"];
        let known = "schema.datasource_example, schema.table, schema.column";
        session.refuse_each(&format!("{call}('x', types => {{}})"), INVALID, "unknown type \"", known, &types);
        let huge = ["ARRAY[repeat('x', 1000000)]"];
        session.refuse_each(&format!("{call}('x', types => {{}})"), INVALID, "unknown type", known, &huge);
        let tables = [
            "'{nope}'",
            "'{\"\"}'",
            "'{.}'",
            "'{chinook.}'",
            "ARRAY['chinook.\"album']",
            "ARRAY['chinook.\"Album\"']",
            "'{chinook.album.title}'",
            "ARRAY[E'chinook\\n🦀']",
            "ARRAY[repeat('x', 1000000)]",
        ];
        let call = format!("{call}('x', tables => {{}})");
        session.refuse_each(&call, UNKNOWN, "table \"", "", &tables);
        session.refuse_each(&call, UNKNOWN, "does not exist", "chinook.album", &["'{chinook.Albun}'"]);
        // Tables of another datasource do not exist for this one.
        let elsewhere = ["'{helpdesk.ticket}', datasources => '{chinook}'"];
        session.refuse_each(&call, UNKNOWN, "\"helpdesk.ticket\" does not exist", "", &elsewhere);
    }
}

#[test]
fn spellings_of_a_filter_find_the_same() {
    let mut session = Session::new(&Database::demo());
    let mut found =
        |arguments: &str| rows(&mut session.client, &format!("SELECT id, pick FROM nl2sql_mmr('rock', {arguments})"));
    let albums = found("tables => '{chinook.album}'");
    assert!(albums.as_array().is_some_and(|found| found.len() > 3), "{albums}");
    for same in [
        "'{CHINOOK.Album}'",
        "ARRAY[' Chinook . \"album\" ']",
        "ARRAY['\"chinook\".\"album\"']",
        "ARRAY['chinook.album', 'chinook.\"album\"', 'chinook.Album']",
        "ARRAY[['chinook.album'], ['chinook.album']]",
    ] {
        assert_eq!(found(&format!("tables => {same}")), albums, "{same}");
    }
    let tables = found("types => '{schema.table}', datasources => '{chinook}'");
    assert_eq!(found("types => '{schema.table,schema.table}', datasources => '{chinook,chinook}'"), tables);
    assert_eq!(found("types => '[7:7]={schema.table}', datasources => '[0:0]={chinook}'"), tables);
    assert_eq!(found("types => '{schema.metric}'"), json!([]), "a known type without entries");
}

#[test]
fn huge_questions_are_answered() {
    let mut session = Session::new(&Database::demo());
    for question in [
        "repeat('word ', 200000)",
        "repeat('x', 1000000)",
        "repeat('🦀', 250000)",
        "repeat(E'\\x01', 1000000)",
        "repeat(E'\\u0301', 500000)",
        "repeat('''; DROP TABLE x; --', 50000)",
    ] {
        assert_eq!(count(&mut session.client, &format!("nl2sql_mmr({question}, k => 2)")), "2", "{question}");
        let routed = count(&mut session.client, &format!("nl2sql_route({question}, floor_ratio => 0)"));
        assert_eq!(routed, "3", "{question}");
    }
}

#[test]
fn odd_texts_are_embedded_and_empty_ones_rejected() {
    let mut session = Session::new(&Database::blank());
    session.refuse_each("SELECT nl2sql_embed({})", INVALID, "text must not be empty", "", &["''", "' '", "E'\\n'"]);
    assert_eq!(text(&mut session.client, "nl2sql_embed(NULL)"), None);
    for odd in ["'x'", "'🦀'", "E'\\x01'", "E'\\u200b'", "'\\x00'", "'it''s \"x\"'", "E'a\\nb'", "repeat('é ', 500000)"]
    {
        let length =
            format!("SELECT round(vector_norm(v)::numeric, 4) || ' ' || vector_dims(v) FROM nl2sql_embed({odd}) v");
        assert_eq!(text(&mut session.client, &length).as_deref(), Some("1.0000 384"), "{odd}");
    }
}

#[test]
fn arguments_of_registering_are_checked() {
    let mut session = Session::new(&Database::demo());
    let registered = |client: &mut Client| rows(client, "SELECT * FROM nl2sql.datasources ORDER BY datasource");
    let before = registered(&mut session.client);
    session.refuse_all(include_str!("refused/registering.jsonl"));
    assert_eq!(registered(&mut session.client), before, "an error changes nothing");
    // Repeated and blank elements are dropped.
    session.client.batch_execute("SELECT nl2sql_register('chinook', schemas => '{chinook,chinook}', description => '', domains => '{\"\",x,x}',
        sample_questions => ARRAY['', ' ', 'a?', 'a?', E'\\n', 'it''s \"🦀\"?'])").unwrap();
    let counts = "SELECT counts->>'schema.table', counts->>'schema.datasource_example' FROM nl2sql_index('chinook')";
    assert_eq!(text(&mut session.client, &format!("SELECT t FROM ({counts}) t")).as_deref(), Some("(11,2)"));
}

#[test]
fn options_are_checked() {
    let mut session = Session::new(&Database::demo());
    let lists = ["null", "true", "1", "\"a\"", "{}", "[1]", "[null]", "[[\"a\"]]", "[{}]", "[true]"];
    let stored = |client: &mut Client| rows(client, "SELECT * FROM nl2sql.datasource_setting ORDER BY datasource");
    let before = stored(&mut session.client);
    for (key, wanted, values) in [
        ("include", "must be an array of strings", &lists[..]),
        ("exclude", "must be an array of strings", &lists),
        ("exclude_columns", "must be an array of strings", &lists),
        ("preferred_tables", "must be an array of strings", &lists),
        (
            "profile",
            "must be \"catalog\" or \"stats\"",
            &["null", "true", "1", "[]", "{}", "\"\"", "\"Catalog\"", "\"🦀\""],
        ),
        ("sample_values", "must be true or false", &["null", "0", "1", "\"on\"", "[]", "{}"]),
        (
            "max_profile_rows",
            "must be a whole number that is not negative",
            &["null", "true", "\"5\"", "[]", "{}", "-1", "1.5", "1e30"],
        ),
    ] {
        let call = format!("SELECT nl2sql_register('chinook', options => '{{\"{key}\": {{}}}}')");
        session.refuse_each(&call, INVALID, &format!("option \"{key}\" {wanted}, not"), "", values);
    }
    for key in ["include", "exclude", "exclude_columns"] {
        let call =
            format!("SELECT nl2sql_register('chinook', options => jsonb_build_object('{key}', ARRAY['*', {{}}]))");
        let globs = ["'a['", "'['", "'a[]'", "'[!'", "'[é'", "'[' || repeat('x', 1000000)"];
        session.refuse_each(&call, INVALID, &format!("option \"{key}\" has an invalid glob"), "", &globs);
    }
    let call = "SELECT nl2sql_register('chinook', options => {})";
    let no_object = ["'null'", "'[]'", "'1'", "'\"x\"'", "'true'", "'[{}]'"];
    session.refuse_each(call, INVALID, "options must be a JSON object, not", "", &no_object);
    let unknown = [
        "'{\"includes\": []}'",
        "'{\"\": 1}'",
        "'{\"INCLUDE\": []}'",
        "'{\"🦀\": 1}'",
        "'{\"include\": [], \"x\": 1}'",
    ];
    session.refuse_each(call, INVALID, "unknown option \"", "include, exclude, exclude_columns, profile", &unknown);
    let huge = ["jsonb_build_object(repeat('x', 1000000), 1)"];
    session.refuse_each(call, INVALID, "unknown option", "Known options", &huge);
    let server = ["'{\"server\": \"x\"}'", "'{\"server\": null}'"];
    session.refuse_each(call, LATER, "option \"server\" is not supported yet", "later release", &server);
    // jsonb accepts numbers and depths that a JSON parser may reject.
    let beyond =
        ["'{\"max_profile_rows\": 1e400}'", "('{\"include\": ' || repeat('[', 500) || repeat(']', 500) || '}')::jsonb"];
    session.refuse_each(call, INVALID, "option", "", &beyond);
    assert_eq!(stored(&mut session.client), before, "an error changes nothing");
}

#[test]
fn names_of_datasources_are_checked() {
    let mut session = Session::new(&Database::demo());
    session.client.batch_execute("CREATE SCHEMA bare; SELECT nl2sql_register('bare')").unwrap();
    let strangers = [
        "'nope'",
        "'CHINOOK'",
        "'🦀'",
        "E'a\\nb'",
        "'it''s \"x\"'",
        "'\\x00'",
        "repeat('x', 63)",
        "repeat('x', 64)",
        "repeat('x', 1000000)",
    ];
    for call in ["nl2sql_health({})", "nl2sql_versions({})", "nl2sql_snapshot({})", "nl2sql_index({})"] {
        let call = format!("SELECT * FROM {call}");
        session.refuse_each(&call, UNKNOWN, "datasource \"", "", &strangers);
        session.refuse_each(&call, UNKNOWN, "\"chinok\" does not exist", "\"chinook\"", &["'chinok'"]);
    }
    let version = text(&mut session.client, "SELECT schema_version FROM nl2sql_versions('helpdesk')").unwrap();
    let foreign = format!("SELECT nl2sql_snapshot('chinook', '{version}')");
    session.refuse_all(include_str!("refused/datasources.jsonl"));
    session.refuse([(foreign.as_str(), UNKNOWN, "schema version \"", "nl2sql_versions('chinook')")]);
    assert_eq!(
        text(&mut session.client, "SELECT array_agg(datasource ORDER BY datasource) FROM nl2sql.datasources")
            .as_deref(),
        Some("{bare,chinook,helpdesk,webshop}"),
        "a failed call registers nothing"
    );
    for stranger in strangers.iter().chain(&["''"]) {
        assert_eq!(
            text(&mut session.client, &format!("nl2sql_unregister({stranger})")).as_deref(),
            Some("false"),
            "{stranger}"
        );
    }
    assert_eq!(count(&mut session.client, "nl2sql_versions('bare')"), "0");
    assert_eq!(count(&mut session.client, "nl2sql_health(NULL)"), "4");
}

#[test]
fn arguments_of_curated_functions_are_checked() {
    let database = Database::demo();
    let mut session = Session::new(&database);
    session.refuse_all(include_str!("refused/curated.jsonl"));
    assert_eq!(count(&mut session.client, "nl2sql_match('x')"), "0");
    assert_eq!(count(&mut session.client, "nl2sql_curated_import('datasources: {}')"), "0");
}

#[test]
fn arguments_of_searching_are_checked() {
    Session::new(&Database::demo()).refuse_all(include_str!("refused/searching.jsonl"));
}

#[test]
fn arguments_of_describing_are_checked() {
    Session::new(&Database::demo()).refuse_all(include_str!("refused/describing.jsonl"));
}
