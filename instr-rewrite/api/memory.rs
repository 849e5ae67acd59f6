//! Memory of the heap and of the system. Not among the descriptions that are always there: `instr-cc --instr-memory` and
//! `instr-rewrite --memory` add it.
//!
//! C++ names hold the type of `size_t`: `m` (unsigned long) on 64-bit systems, `j` (unsigned int) on SPARC V8 and other 32-bit ones. A
//! Fortran `allocate` calls `malloc` in the object itself.

use core::ffi::{c_int, c_long, c_void};

// C
unsafe extern "C" {
    #[probe(malloc, INSTR_CALLER)]
    pub fn malloc(size: size_t) -> *mut c_void;
    #[probe(calloc, INSTR_CALLER)]
    pub fn calloc(count: size_t, size: size_t) -> *mut c_void;
    #[probe(realloc, INSTR_CALLER)]
    pub fn realloc(pointer: *mut c_void, size: size_t) -> *mut c_void;
    #[probe(reallocarray, INSTR_CALLER)]
    pub fn reallocarray(pointer: *mut c_void, count: size_t, size: size_t) -> *mut c_void;
    #[probe(free)]
    pub fn free(pointer: *mut c_void);
    #[probe(posix_memalign, INSTR_CALLER)]
    pub fn posix_memalign(pointer: *mut *mut c_void, alignment: size_t, size: size_t) -> c_int;
    #[probe(aligned_alloc, INSTR_CALLER)]
    pub fn aligned_alloc(alignment: size_t, size: size_t) -> *mut c_void;
    #[probe(aligned_alloc, INSTR_CALLER)]
    pub fn memalign(alignment: size_t, size: size_t) -> *mut c_void;
    #[probe(page_alloc, INSTR_CALLER)]
    pub fn valloc(size: size_t) -> *mut c_void;
    #[probe(page_alloc, INSTR_CALLER)]
    pub fn pvalloc(size: size_t) -> *mut c_void;
}

// C++: new and new[], plain, nothrow, aligned, aligned and nothrow
unsafe extern "C" {
    #[probe(new, INSTR_NEW, INSTR_CALLER)]
    pub fn _Znwm(size: size_t) -> *mut c_void;
    #[probe(new_nothrow, INSTR_NEW, INSTR_CALLER)]
    pub fn _ZnwmRKSt9nothrow_t(size: size_t, nothrow: *const c_void) -> *mut c_void;
    #[probe(new_aligned, INSTR_NEW, INSTR_CALLER)]
    pub fn _ZnwmSt11align_val_t(size: size_t, alignment: size_t) -> *mut c_void;
    #[probe(new_aligned_nothrow, INSTR_NEW, INSTR_CALLER)]
    pub fn _ZnwmSt11align_val_tRKSt9nothrow_t(size: size_t, alignment: size_t, nothrow: *const c_void) -> *mut c_void;
    #[probe(new, INSTR_NEW_ARRAY, INSTR_CALLER)]
    pub fn _Znam(size: size_t) -> *mut c_void;
    #[probe(new_nothrow, INSTR_NEW_ARRAY, INSTR_CALLER)]
    pub fn _ZnamRKSt9nothrow_t(size: size_t, nothrow: *const c_void) -> *mut c_void;
    #[probe(new_aligned, INSTR_NEW_ARRAY, INSTR_CALLER)]
    pub fn _ZnamSt11align_val_t(size: size_t, alignment: size_t) -> *mut c_void;
    #[probe(new_aligned_nothrow, INSTR_NEW_ARRAY, INSTR_CALLER)]
    pub fn _ZnamSt11align_val_tRKSt9nothrow_t(size: size_t, alignment: size_t, nothrow: *const c_void) -> *mut c_void;
    #[probe(new, INSTR_NEW, INSTR_CALLER)]
    pub fn _Znwj(size: size_t) -> *mut c_void;
    #[probe(new_nothrow, INSTR_NEW, INSTR_CALLER)]
    pub fn _ZnwjRKSt9nothrow_t(size: size_t, nothrow: *const c_void) -> *mut c_void;
    #[probe(new_aligned, INSTR_NEW, INSTR_CALLER)]
    pub fn _ZnwjSt11align_val_t(size: size_t, alignment: size_t) -> *mut c_void;
    #[probe(new_aligned_nothrow, INSTR_NEW, INSTR_CALLER)]
    pub fn _ZnwjSt11align_val_tRKSt9nothrow_t(size: size_t, alignment: size_t, nothrow: *const c_void) -> *mut c_void;
    #[probe(new, INSTR_NEW_ARRAY, INSTR_CALLER)]
    pub fn _Znaj(size: size_t) -> *mut c_void;
    #[probe(new_nothrow, INSTR_NEW_ARRAY, INSTR_CALLER)]
    pub fn _ZnajRKSt9nothrow_t(size: size_t, nothrow: *const c_void) -> *mut c_void;
    #[probe(new_aligned, INSTR_NEW_ARRAY, INSTR_CALLER)]
    pub fn _ZnajSt11align_val_t(size: size_t, alignment: size_t) -> *mut c_void;
    #[probe(new_aligned_nothrow, INSTR_NEW_ARRAY, INSTR_CALLER)]
    pub fn _ZnajSt11align_val_tRKSt9nothrow_t(size: size_t, alignment: size_t, nothrow: *const c_void) -> *mut c_void;
}

