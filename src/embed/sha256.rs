//! SHA-256 of files and byte strings, as 64 lowercase hex digits.

use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::EmbedError;

/// Computes the SHA-256 of data that arrives in pieces.
#[derive(Default)]
pub struct Hasher(Sha256);

impl Hasher {
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn finish(self) -> String {
        let mut hex = String::with_capacity(64);
        for byte in self.0.finalize() {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
        }
        hex
    }
}

/// The SHA-256 of `bytes`.
pub fn of_bytes(bytes: &[u8]) -> String {
    let mut hasher = Hasher::default();
    hasher.update(bytes);
    hasher.finish()
}

/// The SHA-256 of the file at `path`. An error calls the file `what`.
///
/// # Errors
/// `Missing` or `Unreadable`.
pub fn of_file(path: &Path, what: &'static str) -> Result<String, EmbedError> {
    let failed = |source| EmbedError::reading(path, what, source);
    let mut file = File::open(path).map_err(failed)?;
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => return Ok(hasher.finish()),
            n => hasher.update(&buffer[..n]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_string_has_its_published_hash() {
        assert_eq!(of_bytes(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    #[test]
    fn a_file_that_does_not_exist_is_missing() {
        let error = of_file(Path::new("/nonexistent/file"), "the thing").unwrap_err();
        assert!(matches!(error, EmbedError::Missing { what: "the thing", .. }));
    }
}
