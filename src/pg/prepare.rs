//! Asking the server about a statement: it is parsed and analysed as PREPARE does it, and never planned or run.

use super::error::{Error, Result};
use super::gather::Memory;
use super::{query, settings, subtransaction};
use nl2sql_core::name::cut;
use nl2sql_core::validate::SqlType;
use pgrx::pg_sys;
use pgrx::prelude::*;
use std::ffi::{CStr, CString};

/// What the server has against a statement with these params, as the current user; `None`: nothing.
pub fn objection(sql: &str, types: &[SqlType], search_path: &CStr) -> Result<Option<String>> {
    let text = CString::new(sql).map_err(|_| Error::invalid("a statement holds a null character"))?;
    // What the analysis allocates goes with it: a document may have thousands of statements.
    let _scratch = Scratch::enter();
    match subtransaction::attempt_undone(|| {
        settings::set_local(c"search_path", search_path);
        // As the tokens were read.
        settings::set_local(c"standard_conforming_strings", c"on");
        analyse(&text, types)
    }) {
        Ok(objection) => Ok(objection),
        Err(error) => Ok(Some(match error.detail {
            Some(detail) => format!("{} ({})", cut(&error.message), cut(detail.trim_end_matches('.'))),
            None => cut(&error.message).into_owned(),
        })),
    }
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

/// Where functions and types are looked up: in the datasource's schemas, then as the user's sessions do.
pub fn search_path(path: &[String]) -> Result<CString> {
    let usual = query::read_one("SELECT reset_val FROM pg_settings WHERE name = 'search_path'", &[], |row| {
        row.get::<String>(1)
    })?;
    let mut names: Vec<String> = path.iter().map(spi::quote_identifier).collect();
    names.extend(usual.flatten().filter(|usual| !usual.trim().is_empty()));
    CString::new(names.join(", ")).map_err(|_| Error::invalid("a schema's name holds a null character"))
}

fn analyse(text: &CStr, types: &[SqlType]) -> Result<Option<String>> {
    // SAFETY: the sequence of PREPARE. The text is null-terminated and outlives the calls; trees are allocated in the
    // current memory context, and lists are read within their lengths. What is raised unwinds to the subtransaction.
    unsafe {
        let statements = pg_sys::pg_parse_query(text.as_ptr());
        if statements.is_null() || (*statements).length != 1 {
            return Ok(Some("the server does not read one statement in it".to_owned()));
        }
        let statement = (*(*statements).elements).ptr_value.cast::<pg_sys::RawStmt>();
        let mut count = types.len() as i32;
        let mut oids = pg_sys::palloc(size_of::<pg_sys::Oid>() * types.len().max(1)).cast::<pg_sys::Oid>();
        for (at, sql_type) in types.iter().enumerate() {
            oids.add(at).write(oid(*sql_type));
        }
        let analysed = pg_sys::parse_analyze_varparams(statement, text.as_ptr(), &mut oids, &mut count, std::ptr::null_mut());
        let reads = (*analysed).commandType == pg_sys::CmdType::CMD_SELECT
            && (*analysed).utilityStmt.is_null()
            && !(*analysed).hasModifyingCTE
            && (*analysed).rowMarks.is_null();
        if !reads {
            return Ok(Some("the server does not take it for a statement that only reads".to_owned()));
        }
        let tree = pg_sys::nodeToString(analysed.cast());
        let tree = CStr::from_ptr(tree).to_string_lossy();
        // A text in the tree is written as bytes, a name with its spaces escaped: neither can look like this.
        let missing = (1..=types.len()).find(|number| !tree.contains(&format!("{{PARAM :paramkind 0 :paramid {number} ")));
        Ok(missing.map(|_| "the server does not see every param in it".to_owned()))
    }
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
