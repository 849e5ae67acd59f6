//! The end of the process that runs no `atexit` handler: the trace is closed first.

use core::ffi::c_int;

unsafe extern "C" {
    #[probe(process_exit)]
    pub fn _exit(status: c_int) -> !;
    #[probe(process_exit)]
    pub fn _Exit(status: c_int) -> !;
    #[probe(process_exit)]
    pub fn quick_exit(status: c_int) -> !;
}
