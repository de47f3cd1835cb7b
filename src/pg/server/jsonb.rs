//! A `jsonb` argument as text. Postgres accepts numbers and depths that serde_json does not, so the function parses the
//! text and reports a failure as its own error.

use crate::pg::server::error::{Error, Result};
use pgrx::callconv::{Arg, ArgAbi};
use pgrx::datum::FromDatum;
use pgrx::nullable::Nullable;
use pgrx::pg_sys;
use serde_json::Value;
use std::ffi::CStr;

pub struct JsonbText(String);

impl JsonbText {
    pub fn parse(&self, argument: &str) -> Result<Value> {
        serde_json::from_str(&self.0).map_err(|error| Error::invalid(format!("{argument} cannot be read: {error}")))
    }
}

impl FromDatum for JsonbText {
    unsafe fn from_polymorphic_datum(datum: pg_sys::Datum, is_null: bool, _: pg_sys::Oid) -> Option<Self> {
        if is_null {
            return None;
        }
        // SAFETY: the datum is a jsonb, and the server's own output function makes a C string of it.
        let text = unsafe { pgrx::direct_function_call::<&CStr>(pg_sys::jsonb_out, &[Some(datum)]) }?;
        Some(Self(text.to_string_lossy().into_owned()))
    }
}

// SAFETY: the argument is declared as jsonb, which `FromDatum` above reads.
unsafe impl<'fcx> ArgAbi<'fcx> for JsonbText {
    unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'fcx>) -> Self {
        // SAFETY: the caller guarantees that the argument is a jsonb.
        unsafe { arg.unbox_arg_using_from_datum() }.unwrap_or(Self(String::new()))
    }

    unsafe fn unbox_nullable_arg(arg: Arg<'_, 'fcx>) -> Nullable<Self> {
        // SAFETY: the caller guarantees that the argument is a jsonb.
        unsafe { arg.unbox_arg_using_from_datum() }.into()
    }
}
