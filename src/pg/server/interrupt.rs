//! Cancelling: every long step calls this between its parts.

/// Ends the statement where it was cancelled or its time is up.
pub fn check() {
    pgrx::check_for_interrupts!();
}
