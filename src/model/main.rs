//! Writes, checks, and measures a model directory.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use nl2sql_embed::{EmbedError, Embedder};
use nl2sql_model::{MODEL, SetupError, Written};

const USAGE: &str = "\
usage: nl2sql-model write --weights FILE --tokenizer FILE --runtime FILE --out DIR
       nl2sql-model check --runtime FILE DIR
       nl2sql-model bench --runtime FILE DIR TEXTS

write  writes a model directory from model.safetensors and tokenizer.json
check  verifies every byte of a model directory, and its vectors
bench  measures the model without PostgreSQL, on a file with one text per line";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((command, options)) = Arguments::parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match command.run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("nl2sql-model: {error}");
            ExitCode::FAILURE
        }
    }
}

enum Command {
    Write,
    Check,
    Bench,
}

#[derive(Default)]
struct Arguments {
    weights: PathBuf,
    tokenizer: PathBuf,
    runtime: PathBuf,
    out: PathBuf,
    others: Vec<PathBuf>,
}

impl Arguments {
    /// The command and its arguments, or `None` when one is missing or unknown.
    fn parse(arguments: &[String]) -> Option<(Command, Arguments)> {
        let (command, mut rest) = arguments.split_first()?;
        let mut found = Arguments::default();
        while let [first, after @ ..] = rest {
            rest = after;
            let place = match first.as_str() {
                "--weights" => &mut found.weights,
                "--tokenizer" => &mut found.tokenizer,
                "--runtime" => &mut found.runtime,
                "--out" => &mut found.out,
                option if option.starts_with("--") => return None,
                other => {
                    found.others.push(other.into());
                    continue;
                }
            };
            let (value, after) = after.split_first()?;
            *place = value.into();
            rest = after;
        }
        let (command, needed, others): (_, Vec<&Path>, _) = match command.as_str() {
            "write" => (Command::Write, vec![&found.weights, &found.tokenizer, &found.runtime, &found.out], 0),
            "check" => (Command::Check, vec![&found.runtime], 1),
            "bench" => (Command::Bench, vec![&found.runtime], 2),
            _ => return None,
        };
        let complete = needed.iter().all(|path| !path.as_os_str().is_empty());
        (complete && found.others.len() == others).then_some((command, found))
    }
}

impl Command {
    fn run(&self, arguments: &Arguments) -> Result<(), SetupError> {
        match (self, arguments.others.as_slice()) {
            (Command::Check, [dir]) => check(&arguments.runtime, dir),
            (Command::Bench, [dir, texts]) => bench(&arguments.runtime, dir, texts),
            _ => write(arguments),
        }
    }
}

fn write(arguments: &Arguments) -> Result<(), SetupError> {
    let out = arguments.out.display();
    match nl2sql_model::write(&arguments.weights, &arguments.tokenizer, &arguments.runtime, &arguments.out)? {
        Written::AlreadyThere => println!("{out} already holds {MODEL}, complete and checked."),
        Written::New { deviation } => {
            println!("{out} now holds {MODEL}, checked against reference vectors (largest deviation {deviation:.1e}).")
        }
    }
    Ok(())
}

fn check(runtime: &Path, dir: &Path) -> Result<(), SetupError> {
    let (manifest, deviation) = nl2sql_model::check(runtime, dir)?;
    println!("{} holds {}:", dir.display(), manifest.model);
    for file in &manifest.files {
        println!("  {}  {} bytes, SHA-256 {}: correct", file.name, file.bytes, file.sha256);
    }
    match deviation {
        Some(deviation) => {
            println!("Its vectors match the reference vectors (largest deviation {deviation:.1e}).")
        }
        None => println!("It runs; there are no reference vectors for it."),
    }
    Ok(())
}

/// Rounds of a measurement. The fastest counts, since other processes slow the rest down.
const ROUNDS: usize = 4;

fn bench(runtime: &Path, dir: &Path, texts: &Path) -> Result<(), SetupError> {
    let content =
        std::fs::read_to_string(texts).map_err(|error| EmbedError::reading(texts, "the file of texts", error))?;
    let lines: Vec<&str> = content.lines().filter(|line| !line.trim().is_empty()).collect();
    let (opened, embedder) = timed(|| Embedder::open(runtime, dir));
    let mut embedder = embedder?;
    let (first, vectors) = timed(|| embedder.embed(&["a short question?"], &mut || ()));
    vectors?;
    let ids = lines.iter().map(|line| embedder.token_ids(line)).collect::<Result<Vec<_>, EmbedError>>()?;
    let mut best = [f64::INFINITY; 3];
    for _ in 0..ROUNDS {
        let (tokenizer, done) = timed(|| lines.iter().try_for_each(|line| embedder.token_ids(line).map(drop)));
        done?;
        let (model, done) = timed(|| embedder.embed_ids(&ids, &mut || ()));
        done?;
        let (both, done) = timed(|| embedder.embed(&lines, &mut || ()));
        done?;
        best = [best[0].min(tokenizer), best[1].min(model), best[2].min(both)];
    }
    let tokens: usize = ids.iter().map(Vec::len).sum();
    println!("texts             {:9} ({tokens} tokens)", lines.len());
    println!("open              {:9.1} ms", opened * 1e3);
    println!("first text        {:9.1} ms", first * 1e3);
    for (name, seconds) in ["tokenizer alone", "model alone", "both"].iter().zip(best) {
        println!("{name:18}{:9.1} texts/s", lines.len() as f64 / seconds);
    }
    Ok(())
}

/// The duration of `work` in seconds, and its result.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let started = Instant::now();
    let result = work();
    (started.elapsed().as_secs_f64(), result)
}
