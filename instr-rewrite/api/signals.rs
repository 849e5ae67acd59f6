//! The program's own handlers of signals: sampling gives its signal up when the program wants it.

use core::ffi::{c_int, c_void};

unsafe extern "C" {
    #[probe(sigaction)]
    pub fn sigaction(signal: c_int, action: *const c_void, old: *mut c_void) -> c_int;
    #[probe(signal)]
    pub fn signal(signal: c_int, handler: *mut c_void) -> *mut c_void;
}
