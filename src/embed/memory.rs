//! Gives back memory that is free but still the process's.

/// Returns free heap pages to the system.
///
/// Opening a model and running a long batch leave some megabytes of free heap
/// behind, which glibc keeps for the process. A server has one such process per
/// connection. Takes 0.2 ms; elsewhere than on glibc it does nothing.
#[allow(unsafe_code)] // One call of the C library.
pub(crate) fn release() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it touches free memory only, and takes the allocator's own lock.
    unsafe {
        libc::malloc_trim(0);
    }
}
