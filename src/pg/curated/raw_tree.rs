//! The names in a raw tree, looked up in what the caller may see before the server looks them up: an error of the
//! server must not confirm what is hidden.

use crate::pg::server::query_tree::pointers;
use nl2sql_core::catalog::identifier::{TableName, quote_identifier};
use nl2sql_core::sql::reads::{Names, Reads};
use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;
use pgrx::prelude::*;
use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char, c_int, c_void};

/// Tables, subqueries and functions in FROM: each may have all columns that a query can have.
const SOURCES: usize = 1_000;

/// A name of a table in the tree, and the table.
#[derive(Clone)]
struct Reference {
    name: *mut pg_sys::RangeVar,
    table: TableName,
}

/// What stands in a raw tree.
pub struct RawTree<'n, 'a> {
    names: &'n Names<'a>,
    text: &'n str,
    /// Params of the statement, as against literals.
    params: usize,
    /// The names of CTEs, innermost last.
    ctes: Vec<String>,
    references: Vec<Reference>,
    sources: usize,
    /// The tables whose columns a star reads, and those that a natural join compares.
    stars: Vec<*mut pg_sys::RangeVar>,
    naturals: Vec<*mut pg_sys::RangeVar>,
    /// What qualifies a star.
    qualifiers: BTreeSet<String>,
    /// The columns of USING.
    pub using: BTreeSet<String>,
    /// The tables that are named without their schema.
    pub bare: BTreeSet<TableName>,
    pub whole: BTreeSet<TableName>,
    pub unqualified: Vec<(usize, String)>,
    pub problems: Vec<String>,
}

/// `line 3: …` of what stands at a byte.
pub fn at(text: &str, location: c_int, what: &str) -> String {
    match usize::try_from(location) {
        Ok(byte) => format!("line {}: {what}", 1 + text.bytes().take(byte).filter(|byte| *byte == b'\n').count()),
        Err(_) => what.to_owned(),
    }
}

