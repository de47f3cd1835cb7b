//! What is gathered of a column, value by value, while its table is read.

use nl2sql_core::catalog::statistics::{DistinctCounter, FrequentValues, Statistics};
use pgrx::pg_sys::{self, Datum, Oid};
use std::ffi::{CStr, c_int};
use xxhash_rust::xxh3::xxh3_64;

/// Wider values are counted and not looked at, as ANALYZE does; in bytes.
const WIDE: usize = 256 << 10;

/// A column to read, and what of its values may be kept.
#[derive(Clone)]
pub struct Wanted {
    pub name: String,
    pub extremes: bool,
    pub values: bool,
}

/// A memory context of the server's, which goes with the current one.
pub struct Memory(pub pg_sys::MemoryContext);

impl Memory {
    pub fn new() -> Self {
        // SAFETY: makes a context with a static name below the current one.
        Self(unsafe {
            pg_sys::AllocSetContextCreateInternal(
                pg_sys::CurrentMemoryContext,
                c"nl2sql scan".as_ptr(),
                0,
                pg_sys::ALLOCSET_DEFAULT_INITSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
            )
        })
    }
}

/// What is gathered of one column.
pub struct Column {
    base: Oid,
    kind: Kind,
    /// Its values have a length of their own.
    variable: bool,
    /// Values that were not looked at.
    wide: u64,
    pub nulls: u64,
    distinct: Option<DistinctCounter>,
    frequent: Option<FrequentValues>,
}

enum Kind {
    /// A type whose values are neither compared nor counted.
    Opaque,
    /// A type that is stored as a whole number and compared as one.
    Whole { width: Width, extremes: Option<Option<(i64, i64)>> },
    /// `text` and its kin, compared byte by byte.
    Text { extremes: Option<Option<(Vec<u8>, Vec<u8>)>>, padded: bool },
    /// Any other, by the functions of its type.
    Other(Other),
}

#[derive(Clone, Copy)]
enum Width {
    Bool,
    I16,
    I32,
    U32,
    I64,
}

struct Other {
    length: i16,
    by_value: bool,
    collation: Oid,
    /// Hashes to 64 bits; null where the type has no such function, …
    hash: *mut pg_sys::FmgrInfo,
    /// … and its values can still be told apart, as they are printed.
    printed: bool,
    /// Orders two values; null where no extremes are wanted.
    compare: *mut pg_sys::FmgrInfo,
    extremes: Option<(Datum, Datum)>,
}

impl Column {
    /// SAFETY: in a transaction; reads the type cache.
    pub unsafe fn new(data_type: Oid, collation: Oid, wanted: &Wanted) -> Self {
        // SAFETY: reads the system caches, in a transaction.
        let base = unsafe { pg_sys::getBaseType(data_type) };
        let whole =
            |width, ordered: bool| Kind::Whole { width, extremes: (ordered && wanted.extremes).then_some(None) };
        let kind = match base {
            pg_sys::BOOLOID => whole(Width::Bool, false),
            pg_sys::INT2OID => whole(Width::I16, true),
            pg_sys::INT4OID | pg_sys::DATEOID => whole(Width::I32, true),
            pg_sys::OIDOID => whole(Width::U32, true),
            pg_sys::INT8OID | pg_sys::TIMESTAMPOID | pg_sys::TIMESTAMPTZOID | pg_sys::TIMEOID | pg_sys::MONEYOID => {
                whole(Width::I64, true)
            }
            pg_sys::TEXTOID | pg_sys::VARCHAROID | pg_sys::BPCHAROID => {
                Kind::Text { extremes: wanted.extremes.then_some(None), padded: base == pg_sys::BPCHAROID }
            }
            // SAFETY: by the contract of this function.
            _ => unsafe { Self::other(base, collation, wanted) },
        };
        let counted = match &kind {
            Kind::Opaque => false,
            Kind::Other(other) => other.printed || !other.hash.is_null(),
            _ => true,
        };
        // SAFETY: by the contract of this function.
        let textual = unsafe { category(base) } == b'S';
        Self {
            base,
            kind,
            // SAFETY: reads the system caches, in a transaction.
            variable: unsafe { pg_sys::get_typlen(base) } == -1,
            wide: 0,
            nulls: 0,
            distinct: counted.then(DistinctCounter::default),
            frequent: (textual && wanted.values).then(FrequentValues::default),
        }
    }

