//! Whether the list of statements that must pass is right: a server accepts each, whatever the search_path once it is
//! qualified, and a role that may SELECT what the statement is said to read, and nothing else, may run it. The other
//! way round, without any one of the columns it may not, or the list says that more is read than need be.

use nl2sql_core::catalog::identifier::{TableName, quote_identifier};
use nl2sql_core::catalog::schema::{ColumnContract, Schema, Table, TableContract, TableKind, TableMetadata};
use nl2sql_core::sql::parse;
use nl2sql_core::sql::reads;
use nl2sql_core::sql::reads::{Found, Names, Reads};
use nl2sql_tests::{Database, text};
use postgres::Client;
use std::collections::{BTreeMap, BTreeSet};

const TABLES: &str = include_str!("../../../src/core/tests/statements/schema.sql");
const PASSING: &str = include_str!("../../../src/core/tests/statements/passing.txt");
const PATH: [&str; 2] = ["public", "archive"];

/// A statement and what its lines of `!` say.
#[derive(Default)]
struct Entry {
    line: usize,
    sql: String,
    /// Literals for its params.
    values: BTreeMap<String, String>,
    /// The first version of Postgres that knows it.
    from: u32,
    /// Columns, `table.column`, that count as read and that Postgres does not want.
    wide: BTreeSet<String>,
}

fn entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for (at, line) in PASSING.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.is_empty()) {
        if line.starts_with('>') {
            entries.push(Entry { line: at + 1, ..Entry::default() });
            continue;
        }
        let entry: &mut Entry = entries.last_mut().expect("a line of >");
        match line.strip_prefix("! ") {
            None => entry.sql = format!("{}{line}\n", entry.sql),
            Some(says) => match says.split_once(' ').expect("a word and what it says") {
                ("from", version) => entry.from = version.parse().expect("a version"),
                ("wide", columns) => entry.wide.extend(columns.split(", ").map(str::to_owned)),
                (param, value) => {
                    let value = value.strip_prefix("= ").expect("a literal").to_owned();
                    entry.values.insert(param.trim_start_matches(':').to_owned(), value);
                }
            },
        }
    }
    entries
}

fn schema(client: &mut Client) -> Schema {
    let sql = "SELECT table_schema::text, table_name::text, array_agg(column_name::text ORDER BY ordinal_position)
               FROM information_schema.columns WHERE table_schema = ANY ($1) GROUP BY 1, 2";
    let rows = client.query(sql, &[&PATH.as_slice()]).expect("the columns");
    let table = |row: postgres::Row| {
        let column = |name| ColumnContract { name, data_type: "text".to_owned(), nullable: true, primary_key: false };
        let columns = row.get::<_, Vec<String>>(2).into_iter().map(column).collect();
        let contract =
            TableContract { kind: TableKind::Table, primary_key: Vec::new(), columns, foreign_keys: Vec::new() };
        Table {
            name: TableName::new(row.get::<_, String>(0), row.get::<_, String>(1)),
            contract,
            metadata: TableMetadata::default(),
        }
    };
    Schema { tables: rows.into_iter().map(table).collect() }
}

struct Server {
    client: Client,
    role: String,
    schema: Schema,
}

impl Server {
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
    fn fails_with(&mut self, reads: &Reads, except: Option<(&TableName, &str)>, sql: &str) -> Option<(String, String)> {
        let mut grants = String::new();
        for (table, columns) in &reads.tables {
            let own = |column: &str| except.is_some_and(|(of, without)| of == table && without == column);
            let granted: Vec<String> =
                columns.iter().filter(|column| !own(column)).map(|column| quote_identifier(column)).collect();
            let known = self.schema.tables.iter().find(|known| known.name == *table).expect("a table of the schema");
            let other = known.contract.columns.iter().map(|column| &column.name).find(|column| !own(column));
            let granted = match (granted.is_empty(), other) {
                (true, None) => continue,
                (true, Some(other)) => quote_identifier(other),
                (false, _) => granted.join(", "),
            };
            grants.push_str(&format!("GRANT SELECT ({granted}) ON {table} TO {role}; ", role = self.role));
        }
        self.fails(&format!("{grants} SET LOCAL search_path = pg_catalog; SET LOCAL ROLE {}; EXPLAIN {sql}", self.role))
    }

