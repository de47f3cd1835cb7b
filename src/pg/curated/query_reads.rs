//! What an analyzed query reads and calls.

use crate::pg::curated::columns::{Numbered, Variables, bases};
use crate::pg::server::query_tree::{Visitor, pointers, walk_node};
use pgrx::pg_sys;
use pgrx::pg_sys::{NodeTag, RTEKind};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::c_int;

#[derive(Default)]
pub struct QueryReads {
    /// Tables, and the columns of each; 0 is the whole row.
    pub tables: HashMap<pg_sys::Oid, BTreeSet<pg_sys::AttrNumber>>,
    /// The columns that joins by shared columns compare.
    pub joined: HashSet<Numbered>,
    /// Functions, and where each is called first.
    pub functions: HashMap<pg_sys::Oid, c_int>,
}

impl Visitor for QueryReads {
    fn enter(&mut self, query: &pg_sys::Query) {
        // SAFETY: lists of the query, whose nodes' tags say what they are.
        unsafe {
            for rte in pointers::<pg_sys::RangeTblEntry>(query.rtable) {
                if (*rte).rtekind == RTEKind::RTE_RELATION {
                    let columns = self.tables.entry((*rte).relid).or_default();
                    let selected = selected(query, rte);
                    let mut member = -1;
                    loop {
                        member = pg_sys::bms_next_member(selected, member);
                        if member < 0 {
                            break;
                        }
                        let column = member + pg_sys::FirstLowInvalidHeapAttributeNumber as c_int;
                        columns.extend(pg_sys::AttrNumber::try_from(column));
                    }
                }
            }
            if let Some(from) = query.jointree.as_ref() {
                pointers(from.fromlist).for_each(|item| self.joins(query.rtable, item));
            }
        }
    }

    fn function(&mut self, function: pg_sys::Oid, location: c_int) {
        self.functions.entry(function).or_insert(location);
    }
}

/// The columns that an entry of a query's range table reads.
#[cfg(feature = "pg15")]
unsafe fn selected(_: &pg_sys::Query, rte: *mut pg_sys::RangeTblEntry) -> *mut pg_sys::Bitmapset {
    // SAFETY: an entry of the query.
    unsafe { (*rte).selectedCols }
}

#[cfg(not(feature = "pg15"))]
unsafe fn selected(query: &pg_sys::Query, rte: *mut pg_sys::RangeTblEntry) -> *mut pg_sys::Bitmapset {
    // SAFETY: an entry of the query; its number counts from 1.
    unsafe {
        let place = usize::try_from((*rte).perminfoindex).unwrap_or_default().checked_sub(1);
        let mut infos = pointers::<pg_sys::RTEPermissionInfo>(query.rteperminfos);
        place.and_then(|place| infos.nth(place)).map_or(std::ptr::null_mut(), |info| (*info).selectedCols)
    }
}

impl QueryReads {
    unsafe fn joins(&mut self, rtable: *mut pg_sys::List, item: *mut pg_sys::Node) {
        // SAFETY: a node's tag says what it is.
        unsafe {
            if item.is_null() || (*item).type_ != NodeTag::T_JoinExpr {
                return;
            }
            let join = &*item.cast::<pg_sys::JoinExpr>();
            if !join.usingClause.is_null() {
                let mut variables = Variables::default();
                walk_node(join.quals, &mut variables);
                let mut columns = Vec::new();
                for (_, number, column) in variables.found {
                    bases(rtable, number, column, &mut columns);
                }
                self.joined.extend(columns);
            }
            self.joins(rtable, join.larg);
            self.joins(rtable, join.rarg);
        }
    }
}
