//! The OpenMP library routines of libgomp: locks, and what is asked so often that wrapping would cost more than it tells.
//!
//! Fortran calls separate symbols (`omp_set_lock_`, its lock variable by reference), described beside the C ones.

use core::ffi::{c_int, c_void};

// Simple locks
unsafe extern "C" {
    #[probe(lock_set, INSTR_MUTEX_LOCK)]
    pub fn omp_set_lock(lock: *mut c_void);
    #[probe(lock_unset, INSTR_MUTEX_LOCK)]
    pub fn omp_unset_lock(lock: *mut c_void);
    #[probe(lock_test, INSTR_MUTEX_LOCK)]
    pub fn omp_test_lock(lock: *mut c_void) -> c_int;
    pub fn omp_init_lock(lock: *mut c_void);
    #[since(9)]
    pub fn omp_init_lock_with_hint(lock: *mut c_void, hint: c_int);
    pub fn omp_destroy_lock(lock: *mut c_void);
    #[probe(lock_set, INSTR_MUTEX_LOCK)]
    pub fn omp_set_lock_(lock: *mut c_void);
    #[probe(lock_unset, INSTR_MUTEX_LOCK)]
    pub fn omp_unset_lock_(lock: *mut c_void);
    #[probe(lock_test, INSTR_MUTEX_LOCK)]
    pub fn omp_test_lock_(lock: *mut c_void) -> c_int;
    pub fn omp_init_lock_(lock: *mut c_void);
    #[since(9)]
    pub fn omp_init_lock_with_hint_(lock: *mut c_void, hint: *const c_int);
    pub fn omp_destroy_lock_(lock: *mut c_void);
}

// Nestable locks
unsafe extern "C" {
    #[probe(lock_set, INSTR_MUTEX_NEST_LOCK)]
    pub fn omp_set_nest_lock(lock: *mut c_void);
    #[probe(lock_unset, INSTR_MUTEX_NEST_LOCK)]
    pub fn omp_unset_nest_lock(lock: *mut c_void);
    #[probe(lock_test, INSTR_MUTEX_NEST_LOCK)]
    pub fn omp_test_nest_lock(lock: *mut c_void) -> c_int;
    pub fn omp_init_nest_lock(lock: *mut c_void);
    #[since(9)]
    pub fn omp_init_nest_lock_with_hint(lock: *mut c_void, hint: c_int);
    pub fn omp_destroy_nest_lock(lock: *mut c_void);
    #[probe(lock_set, INSTR_MUTEX_NEST_LOCK)]
    pub fn omp_set_nest_lock_(lock: *mut c_void);
    #[probe(lock_unset, INSTR_MUTEX_NEST_LOCK)]
    pub fn omp_unset_nest_lock_(lock: *mut c_void);
    #[probe(lock_test, INSTR_MUTEX_NEST_LOCK)]
    pub fn omp_test_nest_lock_(lock: *mut c_void) -> c_int;
    pub fn omp_init_nest_lock_(lock: *mut c_void);
    #[since(9)]
    pub fn omp_init_nest_lock_with_hint_(lock: *mut c_void, hint: *const c_int);
    pub fn omp_destroy_nest_lock_(lock: *mut c_void);
}

// Team and thread numbers
unsafe extern "C" {
    #[no_wrap = "called in every statically scheduled loop, and `const` to the compiler: the probe would cost more than it tells"]
    pub fn omp_get_thread_num() -> c_int;
    #[no_wrap = "called in every statically scheduled loop, and `const` to the compiler: the probe would cost more than it tells"]
    pub fn omp_get_thread_num_() -> c_int;
    #[no_wrap = "called in every statically scheduled loop, and `const` to the compiler: the probe would cost more than it tells"]
    pub fn omp_get_num_threads() -> c_int;
    #[no_wrap = "called in every statically scheduled loop, and `const` to the compiler: the probe would cost more than it tells"]
    pub fn omp_get_num_threads_() -> c_int;
}
