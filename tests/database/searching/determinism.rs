//! The same index and question return the same rows in the same order. MMR and fusion are computed here a second time,
//! from the stored vectors.

use nl2sql_tests::{Database, rows, text};
use postgres::Client;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const QUESTIONS: [&str; 4] = [
    "Which customers have unpaid invoices?",
    "late parcels",
    "🦀",
    "Who answers the phone at night, and how long does it take them?",
];

fn parse(client: &mut Client, sql: &str) -> Value {
    serde_json::from_str(&text(client, sql).unwrap()).unwrap()
}

/// All results of the searches, numbers to the last digit.
fn answers(client: &mut Client) -> Vec<Value> {
    let mut found = Vec::new();
    for question in &QUESTIONS[..2] {
        for call in [
            format!("nl2sql_mmr('{question}', k => 12)"),
            format!("nl2sql_mmr('{question}', k => 6, lambda => 0.2, types => '{{schema.table,schema.column}}')"),
            format!("nl2sql_mmr('{question}', k => 400)"),
            format!("nl2sql_route('{question}', floor_ratio => 0)"),
        ] {
            found.push(rows(client, &format!("SELECT * FROM {call}")));
        }
    }
    found
}

#[test]
fn neither_session_nor_plan_nor_storage_makes_a_difference() {
    let database = Database::demo();
    let mut client = database.connect();
    let expected = answers(&mut client);
    assert!(expected.iter().all(|found| !found.as_array().unwrap().is_empty()));
    assert_eq!(answers(&mut client), expected, "asked again");
    assert_eq!(answers(&mut database.connect()), expected, "in another session");
    for settings in [
        "work_mem = '64kB'",
        "enable_seqscan = off",
        "enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off",
        "enable_sort = off; SET enable_hashagg = off; SET enable_incremental_sort = off",
        "enable_nestloop = off",
        "enable_hashjoin = off; SET enable_mergejoin = off",
        "enable_memoize = off",
        "max_parallel_workers_per_gather = 4; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0",
        "jit = on; SET jit_above_cost = 0",
        "extra_float_digits = 3",
    ] {
        client.batch_execute(&format!("SET {settings}")).unwrap();
        assert_eq!(answers(&mut client), expected, "{settings}");
        client.batch_execute("RESET ALL").unwrap();
    }
    client.batch_execute("VACUUM FULL nl2sql.entry").unwrap();
    client.batch_execute("ANALYZE nl2sql.entry").unwrap();
    client.batch_execute("REINDEX TABLE nl2sql.entry").unwrap();
    assert_eq!(answers(&mut client), expected, "stored anew");
    client.batch_execute("UPDATE nl2sql.entry SET text = text WHERE id COLLATE \"C\" > 'schema.column:h'").unwrap();
    assert_eq!(answers(&mut client), expected, "rows in another order");
}

const FIELD: &str = "CREATE SCHEMA field;
    CREATE TABLE field.crop (id int PRIMARY KEY, name text, sown date); CREATE TABLE field.yield (crop int REFERENCES field.crop, tons numeric);
    CREATE TABLE field.tool (id int PRIMARY KEY, name text, lent_to text, back_on date)";

/// Answers without the build's timestamps and ids.
fn timeless(client: &mut Client) -> Value {
    let found = rows(
        client,
        "SELECT rank, regexp_replace(id, ':\\d{14}_', ':') AS id, text, similarity, pick, mmr_score FROM nl2sql_mmr('when was it sown', k => 9)",
    );
    assert!(found.as_array().unwrap().len() == 9, "{found}");
    found
}

