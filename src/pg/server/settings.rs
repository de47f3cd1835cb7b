//! The settings, with the reserved prefix `nl2sql.`.

use crate::pg::server::error::{Error, Result};
use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting};
use pgrx::pg_sys;
use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::time::Duration;

static MODEL_DIR: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));
static ONNXRUNTIME_PATH: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));
static EMBEDDING_MODEL: GucSetting<Option<CString>> =
    GucSetting::<Option<CString>>::new(Some(c"local/all-minilm-l6-v2"));
static MAX_VERSIONS: GucSetting<i32> = GucSetting::<i32>::new(3);
static FULL_SNAPSHOT_MAX_TABLES: GucSetting<i32> = GucSetting::<i32>::new(15);
// On the reference cases, 2 would send two more columns per question and find 0.4 points more of those needed.
static WHOLE_TABLE_COLUMNS: GucSetting<i32> = GucSetting::<i32>::new(1);
static PROFILE_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(30_000);
static PRELOAD: GucSetting<bool> = GucSetting::<bool>::new(true);

/// The runtime that `make install` installs, below the server's library directory.
const RUNTIME: &str = "nl2sql/libonnxruntime.so.1.24.4";
/// The model that it installs, below the server's share directory.
const MODEL: &str = "nl2sql/model";

/// Sets a setting until the (sub)transaction ends, with the privileges of the user.
pub fn set_local(name: &CStr, value: &CStr) {
    // SAFETY: both are null-terminated; the server copies them.
    unsafe {
        pg_sys::set_config_option(
            name.as_ptr(),
            value.as_ptr(),
            pg_sys::GucContext::PGC_USERSET,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_LOCAL,
            true,
            0,
            false,
        );
    }
}