// C++: delete and delete[], plain, sized, nothrow, aligned, aligned and sized, aligned and nothrow
unsafe extern "C" {
    #[probe(delete, INSTR_NEW)]
    pub fn _ZdlPv(pointer: *mut c_void);
    #[probe(delete_word, INSTR_NEW)]
    pub fn _ZdlPvm(pointer: *mut c_void, size: size_t);
    #[probe(delete_two_words, INSTR_NEW)]
    pub fn _ZdlPvmSt11align_val_t(pointer: *mut c_void, size: size_t, alignment: size_t);
    #[probe(delete_word, INSTR_NEW)]
    pub fn _ZdlPvj(pointer: *mut c_void, size: size_t);
    #[probe(delete_two_words, INSTR_NEW)]
    pub fn _ZdlPvjSt11align_val_t(pointer: *mut c_void, size: size_t, alignment: size_t);
    #[probe(delete_nothrow, INSTR_NEW)]
    pub fn _ZdlPvRKSt9nothrow_t(pointer: *mut c_void, nothrow: *const c_void);
    #[probe(delete_word, INSTR_NEW)]
    pub fn _ZdlPvSt11align_val_t(pointer: *mut c_void, alignment: size_t);
    #[probe(delete_aligned_nothrow, INSTR_NEW)]
    pub fn _ZdlPvSt11align_val_tRKSt9nothrow_t(pointer: *mut c_void, alignment: size_t, nothrow: *const c_void);
    #[probe(delete, INSTR_NEW_ARRAY)]
    pub fn _ZdaPv(pointer: *mut c_void);
    #[probe(delete_word, INSTR_NEW_ARRAY)]
    pub fn _ZdaPvm(pointer: *mut c_void, size: size_t);
    #[probe(delete_two_words, INSTR_NEW_ARRAY)]
    pub fn _ZdaPvmSt11align_val_t(pointer: *mut c_void, size: size_t, alignment: size_t);
    #[probe(delete_word, INSTR_NEW_ARRAY)]
    pub fn _ZdaPvj(pointer: *mut c_void, size: size_t);
    #[probe(delete_two_words, INSTR_NEW_ARRAY)]
    pub fn _ZdaPvjSt11align_val_t(pointer: *mut c_void, size: size_t, alignment: size_t);
    #[probe(delete_nothrow, INSTR_NEW_ARRAY)]
    pub fn _ZdaPvRKSt9nothrow_t(pointer: *mut c_void, nothrow: *const c_void);
    #[probe(delete_word, INSTR_NEW_ARRAY)]
    pub fn _ZdaPvSt11align_val_t(pointer: *mut c_void, alignment: size_t);
    #[probe(delete_aligned_nothrow, INSTR_NEW_ARRAY)]
    pub fn _ZdaPvSt11align_val_tRKSt9nothrow_t(pointer: *mut c_void, alignment: size_t, nothrow: *const c_void);
}

// Pages of the system. `off_t` has the width of `long`, `off64_t` 64 bits everywhere.
unsafe extern "C" {
    #[probe(mmap, INSTR_CALLER)]
    pub fn mmap(address: *mut c_void, length: size_t, protection: c_int, flags: c_int, file: c_int, offset: c_long) -> *mut c_void;
    #[probe(mmap64, INSTR_CALLER)]
    pub fn mmap64(address: *mut c_void, length: size_t, protection: c_int, flags: c_int, file: c_int, offset: i64) -> *mut c_void;
    #[probe(munmap)]
    pub fn munmap(address: *mut c_void, length: size_t) -> c_int;
    /// The new address is there when `flags` ask for it.
    #[probe(mremap, INSTR_CALLER)]
    pub fn mremap(old: *mut c_void, old_length: size_t, new_length: size_t, flags: c_int, ...) -> *mut c_void;
}
