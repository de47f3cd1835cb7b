//! What the tests with a model share.
#![allow(dead_code)] // Not every test program uses all of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The ONNX Runtime library to test with.
pub fn runtime() -> PathBuf {
    required("NL2SQL_TEST_RUNTIME")
}

/// The model directory to test with, as `nl2sql-model write` makes it.
pub fn model() -> PathBuf {
    required("NL2SQL_TEST_MODEL")
}

fn required(name: &str) -> PathBuf {
    std::env::var_os(name).unwrap_or_else(|| panic!("{name} is not set: see `make test`")).into()
}

/// A directory of a test's own, removed when it is dropped.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let dir = std::env::temp_dir().join(format!("nl2sql-embed-{process}-{count}-{name}"));
        fs::create_dir_all(&dir).expect("a scratch directory");
        Scratch(dir)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Makes `to` hold what `from` does: links, for weights are large and never changed.
pub fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a model directory") {
        let entry = entry.expect("an entry");
        std::os::unix::fs::symlink(entry.path(), to.join(entry.file_name())).expect("a link");
    }
}

/// Replaces the link or file at `path` by a file that holds `bytes`.
pub fn replace(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).expect("something to replace");
    fs::write(path, bytes).expect("a new file");
}
