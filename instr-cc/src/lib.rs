//! Drop-in compiler wrapper and linker shim
