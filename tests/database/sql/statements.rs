//! Statements that must pass, with what they read, and statements that must be rejected, with what the error says: both as
//! lists, mostly of what Postgres's documentation of SELECT shows.
//!
//! Whether the first list is right is asked in another way, too: a role that may SELECT what the statement is listed to
//! read, and nothing else, may run it, whatever the search_path once it is bound; without any one of the columns it may
//! not, or the list has more than is read.

use nl2sql_core::catalog::identifier::quote_identifier;
use nl2sql_tests::{Database, describe, error, text};
use postgres::Client;
use std::collections::{BTreeMap, BTreeSet};

const TABLES: &str = include_str!("statements/schema.sql");
const PASSING: &str = include_str!("statements/passing.txt");
const REFUSED: &str = include_str!("statements/refused.txt");
const AT_LEAST: usize = 280;

/// A statement, what its line of `>` has and what its lines of `!` have.
#[derive(Default)]
struct Entry {
    line: usize,
    listed: String,
    sql: String,
    /// Literals for its params.
    values: BTreeMap<String, String>,
    /// The first version of Postgres that knows it.
    from: u32,
    /// Columns, `table.column`, that count as read and that Postgres does not want.
    wide: BTreeSet<String>,
}

/// Blocks stand apart by empty lines; lines that begin with `#` are comments.
fn entries(list: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for (at, line) in list.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.is_empty()) {
        if let Some(listed) = line.strip_prefix('>') {
            entries.push(Entry { line: at + 1, listed: listed.trim().to_owned(), ..Entry::default() });
            continue;
        }
        let entry = entries.last_mut().expect("a line of >");
        match line.strip_prefix("! ") {
            None => entry.sql = format!("{}{line}\n", entry.sql),
            Some(note) => match note.split_once(' ').expect("a word and its value") {
                ("from", version) => entry.from = version.parse().expect("a version"),
                ("wide", columns) => entry.wide.extend(columns.split(", ").map(str::to_owned)),
                (param, value) => {
                    let value = value.strip_prefix("= ").expect("a literal").to_owned();
                    entry.values.insert(param.trim_start_matches(':').to_owned(), value);
                }
            },
        }
    }
    entries.iter_mut().for_each(|entry| entry.sql.truncate(entry.sql.trim_end().len()));
    let distinct: BTreeSet<&str> = entries.iter().map(|entry| entry.sql.as_str()).collect();
    assert!(entries.len() >= AT_LEAST && distinct.len() == entries.len(), "{} of {}", distinct.len(), entries.len());
    entries
}

/// `table: column, column; schema.table:`, by schema and table.
fn listed(line: &str) -> BTreeMap<(String, String), BTreeSet<String>> {
    let tables = line.split(';').map(str::trim).filter(|part| !part.is_empty());
    let read = |part: &str| {
        let (table, columns) = part.split_once(':').unwrap_or_else(|| panic!("{part} has no colon"));
        let (schema, table) = table.split_once('.').unwrap_or(("public", table));
        let columns = columns.split(',').map(str::trim).filter(|column| !column.is_empty());
        ((schema.to_owned(), table.to_owned()), columns.map(str::to_owned).collect())
    };
    tables.map(read).collect()
}

/// The list's tables in a datasource, and how they are asked about.
struct Server {
    _database: Database,
    client: Client,
    role: String,
    version: u32,
}

impl Server {
    fn new() -> Self {
        let database = Database::blank();
        let role = database.role("reader");
        let mut client = database.connect();
        client
            .batch_execute(&format!(
                "{TABLES}; GRANT USAGE ON SCHEMA public, archive TO {role};
                 SELECT nl2sql_register('films', schemas => ARRAY['public', 'archive']); SELECT nl2sql_index('films')"
            ))
            .expect("an index");
        let version = text(&mut client, "SELECT current_setting('server_version_num')::integer / 10000");
        let version = version.expect("a version").parse().expect("a number");
        Self { _database: database, client, role, version }
    }

    /// Stores the statement as a verified query; `Err` is the error's message.
    fn store(&mut self, entry: &Entry) -> Result<(), String> {
        let types = entry.values.iter().map(|(name, literal)| {
            let param_type = if literal.starts_with('\'') {
                "string"
            } else if literal.contains('.') {
                "float"
            } else {
                "int"
            };
            (name, serde_json::json!({ "type": param_type }))
        });
        let params = serde_json::to_string(&types.collect::<BTreeMap<_, _>>()).expect("JSON");
        let question = entry.values.keys().map(|name| format!(" {{{name}}}")).collect::<String>();
        let stored = self.client.execute(
            "SELECT nl2sql_verified_query('films', 'q', ARRAY['what' || $1], $2, params => $3::text::jsonb)",
            &[&question, &entry.sql, &params],
        );
        stored.map(drop).map_err(|error| describe(&error))
    }

