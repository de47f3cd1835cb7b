//! `manifest.json`: the files that make up a model directory.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::EmbedError;
use crate::sha256;

/// The name of the manifest in a model directory.
pub const MANIFEST: &str = "manifest.json";

/// The manifest format that this version reads and writes.
pub const FORMAT: u32 = 1;

/// A model directory's table of contents. Setup writes it last, after checking the model's vectors, so a directory with
/// a manifest holds a checked model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u32,
    /// `provider/model`, e.g. `local/all-minilm-l6-v2`.
    pub model: String,
    /// Number of components of a vector.
    pub dimension: usize,
    /// Most tokens of a text, including `[CLS]` and `[SEP]`.
    pub max_tokens: usize,
    pub files: Vec<FileEntry>,
}

/// One file of the directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    pub role: Role,
    /// Name in the directory, which contains the first digits of `sha256`.
    pub name: String,
    pub bytes: u64,
    /// 64 lowercase hex digits.
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
    /// What errors call the file.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Role::Graph => "the model's graph",
            Role::Weights => "the model's weights",
            Role::Tokenizer => "the tokenizer",
        }
    }
}

impl Manifest {
    /// The manifest of `dir`, or `None` when the directory has none.
    ///
    /// # Errors
    /// `Missing` when `dir` itself does not exist; `Unreadable`; `Unexpected` when the file is not a manifest of this
    /// version.
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
            // A name with a slash would lead outside the directory.
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

    /// Path of the file in `dir` that has `role`.
    ///
    /// # Errors
    /// `Unexpected` when the manifest has no such file.
    pub fn path(&self, dir: &Path, role: Role) -> Result<PathBuf, EmbedError> {
        let entry = self.files.iter().find(|file| file.role == role);
        entry
            .map(|file| dir.join(&file.name))
            .ok_or_else(|| EmbedError::unexpected(&dir.join(MANIFEST), role.description(), "no such entry"))
    }

    /// Checks the length of every file, and the SHA-256 of the graph and the tokenizer, which are small. Takes less than
    /// 2 ms. Does not read the weights; [`Manifest::verify`] does.
    ///
    /// # Errors
    /// `Missing`, `Unreadable`, `Unexpected`.
    pub fn check_small_files(&self, dir: &Path) -> Result<(), EmbedError> {
        self.check(dir, |role| role != Role::Weights)
    }

    /// Checks the length and the SHA-256 of every file. Takes about 0.1 s.
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
            let (path, what) = (dir.join(&file.name), file.role.description());
            let metadata = fs::metadata(&path).map_err(|error| EmbedError::reading(&path, what, error))?;
            if !metadata.is_file() || metadata.len() != file.bytes {
                return Err(EmbedError::unexpected(
                    &path,
                    format!("{} bytes", file.bytes),
                    format!("{} bytes", metadata.len()),
                ));
            }
            if hashed(file.role) {
                let found = sha256::of_file(&path, what)?;
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
    fn a_written_manifest_reads_back() {
        assert_eq!(parse(&manifest()).unwrap(), manifest());
    }

    #[test]
    fn another_format_and_names_with_a_path_are_rejected() {
        let mut other = manifest();
        other.format = 99;
        assert!(matches!(parse(&other), Err(EmbedError::Unexpected { .. })));
        let mut other = manifest();
        other.files[0].name = "../../etc/passwd".to_owned();
        assert!(matches!(parse(&other), Err(EmbedError::Unexpected { .. })));
        assert!(matches!(Manifest::parse(Path::new("m"), b"{"), Err(EmbedError::Unexpected { .. })));
    }

    #[test]
    fn a_role_without_a_file_is_an_error() {
        let error = manifest().path(Path::new("/d"), Role::Tokenizer).unwrap_err();
        assert!(error.to_string().contains("the tokenizer"), "{error}");
    }
}