#[test]
fn an_index_built_elsewhere_says_the_same() {
    let mut client = Database::blank().connect();
    client.batch_execute(FIELD).unwrap();
    client.batch_execute("SELECT nl2sql_index('field')").unwrap();
    let expected = timeless(&mut client);
    let mut other = Database::blank().connect();
    other.batch_execute(FIELD).unwrap();
    other.batch_execute("SELECT nl2sql_index('field')").unwrap();
    assert_eq!(timeless(&mut other), expected);
    // A text's vector does not depend on its batch, except for rounding: sums in another order.
    let far = "SELECT count(*) FROM nl2sql.entry WHERE embedding <=> nl2sql_embed(text) > 1e-6";
    assert_eq!(text(&mut client, far).as_deref(), Some("0"));
}

#[test]
fn ties_go_to_the_smaller_id_and_name() {
    let mut client = Database::blank().connect();
    client.batch_execute(FIELD).unwrap();
    // The larger name comes first, so that its rows are older.
    for twin in ["twin_b", "twin_a", "Twin"] {
        let register = format!(
            "SELECT nl2sql_register('{twin}', schemas => '{{field}}', description => 'The farm of Twin, twin_a and twin_b', sample_questions => '{{what grows?}}')"
        );
        client.batch_execute(&register).unwrap();
        client.batch_execute(&format!("SELECT nl2sql_index('{twin}')")).unwrap();
    }
    for (k, fetch) in [(30, 120), (5, 5), (4, 7)] {
        let found = rows(
            &mut client,
            &format!(
                "SELECT id, text, similarity FROM nl2sql_mmr('what is sown where', k => {k}, lambda => 1, fetch_k => {fetch})"
            ),
        );
        let found = found.as_array().unwrap();
        assert_eq!(found.len(), k);
        let mut tied = 0;
        for pair in found.windows(2) {
            let (a, b) = (&pair[0], &pair[1]);
            let similarity = |row: &Value| row["similarity"].as_f64().unwrap();
            assert!(similarity(a) >= similarity(b));
            if similarity(a) == similarity(b) {
                tied += 1;
                assert!(a["id"].as_str() < b["id"].as_str(), "{a} {b}");
            }
        }
        assert!(tied >= k / 2, "three of a kind: {found:?}");
        assert!(found[0]["id"].as_str().unwrap().contains("Twin"), "the smallest id of the nearest text");
    }
    let routed =
        rows(&mut client, "SELECT datasource, ranks FROM nl2sql_route('what is sown where', floor_ratio => 1)");
    let ranks =
        |rank: i32| json!({"description": rank, "examples": rank, "tables": rank, "columns": rank, "words": rank});
    assert_eq!(
        routed,
        json!([
            {"datasource": "Twin", "ranks": ranks(1)}, {"datasource": "twin_a", "ranks": ranks(2)}, {"datasource": "twin_b", "ranks": ranks(3)},
        ])
    );
}

/// Whether two computations of one number agree: the server sums float4 vectors in another order.
fn near(a: &Value, b: f64) -> bool {
    (a.as_f64().unwrap() - b).abs() < 2e-6
}

