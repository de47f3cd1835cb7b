//! Measures how well routing and retrieval find what questions need. Called by `tests/eval/eval.sh`.
//!
//! nl2sql-eval SOCKET_DIRECTORY EXAMPLES DATASOURCES OUT CASES...
//!
//! A case is a line of JSON: `question`; `datasources`, all that a correct answer needs, or `db` if it is one; `tables`
//! and `columns` (`table.column`) that its SQL reads. Prints a table and writes the figures as JSON.

use nl2sql_tests::connect;
use postgres::Client;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

struct Case {
    question: String,
    datasources: Vec<String>,
    tables: BTreeSet<String>,
    columns: BTreeSet<(String, String)>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, examples, datasources, out, files @ ..] = arguments.as_slice() else {
        panic!("usage: nl2sql-eval SOCKET_DIRECTORY EXAMPLES DATASOURCES OUT CASES...")
    };
    let mut client = connect(Path::new(directory), "postgres", "postgres");
    register(&mut client, examples, datasources);
    let names: BTreeSet<String> =
        texts(&mut client, "SELECT datasource FROM nl2sql.datasources", &[]).into_iter().collect();
    let mut figures = BTreeMap::new();
    for file in files {
        let mut cases = read(file);
        // A case without datasource belongs to the only one that has all its tables.
        for case in cases.iter_mut().filter(|case| case.datasources.is_empty()) {
            case.datasources = owner(&mut client, case).into_iter().collect();
        }
        cases.retain(|case| !case.datasources.is_empty() && case.datasources.iter().all(|name| names.contains(name)));
        println!("{file}: {} cases, {} datasources", cases.len(), names.len());
        figures.insert(file.clone(), measure(&mut client, &cases, names.len()));
    }
    std::fs::write(out, format!("{:#}\n", json!(figures))).expect("the file for the figures");
    println!("figures as JSON: {out}");
}

fn measure(client: &mut Client, cases: &[Case], datasources: usize) -> Value {
    let mut figures = json!({ "cases": cases.len() });
    if datasources > 1 {
        for fusion in ["score", "rrf"] {
            figures["routing"][fusion] = routing(client, cases, fusion);
        }
    }
    let with_tables: Vec<&Case> = cases.iter().filter(|case| !case.tables.is_empty()).collect();
    if with_tables.is_empty() {
        return figures;
    }
    for scope in ["within the datasource", "over all"] {
        if scope == "over all" && datasources == 1 {
            continue;
        }
        for strategy in ["mmr", "dense", "fused"] {
            figures["tables"][scope][strategy] = tables(client, &with_tables, strategy, scope == "over all");
        }
    }
    figures["retrieval"] = retrieval(client, &with_tables);
    figures
}

/// The share of cases whose first candidate is correct, and of those with all correct ones among three.
fn routing(client: &mut Client, cases: &[Case], fusion: &str) -> Value {
    let (mut first, mut all, mut both) = (0.0, 0.0, 0.0);
    for case in cases {
        let found = texts(client, "SELECT datasource FROM nl2sql_route($1, fusion => $2)", &[&case.question, &fusion]);
        let is_first = found.first().is_some_and(|name| case.datasources.contains(name));
        let are_all = case.datasources.iter().all(|name| found.contains(name));
        first += f64::from(is_first);
        all += f64::from(are_all);
        both += f64::from(is_first && are_all);
    }
    let count = cases.len() as f64;
    println!(
        "  routing, {fusion:6}  first right {:5.1} %   all right among three {:5.1} %   both {both} of {count}",
        100.0 * first / count,
        100.0 * all / count
    );
    json!({ "first": first / count, "all_among_three": all / count, "both": both, "cases": count })
}

/// Recall of the tables that the SQL reads, and the share of cases with all of them.
fn tables(client: &mut Client, cases: &[&Case], strategy: &str, over_all: bool) -> Value {
    let mut figures = json!({});
    let mut line =
        format!("  tables {} {strategy:6}", if over_all { "over all datasources " } else { "within the datasource" });
    for k in [5, 10] {
        let (mut recall, mut complete) = (0.0, 0.0);
        for case in cases {
            let datasource = (!over_all).then(|| case.datasources[0].clone());
            let sql = "SELECT datasource || '.' || lower(table_name) FROM nl2sql_search_tables($1, $2, $3, $4)";
            let found: HashSet<String> =
                texts(client, sql, &[&case.question, &datasource, &k, &strategy]).into_iter().collect();
            let wanted = case.tables.iter().map(|table| format!("{}.{}", case.datasources[0], table.to_lowercase()));
            let hit = wanted.filter(|table| found.contains(table)).count();
            recall += hit as f64 / case.tables.len() as f64;
            complete += f64::from(hit == case.tables.len());
        }
        let count = cases.len() as f64;
        line += &format!(
            "   at {k:2}: recall {:5.1} %, complete {:5.1} %",
            100.0 * recall / count,
            100.0 * complete / count
        );
        figures[format!("at {k}")] = json!({ "recall": recall / count, "complete": complete / count });
    }
    println!("{line}");
    figures
}

