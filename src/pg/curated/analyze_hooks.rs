//! Analysis that runs nobody's code. The server makes a value of an untyped literal by its type's input function, which
//! for an array or a row of a domain runs the domain's CHECK, whoever wrote that. So literals are taken out of the raw
//! tree before it is analyzed, and stand in it as params, each of the type that its place wants, as for a literal. What
//! one says is then read where the type is the server's own, an enum, or an array of these.
//!
//! Names of columns are looked up in what the caller may see before the server goes on with them.

use crate::pg::curated::columns::Columns;
use nl2sql_core::sql::reads::Names;
use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;
use pgrx::prelude::*;
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString, c_int, c_void};

/// What the server's analysis is hooked to.
pub struct Hooks<'n, 'a> {
    untyped: Untyped,
    pub columns: Columns<'n, 'a>,
}

impl<'n, 'a> Hooks<'n, 'a> {
    /// `params` are the types of the statement's params; `UNKNOWNOID`: whatever its place wants.
    pub fn new(params: Vec<pg_sys::Oid>, names: &'n Names<'a>, text: &'n str) -> Self {
        Self { untyped: Untyped::new(params), columns: Columns::new(names, text) }
    }

    /// Puts params in place of the literals that have no type.
    ///
    /// # Safety
    /// `tree` is what the server's parser has made.
    pub unsafe fn take_literals(&mut self, tree: *mut pg_sys::Node) {
        // SAFETY: by the contract.
        unsafe { self.untyped.take(tree) };
    }

    /// # Safety
    /// `statement` is what the server's parser has made of `text`.
    pub unsafe fn analyze(&mut self, statement: *mut pg_sys::RawStmt, text: &CStr) -> *mut pg_sys::Query {
        // SAFETY: by the contract; the hooks are borrowed for the time of the analysis.
        unsafe {
            pg_sys::parse_analyze_withcb(
                statement,
                text.as_ptr(),
                Some(set_up),
                std::ptr::from_mut(self).cast(),
                std::ptr::null_mut(),
            )
        }
    }

    /// Reads what the literals say, or raises what the server would.
    pub fn check_literals(&self) {
        self.untyped.check_literals();
    }
}

/// The params and literals of a statement.
struct Untyped {
    /// What each param is; `UNKNOWNOID`: whatever its place wants.
    params: Vec<pg_sys::Oid>,
    /// Literals, each text once: the same text in SELECT and in GROUP BY is the same expression.
    texts: Vec<CString>,
    numbers: HashMap<CString, usize>,
    /// Which literal was met as which type, with its modifier.
    met: Vec<(usize, pg_sys::Oid, i32)>,
    /// Constants that the server refuses where they stand, as such and unread.
    refused: HashSet<*mut pg_sys::Node>,
}

impl Untyped {
    fn new(params: Vec<pg_sys::Oid>) -> Self {
        Self { params, texts: Vec::new(), numbers: HashMap::new(), met: Vec::new(), refused: HashSet::new() }
    }

    /// Goes through a raw tree. Called from Rust, where what the server raises must go on as a panic.
    unsafe fn take(&mut self, node: *mut pg_sys::Node) -> bool {
        // SAFETY: a node's tag says what it is. A constant is bigger than the reference that takes its place.
        unsafe {
            if node.is_null() {
                return false;
            }
            match (*node).type_ {
                NodeTag::T_A_Const => {
                    let constant = node.cast::<pg_sys::A_Const>();
                    if !(*constant).isnull
                        && (*constant).val.node.type_ == NodeTag::T_String
                        && !self.refused.contains(&node)
                    {
                        let number = self.number(CStr::from_ptr((*constant).val.sval.sval));
                        let location = (*constant).location;
                        let reference = node.cast::<pg_sys::ParamRef>();
                        (*reference).type_ = NodeTag::T_ParamRef;
                        (*reference).number = c_int::try_from(number).unwrap_or(c_int::MAX);
                        (*reference).location = location;
                    }
                    return false;
                }
                // What stands in a type's brackets has to stay a constant.
                NodeTag::T_TypeName => return false,
                NodeTag::T_SelectStmt => {
                    let select = node.cast::<pg_sys::SelectStmt>();
                    for clause in [(*select).sortClause, (*select).groupClause, (*select).distinctClause] {
                        self.note_refused(clause);
                    }
                }
                _ => {}
            }
            pg_sys::raw_expression_tree_walker(node, Some(take), std::ptr::from_mut(self).cast())
        }
    }

