//! What the tests with a model share, here and in `nl2sql_model`.
#![allow(dead_code)] // Not every test program uses all of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The ONNX Runtime library to test with.
pub fn runtime() -> PathBuf {
    required("NL2SQL_TEST_RUNTIME")
}

/// The model directory to test with, written by `nl2sql-model write`.
pub fn model() -> PathBuf {
    required("NL2SQL_TEST_MODEL")
}

fn required(name: &str) -> PathBuf {
    std::env::var_os(name).unwrap_or_else(|| panic!("{name} is not set: see `make test`")).into()
}

/// A scratch directory, removed when the value is dropped.
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

/// Copies the model directory `from` to `to`, with links, since the weights are large.
pub fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a model directory") {
        let entry = entry.expect("an entry");
        std::os::unix::fs::symlink(entry.path(), to.join(entry.file_name())).expect("a link");
    }
}

/// Replaces the link or file at `path` with a file that holds `bytes`.
pub fn replace(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).expect("something to replace");
    fs::write(path, bytes).expect("a new file");
}
