//! Asking the server about a statement: it is parsed and analyzed as PREPARE does it, and never planned or run.

use crate::pg::curated::analyze_hooks::Hooks;
use crate::pg::curated::callable;
use crate::pg::curated::query_reads::QueryReads;
use crate::pg::curated::raw_tree::{RawTree, at, is_narrow, not_reading, too_wide, using_is_missing};
use crate::pg::profile::column_statistics::Memory;
use crate::pg::server::error::{Error, Result};
use crate::pg::server::error_position::ErrorPosition;
use crate::pg::server::query_tree::{pointers, walk};
use crate::pg::server::{interrupt, query, restricted, settings, subtransaction};
use nl2sql_core::catalog::identifier::cut;
use nl2sql_core::sql::analysis::{Analysis, Analyst, PreparedSql, SqlType};
use nl2sql_core::sql::reads::{Names, Reads};
use pgrx::pg_sys;
use pgrx::pg_sys::NodeTag;
use pgrx::prelude::*;
use std::collections::{BTreeSet, HashSet};
use std::ffi::{CStr, CString, c_int};

/// The server, as the current user.
pub struct ServerAnalyst {
    /// Where functions and types without a schema are looked up: as the user's sessions do, ...
    usual: CString,
    /// ... and in the datasource's schemas before.
    wider: CString,
    /// Whether a verified query must find its functions and types as the user's sessions do: others run it as it is.
    strict: bool,
    /// What kept the server from an answer: it says nothing of the statement.
    failed: Option<Error>,
}

impl ServerAnalyst {
    /// For what is to be stored.
    pub fn strict(path: &[String]) -> Result<Self> {
        Ok(Self { strict: true, ..Self::new(path)? })
    }

    /// For what is stored.
    pub fn new(path: &[String]) -> Result<Self> {
        let usual = query::read_one("SELECT reset_val FROM pg_settings WHERE name = 'search_path'", &[], |row| {
            row.get::<String>(1)
        })?;
        let usual = usual.flatten().filter(|usual| !usual.trim().is_empty());
        let mut names: Vec<String> = path.iter().map(spi::quote_identifier).collect();
        names.extend(usual.clone());
        let path =
            |text: String| CString::new(text).map_err(|_| Error::invalid("a schema's name holds a null character"));
        Ok(Self {
            usual: path(usual.unwrap_or_else(|| "pg_catalog".to_owned()))?,
            wider: path(names.join(", "))?,
            strict: false,
            failed: None,
        })
    }

    /// What was found with it, unless the server could not be asked.
    pub fn found<T>(self, found: T) -> Result<T> {
        self.failed.map_or(Ok(found), Err)
    }

    fn ask(&mut self, statement: &PreparedSql, names: &Names) -> Result<Analysis> {
        if !self.strict || statement.expression.is_some() {
            return ask(statement, names, &self.wider);
        }
        let mut analysis = ask(statement, names, &self.usual)?;
        if !analysis.problems.is_empty() && ask(statement, names, &self.wider)?.problems.is_empty() {
            for problem in &mut analysis.problems {
                problem.push_str(" (found in the datasource's schemas alone: write the schema before its name)");
            }
        }
        Ok(analysis)
    }
}

impl Analyst for ServerAnalyst {
    fn analyze(&mut self, statement: &PreparedSql, names: &Names) -> Analysis {
        interrupt::check();
        if self.failed.is_some() {
            return Analysis::rejected("the server was not asked");
        }
        self.ask(statement, names).unwrap_or_else(|error| {
            self.failed = Some(error);
            Analysis::rejected("the server could not be asked")
        })
    }
}

fn ask(statement: &PreparedSql, names: &Names, search_path: &CStr) -> Result<Analysis> {
    let text = CString::new(statement.sql()).map_err(|_| Error::invalid("a statement holds a null character"))?;
    // What the analysis allocates goes with it: a document may have thousands of statements.
    let _scratch = Scratch::enter();
    let types = statement.params().iter().map(|(_, sql_type)| oid(*sql_type)).collect();
    let mut hooks = Hooks::new(types, names, statement.sql());
    let mut seen = Seen::default();
    let position = ErrorPosition::new();
    let result = subtransaction::attempt_undone(|| {
        settings::set_local(c"search_path", search_path);
        // As the tokens were read.
        settings::set_local(c"standard_conforming_strings", c"on");
        restricted::hold();
        position.watch(|| analyze(statement, &text, names, &mut hooks, &mut seen))
    });
    match result {
        Ok(analysis) => Ok(analysis),
        Err(error) if is_of_the_moment(error.code) => Err(error),
        Err(error) => {
            let problem = hooks.columns.problem.take().unwrap_or_else(|| {
                let missing = error.code == PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN && position.get().is_none();
                if missing && !seen.using.is_empty() {
                    return using_is_missing(&seen.using);
                }
                told(&error, statement, position.get())
            });
            let reads = seen.tables;
            Ok(Analysis { reads, ambiguous: hooks.columns.ambiguous, ..Analysis::rejected(problem) })
        }
    }
}

