//! An allocator that counts, and refuses what goes over the limit.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Bytes that one input may have allocated at a time.
pub(crate) const LIMIT: usize = 512 << 20;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static BASE: AtomicUsize = AtomicUsize::new(usize::MAX / 2);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);
static EXCEEDED: AtomicBool = AtomicBool::new(false);

/// The system's allocator with a limit.
pub(crate) struct Counting;

/// Starts counting for one input.
pub(crate) fn begin() {
    EXCEEDED.store(false, Relaxed);
    let live = LIVE.load(Relaxed);
    HIGHEST.store(live, Relaxed);
    BASE.store(live, Relaxed);
}

/// The most that the last input had allocated at a time, in bytes; asked before the next one begins.
pub(crate) fn peak() -> usize {
    PEAK.load(Relaxed)
}

/// Ends it; says whether the limit was hit.
pub(crate) fn end() -> bool {
    let base = BASE.swap(usize::MAX / 2, Relaxed);
    PEAK.store(HIGHEST.load(Relaxed).saturating_sub(base), Relaxed);
    EXCEEDED.load(Relaxed)
}

/// Counts `size` bytes in, or refuses them.
fn admit(size: usize) -> bool {
    let live = LIVE.fetch_add(size, Relaxed).saturating_add(size);
    if live <= BASE.load(Relaxed).saturating_add(LIMIT) {
        HIGHEST.fetch_max(live, Relaxed);
        return true;
    }
    LIVE.fetch_sub(size, Relaxed);
    EXCEEDED.store(true, Relaxed);
    false
}

// SAFETY: every request goes to `System` unchanged or is refused with a null pointer, as the contract allows; counting
// touches atomics only and never allocates or unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !admit(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's obligations are those of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !admit(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: `pointer` came from `System` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() && !admit(size - layout.size()) {
            return std::ptr::null_mut();
        }
        if size < layout.size() {
            LIVE.fetch_sub(layout.size() - size, Relaxed);
        }
        // SAFETY: `pointer` came from `System` with this layout, the new size is the caller's.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