#[test]
fn mmr_computed_a_second_time() {
    let mut client = Database::demo().connect();
    for (question, arguments, lambda, k, fetch_k) in [
        (QUESTIONS[0], "", 0.7, 8, 32),
        (QUESTIONS[0], "", 0.0, 8, 32),
        (QUESTIONS[1], "", 1.0, 5, 9),
        (QUESTIONS[2], "", 0.3, 20, 20),
        (QUESTIONS[3], ", types => '{schema.column}', datasources => '{webshop,helpdesk}'", 0.5, 10, 40),
    ] {
        let arguments = format!("'{question}', k => {k}, lambda => {lambda}, fetch_k => {fetch_k}{arguments}");
        let explained = parse(&mut client, &format!("nl2sql_mmr_explain({arguments})"));
        let pool = explained["pool"].as_array().unwrap();
        let ids: Vec<&str> = pool.iter().map(|near| near["id"].as_str().unwrap()).collect();
        let filter =
            if arguments.contains("types") { "e.type = 'schema.column' AND e.datasource <> 'chinook'" } else { "true" };
        let nearest = rows(&mut client, &format!(
            "SELECT e.id, 1 - (e.embedding <=> q) AS similarity FROM nl2sql.entry e JOIN nl2sql.pointer p ON p.build = e.build, nl2sql_embed('{question}') q
             WHERE {filter} ORDER BY 2 DESC, e.id COLLATE \"C\" LIMIT {fetch_k}"));
        let nearest: Vec<&str> = nearest.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(ids, nearest, "the pool holds the nearest");
        let list = ids.iter().map(|id| format!("'{}'", id.replace('\'', "''"))).collect::<Vec<_>>().join(", ");
        let alike = rows(
            &mut client,
            &format!(
                "SELECT a.id AS x, b.id AS y, 1 - (a.embedding <=> b.embedding) AS s FROM nl2sql.entry a, nl2sql.entry b WHERE a.id IN ({list}) AND b.id IN ({list})"
            ),
        );
        let alike: BTreeMap<(&str, &str), f64> = alike
            .as_array()
            .unwrap()
            .iter()
            .map(|row| ((row["x"].as_str().unwrap(), row["y"].as_str().unwrap()), row["s"].as_f64().unwrap()))
            .collect();
        let similarity: BTreeMap<&str, f64> =
            pool.iter().map(|near| (near["id"].as_str().unwrap(), near["similarity"].as_f64().unwrap())).collect();

        let picks: Vec<&str> = explained["picks"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        assert_eq!(picks.len(), k.min(ids.len()));
        assert_eq!(picks[0], ids[0], "the first pick is the most similar");
        for order in 1..picks.len() {
            let earlier = &picks[..order];
            let redundancy =
                |id: &str| earlier.iter().map(|pick| alike[&(id, *pick)]).fold(f64::NEG_INFINITY, f64::max);
            let score = |id: &str| lambda * similarity[id] - (1.0 - lambda) * redundancy(id);
            let best =
                ids.iter().filter(|id| !earlier.contains(id)).map(|id| score(id)).fold(f64::NEG_INFINITY, f64::max);
            assert!(!earlier.contains(&picks[order]));
            assert!(best - score(picks[order]) < 2e-6, "pick {order} of {arguments}: {} is not the best", picks[order]);
            let record = pool.iter().find(|near| near["id"] == picks[order]).unwrap();
            assert!(
                near(&record["mmr_score"], score(picks[order]))
                    && near(&record["redundancy"], redundancy(picks[order])),
                "{record}"
            );
            assert_eq!((&record["picked"], &record["pick"]), (&json!(true), &json!(order + 1)));
        }
        let dropped: Vec<&str> = ids.iter().copied().filter(|id| !picks.contains(id)).collect();
        assert_eq!(explained["dropped"], json!(dropped));
        // The rows are the picks, nearest first.
        let found =
            rows(&mut client, &format!("SELECT rank, id, pick, similarity, mmr_score FROM nl2sql_mmr({arguments})"));
        let picked = pool.iter().filter(|near| near["picked"] == true);
        assert_eq!(found.as_array().unwrap().len(), picks.len());
        for ((row, record), rank) in found.as_array().unwrap().iter().zip(picked).zip(1..) {
            assert_eq!((&row["rank"], &row["id"], &row["pick"]), (&json!(rank), &record["id"], &record["pick"]));
            assert_eq!(row["similarity"].as_f64(), record["similarity"].as_f64());
            assert_eq!(row["mmr_score"].as_f64(), record["mmr_score"].as_f64());
        }
    }
}

/// Reciprocal rank fusion as the manual defines it, from the hits of each signal.
fn fuse(signals: &[Value]) -> Vec<(String, f64, f64, Map<String, Value>)> {
    let mut candidates: BTreeMap<&str, (Vec<u32>, f64, Map<String, Value>)> = BTreeMap::new();
    let hits = |signal: &'_ Value| signal["hits"].as_array().unwrap().clone();
    for signal in signals {
        for hit in signal["hits"].as_array().unwrap() {
            candidates.entry(hit["datasource"].as_str().unwrap()).or_insert((
                Vec::new(),
                f64::NEG_INFINITY,
                Map::new(),
            ));
        }
    }
    for signal in signals.iter().filter(|signal| !hits(signal).is_empty()) {
        let mut best: BTreeMap<String, f64> = BTreeMap::new();
        for hit in hits(signal) {
            let known = best.entry(hit["datasource"].as_str().unwrap().to_owned()).or_insert(f64::NEG_INFINITY);
            *known = known.max(hit["similarity"].as_f64().unwrap());
        }
        let mut order: Vec<(&String, f64)> = best.iter().map(|(name, similarity)| (name, *similarity)).collect();
        // Stable: ties stay in the order of names.
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (name, (ranks, similarity, named)) in &mut candidates {
            match order.iter().position(|(other, _)| other == name) {
                Some(at) => {
                    ranks.push(at as u32 + 1);
                    named.insert(signal["signal"].as_str().unwrap().to_owned(), json!(at + 1));
                    *similarity = similarity.max(order[at].1);
                }
                None => ranks.push(order.len() as u32 + 1),
            }
        }
    }
    let mut fused: Vec<_> = candidates
        .into_iter()
        .map(|(name, (ranks, similarity, named))| {
            (name.to_owned(), ranks.iter().map(|rank| 1.0 / f64::from(60 + rank)).sum::<f64>(), similarity, named)
        })
        .collect();
    fused.sort_by(|a, b| if (a.1 - b.1).abs() < 1e-12 { a.0.cmp(&b.0) } else { b.1.total_cmp(&a.1) });
    fused
}

#[test]
fn routing_computed_a_second_time() {
    let mut client = Database::demo().connect();
    client.batch_execute(FIELD).unwrap();
    // A datasource without examples, and two that differ only in their names.
    client.batch_execute("SELECT nl2sql_register('plot', schemas => '{field}', description => 'plot, field'); SELECT nl2sql_index('plot')").unwrap();
    client
        .batch_execute("SELECT nl2sql_register('field', description => 'plot, field'); SELECT nl2sql_index('field')")
        .unwrap();
    let (mut floors, mut limits, mut gaps) = (0, 0, 0);
    for question in QUESTIONS.iter().chain(&["which crop was sown last"]) {
        for (candidates, floor) in [(3, 0.5), (1, 0.0), (9, 0.0), (2, 1.0), (5, 0.8)] {
            let arguments = format!("'{question}', {candidates}, {floor}, fusion => 'rrf'");
            let explained = parse(&mut client, &format!("nl2sql_route_explain({arguments})"));
            let signals = explained["signals"].as_array().unwrap();
            let names: Vec<&str> = signals.iter().map(|signal| signal["signal"].as_str().unwrap()).collect();
            assert_eq!(names, ["description", "examples", "curated", "tables", "columns"]);
            for (signal, kind) in signals.iter().zip(["datasource", "datasource_example", "", "table", "column"]) {
                let limit = if kind == "datasource" { 1000 } else { 20 };
                let hits = rows(&mut client, &format!(
                    "SELECT e.id, e.datasource, 1 - (e.embedding <=> q) AS similarity FROM nl2sql.entry e JOIN nl2sql.pointer p ON p.build = e.build, nl2sql_embed('{question}') q
                     WHERE e.type = 'schema.{kind}' ORDER BY 3 DESC, e.id COLLATE \"C\" LIMIT {limit}"));
                let sorted = |list: &Value| {
                    let mut list = list.as_array().unwrap().clone();
                    list.sort_by_key(|hit| hit["id"].as_str().unwrap().to_owned());
                    list
                };
                assert_eq!(sorted(&signal["hits"]), sorted(&hits), "{} of {question}", signal["signal"]);
            }
            let fused = fuse(signals);
            let routing = &explained["routing"];
            assert_eq!(
                routing["signals"],
                json!(["description", "examples", "tables", "columns"]),
                "curated ranked nothing"
            );
            let record: Vec<(&str, &Value)> = routing["fused"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| (one["datasource"].as_str().unwrap(), &one["ranks"]))
                .collect();
            let expected: Vec<(&str, Value)> =
                fused.iter().map(|one| (one.0.as_str(), Value::from(one.3.clone()))).collect();
            assert_eq!(
                record.iter().map(|(name, ranks)| (*name, (*ranks).clone())).collect::<Vec<_>>(),
                expected,
                "{question}"
            );
            gaps += fused.iter().filter(|one| one.3.len() < 4).count();
            let best = fused.iter().map(|one| one.2).fold(f64::NEG_INFINITY, f64::max);
            let (mut picks, mut dropped) = (Vec::new(), Vec::new());
            for one in &fused {
                if one.2 < floor * best {
                    dropped.push(json!({"datasource": one.0, "reason": "floor"}));
                    floors += 1;
                } else if picks.len() == candidates {
                    dropped.push(json!({"datasource": one.0, "reason": "limit"}));
                    limits += 1;
                } else {
                    picks.push(one);
                }
            }
            assert_eq!(routing["dropped"], Value::from(dropped), "{arguments}");
            let found = rows(&mut client, &format!("SELECT * FROM nl2sql_route({arguments})"));
            assert_eq!(found.as_array().unwrap().len(), picks.len());
            for (row, pick) in found.as_array().unwrap().iter().zip(picks) {
                assert_eq!((&row["datasource"], &row["ranks"]), (&json!(pick.0), &Value::from(pick.3.clone())));
                assert_eq!(row["similarity"].as_f64(), Some(pick.2));
                assert!((row["score"].as_f64().unwrap() - pick.1).abs() < 1e-12, "{row}");
            }
        }
    }
    assert!(floors > 0 && limits > 0 && gaps > 0, "every rule was met: {floors} {limits} {gaps}");
}

#[test]
fn only_new_texts_are_embedded() {
    let mut client = Database::blank().connect();
    client.batch_execute(FIELD).unwrap();
    let mut index = |name: &str, change: &str| {
        client.batch_execute(change).unwrap();
        let found = rows(&mut client, &format!("SELECT status, entries, embedded, reused FROM nl2sql_index('{name}')"));
        let row = &found[0];
        (
            row["status"].as_str().unwrap().to_owned(),
            row["entries"].as_i64().unwrap(),
            row["embedded"].as_i64().unwrap(),
            row["reused"].as_i64().unwrap(),
        )
    };
    // A datasource, three tables, nine columns, one relationship.
    assert_eq!(index("field", ""), ("indexed".into(), 14, 14, 0));
    assert_eq!(index("field", ""), ("unchanged".into(), 14, 0, 14));
    // The column, and the table whose text lists it.
    assert_eq!(index("field", "ALTER TABLE field.tool ADD price numeric"), ("indexed".into(), 15, 2, 13));
    assert_eq!(index("field", "COMMENT ON COLUMN field.crop.name IS 'in Latin'"), ("indexed".into(), 15, 1, 14));
    assert_eq!(
        index("field", "COMMENT ON COLUMN field.crop.name IS NULL"),
        ("indexed".into(), 15, 0, 15),
        "the build just replaced has it"
    );
    // A second datasource of the same tables: only its name is new.
    assert_eq!(index("farm", "SELECT nl2sql_register('farm', schemas => '{field}')"), ("indexed".into(), 15, 1, 14));
    // Keys that differ only in their names have one text, which is embedded once.
    let twice = "ALTER TABLE field.tool ADD crop int REFERENCES field.crop; ALTER TABLE field.tool ADD CONSTRAINT again FOREIGN KEY (crop) REFERENCES field.crop";
    assert_eq!(index("field", twice), ("indexed".into(), 18, 3, 15), "a column, its table, one of two keys");
}
