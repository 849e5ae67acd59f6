//! Messages and numbers of small traces.
