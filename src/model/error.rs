//! Why a model directory could not be written or checked.

use std::io;
use std::path::{Path, PathBuf};

use nl2sql_embed::EmbedError;

/// Why [`write`](crate::write()) or [`check`](crate::check()) failed.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A file is missing, unreadable, or not the expected one, or the model cannot be opened or run.
    #[error(transparent)]
    Embed(#[from] EmbedError),

    /// A file could not be written.
    #[error("{} cannot be written: {source}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },

    /// The model runs but returns other vectors than the reference vectors.
    #[error("the model in {} returns wrong vectors: {detail}", path.display())]
    WrongVectors { path: PathBuf, detail: String },
}

impl SetupError {
    /// For `map_err` around a write to `path`.
    pub(crate) fn writing(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        move |source| SetupError::Unwritable { path: path.to_owned(), source }
    }
}
