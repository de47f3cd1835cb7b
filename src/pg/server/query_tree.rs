//! A walk over an analyzed query and everything below it: CTEs, subqueries in FROM and in expressions, set operations.

use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;
use pgrx::prelude::*;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;

/// What a walk calls for everything that it meets. All methods default to doing nothing.
pub trait Visitor {
    /// A query, before anything below it.
    fn enter(&mut self, _query: &pg_sys::Query) {}

    /// A node: of an expression, a FROM clause or a range table.
    fn node(&mut self, _node: Node<'_>) {}

    /// A function that a node calls: named as such, or implementing an operator, a cast, an aggregate, a window
    /// function, a sort, a window's frame or a sampling method. What runs without an OID in the tree is the business of
    /// `node`: SQLValueFunction, NextValueExpr, XmlExpr, MinMaxExpr, CoerceToDomain, SubscriptingRef, JsonExpr.
    fn function(&mut self, _function: pg_sys::Oid, _location: c_int) {}
}

/// A node of a tree that outlives it.
#[derive(Clone, Copy)]
pub struct Node<'tree> {
    node: *mut pg_sys::Node,
    tree: PhantomData<&'tree pg_sys::Node>,
}

/// A struct that a node tag names.
///
/// # Safety
/// A node with the tag is an instance of the struct.
pub unsafe trait Tagged {
    const TAG: NodeTag;
}

macro_rules! tagged {
    ($($node:ident $tag:ident),* $(,)?) => {
        $(
            // SAFETY: the server's makeNode sets this tag for this struct.
            unsafe impl Tagged for pg_sys::$node {
                const TAG: NodeTag = NodeTag::$tag;
            }
        )*
    };
}

tagged! {
    CommonTableExpr T_CommonTableExpr,
    CoerceToDomain T_CoerceToDomain,
    CTECycleClause T_CTECycleClause,
    FuncExpr T_FuncExpr,
    JoinExpr T_JoinExpr,
    MinMaxExpr T_MinMaxExpr,
    NextValueExpr T_NextValueExpr,
    RangeTblEntry T_RangeTblEntry,
    SetOperationStmt T_SetOperationStmt,
    SortGroupClause T_SortGroupClause,
    SQLValueFunction T_SQLValueFunction,
    SubscriptingRef T_SubscriptingRef,
    TableSampleClause T_TableSampleClause,
    Var T_Var,
    WindowClause T_WindowClause,
    XmlExpr T_XmlExpr,
}

impl<'tree> Node<'tree> {
    /// # Safety
    /// The node is valid for the lifetime and not null.
    unsafe fn new(node: *mut pg_sys::Node) -> Self {
        Self { node, tree: PhantomData }
    }

    pub fn tag(self) -> NodeTag {
        // SAFETY: every node begins with its tag.
        unsafe { (*self.node).type_ }
    }

    /// The node as a struct; `None` where it is another one.
    pub fn get<T: Tagged>(self) -> Option<&'tree T> {
        // SAFETY: the tag says what the node is.
        (self.tag() == T::TAG).then(|| unsafe { &*self.node.cast::<T>() })
    }

    /// The byte in the statement's text; -1 where it has none.
    pub fn location(self) -> c_int {
        // SAFETY: reads a valid node.
        unsafe { pg_sys::exprLocation(self.node) }
    }
}

/// The pointers of a list, read within its length.
///
/// # Safety
/// `list` is null or a list of pointers of that type.
pub unsafe fn pointers<T>(list: *mut pg_sys::List) -> impl Iterator<Item = *mut T> {
    // SAFETY: by the contract; an index is below the length.
    let length = if list.is_null() { 0 } else { unsafe { (*list).length } };
    (0..usize::try_from(length).unwrap_or_default())
        // SAFETY: as above.
        .map(move |at| unsafe { (*(*list).elements.add(at)).ptr_value.cast::<T>() })
}

/// Walks over a query. What the server raises on the way, as for a tree too deep, unwinds from here.
///
/// # Safety
/// `query` is what the server's parser or rewriter has made, and the locks that it took are held.
pub unsafe fn walk(query: *mut pg_sys::Query, visitor: &mut dyn Visitor) {
    // SAFETY: by the contract.
    unsafe { Walk { visitor }.step(query.cast()) };
}

