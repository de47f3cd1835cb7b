//! Asking the server about a statement: it is parsed and analysed as PREPARE does it, and never planned or run.

use crate::pg::curated::analyze_hooks::Untyped;
use crate::pg::profile::column_statistics::Memory;
use crate::pg::server::error::{Error, Result};
use crate::pg::server::{query, restricted, settings, subtransaction};
use nl2sql_core::catalog::identifier::cut;
use nl2sql_core::curated::validate::SqlType;
use pgrx::pg_sys;
use pgrx::prelude::*;
use std::ffi::{CStr, CString};

/// Where functions and types without a schema are looked up.
pub struct Lookup {
    /// As the user's sessions do.
    usual: CString,
    /// In the datasource's schemas before.
    wider: CString,
}

impl Lookup {
    pub fn of(path: &[String]) -> Result<Self> {
        let usual = query::read_one("SELECT reset_val FROM pg_settings WHERE name = 'search_path'", &[], |row| {
            row.get::<String>(1)
        })?;
        let usual = usual.flatten().filter(|usual| !usual.trim().is_empty());
        let mut names: Vec<String> = path.iter().map(spi::quote_identifier).collect();
        names.extend(usual.clone());
        let path =
            |text: String| CString::new(text).map_err(|_| Error::invalid("a schema's name holds a null character"));
        Ok(Self { usual: path(usual.unwrap_or_else(|| "pg_catalog".to_owned()))?, wider: path(names.join(", "))? })
    }
}

/// What the server has against a statement that names its tables with their schemas and that others run as it is, as
/// the current user; `None`: nothing.
pub fn objection(sql: &str, types: &[SqlType], lookup: &Lookup) -> Result<Option<String>> {
    let Some(message) = objects(sql, types, &lookup.usual)? else { return Ok(None) };
    if objects(sql, types, &lookup.wider)?.is_some() {
        return Ok(Some(message));
    }
    Ok(Some(format!("{message} (found in the datasource's schemas alone: write the schema before its name)")))
}

/// The same where names may also be found in the datasource's schemas.
pub fn objection_within(sql: &str, types: &[SqlType], lookup: &Lookup) -> Result<Option<String>> {
    objects(sql, types, &lookup.wider)
}

fn objects(sql: &str, types: &[SqlType], search_path: &CStr) -> Result<Option<String>> {
    let text = CString::new(sql).map_err(|_| Error::invalid("a statement holds a null character"))?;
    // What the analysis allocates goes with it: a document may have thousands of statements.
    let _scratch = Scratch::enter();
    let result = subtransaction::attempt_undone(|| {
        settings::set_local(c"search_path", search_path);
        // As the tokens were read.
        settings::set_local(c"standard_conforming_strings", c"on");
        restricted::hold();
        analyse(&text, types)
    });
    match result {
        Ok(objection) => Ok(objection),
        Err(error) if is_of_the_moment(error.code) => Err(error),
        Err(error) => Ok(Some(match error.detail {
            Some(detail) => format!("{} ({})", cut(&error.message), cut(detail.trim_end_matches('.'))),
            None => cut(&error.message).into_owned(),
        })),
    }
}

/// Whether an error says nothing of the statement: a lock that was not to be had, memory, a server that shuts down.
fn is_of_the_moment(code: PgSqlErrorCode) -> bool {
    matches!(
        code,
        PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE
            | PgSqlErrorCode::ERRCODE_T_R_DEADLOCK_DETECTED
            | PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY
            | PgSqlErrorCode::ERRCODE_QUERY_CANCELED
            | PgSqlErrorCode::ERRCODE_ADMIN_SHUTDOWN
    )
}

/// A memory context of its own, until it goes out of scope.
struct Scratch {
    memory: Memory,
    outer: pg_sys::MemoryContext,
}

impl Scratch {
    fn enter() -> Self {
        let memory = Memory::new();
        // SAFETY: the context was made just now; the one before is put back when this goes out of scope.
        let outer = unsafe { pg_sys::MemoryContextSwitchTo(memory.0) };
        Self { memory, outer }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: nothing that was allocated in it is in use any more: what is given back is Rust's.
        unsafe {
            pg_sys::MemoryContextSwitchTo(self.outer);
            pg_sys::MemoryContextDelete(self.memory.0);
        }
    }
}

fn analyse(text: &CStr, types: &[SqlType]) -> Result<Option<String>> {
    let mut untyped = Untyped::new(types.iter().map(|sql_type| oid(*sql_type)).collect());
    // SAFETY: the sequence of PREPARE. The text is null-terminated and outlives the calls; trees are allocated in the
    // current memory context, and lists are read within their lengths. What is raised unwinds to the subtransaction.
    unsafe {
        let statements = pg_sys::pg_parse_query(text.as_ptr());
        if statements.is_null() || (*statements).length != 1 {
            return Ok(Some("the server does not read one statement in it".to_owned()));
        }
        let statement = (*(*statements).elements).ptr_value.cast::<pg_sys::RawStmt>();
        untyped.take_literals((*statement).stmt);
        let analysed = untyped.analyse(statement, text);
        let reads = (*analysed).commandType == pg_sys::CmdType::CMD_SELECT
            && (*analysed).utilityStmt.is_null()
            && !(*analysed).hasModifyingCTE
            && (*analysed).rowMarks.is_null();
        if !reads {
            return Ok(Some("the server does not take it for a statement that only reads".to_owned()));
        }
    }
    untyped.check_literals();
    Ok((!untyped.has_seen_every_param()).then(|| "the server does not see every param in it".to_owned()))
}

fn oid(sql_type: SqlType) -> pg_sys::Oid {
    match sql_type {
        SqlType::Int4 => pg_sys::INT4OID,
        SqlType::Int8 => pg_sys::INT8OID,
        SqlType::Numeric => pg_sys::NUMERICOID,
        SqlType::Date => pg_sys::DATEOID,
        SqlType::Unknown => pg_sys::UNKNOWNOID,
    }
}