    /// SAFETY: as above. The type cache keeps its entries as long as the backend lives.
    unsafe fn other(base: Oid, collation: Oid, wanted: &Wanted) -> Kind {
        // SAFETY: the entry is valid for the life of the backend.
        unsafe {
            let entry = pg_sys::lookup_type_cache(
                base,
                (pg_sys::TYPECACHE_HASH_EXTENDED_PROC_FINFO | pg_sys::TYPECACHE_CMP_PROC_FINFO) as c_int,
            );
            let valid = |function: &mut pg_sys::FmgrInfo| -> *mut pg_sys::FmgrInfo {
                if function.fn_oid == pg_sys::InvalidOid { std::ptr::null_mut() } else { function }
            };
            // Numbers, texts, dates and times, intervals, addresses, enums, ranges: not what has no order
            // that says something (arrays, JSON, binary, geometry, composites).
            let ordered = wanted.extremes && b"NSDTIER".contains(&category(base));
            let hash = valid(&mut (*entry).hash_extended_proc_finfo);
            let comparable = valid(&mut (*entry).cmp_proc_finfo);
            let compare = if ordered { comparable } else { std::ptr::null_mut() };
            let printed = hash.is_null() && !comparable.is_null();
            if hash.is_null() && !printed && !wanted.values {
                return Kind::Opaque;
            }
            let collation = if collation == pg_sys::InvalidOid { (*entry).typcollation } else { collation };
            Kind::Other(Other {
                length: (*entry).typlen,
                by_value: (*entry).typbyval,
                collation,
                hash,
                printed,
                compare,
                extremes: None,
            })
        }
    }

    /// SAFETY: `value` is a datum of the column's type, not null; the current memory context is reset
    /// after the batch.
    pub unsafe fn add(&mut self, value: Datum, kept: &Memory) {
        // SAFETY: `value` is a datum of a type of variable length, not null.
        if self.variable && unsafe { pg_sys::toast_raw_datum_size(value) } > WIDE as pg_sys::Size {
            self.wide += 1;
            return;
        }
        let hash = match &mut self.kind {
            Kind::Opaque => return,
            Kind::Whole { width, extremes } => {
                let number = width.read(value);
                match extremes {
                    Some(Some((low, high))) => (*low, *high) = ((*low).min(number), (*high).max(number)),
                    Some(none) => *none = Some((number, number)),
                    None => {}
                }
                Some(xxh3_64(&number.to_le_bytes()))
            }
            Kind::Text { extremes, padded } => {
                // SAFETY: `value` is a text; the copy lives until the memory context of the batch is reset.
                let varlena = unsafe { pg_sys::pg_detoast_datum_packed(value.cast_mut_ptr()) };
                // SAFETY: as above.
                let mut text = unsafe { pgrx::varlena::varlena_to_byte_slice(varlena) };
                if *padded {
                    let blanks = text.iter().rev().take_while(|byte| **byte == b' ').count();
                    text = &text[..text.len() - blanks];
                }
                match extremes {
                    Some(Some((low, _))) if text < low.as_slice() => {
                        low.clear();
                        low.extend_from_slice(text);
                    }
                    Some(Some((_, high))) if text > high.as_slice() => {
                        high.clear();
                        high.extend_from_slice(text);
                    }
                    Some(Some(_)) => {}
                    Some(none) => *none = Some((text.to_vec(), text.to_vec())),
                    None => {}
                }
                if let Some(frequent) = &mut self.frequent {
                    frequent.add(&String::from_utf8_lossy(text));
                }
                Some(xxh3_64(text))
            }
            Kind::Other(other) => {
                if let Some(frequent) = &mut self.frequent {
                    // SAFETY: `value` is of the type `base`.
                    frequent.add(&unsafe { output(self.base, value) });
                }
                // SAFETY: by the contract of this function.
                let hash = unsafe { other.add(value, kept) };
                // SAFETY: `value` is of the type `base`.
                if other.printed { Some(xxh3_64(unsafe { output(self.base, value) }.as_bytes())) } else { hash }
            }
        };
        if let (Some(distinct), Some(hash)) = (&mut self.distinct, hash) {
            distinct.add(hash);
        }
    }

    /// SAFETY: in the context in which the rows were read, since printing runs a function of the type.
    pub unsafe fn finish(self, rows: u64) -> Statistics {
        if rows == 0 {
            return Statistics::default();
        }
        // SAFETY: the extremes are values of the type `base`.
        let print = |number: Datum| unsafe { output(self.base, number) };
        let extremes = match self.kind {
            Kind::Whole { width, extremes } => {
                extremes.flatten().map(|(low, high)| (print(width.datum(low)), print(width.datum(high))))
            }
            Kind::Text { extremes, .. } => extremes.flatten().map(|(low, high)| {
                (String::from_utf8_lossy(&low).into_owned(), String::from_utf8_lossy(&high).into_owned())
            }),
            Kind::Other(other) => other.extremes.map(|(low, high)| (print(low), print(high))),
            Kind::Opaque => None,
        };
        let (min, max) = extremes.unzip();
        // Taken to differ, each from every other.
        let counted = self.distinct.map(|distinct| {
            let (count, estimated) = distinct.count(rows - self.nulls - self.wide);
            (count + self.wide, estimated || self.wide > 0)
        });
        Statistics {
            null_share: Statistics::null_share(self.nulls, rows),
            distinct_count: counted.map(|(count, _)| count),
            estimated: counted.is_some_and(|(_, estimated)| estimated),
            min,
            max,
            values: self.frequent.map(FrequentValues::values),
        }
    }
}