    fn reads(&mut self) -> BTreeMap<(String, String), BTreeSet<String>> {
        let sql = "SELECT r ->> 'schema', r ->> 'name', ARRAY(SELECT jsonb_array_elements_text(r -> 'columns'))
                   FROM nl2sql.verified_query, jsonb_array_elements(reads) r WHERE id = 'q'";
        let rows = self.client.query(sql, &[]).expect("what it reads");
        rows.into_iter()
            .map(|row| ((row.get(0), row.get(1)), row.get::<_, Vec<String>>(2).into_iter().collect()))
            .collect()
    }

    fn bound(&mut self, entry: &Entry) -> String {
        let values = entry.values.iter().map(|(name, literal)| match literal.strip_prefix('\'') {
            Some(value) => (name, serde_json::json!(value.trim_end_matches('\''))),
            None => (name, serde_json::from_str(literal).expect("a number")),
        });
        let values = serde_json::to_string(&values.collect::<BTreeMap<_, _>>()).expect("JSON");
        self.client
            .query_one("SELECT nl2sql_bind('films', 'q', $1::text::jsonb)", &[&values])
            .unwrap_or_else(|error| panic!("line {}: {}", entry.line, describe(&error)))
            .get(0)
    }

    /// The error of a statement, with its SQLSTATE; what it did is undone.
    fn fails(&mut self, statements: &str) -> Option<(String, String)> {
        let failed = self.client.batch_execute(&format!("BEGIN; {statements}")).err();
        self.client.batch_execute("ROLLBACK").expect("a rollback");
        failed.map(|error| {
            let error = error.as_db_error().unwrap_or_else(|| panic!("lost the connection: {error}"));
            (error.code().code().to_owned(), error.message().to_owned())
        })
    }

    /// With SELECT on these columns alone; of a table of which none is read, on one that is not `except`.
    fn fails_with(
        &mut self,
        reads: &BTreeMap<(String, String), BTreeSet<String>>,
        except: Option<(&(String, String), &str)>,
        sql: &str,
    ) -> Option<(String, String)> {
        let mut grants = String::new();
        for (table, columns) in reads {
            let own = |column: &str| except.is_some_and(|(of, without)| of == table && without == column);
            let quoted = format!("{}.{}", quote_identifier(&table.0), quote_identifier(&table.1));
            let granted: Vec<String> =
                columns.iter().filter(|column| !own(column)).map(|column| quote_identifier(column)).collect();
            let granted = if granted.is_empty() {
                let without = except.filter(|(of, _)| *of == table).map_or("", |(_, column)| column);
                let other = "SELECT quote_ident(column_name) FROM information_schema.columns
                             WHERE table_schema = $1 AND table_name = $2 AND column_name <> $3 LIMIT 1";
                let other = self.client.query_opt(other, &[&table.0, &table.1, &without]).expect("another column");
                match other {
                    Some(row) => row.get(0),
                    None => continue,
                }
            } else {
                granted.join(", ")
            };
            grants.push_str(&format!("GRANT SELECT ({granted}) ON {quoted} TO {role}; ", role = self.role));
        }
        self.fails(&format!("{grants} SET LOCAL search_path = pg_catalog; SET LOCAL ROLE {}; EXPLAIN {sql}", self.role))
    }

    fn wrong(&mut self, entry: &Entry) -> Vec<String> {
        if let Err(message) = self.store(entry) {
            return vec![format!("{message}: {}", entry.sql)];
        }
        let (reads, listed) = (self.reads(), listed(&entry.listed));
        if reads != listed {
            return vec![format!("reads {reads:?}: {}", entry.sql)];
        }
        let bound = self.bound(entry);
        let mut wrong = Vec::new();
        match self.fails_with(&reads, None, &bound) {
            // A server that was built without it.
            Some((code, message)) if code == "0A000" && message.contains("XML") => return Vec::new(),
            Some((_, message)) => wrong.push(format!("reads more than {reads:?}: {message}: {bound}")),
            None => {}
        }
        for (table, columns) in &reads {
            let short = if table.0 == "public" { table.1.clone() } else { format!("{}.{}", table.0, table.1) };
            for column in columns {
                let wanted = self.fails_with(&reads, Some((table, column)), &bound);
                match (entry.wide.contains(&format!("{short}.{column}")), wanted) {
                    (true, None) => {}
                    (false, Some((code, _))) if code == "42501" => {}
                    (true, Some(_)) => wrong.push(format!("does want {short}.{column}")),
                    (false, other) => wrong.push(format!("does not want {short}.{column}: {other:?}")),
                }
            }
        }
        wrong
    }
}

