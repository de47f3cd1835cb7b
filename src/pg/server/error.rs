//! Errors with SQLSTATE, DETAIL and HINT.

use nl2sql_core::catalog::identifier::shown;
use nl2sql_core::catalog::options::{KEYS, OptionsError};
use nl2sql_core::similar_names::near_names;
pub use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use pgrx::spi;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, Clone)]
pub struct Error {
    pub code: PgSqlErrorCode,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
}

impl Error {
    pub fn new(code: PgSqlErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), detail: None, hint: None }
    }

    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// 22023: an invalid argument.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE, message)
    }

    /// 22004: a NULL that is not allowed.
    pub fn null(argument: &str) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, format!("{argument} must not be null"))
    }

    /// 42704: the name is unknown or not visible to the caller, in the same words. `known` are the names that the caller
    /// may see; similar ones are suggested.
    pub fn unknown<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let error =
            Self::new(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, format!("{what} \"{}\" does not exist", shown(name)));
        match near_names(name, known).as_slice() {
            [] => error,
            // A table's name is already quoted if it has to be.
            near if what == "table" => error.hint(format!("Perhaps you meant {}.", near.join(", "))),
            near => error.hint(format!("Perhaps you meant \"{}\".", near.join("\", \""))),
        }
    }

    /// 0A000: not in this release.
    pub fn later(what: &str) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, format!("{what} is not supported yet"))
            .hint("It comes with a later release of nl2sql.")
    }

    /// 55000: the datasource has no live build.
    pub fn not_indexed(datasource: &str, namespace: &str) -> Self {
        Self::new(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("datasource \"{datasource}\" has not been indexed"),
        )
        .detail(format!("The namespace \"{namespace}\" holds no build of it."))
        .hint(format!("Run: SELECT {};", call("nl2sql_index", datasource)))
    }
}

/// Lets a SQL function use `?`: pgrx raises an [`ErrorReport`] with all of its fields, any other error with its text
/// alone.
impl From<Error> for ErrorReport {
    fn from(error: Error) -> Self {
        let mut report = ErrorReport::new(error.code, error.message, "nl2sql");
        if let Some(detail) = error.detail {
            report = report.set_detail(detail);
        }
        if let Some(hint) = error.hint {
            report = report.set_hint(hint);
        }
        report
    }
}

/// The call that registers these options. It names all of them, since registering replaces all.
pub fn register_options(datasource: &str, options: &serde_json::Value) -> String {
    let (name, options) = (spi::quote_literal(datasource), spi::quote_literal(options.to_string()));
    format!("nl2sql_register({name}, options => {options})")
}

/// The call that registers these schemas, with an ellipsis if there are none to name.
pub fn register_schemas(datasource: &str, schemas: &[String]) -> String {
    let names: Vec<String> = schemas.iter().map(spi::quote_literal).collect();
    let names = if names.is_empty() { "…".to_owned() } else { names.join(", ") };
    format!("nl2sql_register({}, schemas => ARRAY[{names}])", spi::quote_literal(datasource))
}

/// Keeps Rust backtraces out of DETAIL, where pgrx puts them if the server was started with RUST_BACKTRACE. The standard
/// library reads that variable only once, for the first backtrace, so taking one here decides for all.
pub fn keep_details() {
    const SETTING: &str = "RUST_LIB_BACKTRACE";
    let before = std::env::var_os(SETTING);
    // SAFETY: called while the library is loaded, by the only thread of the process.
    unsafe {
        std::env::set_var(SETTING, "0");
        let _ = std::hint::black_box(std::backtrace::Backtrace::capture());
        match before {
            Some(before) => std::env::set_var(SETTING, before),
            None => std::env::remove_var(SETTING),
        }
    }
}

/// A call of a function, as a user would type it: `function('argument')`.
pub fn call(function: &str, argument: &str) -> String {
    format!("{function}({})", spi::quote_literal(argument))
}

impl From<spi::Error> for Error {
    fn from(error: spi::Error) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, format!("query failed: {error}"))
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_DATA_CORRUPTED, format!("stored JSON cannot be read: {error}"))
    }
}

impl From<OptionsError> for Error {
    fn from(error: OptionsError) -> Self {
        match &error {
            OptionsError::Server => Self::later("option \"server\""),
            OptionsError::UnknownKey(_) => {
                Self::invalid(error.to_string()).hint(format!("Known options: {}.", KEYS.join(", ")))
            }
            _ => Self::invalid(error.to_string()),
        }
    }
}
