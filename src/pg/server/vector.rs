//! pgvector's `vector` as a datum. Only this file knows its memory layout: a variable-length header, the dimension as
//! int16, two unused bytes, then that many float4.

use crate::pg::server::error::{Error, Result};
use crate::pg::server::query;
use half::f16;
use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::datum::{Datum, DatumWithOid, FromDatum, IntoDatum};
use pgrx::pg_sys;
use std::ffi::CStr;

const HEADER: usize = pg_sys::VARHDRSZ;
const FLOATS_AT: usize = HEADER + 4;

#[derive(Debug, Clone, PartialEq)]
pub struct Vector(pub Vec<f32>);

impl IntoDatum for Vector {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        to_datum(&self.0)
    }

    /// pgvector may be installed in any schema, so the type is looked up by the column that has it.
    fn type_oid() -> pg_sys::Oid {
        column_type(c"entry")
    }
}

/// A vector of float4 or float2 as a datum.
fn to_datum<T: Copy>(floats: &[T]) -> Option<pg_sys::Datum> {
    let size = FLOATS_AT + size_of_val(floats);
    let dimension = i16::try_from(floats.len()).ok()?;
    // SAFETY: `size` bytes are allocated, zeroed and written below; palloc aligns for every type.
    unsafe {
        let start = pg_sys::palloc0(size).cast::<u8>();
        pgrx::set_varsize_4b(start.cast(), size as i32);
        start.add(HEADER).cast::<i16>().write(dimension);
        std::ptr::copy_nonoverlapping(floats.as_ptr(), start.add(FLOATS_AT).cast::<T>(), floats.len());
        Some(pg_sys::Datum::from(start))
    }
}

/// The type of the column "embedding" of a table.
fn column_type(table: &CStr) -> pg_sys::Oid {
    // SAFETY: looks up the system caches by null-terminated names; a missing one yields InvalidOid.
    unsafe {
        let schema = pg_sys::get_namespace_oid(c"nl2sql".as_ptr(), true);
        let table = pg_sys::get_relname_relid(table.as_ptr(), schema);
        pg_sys::get_atttype(table, pg_sys::get_attnum(table, c"embedding".as_ptr()))
    }
}

impl FromDatum for Vector {
    unsafe fn from_polymorphic_datum(datum: pg_sys::Datum, is_null: bool, _: pg_sys::Oid) -> Option<Self> {
        if is_null {
            return None;
        }
        // SAFETY: the datum is a vector. After detoasting, its header has the long form, so the dimension and the floats
        // are at fixed offsets, and the size limits how many are read.
        unsafe {
            let start = pg_sys::pg_detoast_datum(datum.cast_mut_ptr()).cast::<u8>();
            let size = pgrx::varsize_4b(start.cast());
            let dimension = start.add(HEADER).cast::<i16>().read() as usize;
            if FLOATS_AT + dimension * size_of::<f32>() > size {
                return None;
            }
            let floats = std::slice::from_raw_parts(start.add(FLOATS_AT).cast::<f32>(), dimension);
            Some(Self(floats.to_vec()))
        }
    }
}

// SAFETY: returns the datum that `into_datum` allocated in the caller's memory context.
unsafe impl BoxRet for Vector {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        match self.into_datum() {
            // SAFETY: the datum is a vector, the type that the function returns.
            Some(datum) => unsafe { fcinfo.return_raw_datum(datum) },
            None => fcinfo.return_null(),
        }
    }
}

/// pgvector's `halfvec`: float2 in place of float4.
pub struct HalfVector(Vec<f16>);

impl IntoDatum for HalfVector {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        to_datum(&self.0)
    }

    fn type_oid() -> pg_sys::Oid {
        column_type(c"document")
    }
}

/// A vector as a `halfvec` argument of a query.
pub fn half_argument(vector: &[f32]) -> DatumWithOid<'static> {
    HalfVector(vector.iter().copied().map(f16::from_f32).collect()).into()
}

/// A vector as an argument of a query.
pub fn argument(vector: &[f32]) -> DatumWithOid<'static> {
    Vector(vector.to_vec()).into()
}

/// Qualifies the operators of a statement: `<=>` becomes `OPERATOR(schema.<=>)`, and `<#>` likewise. The schema is
/// pgvector's, whose operators use indexes, if the current user has USAGE on it, and otherwise nl2sql's.
pub fn qualify(sql: &str) -> Result<String> {
    let schema = query::read_one(
        "SELECT CASE WHEN has_schema_privilege(n.oid, 'USAGE') THEN quote_ident(n.nspname) ELSE 'nl2sql' END
         FROM pg_catalog.pg_type t
         JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.oid = $1",
        &[Vector::type_oid().into()],
        |row| row.must::<String>(1),
    )?;
    let schema = schema.ok_or_else(|| {
        Error::new(
            pgrx::PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT,
            "the extension's tables are missing in this database",
        )
        .hint("Run: CREATE EXTENSION nl2sql CASCADE;")
    })?;
    let qualified = sql.replace("<=>", &format!("OPERATOR({schema}.<=>)"));
    Ok(qualified.replace("<#>", &format!("OPERATOR({schema}.<#>)")))
}
