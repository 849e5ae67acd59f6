//! Addresses to functions, files and lines
