//! Vectors of the real model.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use common::{model, runtime};
use nl2sql_embed::{EmbedError, Embedder, LoadOptions};

fn open() -> Embedder {
    Embedder::open(&runtime(), &model()).expect("the model opens")
}

fn embed(embedder: &mut Embedder, texts: &[&str]) -> Vec<Vec<f32>> {
    embedder.embed(texts, &mut || ()).expect("the texts are embedded")
}

/// Texts of 2 to 256 tokens, several of most lengths.
fn texts() -> Vec<String> {
    let words = ["order", "customer", "who paid", "Ünïcödé", "東京", "net_sales", "x", "???"];
    (0..60)
        .map(|i| (0..i % 23).map(|j| words[(i * 7 + j * 3) % words.len()]).collect::<Vec<_>>().join(" "))
        .chain([String::new(), "long ".repeat(300), "longer ".repeat(400)])
        .collect()
}

#[test]
fn an_embedder_reports_its_model() {
    let embedder = open();
    assert_eq!(embedder.model(), Some("local/all-minilm-l6-v2"));
    assert_eq!((embedder.dimension(), embedder.max_tokens()), (384, 256));
}

#[test]
fn a_known_sentence_has_its_known_vector() {
    let vectors = embed(&mut open(), &["This is an example sentence"]);
    for (found, expected) in vectors[0].iter().zip([0.0676569, 0.0634960, 0.0487131, 0.0793050]) {
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }
}

#[test]
fn a_vector_does_not_depend_on_the_texts_beside_it() {
    let mut embedder = open();
    let texts = texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = embed(&mut embedder, &texts);
    let mut backwards = texts.clone();
    backwards.reverse();
    let mut reversed = embed(&mut embedder, &backwards);
    reversed.reverse();
    assert!(together == reversed);
    for (text, vector) in texts.iter().zip(&together) {
        let alone = embed(&mut embedder, &[text]).remove(0);
        assert!(alone == *vector, "{text:?}: {:?} {:?}", &alone[..3], &vector[..3]);
        let length: f32 = vector.iter().map(|v| v * v).sum();
        assert!((length - 1.0).abs() < 1e-5, "{text:?} has length {length}");
    }
}

#[test]
fn repeated_texts_fill_whole_batches() {
    let texts = vec!["which artist has the most albums?"; 100];
    let vectors = embed(&mut open(), &texts);
    assert_eq!(vectors.len(), 100);
    assert!(vectors.iter().all(|vector| *vector == vectors[0]));
}

#[test]
fn no_texts_return_no_vectors() {
    assert!(embed(&mut open(), &[]).is_empty());
}

#[test]
fn an_empty_text_has_the_tokens_of_the_template() {
    let embedder = open();
    assert_eq!(embedder.token_ids("").unwrap(), [101, 102]);
    assert_eq!(embedder.token_ids(" \t\n\0").unwrap(), [101, 102]);
}

#[test]
fn a_text_of_a_megabyte_costs_no_more_than_its_first_part() {
    let embedder = open();
    let prose = "The quick brown fox; jumps over (the) lazy dog. ".repeat(22_000);
    let word = "abcdefghij".repeat(105_000);
    let cjk = "東京".repeat(175_000);
    let spaces = " ".repeat(1 << 20) + "order";
    for (text, tokens) in [(&prose, 256), (&word, 3), (&cjk, 256), (&spaces, 3)] {
        let started = Instant::now();
        let ids = embedder.token_ids(text).unwrap();
        let taken = started.elapsed();
        assert_eq!(ids.len(), tokens, "{}…", text.chars().take(10).collect::<String>());
        assert!(taken < Duration::from_secs(2), "{taken:?}");
    }
    assert_eq!(embedder.token_ids(&prose).unwrap(), embedder.token_ids(&prose[..3000]).unwrap());
    assert_eq!(embedder.token_ids(&spaces).unwrap(), embedder.token_ids("order").unwrap());
}

#[test]
fn a_tick_that_panics_leaves_the_embedder_usable() {
    let mut embedder = open();
    let texts = texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let expected = embed(&mut embedder, &texts);
    for stop in [1, 2, 7] {
        let mut ticks = 0;
        let ended = catch_unwind(AssertUnwindSafe(|| {
            embedder.embed(&texts, &mut || {
                ticks += 1;
                assert!(ticks < stop, "stopped on purpose");
            })
        }));
        assert!(ended.is_err());
    }
    assert_eq!(embed(&mut embedder, &texts), expected);
}

#[test]
fn a_tick_comes_before_every_batch() {
    let mut embedder = open();
    let mut ticks = 0;
    embedder.embed(&["a", "a b", "a b c", "a b d"], &mut || ticks += 1).unwrap();
    assert_eq!(ticks, 3);
}

#[test]
fn an_unknown_token_id_is_an_error() {
    let mut embedder = open();
    let error = embedder.embed_ids(&[vec![101, 99_999, 102]], &mut || ()).unwrap_err();
    assert!(matches!(error, EmbedError::Inference { .. }), "{error}");
    assert_eq!(embed(&mut embedder, &["fine"]).len(), 1);
}

#[test]
fn prepacking_changes_nothing_for_this_model() {
    let options = LoadOptions { prepack: true };
    let mut prepacked = Embedder::open_with(&runtime(), &model(), options).unwrap();
    let text = ["what was sold in May?"];
    assert_eq!(embed(&mut prepacked, &text), embed(&mut open(), &text));
}
