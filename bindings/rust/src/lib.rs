//! Marks and chooses what is recorded of a Rust program: the calls of `<instr/instr.h>`.
//!
//! They record in a program that `instr-cc` links (`-C linker=instr-cc`), and in any program under `instr run`. Elsewhere they do nothing: the runtime is looked
//! for once, and nothing has to be linked.
//!
//! ```
//! let _recording = instr_api::Recording::start();
//! for step in 0..10 {
//!     let _region = instr_api::region(c"step");
//!     instr_api::event(4711, step);
//! }
//! ```

use std::ffi::CStr;
use std::marker::PhantomData;

/// What [`start`] returns when the program is not recorded.
pub const NOT_RECORDED: i32 = -1;
/// What [`start`] returns when a setting is refused: nothing has changed then.
pub const REFUSED: i32 = -2;

#[cfg(target_os = "linux")]
mod runtime {
    use std::ffi::{c_char, c_int, c_void, CStr};
    use std::sync::atomic::{AtomicUsize, Ordering};

    // Weak references: in a program that instr-cc linked they lead to the runtime inside of it, else nowhere. Stable Rust has no words for them.
    #[cfg(target_pointer_width = "64")]
    macro_rules! word {
        () => {
            ".8byte "
        };
    }
    #[cfg(target_pointer_width = "32")]
    macro_rules! word {
        () => {
            ".4byte "
        };
    }
    macro_rules! table {
        ($($name:literal),*) => {
            std::arch::global_asm!(
                ".pushsection .data.rel.ro.instr_api_calls,\"aw\"",
                ".balign 8",
                ".globl instr_api_calls",
                ".hidden instr_api_calls",
                "instr_api_calls:",
                $(concat!(".weak ", $name), concat!(word!(), $name),)*
                ".popsection",
            );
            /// The functions' names, in the order of the table.
            const NAMES: [&[u8]; 7] = [$(concat!($name, "\0").as_bytes()),*];
        };
    }
    table!(
        "instr_event",
        "instr_region_begin",
        "instr_region_end",
        "instr_counter",
        "instr_start",
        "instr_stop",
        "instr_flush"
    );

    extern "C" {
        static instr_api_calls: [usize; 7];
        fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
        fn dlerror() -> *mut c_char;
    }

    /// Not looked for yet.
    const UNKNOWN: usize = 0;
    /// There is none.
    const NONE: usize = 1;
    static FOUND: [AtomicUsize; 7] = [const { AtomicUsize::new(UNKNOWN) }; 7];

    /// The address of a function.
    fn address(number: usize) -> Option<usize> {
        let mut found = FOUND[number].load(Ordering::Relaxed);
        if found == UNKNOWN {
            // SAFETY: the table above has seven words, which never change once the program is loaded.
            found = unsafe { std::ptr::read_volatile(std::ptr::addr_of!(instr_api_calls[number])) };
            if found == 0 {
                // SAFETY: the name ends with a zero; a null handle is RTLD_DEFAULT.
                let symbol = unsafe { dlsym(std::ptr::null_mut(), NAMES[number].as_ptr().cast()) };
                found = symbol as usize;
            }
            if found == 0 {
                // SAFETY: no arguments; the program is not to read of what was not found.
                unsafe { dlerror() };
                found = NONE;
            }
            FOUND[number].store(found, Ordering::Relaxed);
        }
        (found != NONE).then_some(found)
    }

    macro_rules! function {
        ($number:literal, $kind:ty) => {
            // SAFETY: the runtime's function of this name has this type (instr/instr.h).
            address($number).map(|found| unsafe { std::mem::transmute::<usize, $kind>(found) })
        };
    }

    pub(crate) fn event(kind: u32, value: u64) {
        if let Some(call) = function!(0, extern "C" fn(u32, u64)) {
            call(kind, value);
        }
    }

    pub(crate) fn region_begin(name: &'static CStr) {
        if let Some(call) = function!(1, extern "C" fn(*const c_char)) {
            call(name.as_ptr());
        }
    }

    pub(crate) fn region_end() {
        if let Some(call) = function!(2, extern "C" fn()) {
            call();
        }
    }

    pub(crate) fn counter(name: &'static CStr, value: i64) {
        if let Some(call) = function!(3, extern "C" fn(*const c_char, i64)) {
            call(name.as_ptr(), value);
        }
    }

    pub(crate) fn start(config: Option<&CStr>) -> i32 {
        let text = config.map_or(std::ptr::null(), CStr::as_ptr);
        function!(4, extern "C" fn(*const c_char) -> c_int).map_or(super::NOT_RECORDED, |call| call(text))
    }

    pub(crate) fn stop() -> i32 {
        function!(5, extern "C" fn() -> c_int).map_or(0, |call| call())
    }

    pub(crate) fn flush() -> i32 {
        function!(6, extern "C" fn() -> c_int).map_or(-1, |call| call())
    }
}

#[cfg(not(target_os = "linux"))]
mod runtime {
    use std::ffi::CStr;

    pub(crate) fn event(_: u32, _: u64) {}
    pub(crate) fn region_begin(_: &'static CStr) {}
    pub(crate) fn region_end() {}
    pub(crate) fn counter(_: &'static CStr, _: i64) {}
    pub(crate) fn start(_: Option<&CStr>) -> i32 {
        super::NOT_RECORDED
    }
    pub(crate) fn stop() -> i32 {
        0
    }
    pub(crate) fn flush() -> i32 {
        -1
    }
}

/// One event of the calling thread, as Paraver has them: types from 1 to 19,999,999.
pub fn event(kind: u32, value: u64) {
    runtime::event(kind, value);
}

/// What a counter of the program is now.
pub fn counter(name: &'static CStr, value: i64) {
    runtime::counter(name, value);
}

/// Begins or resumes recording: 0, [`NOT_RECORDED`] or [`REFUSED`]. `config` are settings as in C: `c"INSTR_TRACE=a.instr; INSTR_BUFFER=8K"`.
pub fn start(config: Option<&CStr>) -> i32 {
    runtime::start(config)
}

/// Ends recording on all threads, up to the next start. 0.
pub fn stop() -> i32 {
    runtime::stop()
}

/// Writes what the calling thread has recorded: 0, or -1 where nothing is recorded.
pub fn flush() -> i32 {
    runtime::flush()
}

/// A region of the calling thread, up to the end of its scope, by a panic too.
#[must_use = "the region ends where its guard does"]
#[derive(Debug)]
pub struct Region(PhantomData<*const ()>); // ends on the thread where it began

/// Begins a region.
pub fn region(name: &'static CStr) -> Region {
    runtime::region_begin(name);
    Region(PhantomData)
}

impl Drop for Region {
    fn drop(&mut self) {
        runtime::region_end();
    }
}

/// Recording, up to the end of its scope. One that was refused stops nothing.
#[must_use = "recording ends where its guard does"]
#[derive(Debug)]
pub struct Recording(i32);

impl Recording {
    /// As [`start`] without settings.
    pub fn start() -> Self {
        Self(start(None))
    }

    /// As [`start`].
    pub fn with(config: &CStr) -> Self {
        Self(start(Some(config)))
    }

    /// What [`start`] returned.
    #[must_use]
    pub fn result(&self) -> i32 {
        self.0
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if self.0 == 0 {
            stop();
        }
    }
}