/// What `nl2sql_retrieve` returns, with every datasource searched however small.
fn retrieval(client: &mut Client, cases: &[&Case]) -> Value {
    client.batch_execute("SELECT nl2sql_health(); SET nl2sql.full_snapshot_max_tables = 0").expect("a setting");
    let (mut tables, mut columns, mut sent, mut sent_tables, mut asked) = (0.0, 0.0, 0, 0, 0.0);
    for case in cases {
        let sql = "SELECT table_name || '.' || (jsonb_array_elements(definition -> 'columns') ->> 'name'), table_name FROM nl2sql_retrieve($1, $2)";
        let rows = client.query(sql, &[&case.datasources[0], &case.question]).unwrap_or_else(|error| panic!("{error}"));
        let found: HashSet<String> = rows.iter().map(|row| row.get::<_, String>(0).to_lowercase()).collect();
        let of: HashSet<String> = rows.iter().map(|row| row.get::<_, String>(1).to_lowercase()).collect();
        let hit = case.tables.iter().filter(|table| of.contains(&table.to_lowercase())).count();
        tables += hit as f64 / case.tables.len() as f64;
        if !case.columns.is_empty() {
            let hit = case
                .columns
                .iter()
                .filter(|(table, column)| found.contains(&format!("{table}.{column}").to_lowercase()));
            columns += hit.count() as f64 / case.columns.len() as f64;
            asked += 1.0;
        }
        sent += found.len();
        sent_tables += of.len();
    }
    client.batch_execute("RESET nl2sql.full_snapshot_max_tables").expect("a setting");
    let count = cases.len() as f64;
    let (tables, columns) = (tables / count, columns / f64::max(asked, 1.0));
    let (sent, sent_tables) = (sent as f64 / count, sent_tables as f64 / count);
    println!(
        "  retrieval   table recall {:5.1} %   column recall {:5.1} %   {sent_tables:.1} tables and {sent:.1} columns a question",
        100.0 * tables,
        100.0 * columns
    );
    json!({ "table_recall": tables, "column_recall": columns, "tables": sent_tables, "columns": sent })
}

/// Registers every schema that is not a datasource yet, with its entry in the files, and indexes all.
fn register(client: &mut Client, examples: &str, datasources: &str) {
    let mut asked: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in if examples == "-" { Vec::new() } else { read(examples) } {
        asked.entry(case.datasources[0].clone()).or_default().push(case.question);
    }
    let said: Value = if datasources == "-" { json!({}) } else { parse(datasources, &read_file(datasources)) };
    let list = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let schemas = texts(
        client,
        "SELECT nspname::text FROM pg_namespace n WHERE nspname !~ '^pg_' AND nspname NOT IN ('information_schema', 'nl2sql')
           AND EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
                       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e'))
           AND nspname NOT IN (SELECT datasource FROM nl2sql.datasources)",
        &[],
    );
    for schema in schemas {
        let about = &said[&schema];
        let mut questions = list(&about["sample_questions"]);
        questions.extend(asked.remove(&schema).into_iter().flatten());
        let sql = "SELECT nl2sql_register($1, description => $2, domains => $3, sample_questions => $4)";
        client
            .execute(sql, &[&schema, &about["description"].as_str(), &list(&about["domains"]), &questions])
            .unwrap_or_else(|error| panic!("{schema}: {error}"));
    }
    client.batch_execute("SELECT nl2sql_index()").unwrap_or_else(|error| panic!("{error}"));
}

/// The one datasource that has all the tables that a case names.
fn owner(client: &mut Client, case: &Case) -> Option<String> {
    let names: Vec<String> = case.tables.iter().map(|table| table.to_lowercase()).collect();
    let found = texts(
        client,
        "SELECT datasource FROM nl2sql.tables WHERE lower(table_name) = ANY ($1)
         GROUP BY datasource HAVING count(DISTINCT lower(table_name)) = cardinality($1) ORDER BY datasource",
        &[&names],
    );
    if names.is_empty() { None } else { found.into_iter().next() }
}

fn read(file: &str) -> Vec<Case> {
    read_file(file).lines().filter(|line| !line.trim().is_empty()).map(|line| case(&parse(file, line))).collect()
}

fn case(line: &Value) -> Case {
    let list = |name: &str| -> Vec<String> {
        line[name].as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let mut datasources = list("datasources");
    datasources.extend(line["db"].as_str().map(str::to_owned));
    let split = |column: String| column.split_once('.').map(|(table, column)| (table.to_owned(), column.to_owned()));
    Case {
        question: line["question"].as_str().unwrap_or_default().to_owned(),
        datasources,
        tables: list("tables").into_iter().collect(),
        columns: list("columns").into_iter().filter_map(split).collect(),
    }
}

fn read_file(file: &str) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn parse(file: &str, text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn texts(client: &mut Client, sql: &str, arguments: &[&(dyn postgres::types::ToSql + Sync)]) -> Vec<String> {
    let rows = client.query(sql, arguments).unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.iter().map(|row| row.get(0)).collect()
}
