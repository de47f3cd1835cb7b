//! Writes files that are either complete or absent.
//!
//! Backends map the weights: truncating or overwriting them in place would kill a backend with SIGBUS. So a file is
//! written under a temporary name, synced to disk, and renamed. Its final name contains the hash of its content.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nl2sql_embed::sha256::Hasher;
use nl2sql_embed::{FileEntry, Role};

use crate::error::SetupError;

/// Number of hex digits of the SHA-256 in a file's name.
const DIGITS: usize = 12;
/// How the names of all temporary files begin.
const TEMPORARY: &str = ".nl2sql-model-";

/// A file under its temporary name. Dropping it before it is placed removes the file.
pub(crate) struct AtomicFile {
    path: PathBuf,
    out: Option<BufWriter<File>>,
    hasher: Hasher,
    bytes: u64,
}

impl AtomicFile {
    /// Creates a temporary file in `dir`. `label` distinguishes the temporary files of one process.
    ///
    /// # Errors
    /// `Unwritable`.
    pub fn create(dir: &Path, label: &str) -> Result<Self, SetupError> {
        let path = dir.join(format!("{TEMPORARY}{label}-{}", std::process::id()));
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .map_err(SetupError::writing(&path))?;
        Ok(AtomicFile { path, out: Some(BufWriter::with_capacity(1 << 16, file)), hasher: Hasher::default(), bytes: 0 })
    }

    pub fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Syncs the file to disk and renames it to `before` + 12 digits of its SHA-256 + `after`.
    ///
    /// # Errors
    /// `Unwritable`.
    pub fn place(mut self, role: Role, before: &str, after: &str) -> Result<FileEntry, SetupError> {
        let sha256 = std::mem::take(&mut self.hasher).finish();
        let name = format!("{before}{}{after}", &sha256[..DIGITS]);
        let bytes = self.bytes;
        self.place_as(&name)?;
        Ok(FileEntry { role, name, bytes, sha256 })
    }

    /// Syncs the file to disk and renames it to `name`.
    ///
    /// # Errors
    /// `Unwritable`.
    pub fn place_as(mut self, name: &str) -> Result<(), SetupError> {
        self.sync()?;
        let target = self.path.with_file_name(name);
        // After the rename, dropping `self` finds nothing to remove.
        fs::rename(&self.path, &target).map_err(SetupError::writing(&target))
    }

    fn sync(&mut self) -> Result<(), SetupError> {
        let Some(mut out) = self.out.take() else {
            return Ok(());
        };
        // The server's user must be able to read what another user sets up with a strict umask.
        let readable = fs::Permissions::from_mode(0o644);
        out.flush()
            .and_then(|()| out.get_ref().set_permissions(readable))
            .and_then(|()| out.get_ref().sync_all())
            .map_err(SetupError::writing(&self.path))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(out) = &mut self.out else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        out.write_all(bytes)?;
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), BufWriter::flush)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // Fails after the file was placed. Otherwise an error leaves a file that does no harm.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether `name` is one that [`AtomicFile::create`] could have made.
pub(crate) fn is_temporary_name(name: &str) -> bool {
    name.starts_with(TEMPORARY)
}

/// Whether `name` is one that [`AtomicFile::place`] could have made. Other files in the directory belong to the user.
pub(crate) fn is_placed_name(name: &str) -> bool {
    let Some((stem, end)) = name.rsplit_once('.') else {
        return false;
    };
    let digits = stem.rsplit_once('-').map_or("", |(_, digits)| digits);
    matches!(end, "onnx" | "weights" | "json")
        && digits.len() == DIGITS
        && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
pub(crate) mod fixture {
    use super::*;

    pub(crate) fn scratch_directory(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("nl2sql-model-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    pub(crate) fn file_names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn write_file(dir: &Path, content: &str) -> FileEntry {
        let mut file = AtomicFile::create(dir, "test").unwrap();
        file.write_all(content.as_bytes()).unwrap();
        file.place(Role::Graph, "model-", ".onnx").unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::{file_names, scratch_directory, write_file};
    use super::*;

    #[test]
    fn a_file_is_named_by_its_content_and_readable() {
        let dir = scratch_directory("named");
        let entry = write_file(&dir, "abc");
        assert_eq!(entry.name, "model-ba7816bf8f01.onnx");
        assert_eq!(entry.bytes, 3);
        assert_eq!(file_names(&dir), [entry.name.as_str()]);
        let mode = fs::metadata(dir.join(&entry.name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_dropped_file_leaves_nothing() {
        let dir = scratch_directory("dropped");
        let mut file = AtomicFile::create(&dir, "test").unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert!(file_names(&dir).is_empty());
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn placed_names_are_recognized() {
        assert!(is_placed_name("all-minilm-l6-v2-0123456789ab.weights"));
        assert!(is_placed_name("tokenizer-0123456789ab.json"));
        for name in ["manifest.json", "model.onnx", "a-0123.onnx", "a-0123456789ag.onnx", "x"] {
            assert!(!is_placed_name(name), "{name}");
        }
    }
}
