//! The columns that names mean, as the server finds them: one that does not exist for the caller is rejected in the same
//! words as one that does not exist.

use crate::pg::curated::raw_tree::{at, is_narrow, owned, string, too_wide};
use crate::pg::server::query_tree::{Node, Visitor, pointers, walk_node};
use nl2sql_core::catalog::identifier::{TableName, quote_identifier};
use nl2sql_core::similar_names::near_names;
use nl2sql_core::sql::reads::{Names, Reads, perhaps};
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::{NodeTag, RTEKind};
use pgrx::prelude::*;
use std::collections::{HashMap, HashSet};
use std::ffi::{CString, c_int};

/// A column of a table by its numbers; 0 is the whole row.
pub type Numbered = (pg_sys::Oid, pg_sys::AttrNumber);

/// Names that an error compares a missing one with.
const COMPARED: usize = 2_000;

pub struct Columns<'n, 'a> {
    names: &'n Names<'a>,
    text: &'n str,
    tables: HashMap<pg_sys::Oid, TableName>,
    /// What names mean, stars and whole rows apart.
    pub named: HashSet<Numbered>,
    /// The tables that are read as rows, or by a qualified star.
    pub whole: HashSet<pg_sys::Oid>,
    /// Why the analysis was broken off.
    pub problem: Option<String>,
    /// What an ambiguous name may mean.
    pub ambiguous: Reads,
}

impl<'n, 'a> Columns<'n, 'a> {
    pub fn new(names: &'n Names<'a>, text: &'n str) -> Self {
        Self {
            names,
            text,
            tables: HashMap::new(),
            named: HashSet::new(),
            whole: HashSet::new(),
            problem: None,
            ambiguous: Reads::default(),
        }
    }

    /// The table of a number.
    pub fn table(&mut self, table: pg_sys::Oid) -> TableName {
        let name = self.tables.entry(table).or_insert_with(|| {
            // SAFETY: look-ups in the system caches; the names are copied.
            unsafe {
                let schema = owned(pg_sys::get_namespace_name(pg_sys::get_rel_namespace(table)));
                TableName::new(schema.unwrap_or_default(), owned(pg_sys::get_rel_name(table)).unwrap_or_default())
            }
        });
        name.clone()
    }

    /// The column's table and name, where it exists for the caller.
    pub fn visible(&mut self, (table, column): Numbered) -> Option<(TableName, String)> {
        // SAFETY: a look-up in the system caches; the name is copied.
        let name = unsafe { owned(pg_sys::get_attname(table, column, true)) }?;
        let table = self.table(table);
        let known = self.names.table(&table)?.contract.columns.iter().any(|known| known.name == name);
        known.then_some((table, name))
    }

    /// Breaks the analysis off.
    fn reject(&mut self, location: c_int, what: &str) -> ! {
        self.problem = Some(at(self.text, location, what));
        let code = PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN;
        ErrorReport::new(code, "the analysis is broken off", "nl2sql").report(PgLogLevel::ERROR);
        unreachable!("an ERROR does not return")
    }

    /// Before the server looks a name up, which raises where it is ambiguous.
    ///
    /// # Safety
    /// Called by the hook, with what the server passes to it.
    pub unsafe fn before(&mut self, state: *mut pg_sys::ParseState, reference: *mut pg_sys::ColumnRef) {
        // SAFETY: by the contract.
        unsafe {
            let fields: Vec<*mut pg_sys::Node> = pointers((*reference).fields).collect();
            let [field] = fields.as_slice() else { return };
            let Some(name) = string(*field) else { return };
            let mut level = state;
            while !level.is_null() {
                let mut found = Vec::new();
                let items = pointers::<pg_sys::ParseNamespaceItem>((*level).p_namespace);
                for item in items
                    .filter(|item| (**item).p_cols_visible && (!(**item).p_lateral_only || (*level).p_lateral_active))
                {
                    let columns = pointers::<pg_sys::Node>((*(*item).p_names).colnames).enumerate();
                    for (at, _) in columns.filter(|(_, column)| is(*column, &name)) {
                        let column = &*(*item).p_nscolumns.add(at);
                        if column.p_varno != 0 {
                            found.push((column.p_varno, column.p_varattno));
                        }
                    }
                }
                if found.len() > 1 {
                    let mut columns = Vec::new();
                    for (number, column) in found {
                        bases((*level).p_rtable, number as c_int, column, &mut columns);
                    }
                    for column in columns {
                        if let Some((table, name)) = self.visible(column) {
                            self.ambiguous.add(&table, &name);
                        }
                    }
                    let may_be = self.ambiguous.columns();
                    let may_be =
                        if may_be.is_empty() { String::new() } else { format!(": it may be {}", may_be.join(" or ")) };
                    self.reject((*reference).location, &format!("column \"{name}\" is ambiguous{may_be}"));
                }
                if !found.is_empty() {
                    return;
                }
                level = (*level).parentParseState;
            }
        }
    }

