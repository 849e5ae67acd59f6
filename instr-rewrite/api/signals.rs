//! The program's own handlers of signals, and its waiting for them: sampling gives its signal up when the program wants it.

use core::ffi::{c_int, c_void};

unsafe extern "C" {
    #[probe(sigaction)]
    pub fn sigaction(signal: c_int, action: *const c_void, old: *mut c_void) -> c_int;
    #[probe(signal)]
    pub fn signal(signal: c_int, handler: *mut c_void) -> *mut c_void;
    /// What `signal` is called where only the C standard was asked for.
    #[probe(signal)]
    pub fn __sysv_signal(signal: c_int, handler: *mut c_void) -> *mut c_void;
    #[probe(signal)]
    pub fn sysv_signal(signal: c_int, handler: *mut c_void) -> *mut c_void;
    #[probe(signal)]
    pub fn bsd_signal(signal: c_int, handler: *mut c_void) -> *mut c_void;
    #[probe(signal)]
    pub fn ssignal(signal: c_int, handler: *mut c_void) -> *mut c_void;
    #[probe(signal)]
    pub fn sigset(signal: c_int, handler: *mut c_void) -> *mut c_void;
}

// Waiting for signals that are blocked.
unsafe extern "C" {
    #[probe(sigwait)]
    pub fn sigwait(set: *const c_void, found: *mut c_void) -> c_int;
    #[probe(sigwait)]
    pub fn sigwaitinfo(set: *const c_void, found: *mut c_void) -> c_int;
    #[probe(sigtimedwait)]
    pub fn sigtimedwait(set: *const c_void, found: *mut c_void, timeout: *const c_void) -> c_int;
    #[probe(sigtimedwait)]
    pub fn __sigtimedwait64(set: *const c_void, found: *mut c_void, timeout: *const c_void) -> c_int;
    #[probe(signalfd)]
    pub fn signalfd(file: c_int, set: *const c_void, flags: c_int) -> c_int;
}
