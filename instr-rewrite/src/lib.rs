//! Reads ELF symbol tables, decides what to wrap, emits flags, stubs and rewritten objects
