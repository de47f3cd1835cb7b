//! The embedding model of this backend, loaded on first use or inherited from the postmaster, and the vectors of recent
//! questions.

use crate::pg::server::error::{Error, Result};
use crate::pg::server::{interrupt, settings};
use nl2sql_embed::{EmbedError, Embedder, LoadOptions};
use pgrx::prelude::*;
use std::cell::RefCell;
use std::path::PathBuf;

/// How many vectors of questions are kept, and the longest question that is kept.
const RECENT: usize = 32;
const RECENT_BYTES: usize = 4096;

struct Loaded {
    runtime: PathBuf,
    model_dir: PathBuf,
    embedder: Embedder,
    /// Newest last.
    recent: Vec<(String, Vec<f32>)>,
}

thread_local! {
    // A backend forked from a postmaster that has loaded the model finds it here.
    static LOADED: RefCell<Option<Loaded>> = const { RefCell::new(None) };
}

/// Loads the model in the postmaster, if the library is preloaded there. Backends inherit it by copy on write, which is
/// safe only as long as the postmaster has one thread.
pub fn preload() {
    if !settings::is_preloading() || !settings::preload() {
        return;
    }
    let (runtime, model_dir) = (settings::onnxruntime_path(), settings::model_dir());
    let embedder = match Embedder::open_with(&runtime, &model_dir, LoadOptions { prepack: true }) {
        Ok(embedder) => embedder,
        Err(error) => {
            tracing::info!("model not preloaded, each backend will load it: {error}");
            return;
        }
    };
    match threads() {
        1 => {
            tracing::info!("model preloaded model_dir={}", model_dir.display());
            LOADED.set(Some(Loaded { runtime, model_dir, embedder, recent: Vec::new() }));
        }
        threads => {
            tracing::info!(
                threads,
                "model not preloaded, each backend will load it: the postmaster must have one thread"
            );
        }
    }
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(1, |tasks| tasks.count())
}

/// The vectors of `texts`, in order. Can be canceled between batches.
pub(super) fn embed(texts: &[&str]) -> Result<Vec<Vec<f32>>> {
    with(|loaded| loaded.embedder.embed(texts, &mut interrupt::check).map_err(Error::from))
}

/// The vector of a question. A recent question is not embedded again.
pub fn embed_question(question: &str) -> Result<Vec<f32>> {
    with(|loaded| {
        if let Some(at) = loaded.recent.iter().position(|(known, _)| known == question) {
            let found = loaded.recent.remove(at);
            let vector = found.1.clone();
            loaded.recent.push(found);
            return Ok(vector);
        }
        let vectors = loaded.embedder.embed(&[question], &mut interrupt::check)?;
        let vector = vectors.into_iter().next().unwrap_or_default();
        if question.len() <= RECENT_BYTES {
            if loaded.recent.len() >= RECENT {
                loaded.recent.remove(0);
            }
            loaded.recent.push((question.to_owned(), vector.clone()));
        }
        Ok(vector)
    })
}

fn with<T>(work: impl FnOnce(&mut Loaded) -> Result<T>) -> Result<T> {
    let (_, dimension) = settings::embedding_model()?;
    let (runtime, model_dir) = (settings::onnxruntime_path(), settings::model_dir());
    LOADED.with_borrow_mut(|slot| {
        let current = slot.as_ref().is_some_and(|l| l.runtime == runtime && l.model_dir == model_dir);
        if !current {
            *slot = None;
            let embedder = Embedder::open(&runtime, &model_dir)?;
            *slot = Some(Loaded { runtime, model_dir: model_dir.clone(), embedder, recent: Vec::new() });
        }
        let Some(loaded) = slot.as_mut() else { unreachable!("loaded just now") };
        if loaded.embedder.dimension() != dimension {
            return Err(Error::new(
                PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!(
                    "model in \"{}\" has {} dimensions, not {dimension}",
                    model_dir.display(),
                    loaded.embedder.dimension()
                ),
            )
            .hint("Set nl2sql.model_dir to the directory of the model that nl2sql.embedding_model names."));
        }
        work(loaded)
    })
}

impl From<EmbedError> for Error {
    fn from(error: EmbedError) -> Self {
        let code = match &error {
            EmbedError::Missing { .. } => PgSqlErrorCode::ERRCODE_UNDEFINED_FILE,
            EmbedError::Inference { .. } => PgSqlErrorCode::ERRCODE_INTERNAL_ERROR,
            _ => PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        };
        Error::new(code, error.to_string()).hint(
            "Run \"make install PG_CONFIG=…\" in nl2sql's source directory, or set nl2sql.model_dir and nl2sql.onnxruntime_path.",
        )
    }
}
