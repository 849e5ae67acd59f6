//! The end of the process that runs no handler: the trace is closed first. (`quick_exit` runs its own, of which ours is the last.)

use core::ffi::c_int;

unsafe extern "C" {
    #[probe(process_exit)]
    pub fn _exit(status: c_int) -> !;
    #[probe(process_exit)]
    pub fn _Exit(status: c_int) -> !;
}
