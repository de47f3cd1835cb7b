//! Where in a statement's text the server found an error.

use pgrx::pg_sys;
use pgrx::prelude::*;
use std::cell::Cell;
use std::ffi::{c_int, c_void};

/// The position that the last error had, counted in characters from 1.
pub struct ErrorPosition(Cell<c_int>);

impl ErrorPosition {
    pub fn new() -> Self {
        Self(Cell::new(0))
    }

    pub fn get(&self) -> Option<usize> {
        usize::try_from(self.0.get()).ok().filter(|position| *position > 0)
    }

    /// Notes the position of what is raised in `work`.
    pub fn watch<T>(&self, work: impl FnOnce() -> T) -> T {
        struct Restore(*mut pg_sys::ErrorContextCallback);
        impl Drop for Restore {
            fn drop(&mut self) {
                // SAFETY: what was there before is still there.
                unsafe { pg_sys::error_context_stack = self.0 };
            }
        }
        // SAFETY: the callback is taken from the stack again before it goes out of scope, however `work` ends.
        unsafe {
            let previous = pg_sys::error_context_stack;
            let mut callback = pg_sys::ErrorContextCallback {
                previous,
                callback: Some(note),
                arg: std::ptr::from_ref(self).cast_mut().cast(),
            };
            let _restore = Restore(previous);
            pg_sys::error_context_stack = &raw mut callback;
            work()
        }
    }
}

/// Called while the server makes a report, of a notice as well as of an error.
#[pg_guard]
unsafe extern "C-unwind" fn note(position: *mut c_void) {
    // SAFETY: the pointer is to what `watch` borrows for the time of the work.
    unsafe { (*position.cast::<ErrorPosition>()).0.set(pg_sys::geterrposition()) };
}
