//! Which functions a verified query may call. A server's catalog has the functions of its own and of the extensions that
//! come with it; a new major that has more of them fails here until somebody has reviewed them.

use nl2sql_tests::{Database, describe, text};
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
const REVIEWED: &str = include_str!("../../../src/pg/server/function_class.tsv");

/// Built-in functions of a volatility that a verified query may call, by the review.
fn reviewed(volatility: &str) -> BTreeSet<String> {
    let lines = REVIEWED.lines().filter(|line| !line.starts_with('#'));
    let fields = lines.map(|line| line.split('\t').collect::<Vec<_>>());
    fields.filter(|fields| fields[1] == volatility && fields[3] == "yes").map(|fields| fields[0].to_owned()).collect()
}

fn built_in(client: &mut Client, which: &str) -> BTreeSet<String> {
    let sql = format!("SELECT DISTINCT p.proname::text FROM pg_proc p WHERE p.oid < 12000 AND {CALLABLE} AND {which}");
    let found: BTreeSet<String> =
        client.query(&sql, &[]).expect("names of functions").into_iter().map(|row| row.get(0)).collect();
    assert!(!found.is_empty(), "there is no built-in function where {which}");
    found
}

fn but<'a>(found: &'a BTreeSet<String>, known: &[&str]) -> Vec<&'a String> {
    found.iter().filter(|name| !known.contains(&name.as_str())).collect()
}

#[test]
fn what_the_server_does_not_only_compute_is_rejected() {
    let mut client = Database::blank().connect();
    let volatile: BTreeSet<String> =
        built_in(&mut client, "p.provolatile = 'v'").intersection(&reviewed("v")).cloned().collect();
    assert_eq!(but(&volatile, MAKE_UP), [""; 0], "of the VOLATILE functions");
    let sets: BTreeSet<String> =
        built_in(&mut client, "p.provolatile = 's' AND p.proretset").intersection(&reviewed("s")).cloned().collect();
    assert_eq!(but(&sets, TAKE_APART), [""; 0], "of the STABLE functions that return sets");
}

/// A database with an extension and a datasource; `None` where the server does not have the extension.
fn with_extension(extension: &str) -> Option<(Database, Client)> {
    let database = Database::blank();
    let mut client = database.connect();
    text(&mut client, &format!("SELECT name FROM pg_available_extensions WHERE name = '{extension}'"))?;
    client
        .batch_execute(&format!(
            "CREATE EXTENSION IF NOT EXISTS \"{extension}\" CASCADE; CREATE SCHEMA empty CREATE TABLE t (id integer);
             SELECT nl2sql_register('empty'); SELECT nl2sql_index('empty')"
        ))
        .unwrap_or_else(|error| panic!("{extension}: {}", describe(&error)));
    Some((database, client))
}

/// The compiled functions of an extension, each with its volatility and whether a verified query that calls it is rejected.
fn of_extension(client: &mut Client, extension: &str) -> Vec<(String, String, bool)> {
    let sql = format!(
        "SELECT p.proname::text, p.provolatile::text, format('SELECT %s(%s)', p.oid::regproc::text, (
             SELECT string_agg('NULL::' || CASE WHEN a.type::regtype::text IN ('anyelement', 'anynonarray', '\"any\"') THEN 'integer'
                 WHEN a.type::regtype::text = 'anyarray' THEN 'integer[]' ELSE a.type::regtype::text END, ', ' ORDER BY a.at)
             FROM unnest(p.proargtypes) WITH ORDINALITY a (type, at)))
         FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
         JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
         WHERE e.extname = '{extension}' AND {CALLABLE} AND p.prokind = 'f'
             AND p.prolang IN (SELECT oid FROM pg_language WHERE lanname IN ('c', 'internal'))"
    );
    let functions = client.query(&sql, &[]).expect("functions");
    let asked = functions.into_iter().map(|row| {
        let call: String = row.get(2);
        let stored = client.execute("SELECT nl2sql_verified_query('empty', 'q', ARRAY['?'], $1)", &[&call]);
        let rejected = stored.err().map(|error| describe(&error));
        (row.get(0), row.get(1), rejected.is_some_and(|message| message.contains("() does more than read")))
    });
    asked.collect()
}

#[test]
fn libraries_that_inspect_are_rejected_and_those_that_compute_are_not() {
    for extension in INSPECT {
        let Some((_database, mut client)) = with_extension(extension) else { continue };
        for (name, volatility, rejected) in of_extension(&mut client, extension) {
            assert!(rejected || volatility == "i", "{extension}: {name}, {volatility}");
        }
    }
    for (extension, but) in COMPUTE {
        let Some((_database, mut client)) = with_extension(extension) else { continue };
        for (name, volatility, rejected) in of_extension(&mut client, extension) {
            assert_eq!(rejected, but.contains(&name.as_str()), "{extension}: {name}, {volatility}");
        }
    }
}

/// Neither a name nor membership in an extension says anything of a function.
#[test]
fn a_name_says_nothing() {
    let (_database, mut client) = with_extension("pg_trgm").expect("pg_trgm");
    client
        .batch_execute(
            "CREATE FUNCTION empty.pg_sleep_well(n integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT n';
             CREATE FUNCTION empty.lower(n integer) RETURNS bigint LANGUAGE internal VOLATILE AS 'pg_terminate_backend';
             ALTER EXTENSION pg_trgm ADD FUNCTION empty.lower(integer);",
        )
        .expect("functions");
    let mut stored = |sql: &str| {
        let stored = client.execute("SELECT nl2sql_verified_query('empty', 'q', ARRAY['?'], $1)", &[&sql]);
        stored.err().map(|error| describe(&error)).unwrap_or_default()
    };
    assert_eq!(stored("SELECT empty.pg_sleep_well(1)"), "");
    assert!(stored("SELECT empty.lower(1)").contains("function lower() does more than read"));
}