    /// After the server has looked a name up.
    ///
    /// # Safety
    /// As above.
    pub unsafe fn after(
        &mut self,
        state: *mut pg_sys::ParseState,
        reference: *mut pg_sys::ColumnRef,
        found: *mut pg_sys::Node,
    ) {
        // SAFETY: by the contract.
        unsafe {
            let fields: Vec<*mut pg_sys::Node> = pointers((*reference).fields).collect();
            let location = (*reference).location;
            let star = fields.last().is_some_and(|last| (**last).type_ == NodeTag::T_A_Star);
            if found.is_null() {
                if !star {
                    self.missing(state, &fields, location);
                }
            } else if (*found).type_ == NodeTag::T_RangeTblEntry {
                self.star(state, found.cast());
            } else {
                let mut variables = Variables::default();
                walk_node(found, &mut variables);
                for (level, number, column) in variables.found {
                    let rtable = (*up(state, level)).p_rtable;
                    let mut columns = Vec::new();
                    bases(rtable, number, column, &mut columns);
                    for column in columns {
                        self.meant(column, &fields, location);
                    }
                }
            }
        }
    }

    fn meant(&mut self, column: Numbered, fields: &[*mut pg_sys::Node], location: c_int) {
        match column.1 {
            0 => {
                let table = self.table(column.0);
                if is_narrow(self.names, &table, None) {
                    self.reject(location, &too_wide(&table));
                }
                self.whole.insert(column.0);
            }
            1.. if self.visible(column).is_some() => drop(self.named.insert(column)),
            1.. => {
                let table = self.table(column.0);
                let known = self.names.table(&table).map(|table| &table.contract.columns);
                let known: Vec<String> = known.into_iter().flatten().map(|column| column.name.clone()).collect();
                self.does_not_exist(fields, &known, location)
            }
            _ => {
                // SAFETY: nodes of the tree.
                let name = fields.last().and_then(|field| unsafe { string(*field) }).unwrap_or_default();
                self.reject(location, &format!("column \"{name}\" is the system's"))
            }
        }
    }

    /// What no column is called; what is not in the FROM clause is for the server to say.
    unsafe fn missing(&mut self, state: *mut pg_sys::ParseState, fields: &[*mut pg_sys::Node], location: c_int) {
        // SAFETY: nodes of the tree, and a look-up in the state.
        unsafe {
            let names: Vec<CString> =
                fields.iter().filter_map(|field| string(*field)).filter_map(|name| CString::new(name).ok()).collect();
            let mut levels = 0;
            let item = match names.as_slice() {
                [_] => std::ptr::null_mut(),
                [name, _] => {
                    pg_sys::refnameNamespaceItem(state, std::ptr::null(), name.as_ptr(), location, &mut levels)
                }
                [schema, name, _] => {
                    pg_sys::refnameNamespaceItem(state, schema.as_ptr(), name.as_ptr(), location, &mut levels)
                }
                _ => return,
            };
            if names.len() > 1 && item.is_null() {
                return;
            }
            let mut known = Vec::new();
            if !item.is_null() {
                self.offered(item, &mut known);
            } else {
                let mut level = state;
                while !level.is_null() {
                    pointers((*level).p_namespace).for_each(|item| self.offered(item, &mut known));
                    level = (*level).parentParseState;
                }
            }
            self.does_not_exist(fields, &known, location)
        }
    }

