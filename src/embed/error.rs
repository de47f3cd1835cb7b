//! Everything that can go wrong, as one enum that a caller maps to its own error codes.

use std::io;
use std::path::{Path, PathBuf};

/// Why a model could not be opened or run.
///
/// The message names the path and what is wrong with it. The caller adds what to do about it, since only the caller
/// knows which command repairs it.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// A required file or directory does not exist (SQLSTATE 58P01).
    #[error("{what} is missing: {}", path.display())]
    Missing { path: PathBuf, what: &'static str },

    /// It exists but cannot be read: no permission, or an I/O error (58030, or 42501 when `source.kind()` is
    /// `PermissionDenied`).
    #[error("{what} cannot be read: {}: {source}", path.display())]
    Unreadable { path: PathBuf, what: &'static str, source: io::Error },

    /// It exists but is not the expected file (55000).
    #[error("{} is not the expected file: expected {expected}, found {found}", path.display())]
    Unexpected { path: PathBuf, expected: String, found: String },

    /// The ONNX Runtime library cannot be loaded, its version is not supported, or the process has loaded another one
    /// (55000).
    #[error("ONNX Runtime {} cannot be used: {detail}", path.display())]
    Runtime { path: PathBuf, detail: String },

    /// The model was opened but running it failed (XX000).
    #[error("the embedding model failed: {detail}")]
    Inference { detail: String },
}

impl EmbedError {
    /// The variant for `source`, an error of reading `path`.
    pub fn reading(path: &Path, what: &'static str, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => EmbedError::Missing { path, what },
            _ => EmbedError::Unreadable { path, what, source },
        }
    }

    pub fn unexpected(path: &Path, expected: impl Into<String>, found: impl Into<String>) -> Self {
        EmbedError::Unexpected { path: path.to_owned(), expected: expected.into(), found: found.into() }
    }

    pub fn inference(detail: impl ToString) -> Self {
        EmbedError::Inference { detail: detail.to_string() }
    }
}
