//! Whole traces.
