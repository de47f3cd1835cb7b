//! A time limit for part of a statement, by the server's own statement timer.

use pgrx::pg_sys::{self, TimestampTz};
use std::time::Duration;

// From the server's timeout.h, the same from Postgres 15 to 18. pgrx does not bind them.
unsafe extern "C-unwind" {
    fn get_timeout_active(id: u32) -> bool;
    fn get_timeout_indicator(id: u32, reset: bool) -> bool;
    fn get_timeout_finish_time(id: u32) -> TimestampTz;
    fn enable_timeout_at(id: u32, finish: TimestampTz);
    fn enable_timeout_every(id: u32, finish: TimestampTz, milliseconds: i32);
    fn disable_timeout(id: u32, keep_indicator: bool);
}

/// `STATEMENT_TIMEOUT` in the server's enumeration.
const STATEMENT: u32 = 3;

/// Runs until it is dropped, which restores the statement's own limit.
pub struct Timer {
    /// When the statement's own limit expires.
    outer: Option<TimestampTz>,
    /// When this limit expires; `None` if the statement's own comes first, or there is no limit.
    finish: Option<TimestampTz>,
}

impl Timer {
    pub fn start(limit: Option<Duration>) -> Self {
        // SAFETY: the calls read and set the backend's own timers, which every process that runs queries registers.
        unsafe {
            let outer = get_timeout_active(STATEMENT).then(|| get_timeout_finish_time(STATEMENT));
            let finish = limit
                .map(|limit| {
                    let micros = i64::try_from(limit.as_micros()).unwrap_or(i64::MAX);
                    pg_sys::GetCurrentTimestamp().saturating_add(micros)
                })
                .filter(|finish| outer.is_none_or(|outer| *finish < outer));
            if let Some(finish) = finish {
                // Repeatedly, since code may catch the first cancel and go on.
                enable_timeout_every(STATEMENT, finish, 1_000);
            }
            Self { outer, finish }
        }
    }

    /// Whether this limit canceled a query that was canceled.
    pub fn expired(&self) -> bool {
        // SAFETY: reads the clock.
        let now = unsafe { pg_sys::GetCurrentTimestamp() };
        self.finish.is_some_and(|finish| now >= finish) && self.outer.is_none_or(|outer| now < outer)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if self.finish.is_none() {
            return;
        }
        // SAFETY: as above. If the limit expired after the work's last check for interrupts, its cancel must not end what
        // comes next.
        unsafe {
            if get_timeout_indicator(STATEMENT, true) {
                pg_sys::QueryCancelPending = 0;
            }
            disable_timeout(STATEMENT, false);
            if let Some(outer) = self.outer {
                enable_timeout_at(STATEMENT, outer);
            }
        }
    }
}