    fn wrong(&mut self, entry: &Entry) -> Vec<String> {
        let path = PATH.map(str::to_owned);
        let parsed = match parse::parse(&entry.sql) {
            Ok(parsed) => parsed,
            Err(refusal) => return vec![refusal],
        };
        let found = reads::resolve(&entry.sql, &parsed, &Names::new(&path, &self.schema));
        if !found.problems.is_empty() {
            return found.problems;
        }
        let bound = |found: &Found| {
            reads::qualify(&entry.sql, found, &parsed, |name| entry.values.get(name).expect("a literal").clone())
        };
        let (plain, qualified) = (bound(&Found::default()), bound(&found));
        let mut wrong = Vec::new();
        for (path, sql) in [("public, archive", &plain), ("pg_catalog", &qualified)] {
            if let Some((code, message)) =
                self.fails(&format!("DEALLOCATE ALL; SET LOCAL search_path = {path}; PREPARE s AS {sql}"))
            {
                if code == "0A000" && message.contains("XML") {
                    return Vec::new(); // a server that was built without it
                }
                wrong.push(format!("is not accepted with {path}: {message}: {sql}"));
            }
        }
        if !wrong.is_empty() {
            return wrong;
        }
        if let Some((_, message)) = self.fails_with(&found.reads, None, &qualified) {
            wrong.push(format!("reads more than {:?}: {message}", found.reads.columns()));
        }
        for (table, columns) in &found.reads.tables {
            for column in columns {
                let short = if table.schema == "public" { &table.name } else { &table.to_string() };
                let wanted = self.fails_with(&found.reads, Some((table, column)), &qualified);
                match (entry.wide.contains(&format!("{short}.{column}")), wanted) {
                    (true, None) => {}
                    (false, Some((code, _))) if code == "42501" => {}
                    (true, Some(_)) => wrong.push(format!("does want {table}.{column}")),
                    (false, other) => wrong.push(format!("does not want {table}.{column}: {other:?}")),
                }
            }
        }
        wrong
    }
}

#[test]
fn what_passes_is_accepted_and_reads_what_it_is_said_to_read() {
    let database = Database::blank();
    let role = database.role("reader");
    let mut client = database.connect();
    client.batch_execute(&format!("{TABLES}; GRANT USAGE ON SCHEMA public, archive TO {role}")).expect("the tables");
    let version: u32 = text(&mut client, "SELECT current_setting('server_version_num')::integer / 10000")
        .expect("a version")
        .parse()
        .expect("a number");
    let schema = schema(&mut client);
    let mut server = Server { client, role, schema };
    let mut wrong = Vec::new();
    for entry in entries().iter().filter(|entry| entry.from <= version) {
        wrong.extend(server.wrong(entry).into_iter().map(|message| format!("line {}: {message}", entry.line)));
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Each may be written down: what the extension asks the server is no stricter than the server, whatever the statement
/// is made of.
#[test]
fn what_passes_may_be_written_down() {
    let database = Database::blank();
    let mut client = database.connect();
    client
        .batch_execute(&format!(
            "{TABLES}; SELECT nl2sql_register('films', schemas => ARRAY['public', 'archive']); SELECT nl2sql_index('films')"
        ))
        .expect("an index");
    let version: u32 = text(&mut client, "SELECT current_setting('server_version_num')::integer / 10000")
        .expect("a version")
        .parse()
        .expect("a number");
    let mut wrong = Vec::new();
    for entry in entries().iter().filter(|entry| entry.from <= version) {
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
        let written = client.execute(
            "SELECT nl2sql_verified_query('films', 'q', ARRAY['what' || $1], $2, params => $3::text::jsonb)",
            &[&question, &entry.sql, &params],
        );
        if let Err(error) = written {
            let message = nl2sql_tests::describe(&error);
            // A server that was built without it.
            if !message.contains("unsupported XML feature") {
                wrong.push(format!("line {}: {message}: {}", entry.line, entry.sql));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