    /// A text as such cannot be what a query is ordered or grouped by.
    unsafe fn note_refused(&mut self, clause: *mut pg_sys::List) {
        // SAFETY: lists are read within their lengths, and a node's tag says what it is.
        unsafe {
            let length = if clause.is_null() { 0 } else { (*clause).length };
            for at in 0..usize::try_from(length).unwrap_or_default() {
                let node = (*(*clause).elements.add(at)).ptr_value.cast::<pg_sys::Node>();
                match if node.is_null() { NodeTag::T_Invalid } else { (*node).type_ } {
                    NodeTag::T_A_Const => drop(self.refused.insert(node)),
                    NodeTag::T_SortBy => {
                        let node = (*node.cast::<pg_sys::SortBy>()).node;
                        if !node.is_null() && (*node).type_ == NodeTag::T_A_Const {
                            self.refused.insert(node);
                        }
                    }
                    NodeTag::T_GroupingSet => self.note_refused((*node.cast::<pg_sys::GroupingSet>()).content),
                    _ => {}
                }
            }
        }
    }

    /// Reads what the literals say, or raises what the server would.
    fn check_literals(&self) {
        for (literal, met, modifier) in &self.met {
            // SAFETY: catalogue look-ups of a type that the analysis has found; the input function is the server's.
            unsafe {
                let mut modifier = *modifier;
                let base = pg_sys::getBaseTypeAndTypmod(*met, &mut modifier);
                if is_the_servers(base) {
                    let (mut input, mut element) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
                    pg_sys::getTypeInputInfo(base, &mut input, &mut element);
                    // As the server does it: of an interval the modifier says what the text means.
                    let modifier = if base == pg_sys::INTERVALOID { modifier } else { -1 };
                    pg_sys::OidInputFunctionCall(input, self.texts[*literal].as_ptr().cast_mut(), element, modifier);
                }
            }
        }
    }

    /// The number of the param that stands for a text.
    fn number(&mut self, text: &CStr) -> usize {
        let next = self.texts.len();
        let literal = *self.numbers.entry(text.to_owned()).or_insert(next);
        if literal == next {
            self.texts.push(text.to_owned());
        }
        self.params.len() + literal + 1
    }
}

/// Whether the input function of a type is the server's own, and so is that of all that it reads.
fn is_the_servers(base: pg_sys::Oid) -> bool {
    // SAFETY: catalogue look-ups.
    unsafe {
        // Whether a table of that name exists is not for every caller.
        if base == pg_sys::REGCLASSOID {
            return false;
        }
        if base.to_u32() < pg_sys::FirstNormalObjectId || pg_sys::get_typtype(base) as u8 == pg_sys::TYPTYPE_ENUM {
            return true;
        }
        // Of an array; the input function of a domain among its elements runs the CHECK.
        let element = pg_sys::get_element_type(base);
        element != pg_sys::InvalidOid && is_the_servers(element)
    }
}

/// The server's way back from its walk over a raw tree: never to be called from Rust, since what it raises is a jump.
#[pg_guard]
unsafe extern "C-unwind" fn take(node: *mut pg_sys::Node, untyped: *mut c_void) -> bool {
    // SAFETY: the pointer is to what `take_literals` borrows for the time of the walk.
    unsafe { (*untyped.cast::<Untyped>()).take(node) }
}

