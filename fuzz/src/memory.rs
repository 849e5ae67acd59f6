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

/// Counts `size` bytes in, or refuses them. What is refused never counts: not even for the moment of a look by another thread,
/// which would have its own request refused for it.
fn admit(size: usize) -> bool {
    let limit = BASE.load(Relaxed).saturating_add(LIMIT);
    let within = |live: usize| live.checked_add(size).filter(|live| *live <= limit);
    match LIVE.fetch_update(Relaxed, Relaxed, within) {
        Ok(before) => {
            HIGHEST.fetch_max(before + size, Relaxed);
            true
        }
        Err(_) => {
            EXCEEDED.store(true, Relaxed);
            false
        }
    }
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

/// Held by tests that count: there is one input at a time.
#[cfg(test)]
pub(crate) static COUNTS: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(test)]
mod tests {
    use super::{COUNTS, LIMIT, admit};

    /// One thread asks for too much all the time; those of another get what they ask for.
    #[test]
    fn what_is_refused_costs_others_nothing() {
        let _one = COUNTS.lock().unwrap();
        super::begin();
        std::thread::scope(|scope| {
            let greedy = scope.spawn(|| (0..200_000).all(|_| !admit(2 * LIMIT)));
            let modest = (0..200_000).all(|_| {
                let admitted = admit(64);
                super::LIVE.fetch_sub(if admitted { 64 } else { 0 }, super::Relaxed);
                admitted
            });
            assert!(greedy.join().unwrap_or(false));
            assert!(modest);
        });
        assert!(super::end());
    }
}
