//! What the heap keeps that nobody uses.

use std::hint::black_box;
use std::sync::Once;

/// A block of this size, allocated and freed once, makes glibc keep smaller ones: it
/// takes the size of a freed block as its new limit for giving memory back at once.
const KEPT: usize = 16 << 20;

/// Makes blocks of up to 16 MiB stay in the process when they are freed, until
/// [`release`].
///
/// Without it each node of a long run gets its megabyte from the system and gives it
/// back: a page fault for every 4 KB, and half the throughput.
pub(crate) fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(black_box(Vec::<u8>::with_capacity(KEPT))));
}

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
