//! Every built-in function of the server is reviewed.

use nl2sql_tests::{Database, rows};
use std::collections::HashSet;

const REVIEWED: &str = include_str!("../../../src/pg/server/function_class.tsv");
const CLASSES: [&str; 9] = ["value", "grows", "session", "varies", "catalog", "server", "code", "acts", "server_only"];

/// Name, volatility, class, whether verified queries may call it.
fn reviewed() -> Vec<[&'static str; 4]> {
    let lines = REVIEWED.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("{line}"))).collect()
}

#[test]
fn the_list_is_well_formed() {
    let mut seen = HashSet::new();
    for [name, volatility, class, in_queries] in reviewed() {
        assert!(seen.insert((name, volatility)), "{name} {volatility} is listed twice");
        assert!(["i", "s", "v"].contains(&volatility), "{name}: {volatility}");
        assert!(CLASSES.contains(&class), "{name}: {class}");
        assert!(["yes", "no"].contains(&in_queries), "{name}: {in_queries}");
        assert!(volatility != "v" || class != "value", "{name} is VOLATILE and no value");
    }
}

/// Pinned functions have numbers below 12000.
#[test]
fn every_built_in_function_is_classified() {
    let known: HashSet<(String, String)> =
        reviewed().into_iter().map(|[name, volatility, ..]| (name.to_owned(), volatility.to_owned())).collect();
    let mut client = Database::blank().connect();
    let found = rows(&mut client, "SELECT DISTINCT proname, provolatile FROM pg_proc WHERE oid < 12000 ORDER BY 1, 2");
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let found: Vec<(String, String)> =
        found.as_array().unwrap().iter().map(|row| (text(&row["proname"]), text(&row["provolatile"]))).collect();
    assert!(found.len() > 2_500, "{}", found.len());
    let missing: Vec<_> = found.iter().filter(|function| !known.contains(function)).collect();
    assert!(missing.is_empty(), "nobody has classified {missing:?}: review them in function_class.tsv");
}

/// What takes or returns `internal`, triggers and handlers: no expression can call it.
#[test]
fn what_only_the_server_calls_is_listed_as_such() {
    let listed: HashSet<&str> =
        reviewed().into_iter().filter(|line| line[2] == "server_only").map(|[name, ..]| name).collect();
    let mut client = Database::blank().connect();
    let found = rows(
        &mut client,
        "SELECT DISTINCT proname FROM pg_proc p
         WHERE oid < 12000 AND prokind = 'f'
           AND NOT ('internal'::regtype = ANY (proargtypes::oid[]) OR prorettype IN ('internal'::regtype, 'trigger'::regtype, 'event_trigger'::regtype)
                    OR prorettype::regtype::text LIKE '%\\_handler')",
    );
    for row in found.as_array().unwrap() {
        let name = row["proname"].as_str().unwrap();
        assert!(!listed.contains(name), "{name} can be called");
    }
}