pub fn define() {
    // Whoever sets a path decides what code runs, so only superusers may.
    let none = GucFlags::default();
    GucRegistry::define_string_guc(
        c"nl2sql.model_dir",
        c"Directory of the embedding model.",
        c"Empty: nl2sql/model below the server's share directory.",
        &MODEL_DIR,
        GucContext::Suset,
        GucFlags::SUPERUSER_ONLY,
    );
    GucRegistry::define_string_guc(
        c"nl2sql.onnxruntime_path",
        c"Library of ONNX Runtime.",
        c"Empty: nl2sql/libonnxruntime.so.1.24.4 below the server's library directory.",
        &ONNXRUNTIME_PATH,
        GucContext::Suset,
        GucFlags::SUPERUSER_ONLY,
    );
    GucRegistry::define_string_guc(
        c"nl2sql.embedding_model",
        c"Model that embeds texts.",
        c"The only one so far is local/all-minilm-l6-v2. Each model has a namespace of its own.",
        &EMBEDDING_MODEL,
        GucContext::Suset,
        none,
    );
    GucRegistry::define_int_guc(
        c"nl2sql.max_versions",
        c"Newest snapshots of a datasource that a build keeps.",
        c"Those that a pointer names and the one just replaced are kept as well.",
        &MAX_VERSIONS,
        1,
        1_000_000,
        GucContext::Userset,
        none,
    );
    GucRegistry::define_int_guc(
        c"nl2sql.full_snapshot_max_tables",
        c"Datasources with at most this many readable tables are retrieved whole.",
        c"0: every datasource is searched.",
        &FULL_SNAPSHOT_MAX_TABLES,
        0,
        1_000_000,
        GucContext::Userset,
        none,
    );
    GucRegistry::define_int_guc(
        c"nl2sql.whole_table_columns",
        c"Tables with at most this many columns are retrieved whole.",
        c"Of larger tables, retrieval returns the keys, the columns that the question hit, and those that name the rows.",
        &WHOLE_TABLE_COLUMNS,
        0,
        1_600,
        GucContext::Userset,
        none,
    );
    GucRegistry::define_int_guc(
        c"nl2sql.profile_timeout",
        c"How long a build may read the rows of one table.",
        c"A table that takes longer is indexed without its statistics. 0: no limit.",
        &PROFILE_TIMEOUT,
        0,
        i32::MAX,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_bool_guc(
        c"nl2sql.preload",
        c"Load the model in the postmaster where shared_preload_libraries names nl2sql.",
        c"Read when the server starts. Every backend then inherits the model. Off: each backend loads it when it first embeds.",
        &PRELOAD,
        // A library that is loaded after the server has started cannot define a Postmaster setting. This one is read
        // only when the server starts.
        GucContext::Sighup,
        none,
    );
    // SAFETY: called once while the library is loaded, with a static name.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"nl2sql".as_ptr()) };
}

pub fn max_versions() -> i64 {
    i64::from(MAX_VERSIONS.get())
}

pub fn full_snapshot_max_tables() -> usize {
    usize::try_from(FULL_SNAPSHOT_MAX_TABLES.get()).unwrap_or(0)
}

pub fn whole_table_columns() -> usize {
    usize::try_from(WHOLE_TABLE_COLUMNS.get()).unwrap_or(0)
}

/// `None` if there is no limit.
pub fn profile_timeout() -> Option<Duration> {
    u64::try_from(PROFILE_TIMEOUT.get()).ok().filter(|limit| *limit > 0).map(Duration::from_millis)
}

/// Whether the postmaster is loading `shared_preload_libraries`.
pub fn is_preloading() -> bool {
    // SAFETY: reads a flag that the postmaster sets while it loads libraries.
    unsafe { pg_sys::process_shared_preload_libraries_in_progress }
}

pub fn preload() -> bool {
    PRELOAD.get()
}

pub fn model_dir() -> PathBuf {
    text(&MODEL_DIR).map_or_else(|| server_path(pg_sys::get_share_path, MODEL), PathBuf::from)
}

pub fn onnxruntime_path() -> PathBuf {
    text(&ONNXRUNTIME_PATH).map_or_else(|| server_path(pg_sys::get_pkglib_path, RUNTIME), PathBuf::from)
}

/// Name and dimension of the embedding model.
pub fn embedding_model() -> Result<(String, usize)> {
    const KNOWN: [(&str, usize); 1] = [("local/all-minilm-l6-v2", 384)];
    let name = text(&EMBEDDING_MODEL).unwrap_or_default();
    match KNOWN.iter().find(|(known, _)| *known == name) {
        Some((_, dimension)) => Ok((name, *dimension)),
        None => Err(Error::invalid(format!(
            "unknown embedding model \"{}\"",
            nl2sql_core::catalog::identifier::shown(&name)
        ))
        .hint(format!("Set nl2sql.embedding_model to '{}'.", KNOWN[0].0))),
    }
}

/// The namespace of the current model: `nl2sql__<provider-model slug>__<dimension>`.
pub fn namespace() -> Result<String> {
    let (model, dimension) = embedding_model()?;
    let slug: String =
        model.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    Ok(format!("nl2sql__{slug}__{dimension}"))
}

fn text(setting: &GucSetting<Option<CString>>) -> Option<String> {
    setting.get().map(|value| value.to_string_lossy().into_owned()).filter(|value| !value.is_empty())
}

type ServerDirectory = unsafe fn(*const std::ffi::c_char, *mut std::ffi::c_char);

fn server_path(directory: ServerDirectory, below: &str) -> PathBuf {
    let mut buffer = [0 as std::ffi::c_char; pg_sys::MAXPGPATH as usize];
    // SAFETY: both functions write at most MAXPGPATH bytes, null-terminated.
    let directory = unsafe {
        directory((&raw const pg_sys::my_exec_path).cast(), buffer.as_mut_ptr());
        CStr::from_ptr(buffer.as_ptr())
    };
    PathBuf::from(directory.to_string_lossy().into_owned()).join(below)
}
