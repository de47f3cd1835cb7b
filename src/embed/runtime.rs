//! Loads ONNX Runtime, once per process.

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use libloading::Library;
use ort::environment::Environment;
use ort::logging::LogLevel;
use ort::sys::OrtApiBase;

use crate::elf;
use crate::error::EmbedError;

/// The oldest minor version of ONNX Runtime 1.x whose C interface has all that is
/// used here.
const OLDEST: u32 = ort::MINOR_VERSION;
/// The first one that must not be used: from 1.29 on, creating the environment
/// starts a thread of telemetry and writes below `$HOME/.cache`. In a postmaster
/// the thread makes children hang.
const TOO_NEW: u32 = 29;

/// The library and its environment, which live as long as the process: neither can
/// be made twice.
struct Loaded {
    /// As it was given, and as the file is called.
    path: PathBuf,
    file: PathBuf,
    environment: Environment,
}

static LOADED: Mutex<Option<Loaded>> = Mutex::new(None);

/// The environment of the library at `path`, which is loaded if it is not yet.
///
/// Starts no thread, logs nothing, writes nothing.
///
/// # Errors
/// `Missing` or `Unreadable`, `Unexpected` when the file is no complete library,
/// `Runtime` when it is not a version that works or when this process has loaded
/// another one. After an error the next call tries again.
pub(crate) fn environment(path: &Path) -> Result<Environment, EmbedError> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = loaded.as_ref().filter(|loaded| loaded.path == path) {
        return Ok(loaded.environment.clone());
    }
    let file = path.canonicalize().map_err(|error| EmbedError::reading(path, elf::WHAT, error))?;
    elf::check(&file)?;
    if let Some(loaded) = &*loaded {
        if loaded.file == file {
            return Ok(loaded.environment.clone());
        }
        let other = loaded.path.display();
        return Err(failure(path, format!("this process has loaded {other}; a new one can load another")));
    }
    let version = version(&file)?;
    if !supported(&version) {
        return Err(failure(path, format!("it is version {version}, and 1.{OLDEST} to 1.{} work", TOO_NEW - 1)));
    }
    forbid_telemetry();
    let environment = ort::init_from(&file)
        .map_err(|error| failure(path, error))?
        .with_name("nl2sql")
        .with_telemetry(false)
        // What fails comes back as an error; the rest (a machine without a GPU is a
        // warning) has no place in a server's log.
        .with_logger(Arc::new(|_, _, _, _, _| {}))
        .build()
        .map_err(|error| failure(path, error))?;
    environment.set_log_level(LogLevel::Fatal);
    *loaded = Some(Loaded { path: path.to_owned(), file, environment: environment.clone() });
    Ok(environment)
}

fn failure(path: &Path, detail: impl ToString) -> EmbedError {
    EmbedError::Runtime { path: path.to_owned(), detail: detail.to_string() }
}

/// Whether `version` ("1.24.4") is one that works.
fn supported(version: &str) -> bool {
    let mut parts = version.split('.');
    let major = parts.next();
    let minor = parts.next().and_then(|minor| minor.parse::<u32>().ok());
    major == Some("1") && minor.is_some_and(|minor| (OLDEST..TOO_NEW).contains(&minor))
}

/// The version that the library at `path` gives for itself, before anything else of
/// it runs.
///
/// # Errors
/// `Runtime` when it cannot be loaded or is not ONNX Runtime.
#[allow(unsafe_code)] // Loading a library and calling C, which `ort` shows no safe way to do.
fn version(path: &Path) -> Result<String, EmbedError> {
    // SAFETY: loading a library runs its constructors. The path is a setting of the
    // administrator, and `ort` loads the same file next.
    let library = unsafe { Library::new(path) }.map_err(|error| failure(path, error))?;
    // SAFETY: this is the type of the function in every version of ONNX Runtime.
    let base = unsafe { library.get::<unsafe extern "C" fn() -> *const OrtApiBase>(b"OrtGetApiBase\0") }
        .map_err(|_| failure(path, "it is not ONNX Runtime: it has no OrtGetApiBase"))?;
    // SAFETY: the function takes nothing and gives a static structure or null, whose
    // two functions never change; the version is a static text that ends with 0.
    let version = unsafe {
        let base = base().as_ref().ok_or_else(|| failure(path, "it has no interface"))?;
        let version = (base.GetVersionString)();
        if version.is_null() {
            return Err(failure(path, "it has no version"));
        }
        CStr::from_ptr(version).to_string_lossy().into_owned()
    };
    // Not closed: unloading a C++ library is never worth its risk, and the next
    // attempt may want it.
    std::mem::forget(library);
    Ok(version)
}

/// A second lock on the door that [`TOO_NEW`] closes.
#[allow(unsafe_code)] // The environment is the only place where the runtime looks.
fn forbid_telemetry() {
    // SAFETY: changing the environment is unsound while another thread reads it. A
    // backend has one thread, which `LOADED` is locked by.
    unsafe { std::env::set_var("ORT_DISABLE_TELEMETRY", "1") };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_without_telemetry_work() {
        assert!(supported("1.24.4"));
        assert!(supported("1.28.0"));
        for version in ["1.23.2", "1.29.0", "2.24.0", "1", "", "1.x"] {
            assert!(!supported(version), "{version}");
        }
    }

    #[test]
    fn what_is_not_onnx_runtime_is_refused() {
        assert!(matches!(environment(Path::new("/nonexistent.so")), Err(EmbedError::Missing { .. })));
        assert!(matches!(environment(Path::new("/proc/self/exe")), Err(EmbedError::Runtime { .. })));
    }
}
