//! Loads the ONNX Runtime library, once per process.

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use libloading::Library;
use ort::environment::Environment;
use ort::logging::LogLevel;
use ort::sys::OrtApiBase;

use crate::elf;
use crate::error::EmbedError;

/// The oldest minor version of ONNX Runtime 1.x whose C interface has everything that this crate uses.
const OLDEST_MINOR: u32 = ort::MINOR_VERSION;
/// The first minor version that must not be used: from 1.29 on, creating the environment starts a telemetry thread and
/// writes to `$HOME/.cache`. In a postmaster, that thread makes child processes hang.
const FIRST_UNSUPPORTED_MINOR: u32 = 29;

/// The library and its environment, which live as long as the process: neither can be created twice.
struct LoadedRuntime {
    /// The path that the caller passed; `file` has links resolved.
    path: PathBuf,
    file: PathBuf,
    environment: Environment,
}

static LOADED: Mutex<Option<LoadedRuntime>> = Mutex::new(None);

/// The environment of the library at `path`. Loads the library on the first call.
///
/// Starts no thread, logs nothing, writes nothing.
///
/// # Errors
/// `Missing` or `Unreadable`; `Unexpected` when the file is not a complete library; `Runtime` when its version is not
/// supported or this process has loaded another library. After an error the next call tries again.
pub(crate) fn environment(path: &Path) -> Result<Environment, EmbedError> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = loaded.as_ref().filter(|loaded| loaded.path == path) {
        return Ok(loaded.environment.clone());
    }
    let file = path.canonicalize().map_err(|error| EmbedError::reading(path, elf::LIBRARY, error))?;
    elf::check(&file)?;
    if let Some(loaded) = &*loaded {
        if loaded.file == file {
            return Ok(loaded.environment.clone());
        }
        let other = loaded.path.display();
        return Err(failure(
            path,
            format!("this process has already loaded {other}; a new process can load another library"),
        ));
    }
    let version = version(&file)?;
    if !supported(&version) {
        return Err(failure(
            path,
            format!("it is version {version}; supported are 1.{OLDEST_MINOR} to 1.{}", FIRST_UNSUPPORTED_MINOR - 1),
        ));
    }
    forbid_telemetry();
    let environment = ort::init_from(&file)
        .map_err(|error| failure(path, error))?
        .with_name("nl2sql")
        .with_telemetry(false)
        // Failures are returned as errors. The other messages, such as a warning that there is no GPU, do not belong in
        // a server's log.
        .with_logger(Arc::new(|_, _, _, _, _| {}))
        .build()
        .map_err(|error| failure(path, error))?;
    environment.set_log_level(LogLevel::Fatal);
    *loaded = Some(LoadedRuntime { path: path.to_owned(), file, environment: environment.clone() });
    Ok(environment)
}

fn failure(path: &Path, detail: impl ToString) -> EmbedError {
    EmbedError::Runtime { path: path.to_owned(), detail: detail.to_string() }
}

/// Whether `version` ("1.24.4") is supported.
fn supported(version: &str) -> bool {
    let mut parts = version.split('.');
    let major = parts.next();
    let minor = parts.next().and_then(|minor| minor.parse::<u32>().ok());
    major == Some("1") && minor.is_some_and(|minor| (OLDEST_MINOR..FIRST_UNSUPPORTED_MINOR).contains(&minor))
}

/// The version that the library at `path` reports, read before any other function of it runs.
///
/// # Errors
/// `Runtime` when it cannot be loaded or is not ONNX Runtime.
#[allow(unsafe_code)] // `ort` has no safe way to load a library only to ask for its version.
fn version(path: &Path) -> Result<String, EmbedError> {
    // SAFETY: loading a library runs its constructors. The administrator sets the path, and `ort` loads the same file
    // next.
    let library = unsafe { Library::new(path) }.map_err(|error| failure(path, error))?;
    // SAFETY: the function has this type in every version of ONNX Runtime.
    let base = unsafe { library.get::<unsafe extern "C" fn() -> *const OrtApiBase>(b"OrtGetApiBase\0") }
        .map_err(|_| failure(path, "it is not ONNX Runtime: it has no OrtGetApiBase"))?;
    // SAFETY: the function has no parameters and returns null or a static structure, whose two functions never change.
    // The version is a static NUL-terminated string.
    let version = unsafe {
        let base = base().as_ref().ok_or_else(|| failure(path, "OrtGetApiBase returned null"))?;
        let version = (base.GetVersionString)();
        if version.is_null() {
            return Err(failure(path, "it reports no version"));
        }
        CStr::from_ptr(version).to_string_lossy().into_owned()
    };
    // Keep it loaded: unloading a C++ library is risky, and the next attempt may need it.
    std::mem::forget(library);
    Ok(version)
}

/// Turns telemetry off, in case a version below [`FIRST_UNSUPPORTED_MINOR`] has it too.
#[allow(unsafe_code)] // The runtime reads this from the process environment only.
fn forbid_telemetry() {
    // SAFETY: changing the environment is unsound while another thread reads it. A backend has one thread, and that
    // thread holds the lock of `LOADED`.
    unsafe { std::env::set_var("ORT_DISABLE_TELEMETRY", "1") };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_without_telemetry_are_supported() {
        assert!(supported("1.24.4"));
        assert!(supported("1.28.0"));
        for version in ["1.23.2", "1.29.0", "2.24.0", "1", "", "1.x"] {
            assert!(!supported(version), "{version}");
        }
    }

    #[test]
    fn a_file_other_than_onnx_runtime_is_rejected() {
        assert!(matches!(environment(Path::new("/nonexistent.so")), Err(EmbedError::Missing { .. })));
        assert!(matches!(environment(Path::new("/proc/self/exe")), Err(EmbedError::Runtime { .. })));
    }
}
