//! Writes `tracing` events of this extension to the server log: INFO as LOG, WARN as WARNING, DEBUG and TRACE as DEBUG1
//! and DEBUG2. No event contains row data, and none above DEBUG the text of a question.

use pgrx::prelude::*;
use std::ffi::{CString, c_char, c_int};
use std::fmt::{self, Write};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber, subscriber};

struct ServerLog;

/// Installs the subscriber once per process. A backend inherits the postmaster's.
pub fn install() {
    // Fails only if this process has installed the same subscriber before.
    let _ = subscriber::set_global_default(ServerLog);
}

impl Subscriber for ServerLog {
    fn enabled(&self, metadata: &Metadata) -> bool {
        metadata.is_event() && metadata.target().starts_with("nl2sql")
    }

    fn event(&self, event: &Event) {
        let mut line = Line::default();
        event.record(&mut line);
        let level = match *event.metadata().level() {
            Level::ERROR | Level::WARN => PgLogLevel::WARNING,
            Level::INFO => PgLogLevel::LOG,
            Level::DEBUG => PgLogLevel::DEBUG1,
            Level::TRACE => PgLogLevel::DEBUG2,
        };
        report(level, &format!("nl2sql: {}", line.text()));
    }

    // Only events are logged: no span is ever enabled.
    fn new_span(&self, _: &Attributes) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

// The two halves of ereport(), the same from Postgres 14 to 18. pgrx does not export its declarations.
unsafe extern "C-unwind" {
    fn errstart(level: c_int, domain: *const c_char) -> bool;
    fn errfinish(file: *const c_char, line: c_int, function: *const c_char);
}

/// Writes one line. The running statement is not logged with it, since its text may contain a question or data.
fn report(level: PgLogLevel, message: &str) {
    let Ok(message) = CString::new(message) else { return };
    // SAFETY: the same calls as the server's own ereport() below ERROR, where errfinish() returns. All texts are
    // null-terminated, and the message is an argument of a fixed format.
    unsafe {
        if errstart(level as c_int, std::ptr::null()) {
            pg_sys::errmsg_internal(c"%s".as_ptr(), message.as_ptr());
            pg_sys::errhidestmt(true);
            errfinish(c"log.rs".as_ptr(), line!() as c_int, c"report".as_ptr());
        }
    }
}

#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Line {
    fn text(&self) -> String {
        format!("{}{}", self.message, self.fields)
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a String cannot fail.
        let _ = if field.name() == "message" {
            write!(self.message, "{value:?}")
        } else {
            write!(self.fields, " {}={value:?}", field.name())
        };
    }
}
