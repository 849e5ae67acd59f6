//! The C runtime's sources, embedded for the host tools
