//! Canceling. Every long step calls [`check`] between its parts.

/// Ends the statement if it was canceled or has timed out.
pub fn check() {
    pgrx::check_for_interrupts!();
}
