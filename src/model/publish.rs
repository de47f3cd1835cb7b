//! Makes a new manifest the current one, and removes files that no manifest needs.

use std::fs::{self, DirEntry, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use nl2sql_embed::{MANIFEST, Manifest};

use crate::atomic_file::{AtomicFile, is_placed_name, is_temporary_name};
use crate::error::SetupError;

/// Age at which a temporary file must belong to a process that was killed.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Makes `manifest` the manifest of `dir`, whose files must already be there. Then removes the files that neither it nor
/// the previous manifest names.
///
/// The files of the previous manifest stay, because a process that has just read it may be about to open them.
///
/// # Errors
/// `Unwritable`.
pub(crate) fn publish(dir: &Path, manifest: &Manifest) -> Result<(), SetupError> {
    let previous = Manifest::read(dir).ok().flatten();
    // The names must be on disk before the manifest that uses them.
    sync_directory(dir)?;
    let mut file = AtomicFile::create(dir, "manifest")?;
    let path = file.path();
    serde_json::to_writer_pretty(&mut file, manifest)
        .map_err(io::Error::from)
        .and_then(|()| file.write_all(b"\n"))
        .map_err(SetupError::writing(&path))?;
    file.place_as(MANIFEST)?;
    sync_directory(dir)?;
    remove_unused(dir, manifest, previous.as_ref());
    Ok(())
}

/// Ignores errors: a file that stays does no harm.
fn remove_unused(dir: &Path, manifest: &Manifest, previous: Option<&Manifest>) {
    let used: Vec<&str> = [Some(manifest), previous]
        .into_iter()
        .flatten()
        .flat_map(|manifest| &manifest.files)
        .map(|file| file.name.as_str())
        .collect();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some(name) = name.to_str()
            && !used.contains(&name)
            && (is_placed_name(name) || (is_temporary_name(name) && is_abandoned(&entry)))
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn sync_directory(dir: &Path) -> Result<(), SetupError> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(SetupError::writing(dir))
}

fn is_abandoned(entry: &DirEntry) -> bool {
    let age = entry.metadata().and_then(|metadata| metadata.modified()).map(|time| time.elapsed());
    matches!(age, Ok(Ok(age)) if age > ABANDONED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomic_file::fixture::{file_names, scratch_directory, write_file};
    use nl2sql_embed::{FORMAT, FileEntry};

    fn manifest(files: Vec<FileEntry>) -> Manifest {
        Manifest { format: FORMAT, model: "local/test".to_owned(), dimension: 1, max_tokens: 16, files }
    }

    #[test]
    fn the_previous_generation_and_foreign_files_are_kept() {
        let dir = scratch_directory("generations");
        fs::write(dir.join("notes.json"), "mine").unwrap();
        let mut generations = Vec::new();
        for content in ["one", "two", "three"] {
            let entry = write_file(&dir, content);
            publish(&dir, &manifest(vec![entry.clone()])).unwrap();
            generations.push(entry.name);
        }
        let mut expected =
            vec![MANIFEST.to_owned(), generations[1].clone(), generations[2].clone(), "notes.json".to_owned()];
        expected.sort();
        assert_eq!(file_names(&dir), expected);
        fs::remove_dir_all(dir).unwrap();
    }
}
