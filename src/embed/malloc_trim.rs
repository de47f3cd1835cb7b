//! Returns free heap memory to the operating system.

/// Returns free heap pages to the system.
///
/// Opening a model and running a long batch leave some megabytes of free heap, which glibc keeps for the process. A
/// server has one such process per connection. Takes 0.2 ms. Does nothing on systems without glibc.
#[allow(unsafe_code)] // One call of the C library.
pub(crate) fn release_free_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: malloc_trim only touches free memory, and takes the allocator's own lock.
    unsafe {
        libc::malloc_trim(0);
    }
}
