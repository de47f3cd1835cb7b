//! What a function does, and so where it may run. The built-in (pinned) functions are reviewed one by one in
//! `function_class.tsv`; what others may run is judged by language, owner and volatility. Membership in an extension proves
//! nothing: whoever owns a trusted extension can add a function to it.

use pgrx::pg_sys::{self, Oid};
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::LazyLock;

const REVIEWED: &str = include_str!("function_class.tsv");
/// Of pg_language, the same in every server.
const INTERNAL_LANGUAGE: Oid = Oid::from_u32(12);
const C_LANGUAGE: Oid = Oid::from_u32(13);
const IMMUTABLE: u8 = b'i';
const VOLATILE: u8 = b'v';

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Computes a value from its arguments and from settings that a build fixes.
    Value,
    /// The same, but the value may be far larger than the arguments.
    Grows,
    /// Depends on who asks, or on the session.
    Session,
    /// Returns something else at each call.
    Varies,
    /// Reads the catalogs.
    Catalog,
    /// Tells of the server's state or of other sessions.
    Server,
    /// Runs SQL, or code that its arguments name.
    Code,
    /// Changes something, locks, waits, or reads or writes files.
    Acts,
    /// Has a signature that only the server calls.
    ServerOnly,
}

/// A line of the review.
#[derive(Clone, Copy)]
pub struct Review {
    pub class: Class,
    /// Whether a verified query may call it.
    pub in_queries: bool,
}

/// By name and volatility.
static REVIEWS: LazyLock<HashMap<(&str, u8), Review>> = LazyLock::new(|| REVIEWED.lines().filter_map(parse).collect());

fn parse(line: &'static str) -> Option<((&'static str, u8), Review)> {
    let mut fields = line.split('\t');
    let (name, volatility) = (fields.next()?, *fields.next()?.as_bytes().first()?);
    let class = match fields.next()? {
        "value" => Class::Value,
        "grows" => Class::Grows,
        "session" => Class::Session,
        "varies" => Class::Varies,
        "catalog" => Class::Catalog,
        "server" => Class::Server,
        "code" => Class::Code,
        "acts" => Class::Acts,
        "server_only" => Class::ServerOnly,
        _ => return None,
    };
    Some(((name, volatility), Review { class, in_queries: fields.next()? == "yes" }))
}

/// A function, as pg_proc has it.
pub struct Function {
    pub oid: Oid,
    pub name: String,
    volatility: u8,
    owner: Oid,
    language: Oid,
    /// It takes or returns `internal`.
    is_server_only: bool,
}

impl Function {
    pub fn read(oid: Oid) -> Option<Self> {
        // SAFETY: the tuple is read before the cache entry is released, and its name is copied.
        unsafe {
            let cache = pg_sys::SysCacheIdentifier::PROCOID as i32;
            let tuple = pg_sys::SearchSysCache1(cache, oid.into());
            if tuple.is_null() {
                return None;
            }
            let form = pg_sys::heap_tuple_get_struct::<pg_sys::FormData_pg_proc>(tuple);
            let arguments = &(*form).proargtypes;
            let count = usize::try_from(arguments.dim1).unwrap_or_default();
            let arguments = std::slice::from_raw_parts(arguments.values.as_ptr(), count);
            let found = Self {
                oid,
                name: CStr::from_ptr((*form).proname.data.as_ptr()).to_string_lossy().into_owned(),
                volatility: (*form).provolatile as u8,
                owner: (*form).proowner,
                language: (*form).prolang,
                is_server_only: (*form).prorettype == pg_sys::INTERNALOID || arguments.contains(&pg_sys::INTERNALOID),
            };
            pg_sys::ReleaseSysCache(tuple);
            Some(found)
        }
    }

    /// Whether it came with the server, and nobody can change it.
    pub fn is_built_in(&self) -> bool {
        is_built_in(self.oid)
    }

    pub fn is_immutable(&self) -> bool {
        self.volatility == IMMUTABLE
    }

    /// Whether no statement can call it: it takes or returns `internal`.
    pub fn is_server_only(&self) -> bool {
        self.is_server_only
    }

    pub fn is_volatile(&self) -> bool {
        self.volatility == VOLATILE
    }

    /// What the review says of a built-in function; of any other, nothing.
    pub fn review(&self) -> Option<Review> {
        let name = self.name.as_str();
        REVIEWS.get(&(name, self.volatility)).copied().filter(|_| self.is_built_in())
    }

    /// Whether it is compiled, and a superuser put it there.
    pub fn is_trusted_library(&self) -> bool {
        // SAFETY: reads the system caches.
        [INTERNAL_LANGUAGE, C_LANGUAGE].contains(&self.language) && unsafe { pg_sys::superuser_arg(self.owner) }
    }

    /// Why an expression that is read on behalf of others must not call it; `None`: it may.
    pub fn refusal(&self) -> Option<&'static str> {
        let Some(review) = self.review() else {
            return match (self.is_built_in(), self.is_trusted_library(), self.volatility == IMMUTABLE) {
                (false, true, true) => None,
                (false, true, false) => Some("which is not IMMUTABLE"),
                (false, false, _) => Some("which is neither built in nor part of a library that a superuser installed"),
                (true, ..) => Some("which this version of nl2sql does not know"),
            };
        };
        match review.class {
            Class::Value => None,
            Class::Grows => Some("which can build values of any size"),
            Class::Session => Some("which depends on who reads it"),
            Class::Varies => Some("which returns something else each time"),
            Class::Catalog => Some("which reads the catalogs"),
            Class::Server => Some("which depends on the server's state"),
            Class::Code => Some("which runs code that its arguments name"),
            Class::Acts => Some("which does more than compute a value"),
            Class::ServerOnly => Some("which only the server may call"),
        }
    }

    /// Whether the server may run it while rows are read: the last word, since not every call stands in a tree.
    pub fn may_run(&self) -> bool {
        self.is_built_in() || (self.is_trusted_library() && (self.volatility == IMMUTABLE || self.is_server_only))
    }
}

pub fn is_built_in(function: Oid) -> bool {
    function.to_u32() < pg_sys::FirstUnpinnedObjectId
}
