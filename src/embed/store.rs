//! Files that are either there in full or not at all.
//!
//! A backend maps the weights: cutting or overwriting them in place would kill it
//! with SIGBUS. So a file is written under a temporary name, flushed to disk and
//! renamed, and its final name says what is in it.

use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::digest::Hasher;
use crate::error::EmbedError;
use crate::manifest::{FileEntry, MANIFEST, Manifest, Role};

/// How many hex digits of the SHA-256 are in a file's name.
const DIGITS: usize = 12;
/// All names that this module gives to temporary files begin so.
const TEMPORARY: &str = ".nl2sql-model-";

/// A file under its temporary name. Dropped before it is placed, it is removed.
pub(crate) struct Staged {
    path: PathBuf,
    out: Option<BufWriter<File>>,
    hasher: Option<Hasher>,
    bytes: u64,
}

impl Staged {
    /// Begins a file in `dir`; `label` tells the temporary files of a process apart.
    ///
    /// # Errors
    /// `Unwritable`.
    pub fn create(dir: &Path, label: &str) -> Result<Self, EmbedError> {
        let path = dir.join(format!("{TEMPORARY}{label}-{}", std::process::id()));
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .map_err(EmbedError::writing(&path))?;
        Ok(Staged {
            path,
            out: Some(BufWriter::with_capacity(1 << 16, file)),
            hasher: Some(Hasher::default()),
            bytes: 0,
        })
    }

    pub fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Flushes the file to disk and renames it to `before` + 12 digits of its SHA-256
    /// + `after`.
    ///
    /// # Errors
    /// `Unwritable`.
    pub fn place(mut self, role: Role, before: &str, after: &str) -> Result<FileEntry, EmbedError> {
        self.sync()?;
        let sha256 = self.hasher.take().unwrap_or_default().finish();
        let name = format!("{before}{}{after}", &sha256[..DIGITS]);
        let bytes = self.bytes;
        self.rename(&name)?;
        Ok(FileEntry { role, name, bytes, sha256 })
    }

    fn sync(&mut self) -> Result<(), EmbedError> {
        let Some(mut out) = self.out.take() else {
            return Ok(());
        };
        // The server's user reads what another user may have set up with a strict
        // umask.
        let readable = fs::Permissions::from_mode(0o644);
        out.flush()
            .and_then(|()| out.get_ref().set_permissions(readable))
            .and_then(|()| out.get_ref().sync_all())
            .map_err(EmbedError::writing(&self.path))
    }

    fn rename(self, name: &str) -> Result<(), EmbedError> {
        let target = self.path.with_file_name(name);
        fs::rename(&self.path, &target).map_err(EmbedError::writing(&target))
        // Dropping `self` now finds nothing to remove.
    }
}

impl Write for Staged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (Some(out), Some(hasher)) = (&mut self.out, &mut self.hasher) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        out.write_all(bytes)?;
        hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), BufWriter::flush)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Gone when it was placed; otherwise the best that can be done.
        let _ = fs::remove_file(&self.path);
    }
}

/// Makes `manifest` the one of `dir`, after its files are there, and removes what
/// neither it nor the manifest before it names.
///
/// The files of the manifest before stay: a process that has just read it may be
/// about to open them.
///
/// # Errors
/// `Unwritable`.
pub(crate) fn publish(dir: &Path, manifest: &Manifest) -> Result<(), EmbedError> {
    let before = Manifest::read(dir).ok().flatten();
    // The names must be on disk before the manifest that uses them.
    sync_directory(dir)?;
    let mut staged = Staged::create(dir, "manifest")?;
    let path = staged.path();
    serde_json::to_writer_pretty(&mut staged, manifest)
        .map_err(io::Error::from)
        .and_then(|()| staged.write_all(b"\n"))
        .map_err(EmbedError::writing(&path))?;
    staged.sync()?;
    staged.rename(MANIFEST)?;
    sync_directory(dir)?;
    let kept: Vec<&str> = [Some(manifest), before.as_ref()]
        .into_iter()
        .flatten()
        .flat_map(|manifest| &manifest.files)
        .map(|file| file.name.as_str())
        .collect();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some(name) = name.to_str()
            && !kept.contains(&name)
            && (is_ours(name) || is_left_over(&entry))
        {
            // One that stays does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}

fn sync_directory(dir: &Path) -> Result<(), EmbedError> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(EmbedError::writing(dir))
}

/// Whether `entry` is a temporary file of a process that was killed long ago.
fn is_left_over(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let age = entry.metadata().and_then(|metadata| metadata.modified()).map(|time| time.elapsed());
    name.to_string_lossy().starts_with(TEMPORARY) && matches!(age, Ok(Ok(age)) if age > Duration::from_secs(3600))
}

/// Whether `name` is one that [`Staged::place`] gives: anything else in the directory
/// is somebody else's.
fn is_ours(name: &str) -> bool {
    let Some((stem, end)) = name.rsplit_once('.') else {
        return false;
    };
    let digits = stem.rsplit_once('-').map_or("", |(_, digits)| digits);
    matches!(end, "onnx" | "weights" | "json")
        && digits.len() == DIGITS
        && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("nl2sql-store-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn file(dir: &Path, content: &str) -> FileEntry {
        let mut staged = Staged::create(dir, "test").unwrap();
        staged.write_all(content.as_bytes()).unwrap();
        staged.place(Role::Graph, "model-", ".onnx").unwrap()
    }

    fn manifest(files: Vec<FileEntry>) -> Manifest {
        Manifest {
            format: crate::manifest::FORMAT,
            model: "local/test".to_owned(),
            dimension: 1,
            max_tokens: 16,
            files,
        }
    }

    #[test]
    fn a_file_is_named_by_its_content_and_readable() {
        let dir = directory("named");
        let entry = file(&dir, "abc");
        assert_eq!(entry.name, "model-ba7816bf8f01.onnx");
        assert_eq!(entry.bytes, 3);
        assert_eq!(names(&dir), [entry.name.as_str()]);
        let mode = fs::metadata(dir.join(&entry.name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_file_that_is_given_up_leaves_nothing() {
        let dir = directory("given-up");
        let mut staged = Staged::create(&dir, "test").unwrap();
        staged.write_all(b"half").unwrap();
        drop(staged);
        assert!(names(&dir).is_empty());
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn one_generation_back_is_kept_and_strangers_are_left_alone() {
        let dir = directory("generations");
        fs::write(dir.join("notes.json"), "mine").unwrap();
        let mut generations = Vec::new();
        for content in ["one", "two", "three"] {
            let entry = file(&dir, content);
            publish(&dir, &manifest(vec![entry.clone()])).unwrap();
            generations.push(entry.name);
        }
        let mut expected =
            vec![MANIFEST.to_owned(), generations[1].clone(), generations[2].clone(), "notes.json".to_owned()];
        expected.sort();
        assert_eq!(names(&dir), expected);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn names_of_ours_are_told_from_others() {
        assert!(is_ours("all-minilm-l6-v2-0123456789ab.weights"));
        assert!(is_ours("tokenizer-0123456789ab.json"));
        for name in ["manifest.json", "model.onnx", "a-0123.onnx", "a-0123456789ag.onnx", "x"] {
            assert!(!is_ours(name), "{name}");
        }
    }
}