/// The server's message with the line, and with the params as they were written.
fn told(error: &Error, statement: &PreparedSql, position: Option<usize>) -> String {
    let message = match &error.detail {
        Some(detail) => format!("{} ({})", cut(&error.message), cut(detail.trim_end_matches('.'))),
        None => cut(&error.message).into_owned(),
    };
    let params = statement.params().iter().zip(1..);
    let message = params.fold(message, |message, ((name, _), number)| {
        message.replace(&format!("\"${number}\""), &format!("\":{name}\""))
    });
    match position {
        Some(position) => {
            let lines = statement.sql().chars().take(position - 1).filter(|c| *c == '\n').count();
            format!("line {}: {message}", lines + 1)
        }
        None => message,
    }
}

/// Whether an error says nothing of the statement: a lock that was not to be had, memory, a server that shuts down.
fn is_of_the_moment(code: PgSqlErrorCode) -> bool {
    matches!(
        code,
        PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE
            | PgSqlErrorCode::ERRCODE_T_R_DEADLOCK_DETECTED
            | PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY
            | PgSqlErrorCode::ERRCODE_QUERY_CANCELED
            | PgSqlErrorCode::ERRCODE_ADMIN_SHUTDOWN
    )
}

/// A memory context of its own, until it goes out of scope.
struct Scratch {
    memory: Memory,
    outer: pg_sys::MemoryContext,
}

impl Scratch {
    fn enter() -> Self {
        let memory = Memory::new();
        // SAFETY: the context was made just now; the one before is put back when this goes out of scope.
        let outer = unsafe { pg_sys::MemoryContextSwitchTo(memory.0) };
        Self { memory, outer }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: nothing that was allocated in it is in use any more: what is returned is Rust's.
        unsafe {
            pg_sys::MemoryContextSwitchTo(self.outer);
            pg_sys::MemoryContextDelete(self.memory.0);
        }
    }
}

/// What the raw tree names, also where the analysis fails.
#[derive(Default)]
struct Seen {
    tables: Reads,
    /// The columns of USING.
    using: BTreeSet<String>,
}

fn analyze(
    statement: &PreparedSql,
    text: &CStr,
    names: &Names,
    hooks: &mut Hooks,
    seen: &mut Seen,
) -> Result<Analysis> {
    // SAFETY: the sequence of PREPARE. The text is null-terminated and outlives the calls; trees are allocated in the
    // current memory context. What is raised unwinds to the subtransaction.
    unsafe {
        let statements: Vec<*mut pg_sys::RawStmt> = pointers(pg_sys::pg_parse_query(text.as_ptr())).collect();
        let [parsed] = statements.as_slice() else {
            return Ok(Analysis::rejected(format!("there are {} statements, and only one may be", statements.len())));
        };
        let select = (**parsed).stmt;
        if (*select).type_ != NodeTag::T_SelectStmt {
            return Ok(Analysis::rejected(not_reading(select)));
        }
        if let Some(expression) = &statement.expression
            && !is_one_expression(expression, select.cast())
        {
            return Ok(Analysis::rejected("it is not one expression"));
        }
        let mut tree = RawTree::read(select, statement.sql(), statement.params().len(), names);
        *seen = Seen { tables: tree.tables(), using: std::mem::take(&mut tree.using) };
        if !tree.problems.is_empty() {
            return Ok(Analysis { problems: tree.problems, reads: seen.tables.clone(), ..Analysis::default() });
        }
        hooks.take_literals(select);
        let analyzed = hooks.analyze(*parsed, text);
        let only_reads = (*analyzed).commandType == pg_sys::CmdType::CMD_SELECT
            && (*analyzed).utilityStmt.is_null()
            && !(*analyzed).hasModifyingCTE
            && (*analyzed).rowMarks.is_null();
        if !only_reads {
            return Ok(Analysis::rejected("the server does not take it for a statement that only reads"));
        }
        let mut found = QueryReads::default();
        walk(analyzed, &mut found);
        let analysis = assemble(statement, names, hooks, tree, found);
        if analysis.problems.is_empty() {
            hooks.check_literals();
        }
        Ok(analysis)
    }
}

