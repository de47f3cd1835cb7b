//! Whether the lists of functions that a statement must not call are right: a server says which functions it and the
//! extensions that come with it have, and what of them only computes. A new major that has more of the others fails here
//! until somebody has looked at them.

use nl2sql_core::sql::parse::beyond_reading;
use nl2sql_tests::{Database, text};
use postgres::Client;
use std::collections::BTreeSet;

/// VOLATILE, since they make a value up.
const MAKE_UP: &[&str] = &[
    "array_sample",
    "array_shuffle",
    "clock_timestamp",
    "gen_random_uuid",
    "random",
    "random_normal",
    "timeofday",
    "uuidv4",
    "uuidv7",
];

/// STABLE and a set of rows that is not of the server: of what they are given, of words and rules that are the same
/// everywhere, or of an event trigger, outside of which they fail.
const TAKE_APART: &[&str] = &[
    "aclexplode",
    "generate_series",
    "json_populate_recordset",
    "json_to_recordset",
    "jsonb_path_query_tz",
    "jsonb_populate_recordset",
    "jsonb_to_recordset",
    "pg_event_trigger_ddl_commands",
    "pg_event_trigger_dropped_objects",
    "pg_get_catalog_foreign_keys",
    "pg_get_keywords",
    "pg_mcv_list_items",
    "pg_options_to_table",
    "ts_debug",
    "ts_parse",
    "ts_token_type",
];

/// IMMUTABLE, and yet refused: of its name are also those that run SQL from a text.
const COMPUTE_AND_MORE: &[&str] = &["ts_rewrite"];

/// Extensions that inspect, repair, lock or connect: nothing of theirs may be called.
const INSPECT: &[&str] = &[
    "adminpack",
    "amcheck",
    "dblink",
    "file_fdw",
    "old_snapshot",
    "pageinspect",
    "pg_buffercache",
    "pg_freespacemap",
    "pg_logicalinspect",
    "pg_prewarm",
    "pg_stat_statements",
    "pg_surgery",
    "pg_visibility",
    "pg_walinspect",
    "pgrowlocks",
    "pgstattuple",
    "postgres_fdw",
];

/// Extensions of which everything may be called, but for what is named.
const COMPUTE: &[(&str, &[&str])] = &[
    ("bloom", &[]),
    ("btree_gin", &[]),
    ("btree_gist", &[]),
    ("citext", &[]),
    ("cube", &[]),
    ("dict_int", &[]),
    ("dict_xsyn", &[]),
    ("earthdistance", &[]),
    ("fuzzystrmatch", &[]),
    ("hstore", &[]),
    ("intagg", &[]),
    ("intarray", &[]),
    ("isn", &["isn_weak"]),
    ("lo", &[]),
    ("ltree", &[]),
    ("pg_trgm", &["set_limit"]),
    ("pgcrypto", &[]),
    ("seg", &[]),
    ("sslinfo", &[]),
    ("tablefunc", &["connectby", "crosstab", "crosstab2", "crosstab3", "crosstab4"]),
    ("tsm_system_rows", &[]),
    ("tsm_system_time", &[]),
    ("unaccent", &[]),
    ("uuid-ossp", &[]),
    ("vector", &[]),
    ("xml2", &["xpath_table"]),
];

/// Of a function that a statement can call: no trigger's, no handler, nothing that only the server can give arguments to.
const CALLABLE: &str = "p.prokind <> 'p' AND NOT 'internal'::regtype = ANY (p.proargtypes)
    AND p.prorettype <> ALL ('{trigger,event_trigger,internal,language_handler,fdw_handler,index_am_handler,table_am_handler,tsm_handler}'::regtype[])";
/// The first OID that is not the server's own.
const OF_USERS: u32 = 16384;

fn names(client: &mut Client, sql: &str) -> BTreeSet<String> {
    let rows = client
        .query(&format!("SELECT DISTINCT p.proname::text FROM pg_catalog.pg_proc p {sql}"), &[])
        .expect("names of functions");
    rows.into_iter().map(|row| row.get(0)).collect()
}

fn built_in(client: &mut Client, which: &str) -> BTreeSet<String> {
    let found = names(
        client,
        &format!("WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.oid < {OF_USERS} AND {CALLABLE} AND {which}"),
    );
    assert!(!found.is_empty(), "there is no built-in function where {which}");
    found
}

/// The functions of an extension, where the server has it.
fn of_extension(client: &mut Client, extension: &str) -> Option<BTreeSet<String>> {
    text(client, &format!("SELECT name FROM pg_available_extensions WHERE name = '{extension}'"))?;
    client
        .batch_execute(&format!("CREATE EXTENSION IF NOT EXISTS \"{extension}\" CASCADE"))
        .unwrap_or_else(|error| panic!("{extension}: {error}"));
    Some(names(
        client,
        &format!(
            "JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
         JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
         WHERE e.extname = '{extension}' AND {CALLABLE}"
        ),
    ))
}

/// Those that are refused although they are not `but`, or the other way round.
fn wrong(found: &BTreeSet<String>, refused: bool, but: &[&str]) -> Vec<String> {
    let is_wrong = |name: &&String| beyond_reading(name).is_some() != (refused != but.contains(&name.as_str()));
    found.iter().filter(is_wrong).cloned().collect()
}

#[test]
fn what_the_server_does_not_only_compute_is_refused() {
    let mut client = Database::blank().connect();
    let volatile = built_in(&mut client, "p.provolatile = 'v'");
    assert_eq!(wrong(&volatile, true, MAKE_UP), [""; 0], "of the VOLATILE functions");
    let sets = built_in(&mut client, "p.provolatile = 's' AND p.proretset");
    assert_eq!(wrong(&sets, true, TAKE_APART), [""; 0], "of the STABLE functions that return sets");
}

#[test]
fn what_the_server_computes_is_not_refused() {
    let mut client = Database::blank().connect();
    let immutable = built_in(&mut client, "p.provolatile = 'i'");
    assert_eq!(wrong(&immutable, false, COMPUTE_AND_MORE), [""; 0], "of the IMMUTABLE functions");
}

#[test]
fn extensions_that_inspect_are_refused_and_those_that_compute_are_not() {
    let mut client = Database::blank().connect();
    let lists = INSPECT
        .iter()
        .map(|extension| (*extension, true, [].as_slice()))
        .chain(COMPUTE.iter().map(|(extension, but)| (*extension, false, *but)));
    for (extension, refused, but) in lists {
        if let Some(found) = of_extension(&mut client, extension) {
            assert_eq!(wrong(&found, refused, but), [""; 0], "of {extension}");
            let missing: Vec<&&str> = but.iter().filter(|name| !found.contains(**name)).collect();
            assert!(missing.is_empty(), "{extension} has no {missing:?}");
        }
    }
}