    /// Adds the columns of an item of FROM that exist for the caller.
    unsafe fn offered(&mut self, item: *mut pg_sys::ParseNamespaceItem, known: &mut Vec<String>) {
        // SAFETY: an item of the state.
        unsafe {
            let rte = &*(*item).p_rte;
            for (at, column) in pointers::<pg_sys::Node>((*(*item).p_names).colnames).enumerate() {
                if known.len() >= COMPARED {
                    return;
                }
                let hidden = rte.rtekind == RTEKind::RTE_RELATION
                    && pg_sys::AttrNumber::try_from(at + 1).is_ok_and(|at| self.visible((rte.relid, at)).is_none());
                if !hidden && rte.rtekind != RTEKind::RTE_JOIN {
                    known.extend(string(column));
                }
            }
        }
    }

    fn does_not_exist(&mut self, fields: &[*mut pg_sys::Node], known: &[String], location: c_int) -> ! {
        // SAFETY: nodes of the tree.
        let names: Vec<String> = fields.iter().filter_map(|field| unsafe { string(*field) }).collect();
        let near = near_names(names.last().map_or("", String::as_str), known.iter().map(String::as_str));
        let name = match names.as_slice() {
            [name] => format!("\"{name}\""),
            names => names.iter().map(|name| quote_identifier(name)).collect::<Vec<String>>().join("."),
        };
        self.reject(location, &format!("column {name} does not exist{}", perhaps(&near)))
    }

    unsafe fn star(&mut self, state: *mut pg_sys::ParseState, rte: *mut pg_sys::RangeTblEntry) {
        // SAFETY: an entry of one of the levels.
        unsafe {
            let mut level = state;
            while !level.is_null() {
                let place = pointers::<pg_sys::RangeTblEntry>((*level).p_rtable).position(|known| known == rte);
                if let Some(place) = place {
                    let mut columns = Vec::new();
                    bases((*level).p_rtable, c_int::try_from(place + 1).unwrap_or(c_int::MAX), 0, &mut columns);
                    self.whole.extend(columns.into_iter().map(|(table, _)| table));
                    return;
                }
                level = (*level).parentParseState;
            }
        }
    }
}

unsafe fn is(node: *mut pg_sys::Node, name: &str) -> bool {
    // SAFETY: a column's name is a String.
    unsafe { std::ffi::CStr::from_ptr((*node.cast::<pg_sys::String>()).sval).to_bytes() == name.as_bytes() }
}

unsafe fn up(state: *mut pg_sys::ParseState, levels: u32) -> *mut pg_sys::ParseState {
    // SAFETY: a variable's level is one that there is.
    (0..levels).fold(state, |state, _| unsafe { (*state).parentParseState })
}

/// The columns of tables that a variable stands for: several where a join has merged them, none where a subquery
/// computes it.
///
/// # Safety
/// `rtable` is the range table of the variable's level.
pub unsafe fn bases(rtable: *mut pg_sys::List, number: c_int, column: pg_sys::AttrNumber, found: &mut Vec<Numbered>) {
    // SAFETY: by the contract.
    unsafe {
        let place = usize::try_from(number - 1).unwrap_or(usize::MAX);
        let Some(rte) = pointers::<pg_sys::RangeTblEntry>(rtable).nth(place) else { return };
        match (*rte).rtekind {
            RTEKind::RTE_RELATION => found.push(((*rte).relid, column)),
            RTEKind::RTE_JOIN => {
                let merged = pointers::<pg_sys::Node>((*rte).joinaliasvars);
                let skip = usize::try_from(column - 1).unwrap_or_default();
                for expression in merged.skip(skip).take(if column == 0 { usize::MAX } else { 1 }) {
                    let mut variables = Variables::default();
                    walk_node(expression, &mut variables);
                    for (_, number, inner) in variables.found {
                        bases(rtable, number, if column == 0 { 0 } else { inner }, found);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The variables of an expression: level, number, column.
#[derive(Default)]
pub struct Variables {
    pub found: Vec<(u32, c_int, pg_sys::AttrNumber)>,
}

impl Visitor for Variables {
    fn node(&mut self, node: Node<'_>) {
        if let Some(variable) = node.get::<pg_sys::Var>() {
            self.found.push((variable.varlevelsup, variable.varno, variable.varattno));
        }
    }
}
