//! `manifest.json`: which files of a model directory belong together.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::digest;
use crate::error::EmbedError;

/// The name of the manifest in a model directory.
pub const MANIFEST: &str = "manifest.json";

/// The kind of manifest that this version of the crate writes and reads.
pub(crate) const FORMAT: u32 = 1;

/// A model directory's table of contents. It is written last, after the vectors of
/// the model were checked: a directory that has one has a checked model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u32,
    /// `provider/model`, e.g. `local/all-minilm-l6-v2`.
    pub model: String,
    /// Components of a vector.
    pub dimension: usize,
    /// Tokens after which a text is cut, including `[CLS]` and `[SEP]`.
    pub max_tokens: usize,
    pub files: Vec<FileEntry>,
}

/// One file of the directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    pub role: Role,
    /// The name in the directory; it contains the beginning of `sha256`.
    pub name: String,
    pub bytes: u64,
    /// 64 lower-case hex digits.
    pub sha256: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Graph,
    Weights,
    Tokenizer,
}

impl Role {
    pub(crate) fn what(self) -> &'static str {
        match self {
            Role::Graph => "the model's graph",
            Role::Weights => "the model's weights",
            Role::Tokenizer => "the tokenizer",
        }
    }
}

impl Manifest {
    /// The manifest of `dir`, or none when there is no such file.
    ///
    /// # Errors
    /// `Missing` when `dir` itself is not there, `Unreadable`, and `Unexpected` when
    /// the file is not a manifest of this version.
    pub fn read(dir: &Path) -> Result<Option<Manifest>, EmbedError> {
        let path = dir.join(MANIFEST);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(_) if !dir.is_dir() => {
                return Err(EmbedError::Missing { path: dir.to_owned(), what: "the model directory" });
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(EmbedError::reading(&path, "the model's manifest", error)),
        };
        Self::parse(&path, &bytes).map(Some)
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Manifest, EmbedError> {
        let manifest: Manifest = serde_json::from_slice(bytes)
            .map_err(|error| EmbedError::unexpected(path, "a model manifest", error.to_string()))?;
        let problem = if manifest.format != FORMAT {
            Some((format!("format {FORMAT}"), format!("format {}", manifest.format)))
        } else if manifest.dimension == 0 || manifest.max_tokens < 3 {
            Some((
                "a dimension and at least 3 tokens".to_owned(),
                format!("dimension {}, {} tokens", manifest.dimension, manifest.max_tokens),
            ))
        } else {
            // A name with a slash would lead out of the directory.
            manifest
                .files
                .iter()
                .find(|file| file.name.contains('/') || file.name.starts_with('.'))
                .map(|file| ("plain file names".to_owned(), format!("{:?}", file.name)))
        };
        match problem {
            None => Ok(manifest),
            Some((expected, found)) => Err(EmbedError::unexpected(path, expected, found)),
        }
    }

    /// The file of `dir` that plays `role`.
    ///
    /// # Errors
    /// `Unexpected` when the manifest names none.
    pub fn path(&self, dir: &Path, role: Role) -> Result<PathBuf, EmbedError> {
        let entry = self.files.iter().find(|file| file.role == role);
        entry
            .map(|file| dir.join(&file.name))
            .ok_or_else(|| EmbedError::unexpected(&dir.join(MANIFEST), role.what(), "no such entry"))
    }

    /// Checks that the files are there in full length, and that the graph and the
    /// tokenizer, which are small, have their SHA-256: under 2 ms. A weights file of
    /// the right length is believed; [`Manifest::verify`] reads it.
    ///
    /// # Errors
    /// `Missing`, `Unreadable`, `Unexpected`.
    pub fn glance(&self, dir: &Path) -> Result<(), EmbedError> {
        self.check(dir, |role| role != Role::Weights)
    }

    /// Checks the length and the SHA-256 of every file: about 0.1 s.
    ///
    /// # Errors
    /// `Missing`, `Unreadable`, `Unexpected`.
    pub fn verify(&self, dir: &Path) -> Result<(), EmbedError> {
        self.check(dir, |_| true)
    }

    fn check(&self, dir: &Path, hashed: impl Fn(Role) -> bool) -> Result<(), EmbedError> {
        for role in [Role::Graph, Role::Weights, Role::Tokenizer] {
            self.path(dir, role)?;
        }
        for file in &self.files {
            let (path, what) = (dir.join(&file.name), file.role.what());
            let metadata = fs::metadata(&path).map_err(|error| EmbedError::reading(&path, what, error))?;
            if !metadata.is_file() || metadata.len() != file.bytes {
                return Err(EmbedError::unexpected(
                    &path,
                    format!("{} bytes", file.bytes),
                    format!("{} bytes", metadata.len()),
                ));
            }
            if hashed(file.role) {
                let found = digest::of_file(&path, what)?;
                if found != file.sha256 {
                    return Err(EmbedError::unexpected(&path, format!("SHA-256 {}", file.sha256), found));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let file = |role, name: &str| FileEntry { role, name: name.to_owned(), bytes: 1, sha256: String::new() };
        Manifest {
            format: FORMAT,
            model: "local/test".to_owned(),
            dimension: 2,
            max_tokens: 16,
            files: vec![file(Role::Graph, "g"), file(Role::Weights, "w")],
        }
    }

    fn parse(manifest: &Manifest) -> Result<Manifest, EmbedError> {
        Manifest::parse(Path::new("m"), &serde_json::to_vec(manifest).unwrap())
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(parse(&manifest()).unwrap(), manifest());
    }

    #[test]
    fn another_format_and_names_that_lead_away_are_refused() {
        let mut other = manifest();
        other.format = 99;
        assert!(matches!(parse(&other), Err(EmbedError::Unexpected { .. })));
        let mut other = manifest();
        other.files[0].name = "../../etc/passwd".to_owned();
        assert!(matches!(parse(&other), Err(EmbedError::Unexpected { .. })));
        assert!(matches!(Manifest::parse(Path::new("m"), b"{"), Err(EmbedError::Unexpected { .. })));
    }

    #[test]
    fn a_role_without_a_file_is_not_a_model() {
        let error = manifest().path(Path::new("/d"), Role::Tokenizer).unwrap_err();
        assert!(error.to_string().contains("the tokenizer"), "{error}");
    }
}