impl Width {
    fn read(self, value: Datum) -> i64 {
        let bits = value.value();
        match self {
            Width::Bool => i64::from(bits & 0xff != 0),
            Width::I16 => i64::from(bits as i16),
            Width::I32 => i64::from(bits as i32),
            Width::U32 => i64::from(bits as u32),
            Width::I64 => bits as i64,
        }
    }

    fn datum(self, number: i64) -> Datum {
        match self {
            Width::I16 => Datum::from(number as i16),
            Width::I32 => Datum::from(number as i32),
            Width::U32 => Datum::from(number as u32),
            Width::Bool | Width::I64 => Datum::from(number),
        }
    }
}

impl Other {
    /// SAFETY: as `Column::add`.
    unsafe fn add(&mut self, value: Datum, kept: &Memory) -> Option<u64> {
        // SAFETY: by the contract of this function; the functions come from the type cache and take this type.
        unsafe {
            if !self.compare.is_null() {
                match self.extremes {
                    None => self.extremes = Some((self.keep(value, kept), self.keep(value, kept))),
                    Some((low, high)) => {
                        if self.order(value, low) < 0 {
                            self.extremes = Some((self.keep(value, kept), high));
                            self.free(low);
                        } else if self.order(value, high) > 0 {
                            self.extremes = Some((low, self.keep(value, kept)));
                            self.free(high);
                        }
                    }
                }
            }
            (!self.hash.is_null())
                .then(|| pg_sys::FunctionCall2Coll(self.hash, self.collation, value, Datum::from(0_i64)).value() as u64)
        }
    }

    unsafe fn order(&self, a: Datum, b: Datum) -> i32 {
        // SAFETY: the caller checked that there is such a function; it compares values of this type.
        unsafe { pg_sys::FunctionCall2Coll(self.compare, self.collation, a, b).value() as i32 }
    }

    /// A copy that outlives the batch.
    unsafe fn keep(&self, value: Datum, kept: &Memory) -> Datum {
        // SAFETY: `value` has the length that its type says, and the context exists.
        unsafe {
            let outer = pg_sys::MemoryContextSwitchTo(kept.0);
            let value = match self.length {
                _ if self.by_value => value,
                -1 => Datum::from(pg_sys::pg_detoast_datum_copy(value.cast_mut_ptr())),
                length => {
                    let source: *const u8 = value.cast_mut_ptr();
                    let length = match usize::try_from(length) {
                        Ok(length) => length,
                        // -2: a C string, with its end.
                        Err(_) => CStr::from_ptr(source.cast()).to_bytes_with_nul().len(),
                    };
                    let copy: *mut u8 = pg_sys::palloc(length).cast();
                    std::ptr::copy_nonoverlapping(source, copy, length);
                    Datum::from(copy)
                }
            };
            pg_sys::MemoryContextSwitchTo(outer);
            value
        }
    }

    unsafe fn free(&self, value: Datum) {
        if !self.by_value {
            // SAFETY: `keep` allocated the value.
            unsafe { pg_sys::pfree(value.cast_mut_ptr()) };
        }
    }
}

/// SAFETY: reads the system caches.
unsafe fn category(data_type: Oid) -> u8 {
    let (mut category, mut preferred) = (0, false);
    // SAFETY: reads the system caches into two local variables.
    unsafe { pg_sys::get_type_category_preferred(data_type, &mut category, &mut preferred) };
    category as u8
}

/// A value as its type prints it. SAFETY: `value` is of that type.
unsafe fn output(data_type: Oid, value: Datum) -> String {
    // SAFETY: by the contract of this function; what is printed is copied before it is freed.
    unsafe {
        let (mut function, mut is_varlena) = (pg_sys::InvalidOid, false);
        pg_sys::getTypeOutputInfo(data_type, &mut function, &mut is_varlena);
        let text = pg_sys::OidOutputFunctionCall(function, value);
        let owned = CStr::from_ptr(text).to_string_lossy().into_owned();
        pg_sys::pfree(text.cast());
        owned
    }
}