#[test]
fn what_must_pass_is_stored_with_what_it_reads() {
    let mut server = Server::new();
    let version = server.version;
    let mut wrong = Vec::new();
    for entry in entries(PASSING).iter().filter(|entry| entry.from <= version) {
        wrong.extend(server.wrong(entry).into_iter().map(|message| format!("line {}: {message}", entry.line)));
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_must_be_rejected_is_rejected_in_the_words_of_the_list() {
    let mut server = Server::new();
    let version = server.version;
    let mut wrong = Vec::new();
    for entry in entries(REFUSED).iter().filter(|entry| entry.from <= version) {
        match server.store(entry) {
            Ok(()) => wrong.push(format!("line {}: passes: {}", entry.line, entry.sql)),
            Err(message) if !entry.listed.is_empty() && message.contains(&entry.listed) => {}
            Err(message) => wrong.push(format!("line {}: {message:.400}", entry.line)),
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Statements that grow without end are rejected before they take time or memory.
#[test]
fn what_would_grow_is_rejected() {
    let mut server = Server::new();
    let doubling: String = (1..60).map(|n| format!(", c{n} AS (SELECT * FROM c{0} a, c{0} b)", n - 1)).collect();
    let wide = format!("WITH c0 AS (SELECT * FROM films){doubling} SELECT count(*) FROM c59");
    let joined: String =
        (1..60).map(|n| format!(", c{n} AS (SELECT * FROM c{0} a JOIN c{0} b USING (code))", n - 1)).collect();
    let joined = format!("WITH c0 AS (SELECT * FROM films){joined} SELECT count(*) FROM c59");
    let columns: Vec<String> = (0..1600).map(|n| format!("1 a{n}")).collect();
    let many = format!("WITH c AS (SELECT {}) SELECT 1 FROM {}", columns.join(","), vec!["c"; 2500].join(","));
    let names = format!(
        "WITH c AS (SELECT {}) SELECT {} FROM c a, c b, c d, c e",
        columns.join(","),
        vec!["x"; 4000].join(",")
    );
    let deep = |before: &str, middle: &str, after: &str| {
        let times = 19_000 / before.split_whitespace().count().max(before.len() + after.len()).min(2);
        format!("SELECT {}{middle}{}", before.repeat(times), after.repeat(times))
    };
    // As deep as a statement may be; the session goes on.
    for sql in [
        deep("(", "1", ")"),
        deep("NOT ", "true", ""),
        deep("", "1", "+1"),
        deep("", "'{}'", "[1]"),
        deep("", "1", " UNION SELECT 1"),
    ] {
        let sql = sql.replace('\'', "''");
        let _ =
            server.client.batch_execute(&format!("SELECT nl2sql_verified_query('films', 'q', ARRAY['?'], '{sql}')"));
        assert_eq!(text(&mut server.client, "SELECT 1").as_deref(), Some("1"));
    }
    for (sql, words) in [
        (wide, "target lists can have at most 1664 entries"),
        (joined, ""),
        (many, "it has more than 1000 row sources"),
        (names, "column \"x\" does not exist"),
    ] {
        let sql = sql.replace('\'', "''");
        let found =
            error(&mut server.client, &format!("SELECT nl2sql_verified_query('films', 'q', ARRAY['?'], '{sql}')"));
        assert!(found.message().contains(words), "{:.300}", found.message());
    }
}

/// A name may have the database before the schema.
#[test]
fn a_table_may_be_named_with_its_database() {
    let mut server = Server::new();
    let database = text(&mut server.client, "SELECT quote_ident(current_database())").expect("a name");
    let stored = |sql: String| Entry { sql, ..Entry::default() };
    assert_eq!(server.store(&stored(format!("SELECT title FROM {database}.public.films"))), Ok(()));
    assert_eq!(server.reads(), listed("films: title"));
    let message = server.store(&stored("SELECT title FROM other.public.films".to_owned())).unwrap_err();
    assert!(message.contains("other.public.films is not the name of a table"), "{message}");
}