/// Names of tables are looked up in what the caller may see; the numbers that the server has found are theirs.
fn assemble(statement: &PreparedSql, names: &Names, hooks: &mut Hooks, tree: RawTree, found: QueryReads) -> Analysis {
    let mut analysis = Analysis { unqualified: tree.unqualified, ..Analysis::default() };
    analysis.reads.bare = tree.bare;
    analysis.reads.whole = tree.whole;
    let columns = &mut hooks.columns;
    for (oid, numbers) in found.tables {
        let table = columns.table(oid);
        if names.table(&table).is_none() {
            analysis.problems.push(format!("it reads {table}, which it does not name"));
            continue;
        }
        analysis.reads.add_table(&table);
        if numbers.contains(&0) || columns.whole.contains(&oid) {
            if is_narrow(names, &table, None) {
                analysis.problems.push(too_wide(&table));
            }
            analysis.reads.whole.insert(table.clone());
        }
        for number in &numbers {
            match number {
                0 => {
                    let known = names.table(&table).into_iter().flat_map(|table| &table.contract.columns);
                    known.for_each(|column| analysis.reads.add(&table, &column.name));
                }
                1.. => {
                    if let Some((table, column)) = columns.visible((oid, *number)) {
                        analysis.reads.add(&table, &column);
                    }
                }
                _ => analysis.problems.push("it reads a column that is the system's".to_owned()),
            }
        }
    }
    let named: HashSet<_> = columns.named.iter().chain(&found.joined).copied().collect();
    for column in named {
        if let Some((table, column)) = columns.visible(column) {
            analysis.named.add(&table, &column);
        }
    }
    let mut functions: Vec<(pg_sys::Oid, c_int)> = found.functions.into_iter().collect();
    functions.sort_by_key(|(function, location)| (*location, function.to_u32()));
    for (function, location) in functions {
        if let Some(refusal) = callable::refusal(function) {
            analysis.problems.push(at(statement.sql(), location, &refusal));
        }
    }
    analysis
}

/// Whether the text is an expression, and the statement around it has nothing else.
unsafe fn is_one_expression(expression: &str, select: *mut pg_sys::SelectStmt) -> bool {
    // SAFETY: the server's parser raises where the text in parentheses is no expression; a node's tag says what it is.
    unsafe {
        let Ok(text) = CString::new(format!("SELECT ({expression}\n)")) else { return false };
        let alone = pointers::<pg_sys::RawStmt>(pg_sys::pg_parse_query(text.as_ptr())).count() == 1;
        let select = &*select;
        let clauses = [
            select.distinctClause,
            select.groupClause,
            select.windowClause,
            select.valuesLists,
            select.sortClause,
            select.lockingClause,
        ];
        let parts = [select.whereClause, select.havingClause, select.limitOffset, select.limitCount];
        let nothing_else = clauses.iter().all(|clause| clause.is_null())
            && parts.iter().all(|part| part.is_null())
            && select.withClause.is_null()
            && select.intoClause.is_null()
            && select.op == pg_sys::SetOperation::SETOP_NONE;
        let targets: Vec<*mut pg_sys::ResTarget> = pointers(select.targetList).collect();
        let sources: Vec<*mut pg_sys::Node> = pointers(select.fromClause).collect();
        let one = matches!((targets.as_slice(), sources.as_slice()), ([target], [source])
            if (**target).name.is_null() && (**source).type_ == NodeTag::T_RangeVar);
        alone && nothing_else && one
    }
}

fn oid(sql_type: SqlType) -> pg_sys::Oid {
    match sql_type {
        SqlType::Int4 => pg_sys::INT4OID,
        SqlType::Int8 => pg_sys::INT8OID,
        SqlType::Numeric => pg_sys::NUMERICOID,
        SqlType::Date => pg_sys::DATEOID,
        SqlType::Unknown => pg_sys::UNKNOWNOID,
    }
}