/// # Safety
/// Null or a text that ends.
pub unsafe fn owned(text: *const c_char) -> Option<String> {
    // SAFETY: by the contract.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// The text of a node that is a String.
///
/// # Safety
/// A node of the server's.
pub unsafe fn string(node: *mut pg_sys::Node) -> Option<String> {
    // SAFETY: the tag says what the node is.
    unsafe {
        (!node.is_null() && (*node).type_ == NodeTag::T_String)
            .then(|| owned((*node.cast::<pg_sys::String>()).sval))
            .flatten()
    }
}

impl<'n, 'a> RawTree<'n, 'a> {
    /// Looks up the names of a SELECT, and puts the schemas before those of tables.
    ///
    /// # Safety
    /// `select` is what the server's parser has made of `text`.
    pub unsafe fn read(select: *mut pg_sys::Node, text: &'n str, params: usize, names: &'n Names<'a>) -> Self {
        let mut tree = Self {
            names,
            text,
            params,
            ctes: Vec::new(),
            references: Vec::new(),
            sources: 0,
            stars: Vec::new(),
            naturals: Vec::new(),
            qualifiers: BTreeSet::new(),
            using: BTreeSet::new(),
            bare: BTreeSet::new(),
            whole: BTreeSet::new(),
            unqualified: Vec::new(),
            problems: Vec::new(),
        };
        // SAFETY: by the contract.
        unsafe { tree.visit(select) };
        if tree.sources > SOURCES {
            tree.problems.push(format!("it has more than {SOURCES} row sources"));
        }
        if tree.problems.is_empty() {
            tree.judge_stars();
        }
        tree
    }

    pub fn tables(&self) -> Reads {
        let mut reads = Reads::default();
        self.references.iter().for_each(|reference| reads.add_table(&reference.table));
        reads
    }

    /// A star must not read, nor a natural join compare, what does not exist for the caller.
    fn judge_stars(&mut self) {
        let qualified = self.references.iter().filter(|reference| {
            // SAFETY: a node of the tree.
            let name = unsafe { exposed(reference.name) };
            name.is_some_and(|name| self.qualifiers.contains(&name))
        });
        let of = |names: &[*mut pg_sys::RangeVar]| -> Vec<TableName> {
            let found = self.references.iter().filter(|reference| names.contains(&reference.name));
            found.map(|reference| reference.table.clone()).collect()
        };
        self.whole = of(&self.stars).into_iter().collect();
        let mut judged: BTreeSet<TableName> = qualified.map(|reference| reference.table.clone()).collect();
        judged.extend(of(&self.naturals));
        judged.extend(self.whole.iter().cloned());
        let narrow = judged.into_iter().find(|table| is_narrow(self.names, table, None));
        self.problems.extend(narrow.map(|table| too_wide(&table)));
        if self.problems.is_empty()
            && self.references.iter().any(|found| is_narrow(self.names, &found.table, Some(&self.using)))
        {
            self.problems.push(using_is_missing(&self.using));
        }
    }

    /// Called from Rust, where what the server raises must go on as a panic.
    unsafe fn visit(&mut self, node: *mut pg_sys::Node) -> bool {
        if node.is_null() {
            return false;
        }
        // SAFETY: a node's tag says what it is.
        unsafe {
            match (*node).type_ {
                NodeTag::T_SelectStmt => return self.select(node.cast()),
                NodeTag::T_InsertStmt | NodeTag::T_UpdateStmt | NodeTag::T_DeleteStmt | NodeTag::T_MergeStmt => {
                    self.problems.push(not_reading(node));
                    return false;
                }
                // The names of its queries are in scope by then.
                NodeTag::T_WithClause => return false,
                NodeTag::T_RangeVar => {
                    self.sources += 1;
                    self.table(node.cast());
                    return false;
                }
                NodeTag::T_RangeSubselect | NodeTag::T_RangeFunction | NodeTag::T_RangeTableFunc => self.sources += 1,
                NodeTag::T_JoinExpr => {
                    let join = node.cast::<pg_sys::JoinExpr>();
                    for column in pointers((*join).usingClause) {
                        self.using.extend(string(column));
                    }
                    if (*join).isNatural {
                        sources((*join).larg, &mut self.naturals);
                        sources((*join).rarg, &mut self.naturals);
                    }
                }
                NodeTag::T_ColumnRef => self.column(node.cast()),
                _ => {}
            }
            pg_sys::raw_expression_tree_walker(node, Some(visit), std::ptr::from_mut(self).cast())
        }
    }

    unsafe fn select(&mut self, select: *mut pg_sys::SelectStmt) -> bool {
        let outside = self.ctes.len();
        // SAFETY: a node of the tree.
        unsafe {
            if !(*select).intoClause.is_null() {
                self.problems.push("SELECT INTO makes a table".to_owned());
                return false;
            }
            if !(*select).lockingClause.is_null() {
                self.problems.push("FOR UPDATE and its kind lock rows".to_owned());
                return false;
            }
            for clause in [(*select).sortClause, (*select).groupClause, (*select).distinctClause] {
                self.params_as_places(clause);
            }
            if has_bare_star((*select).targetList) {
                pointers((*select).fromClause).for_each(|item| sources(item, &mut self.stars));
            }
            if let Some(with) = (*select).withClause.as_ref() {
                let queries: Vec<*mut pg_sys::CommonTableExpr> = pointers(with.ctes).collect();
                if with.recursive {
                    self.ctes.extend(queries.iter().filter_map(|query| owned((**query).ctename)));
                }
                for query in queries {
                    self.visit((*query).ctequery);
                    if !with.recursive {
                        self.ctes.extend(owned((*query).ctename));
                    }
                }
            }
            pg_sys::raw_expression_tree_walker(select.cast(), Some(visit), std::ptr::from_mut(self).cast());
        }
        self.ctes.truncate(outside);
        false
    }

    /// As a literal, a param there would be a place in the select list.
    unsafe fn params_as_places(&mut self, clause: *mut pg_sys::List) {
        // SAFETY: a node's tag says what it is.
        unsafe {
            for node in pointers::<pg_sys::Node>(clause) {
                match if node.is_null() { NodeTag::T_Invalid } else { (*node).type_ } {
                    NodeTag::T_SortBy => self.param_as_place((*node.cast::<pg_sys::SortBy>()).node),
                    NodeTag::T_GroupingSet => self.params_as_places((*node.cast::<pg_sys::GroupingSet>()).content),
                    NodeTag::T_RowExpr => self.params_as_places((*node.cast::<pg_sys::RowExpr>()).args),
                    _ => self.param_as_place(node),
                }
            }
        }
    }

    unsafe fn param_as_place(&mut self, node: *mut pg_sys::Node) {
        // SAFETY: a node's tag says what it is.
        unsafe {
            if !node.is_null() && (*node).type_ == NodeTag::T_ParamRef {
                let param = &*node.cast::<pg_sys::ParamRef>();
                if usize::try_from(param.number).is_ok_and(|number| number <= self.params) {
                    self.problem(param.location, "a param cannot say what to group or to order by");
                }
            }
        }
    }

    unsafe fn table(&mut self, name: *mut pg_sys::RangeVar) {
        // SAFETY: a node of the tree; what it is given is allocated beside it.
        unsafe {
            let (catalog, schema) = (owned((*name).catalogname), owned((*name).schemaname));
            let relation = owned((*name).relname).unwrap_or_default();
            if schema.is_none() && self.ctes.contains(&relation) {
                return;
            }
            if let (Some(catalog), Some(schema)) = (catalog, &schema)
                && owned(pg_sys::get_database_name(pg_sys::MyDatabaseId)).as_ref() != Some(&catalog)
            {
                return self
                    .problem((*name).location, &format!("{catalog}.{schema}.{relation} is not the name of a table"));
            }
            match self.names.find(schema.as_deref(), &relation) {
                Err(problem) => self.problem((*name).location, &problem),
                Ok(table) => {
                    let table = &table.name;
                    if schema.is_none() {
                        self.bare.insert(table.clone());
                        if let (Ok(byte), Ok(text)) =
                            (usize::try_from((*name).location), CString::new(table.schema.as_str()))
                        {
                            self.unqualified.push((byte, format!("{}.", quote_identifier(&table.schema))));
                            (*name).schemaname = pg_sys::pstrdup(text.as_ptr());
                        }
                    }
                    self.references.push(Reference { name, table: table.clone() });
                }
            }
        }
    }

    unsafe fn column(&mut self, column: *mut pg_sys::ColumnRef) {
        // SAFETY: a node of the tree.
        unsafe {
            let fields: Vec<*mut pg_sys::Node> = pointers((*column).fields).collect();
            if let [.., qualifier, star] = fields.as_slice()
                && (**star).type_ == NodeTag::T_A_Star
            {
                self.qualifiers.extend(string(*qualifier));
            }
        }
    }

    fn problem(&mut self, location: c_int, what: &str) {
        self.problems.push(at(self.text, location, what));
    }
}

/// Why a star over a table is rejected.
pub fn too_wide(table: &TableName) -> String {
    format!("all columns of {table} are more than the datasource takes in: name those that are meant")
}

/// The same words for a column that is not there and one that does not exist for the caller.
pub fn using_is_missing(using: &BTreeSet<String>) -> String {
    let names: Vec<String> = using.iter().map(|name| format!("\"{name}\"")).collect();
    format!("column {} of USING does not exist on both sides", names.join(" or "))
}

/// `DELETE is not a statement that only reads`.
///
/// # Safety
/// `statement` is what the server's parser has made.
pub unsafe fn not_reading(statement: *mut pg_sys::Node) -> String {
    // SAFETY: by the contract; the tag's name is static.
    let name = unsafe { owned(pg_sys::GetCommandTagName(pg_sys::CreateCommandTag(statement))) };
    format!("{} is not a statement that only reads", name.unwrap_or_default())
}

/// The name that qualifies a table's columns.
unsafe fn exposed(name: *mut pg_sys::RangeVar) -> Option<String> {
    // SAFETY: a node of the tree.
    unsafe {
        match (*name).alias.as_ref() {
            Some(alias) => owned(alias.aliasname),
            None => owned((*name).relname),
        }
    }
}

unsafe fn has_bare_star(targets: *mut pg_sys::List) -> bool {
    // SAFETY: a node's tag says what it is.
    unsafe {
        pointers::<pg_sys::Node>(targets).any(|target| {
            if (*target).type_ != NodeTag::T_ResTarget {
                return false;
            }
            let value = (*target.cast::<pg_sys::ResTarget>()).val;
            if value.is_null() || (*value).type_ != NodeTag::T_ColumnRef {
                return false;
            }
            let mut fields = pointers::<pg_sys::Node>((*value.cast::<pg_sys::ColumnRef>()).fields);
            fields.next().is_some_and(|first| (*first).type_ == NodeTag::T_A_Star)
        })
    }
}

/// The tables of an item of FROM, as such or joined.
unsafe fn sources(item: *mut pg_sys::Node, found: &mut Vec<*mut pg_sys::RangeVar>) {
    // SAFETY: a node's tag says what it is; joins nest as deep as the walker's check of the stack lets them.
    unsafe {
        if item.is_null() {
            return;
        }
        match (*item).type_ {
            NodeTag::T_RangeVar => found.push(item.cast()),
            NodeTag::T_RangeTableSample => sources((*item.cast::<pg_sys::RangeTableSample>()).relation, found),
            NodeTag::T_JoinExpr => {
                let join = item.cast::<pg_sys::JoinExpr>();
                sources((*join).larg, found);
                sources((*join).rarg, found);
            }
            _ => {}
        }
    }
}

/// The server's way back from its walk: never called from Rust, since what it raises is a jump.
#[pg_guard]
unsafe extern "C-unwind" fn visit(node: *mut pg_sys::Node, tree: *mut c_void) -> bool {
    // SAFETY: the pointer is to what `visit` above borrows for the time of the walk.
    unsafe { (*tree.cast::<RawTree>()).visit(node) }
}

/// Whether a table has columns that do not exist for the caller, left out by an option or by rights; only those of these
/// names, where there are some.
pub fn is_narrow(names: &Names, table: &TableName, only: Option<&BTreeSet<String>>) -> bool {
    if only.is_some_and(BTreeSet::is_empty) {
        return false;
    }
    let wider = names.is_wider(table);
    if wider && only.is_none() {
        return true;
    }
    let Some(known) = names.table(table) else { return false };
    let (Ok(schema), Ok(relation)) = (CString::new(table.schema.as_str()), CString::new(table.name.as_str())) else {
        return false;
    };
    // SAFETY: look-ups in the system caches; names are copied.
    unsafe {
        let schema = pg_sys::get_namespace_oid(schema.as_ptr(), true);
        let oid = pg_sys::get_relname_relid(relation.as_ptr(), schema);
        if schema == pg_sys::InvalidOid || oid == pg_sys::InvalidOid {
            return false;
        }
        let (user, mode) = (pg_sys::GetUserId(), pg_sys::ACL_SELECT as pg_sys::AclMode);
        let ok = pg_sys::AclResult::ACLCHECK_OK;
        if !wider && pg_sys::pg_class_aclcheck(oid, user, mode) == ok {
            return false;
        }
        for number in 1.. {
            let Some(name) = owned(pg_sys::get_attname(oid, number, true)) else { break };
            let dropped = name.starts_with("........pg.dropped.");
            let unknown = !dropped && !known.contract.columns.iter().any(|column| column.name == name);
            let may = || pg_sys::pg_attribute_aclcheck(oid, number, user, mode) == ok;
            if unknown && only.is_none_or(|only| only.contains(&name)) && (wider || !may()) {
                return true;
            }
        }
        false
    }
}