#[pg_guard]
unsafe extern "C-unwind" fn set_up(state: *mut pg_sys::ParseState, hooks: *mut c_void) {
    // SAFETY: the server passes a state that it has made.
    unsafe {
        (*state).p_ref_hook_state = hooks;
        (*state).p_pre_columnref_hook = Some(before);
        (*state).p_post_columnref_hook = Some(after);
        (*state).p_paramref_hook = Some(refer);
        (*state).p_coerce_param_hook = Some(coerce);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn before(
    state: *mut pg_sys::ParseState,
    reference: *mut pg_sys::ColumnRef,
) -> *mut pg_sys::Node {
    // SAFETY: the pointer is to what `analyze` borrows for the time of the analysis.
    unsafe { (*(*state).p_ref_hook_state.cast::<Hooks>()).columns.before(state, reference) };
    std::ptr::null_mut()
}

#[pg_guard]
unsafe extern "C-unwind" fn after(
    state: *mut pg_sys::ParseState,
    reference: *mut pg_sys::ColumnRef,
    found: *mut pg_sys::Node,
) -> *mut pg_sys::Node {
    // SAFETY: as above.
    unsafe { (*(*state).p_ref_hook_state.cast::<Hooks>()).columns.after(state, reference, found) };
    std::ptr::null_mut()
}

/// The param that a reference means; null: there is none of that number, which the server then says.
#[pg_guard]
unsafe extern "C-unwind" fn refer(
    state: *mut pg_sys::ParseState,
    reference: *mut pg_sys::ParamRef,
) -> *mut pg_sys::Node {
    // SAFETY: the state's pointer is to what `analyse` borrows for the time of the analysis.
    unsafe {
        let untyped = &mut (*(*state).p_ref_hook_state.cast::<Hooks>()).untyped;
        let number = (*reference).number;
        let Some(place) = usize::try_from(number).ok().and_then(|number| number.checked_sub(1)) else {
            return std::ptr::null_mut();
        };
        let param_type = match untyped.params.get(place) {
            Some(param_type) => *param_type,
            None if place < untyped.params.len() + untyped.texts.len() => pg_sys::UNKNOWNOID,
            None => return std::ptr::null_mut(),
        };
        let param = pg_sys::palloc0(size_of::<pg_sys::Param>()).cast::<pg_sys::Param>();
        (*param).xpr.type_ = NodeTag::T_Param;
        (*param).paramkind = pg_sys::ParamKind::PARAM_EXTERN;
        (*param).paramid = number;
        (*param).paramtype = param_type;
        (*param).paramtypmod = -1;
        (*param).paramcollid = pg_sys::get_typcollation(param_type);
        (*param).location = (*reference).location;
        param.cast()
    }
}

/// What has no type takes the one that is wanted of it, each time anew, as a literal does.
#[pg_guard]
unsafe extern "C-unwind" fn coerce(
    state: *mut pg_sys::ParseState,
    param: *mut pg_sys::Param,
    wanted: pg_sys::Oid,
    modifier: i32,
    location: c_int,
) -> *mut pg_sys::Node {
    // SAFETY: as above; the param is one that `refer` has made.
    unsafe {
        if (*param).paramkind != pg_sys::ParamKind::PARAM_EXTERN || (*param).paramtype != pg_sys::UNKNOWNOID {
            return std::ptr::null_mut();
        }
        let untyped = &mut (*(*state).p_ref_hook_state.cast::<Hooks>()).untyped;
        let place = usize::try_from((*param).paramid - 1).unwrap_or_default();
        if let Some(literal) = place.checked_sub(untyped.params.len()) {
            untyped.met.push((literal, wanted, modifier));
        }
        (*param).paramtype = wanted;
        (*param).paramcollid = pg_sys::get_typcollation(wanted);
        if location >= 0 && ((*param).location < 0 || location < (*param).location) {
            (*param).location = location;
        }
        param.cast()
    }
}
