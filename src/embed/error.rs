//! Everything that can go wrong, as one enum that a caller maps to its own codes.

use std::io;
use std::path::{Path, PathBuf};

/// Why a model could not be opened, checked, written or run.
///
/// The messages name the path and what is wrong with it; what to do about it is
/// for the caller to say, since only it knows the call that mends it.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// A file or directory that is needed is not there (SQLSTATE 58P01).
    #[error("{what} is missing: {}", path.display())]
    Missing { path: PathBuf, what: &'static str },

    /// It is there but cannot be read: no right, an I/O error (58030, or 42501
    /// when `source.kind()` is `PermissionDenied`).
    #[error("{what} cannot be read: {}: {source}", path.display())]
    Unreadable { path: PathBuf, what: &'static str, source: io::Error },

    /// It is there but is not the file that is expected (55000).
    #[error("{} is not the expected file: expected {expected}, found {found}", path.display())]
    Unexpected { path: PathBuf, expected: String, found: String },

    /// The ONNX Runtime library cannot be loaded, has a version that this crate
    /// does not work with, or another one is loaded already (55000).
    #[error("ONNX Runtime {} cannot be used: {detail}", path.display())]
    Runtime { path: PathBuf, detail: String },

    /// The model was opened but running it failed (XX000).
    #[error("the embedding model failed: {detail}")]
    Inference { detail: String },

    /// Setting up: a file could not be written (58030).
    #[error("{} cannot be written: {source}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },

    /// Setting up: the model runs but gives other vectors than it should (55000).
    #[error("the model in {} gives wrong vectors: {detail}", path.display())]
    WrongVectors { path: PathBuf, detail: String },
}

impl EmbedError {
    /// The right variant for `source`, met while reading `path`.
    pub(crate) fn reading(path: &Path, what: &'static str, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => EmbedError::Missing { path, what },
            _ => EmbedError::Unreadable { path, what, source },
        }
    }

    /// For `map_err` around a write to `path`.
    pub(crate) fn writing(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        move |source| EmbedError::Unwritable { path: path.to_owned(), source }
    }

    pub(crate) fn unexpected(path: &Path, expected: impl Into<String>, found: impl Into<String>) -> Self {
        EmbedError::Unexpected { path: path.to_owned(), expected: expected.into(), found: found.into() }
    }

    pub(crate) fn inference(detail: impl ToString) -> Self {
        EmbedError::Inference { detail: detail.to_string() }
    }
}
