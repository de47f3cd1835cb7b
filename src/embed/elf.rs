//! Checks that a shared library is complete before the loader maps it.
//!
//! The loader maps a truncated library without an error. The process then dies of SIGBUS when it touches a missing page,
//! and when a PostgreSQL backend dies, the server restarts.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::EmbedError;

/// What errors call the file.
pub(crate) const LIBRARY: &str = "the ONNX Runtime library";
/// `e_machine` of the target architecture; 0 if it is not known, which skips the check.
const MACHINE: u16 = if cfg!(target_arch = "x86_64") {
    62
} else if cfg!(target_arch = "aarch64") {
    183
} else {
    0
};

/// Checks that the file at `path` is a 64-bit ELF library for this architecture, at least as long as its headers
/// require.
///
/// # Errors
/// `Missing`, `Unreadable`, `Unexpected`.
pub(crate) fn check(path: &Path) -> Result<(), EmbedError> {
    let failed = |error| EmbedError::reading(path, LIBRARY, error);
    let mut file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut header = [0; 64];
    let complete = match file.read_exact(&mut header) {
        Ok(()) => expected_length(&header, |offset, size| {
            let mut bytes = vec![0; size];
            file.seek(SeekFrom::Start(offset)).ok()?;
            file.read_exact(&mut bytes).ok()?;
            Some(bytes)
        }),
        // A directory is a read error; a file of a few bytes ends early.
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            Err("a file shorter than 64 bytes".to_owned())
        }
        Err(error) => return Err(failed(error)),
    };
    let problem = match complete {
        Ok(expected) if expected <= length => return Ok(()),
        Ok(expected) => format!("a truncated file, {length} of {expected} bytes"),
        Err(problem) => problem,
    };
    Err(EmbedError::unexpected(path, "a shared library for this architecture", problem))
}

/// The least length of a file with this ELF header. `read` (offset, size) reads the program headers.
fn expected_length(header: &[u8; 64], mut read: impl FnMut(u64, usize) -> Option<Vec<u8>>) -> Result<u64, String> {
    if header[..6] != *b"\x7fELF\x02\x01" {
        return Err("not a 64-bit ELF file".to_owned());
    }
    let machine = number(header, 0x12, 2);
    if MACHINE != 0 && machine != u64::from(MACHINE) {
        return Err(format!("a library for machine type {machine}"));
    }
    let (offset, size, count) = (number(header, 0x20, 8), number(header, 0x36, 2), number(header, 0x38, 2));
    if size < 56 {
        return Err("an invalid ELF header".to_owned());
    }
    let programs = read(offset, (size * count) as usize).ok_or("program headers beyond the end of the file")?;
    let segments = programs
        .chunks_exact(size as usize)
        .map(|program| number(program, 0x08, 8).saturating_add(number(program, 0x20, 8)));
    Ok(segments.max().unwrap_or(0))
}

/// The little-endian number of `size` bytes at `offset`.
fn number(bytes: &[u8], offset: usize, size: usize) -> u64 {
    let field = bytes.iter().skip(offset).take(size);
    field.rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_binary_is_complete() {
        check(&std::env::current_exe().unwrap()).unwrap();
    }

    #[test]
    fn a_file_that_is_not_a_library_is_rejected() {
        assert!(matches!(check(Path::new("/nonexistent")), Err(EmbedError::Missing { .. })));
        assert!(check(Path::new("/")).is_err());
        let mut header = [0; 64];
        assert!(expected_length(&header, |_, _| None).is_err());
        header[..6].copy_from_slice(b"\x7fELF\x02\x01");
        header[0x12] = MACHINE as u8;
        assert!(expected_length(&header, |_, _| None).is_err());
        header[0x36] = 56;
        header[0x38] = 1;
        let mut program = vec![0; 56];
        program[0x08] = 100;
        program[0x20] = 23;
        assert_eq!(expected_length(&header, |_, _| Some(program.clone())), Ok(123));
    }
}