/// The same over an expression.
///
/// # Safety
/// As above.
pub unsafe fn walk_node(node: *mut pg_sys::Node, visitor: &mut dyn Visitor) {
    // SAFETY: by the contract.
    unsafe { Walk { visitor }.step(node) };
}

struct Walk<'v> {
    visitor: &'v mut dyn Visitor,
}

/// The range table, and what names an operator by sorting or grouping, are visited, too.
const FLAGS: c_int = (pg_sys::QTW_EXAMINE_RTES_BEFORE | pg_sys::QTW_EXAMINE_SORTGROUP) as c_int;

impl Walk<'_> {
    /// Called from Rust, where what the server raises must go on as a panic.
    unsafe fn step(&mut self, node: *mut pg_sys::Node) -> bool {
        if node.is_null() {
            return false;
        }
        // SAFETY: the server's walkers pass nodes of the tree; the tag says what a node is.
        unsafe {
            match (*node).type_ {
                NodeTag::T_Query => {
                    let query = node.cast::<pg_sys::Query>();
                    self.visitor.enter(&*query);
                    pg_sys::query_tree_walker(query, Some(step), std::ptr::from_mut(self).cast(), FLAGS)
                }
                NodeTag::T_List => pg_sys::expression_tree_walker(node, Some(step), std::ptr::from_mut(self).cast()),
                // Its parts come on their own.
                NodeTag::T_RangeTblEntry => {
                    self.visitor.node(Node::new(node));
                    false
                }
                _ => {
                    self.visitor.node(Node::new(node));
                    self.functions(node);
                    pg_sys::expression_tree_walker(node, Some(step), std::ptr::from_mut(self).cast())
                }
            }
        }
    }

    unsafe fn functions(&mut self, node: *mut pg_sys::Node) {
        // SAFETY: a valid node; the callback is the server's way back.
        unsafe {
            let tree = Node::new(node);
            let mut caller = Caller { location: tree.location(), walk: self };
            pg_sys::check_functions_in_node(node, Some(function), std::ptr::from_mut(&mut caller).cast());
            let node = tree;
            if let Some(clause) = node.get::<pg_sys::SortGroupClause>() {
                self.sorts(clause);
            } else if let Some(set) = node.get::<pg_sys::SetOperationStmt>() {
                for clause in pointers::<pg_sys::SortGroupClause>(set.groupClauses) {
                    self.sorts(&*clause);
                }
            } else if let Some(window) = node.get::<pg_sys::WindowClause>() {
                self.found(window.startInRangeFunc, -1);
                self.found(window.endInRangeFunc, -1);
            } else if let Some(sample) = node.get::<pg_sys::TableSampleClause>() {
                self.found(sample.tsmhandler, -1);
            } else if let Some(cycle) = node.get::<pg_sys::CTECycleClause>() {
                self.operator(cycle.cycle_mark_neop);
            }
        }
    }

    fn sorts(&mut self, clause: &pg_sys::SortGroupClause) {
        self.operator(clause.eqop);
        self.operator(clause.sortop);
    }

    fn operator(&mut self, operator: pg_sys::Oid) {
        if operator != pg_sys::InvalidOid {
            // SAFETY: a look-up in the catalog.
            self.found(unsafe { pg_sys::get_opcode(operator) }, -1);
        }
    }

    fn found(&mut self, function: pg_sys::Oid, location: c_int) {
        if function != pg_sys::InvalidOid {
            self.visitor.function(function, location);
        }
    }
}

/// The server's way back from its walk: never called from Rust, since what it raises is a jump.
#[pg_guard]
unsafe extern "C-unwind" fn step(node: *mut pg_sys::Node, walk: *mut c_void) -> bool {
    // SAFETY: the pointer is to what `step` above borrows for the time of the walk.
    unsafe { (*walk.cast::<Walk>()).step(node) }
}

struct Caller<'w, 'v> {
    walk: &'w mut Walk<'v>,
    location: c_int,
}

#[pg_guard]
unsafe extern "C-unwind" fn function(function: pg_sys::Oid, caller: *mut c_void) -> bool {
    // SAFETY: the pointer is to what `functions` borrows for the time of the call.
    let caller = unsafe { &mut *caller.cast::<Caller>() };
    caller.walk.found(function, caller.location);
    false
}
