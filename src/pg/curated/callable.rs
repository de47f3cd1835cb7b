//! Whether a verified query may call a function. What a function is called says nothing: it is judged by its OID and
//! what the catalog says of it.

use crate::pg::curated::raw_tree::owned;
use crate::pg::server::function_class::Function;
use pgrx::pg_sys;

/// Libraries, or functions of libraries, that are not VOLATILE and read what is given to them by name or as SQL, depend on
/// the server's state, or change what the session works with.
const LIBRARIES: [(&str, &[&str]); 5] = [
    ("isn", &["accept_weak_input", "weak_input_status"]),
    ("nl2sql", &[]),
    ("postgres_fdw", &[]),
    ("tablefunc", &["crosstab", "crosstab_hash", "connectby_text", "connectby_text_serial"]),
    ("pgxml", &["xpath_table"]),
];

/// The languages `internal` and `c` in pg_language.
const COMPILED: [u32; 2] = [12, 13];

/// VOLATILE functions of libraries that make a value up, describe the session's own connection, or transform their arguments.
const MAKE_UP: [(&str, &[&str]); 5] = [
    ("pgcrypto", &[]),
    ("pgxml", &["xslt_process"]),
    ("sslinfo", &[]),
    ("tablefunc", &["normal_rand"]),
    ("uuid-ossp", &[]),
];

/// Why a verified query must not call a function. One that is written in SQL or a procedural language runs with the
/// rights of who runs the query, like the query itself.
pub fn refusal(function: pg_sys::Oid) -> Option<String> {
    let found = Function::read(function)?;
    let allowed = if found.is_server_only() && (found.is_built_in() || found.is_trusted_library()) {
        // A method of TABLESAMPLE.
        true
    } else if found.is_built_in() {
        found.is_immutable() || found.review().is_some_and(|review| review.in_queries)
    } else {
        match library(function) {
            None => true,
            Some((library, symbol)) => {
                let is_in = |list: &[(&str, &[&str])]| {
                    list.iter().any(|(name, symbols)| {
                        *name == library && (symbols.is_empty() || symbols.contains(&symbol.as_str()))
                    })
                };
                if found.is_volatile() { is_in(&MAKE_UP) } else { !is_in(&LIBRARIES) }
            }
        }
    };
    (!allowed).then(|| format!("function {}() does more than read what the statement names", found.name))
}

/// The library and the symbol of a function that is compiled: `$libdir/tablefunc`, `crosstab`. A superuser put it there.
fn library(function: pg_sys::Oid) -> Option<(String, String)> {
    // SAFETY: the tuple is read before the cache entry is released, and texts are copied.
    unsafe {
        let cache = pg_sys::SysCacheIdentifier::PROCOID as i32;
        let tuple = pg_sys::SearchSysCache1(cache, function.into());
        if tuple.is_null() {
            return None;
        }
        let language = (*pg_sys::heap_tuple_get_struct::<pg_sys::FormData_pg_proc>(tuple)).prolang;
        let text = |attribute: u32| {
            let mut is_null = false;
            let datum = pg_sys::SysCacheGetAttr(cache, tuple, attribute as pg_sys::AttrNumber, &mut is_null);
            let text = if is_null { std::ptr::null_mut() } else { pg_sys::text_to_cstring(datum.cast_mut_ptr()) };
            owned(text).unwrap_or_default()
        };
        let compiled = COMPILED.contains(&language.to_u32());
        let found = compiled.then(|| (text(pg_sys::Anum_pg_proc_probin), text(pg_sys::Anum_pg_proc_prosrc)));
        pg_sys::ReleaseSysCache(tuple);
        let (path, symbol) = found?;
        let name = path.rsplit('/').next().unwrap_or_default();
        Some((name.trim_end_matches(".so").to_owned(), symbol))
    }
}
