//! Vectors: equal to those of the model's publisher, and the same in every backend.

use nl2sql_tests::{Database, describe, sqlstate, text};
use postgres::Client;

/// Texts with the vectors that the model's publisher computes for them.
const REFERENCE: &str = include_str!("../../../src/model/reference.json");
const TOLERANCE: f64 = 1e-5;

fn embed(client: &mut Client, question: &str) -> Vec<f64> {
    let row = client.query_one("SELECT nl2sql_embed($1)::text", &[&question]);
    let vector: String = row.unwrap_or_else(|error| panic!("{question:?}: {}", describe(&error))).get(0);
    serde_json::from_str(&vector).expect("a vector is written like a JSON array")
}

#[test]
fn the_first_numbers_are_the_publishers() {
    let mut client = Database::blank().connect();
    let vector = embed(&mut client, "This is an example sentence");
    assert_eq!(vector.len(), 384);
    for (number, expected) in vector.iter().zip([0.067_656_9, 0.063_496_0, 0.048_713_1, 0.079_305_0]) {
        assert!((number - expected).abs() < TOLERANCE, "{number} is not {expected}");
    }
    let length: f64 = vector.iter().map(|number| number * number).sum();
    assert!((length - 1.0).abs() < TOLERANCE, "{length}");
}

#[test]
fn every_text_of_the_reference_is_near() {
    let mut client = Database::blank().connect();
    let reference: serde_json::Value = serde_json::from_str(REFERENCE).expect("JSON");
    let items = reference["items"].as_array().expect("items");
    assert!(items.len() >= 5);
    let mut worst: f64 = 0.0;
    for item in items {
        let question = item["text"].as_str().expect("a text");
        if question.trim().is_empty() {
            assert_eq!(sqlstate(&mut client, &format!("SELECT nl2sql_embed('{question}')")), "22023");
            continue;
        }
        let expected = item["vector"].as_array().expect("a vector");
        for (number, expected) in embed(&mut client, question).iter().zip(expected) {
            worst = worst.max((number - expected.as_f64().expect("a number")).abs());
        }
    }
    println!("{} texts, furthest from the reference by {worst:e}", items.len());
    assert!(worst < TOLERANCE, "{worst}");
}

/// The same holds if several backends load the model at the same moment.
#[test]
fn eight_backends_at_once_compute_the_same() {
    let database = Database::blank();
    let questions: Vec<String> =
        ["late parcels", "unpaid bills", "the longest track on each album"].iter().map(|q| (*q).to_owned()).collect();
    let alone: Vec<_> = {
        let mut client = database.connect();
        questions.iter().map(|question| embed(&mut client, question)).collect()
    };
    let clients: Vec<Client> = (0..8).map(|_| database.connect()).collect();
    let sessions: Vec<_> = clients
        .into_iter()
        .map(|mut client| {
            let questions = questions.clone();
            std::thread::spawn(move || -> Vec<_> {
                (0..3)
                    .map(|_| questions.iter().map(|question| embed(&mut client, question)).collect::<Vec<_>>())
                    .collect()
            })
        })
        .collect();
    for session in sessions {
        for round in session.join().expect("a session") {
            assert_eq!(round, alone);
        }
    }
}

#[test]
fn null_is_null_and_empty_texts_are_rejected() {
    let mut client = Database::blank().connect();
    assert_eq!(text(&mut client, "nl2sql_embed(NULL)"), None);
    for empty in ["''", "' '", "E'\\n\\t'"] {
        assert_eq!(sqlstate(&mut client, &format!("SELECT nl2sql_embed({empty})")), "22023", "{empty}");
    }
}
