//! The OpenMP library routines of libgomp that wait, or that tell something about the program: locks, events of detachable tasks,
//! allocators, device memory, and the two numbers that a static loop asks for.
//!
//! Fortran calls separate symbols (`omp_set_lock_`, its lock variable by reference), described beside the C ones. With
//! `-fdefault-integer-8` the routines that take integers have a third (`_8_`); locks, events and allocators have none. Allocation
//! routines of Fortran are `bind(c)` and have the C names.

use core::ffi::{c_int, c_void};

// Simple locks
unsafe extern "C" {
    #[probe(lock_take, INSTR_MUTEX_LOCK, INSTR_CALLER)]
    #[with(omp_test_lock)]
    pub fn omp_set_lock(lock: *mut c_void);
    #[probe(lock_unset, INSTR_MUTEX_LOCK)]
    pub fn omp_unset_lock(lock: *mut c_void);
    #[probe(lock_test, INSTR_MUTEX_LOCK)]
    pub fn omp_test_lock(lock: *mut c_void) -> c_int;
    pub fn omp_init_lock(lock: *mut c_void);
    #[since(9)]
    pub fn omp_init_lock_with_hint(lock: *mut c_void, hint: c_int);
    pub fn omp_destroy_lock(lock: *mut c_void);
    #[probe(lock_take, INSTR_MUTEX_LOCK, INSTR_CALLER)]
    #[with(omp_test_lock_)]
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
    #[probe(lock_take, INSTR_MUTEX_NEST_LOCK, INSTR_CALLER)]
    #[with(omp_test_nest_lock)]
    pub fn omp_set_nest_lock(lock: *mut c_void);
    #[probe(lock_unset, INSTR_MUTEX_NEST_LOCK)]
    pub fn omp_unset_nest_lock(lock: *mut c_void);
    #[probe(lock_test, INSTR_MUTEX_NEST_LOCK)]
    pub fn omp_test_nest_lock(lock: *mut c_void) -> c_int;
    pub fn omp_init_nest_lock(lock: *mut c_void);
    #[since(9)]
    pub fn omp_init_nest_lock_with_hint(lock: *mut c_void, hint: c_int);
    pub fn omp_destroy_nest_lock(lock: *mut c_void);
    #[probe(lock_take, INSTR_MUTEX_NEST_LOCK, INSTR_CALLER)]
    #[with(omp_test_nest_lock_)]
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

// Events of detachable tasks, by value in Fortran too
unsafe extern "C" {
    #[since(11)]
    #[probe(fulfill)]
    pub fn omp_fulfill_event(event: usize);
    #[since(11)]
    #[probe(fulfill)]
    pub fn omp_fulfill_event_(event: usize);
}

// Allocators
unsafe extern "C" {
    #[since(11)]
    #[probe(omp_alloc)]
    pub fn omp_alloc(size: size_t, allocator: usize) -> *mut c_void;
    #[since(12)]
    #[probe(omp_aligned_alloc, INSTR_ALLOC_OMP)]
    pub fn omp_aligned_alloc(alignment: size_t, size: size_t, allocator: usize) -> *mut c_void;
    #[since(12)]
    #[probe(omp_calloc)]
    pub fn omp_calloc(count: size_t, size: size_t, allocator: usize) -> *mut c_void;
    #[since(12)]
    #[probe(omp_aligned_calloc)]
    pub fn omp_aligned_calloc(alignment: size_t, count: size_t, size: size_t, allocator: usize) -> *mut c_void;
    #[since(12)]
    #[probe(omp_realloc)]
    pub fn omp_realloc(pointer: *mut c_void, size: size_t, allocator: usize, free_allocator: usize) -> *mut c_void;
    #[since(11)]
    #[probe(omp_free, INSTR_ALLOC_OMP)]
    pub fn omp_free(pointer: *mut c_void, allocator: usize);
}

// Device memory: recorded as calls with their arguments
unsafe extern "C" {
    pub fn omp_target_alloc(size: size_t, device: c_int) -> *mut c_void;
    pub fn omp_target_free(pointer: *mut c_void, device: c_int);
    pub fn omp_target_is_present(pointer: *const c_void, device: c_int) -> c_int;
    #[since(13)]
    pub fn omp_target_is_accessible(pointer: *const c_void, size: size_t, device: c_int) -> c_int;
    pub fn omp_target_memcpy(to: *mut c_void, from: *const c_void, length: size_t, to_offset: size_t, from_offset: size_t, to_device: c_int, from_device: c_int) -> c_int;
    pub fn omp_target_memcpy_rect(to: *mut c_void, from: *const c_void, element: size_t, dimensions: c_int, volume: *const size_t, to_offsets: *const size_t, from_offsets: *const size_t, to_dimensions: *const size_t, from_dimensions: *const size_t, to_device: c_int, from_device: c_int) -> c_int;
    #[since(13)]
    pub fn omp_target_memcpy_async(to: *mut c_void, from: *const c_void, length: size_t, to_offset: size_t, from_offset: size_t, to_device: c_int, from_device: c_int, depends: c_int, list: *mut c_void) -> c_int;
    #[since(13)]
    pub fn omp_target_memcpy_rect_async(to: *mut c_void, from: *const c_void, element: size_t, dimensions: c_int, volume: *const size_t, to_offsets: *const size_t, from_offsets: *const size_t, to_dimensions: *const size_t, from_dimensions: *const size_t, to_device: c_int, from_device: c_int, depends: c_int, list: *mut c_void) -> c_int;
    pub fn omp_target_associate_ptr(host: *const c_void, device_pointer: *const c_void, size: size_t, offset: size_t, device: c_int) -> c_int;
    pub fn omp_target_disassociate_ptr(pointer: *const c_void, device: c_int) -> c_int;
    #[since(13)]
    pub fn omp_get_mapped_ptr(pointer: *const c_void, device: c_int) -> *mut c_void;
    #[since(16)]
    pub fn omp_target_memset(pointer: *mut c_void, value: c_int, size: size_t, device: c_int) -> *mut c_void;
    #[since(16)]
    pub fn omp_target_memset_async(pointer: *mut c_void, value: c_int, size: size_t, device: c_int, depends: c_int, list: *mut c_void) -> *mut c_void;
}

// Team and thread numbers: the two with which GCC 16 and before begin a static loop. Fortran programs call the spellings with `_`, so
// there the plain ones are the compiler's alone.
unsafe extern "C" {
    #[probe(get_thread_num, INSTR_CALLER)]
    pub fn omp_get_thread_num() -> c_int;
    #[probe(get_num_threads, INSTR_CALLER)]
    pub fn omp_get_num_threads() -> c_int;
    #[no_wrap = "only programs call it, and it tells nothing"]
    pub fn omp_get_thread_num_() -> c_int;
    #[no_wrap = "only programs call it, and it tells nothing"]
    pub fn omp_get_num_threads_() -> c_int;
}
