//! What cases hand to those that compare them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What was found in the traces of the cases that ran in this process, by their names.
#[derive(Debug)]
pub struct Kept<T>(Mutex<BTreeMap<String, T>>);

impl<T: Clone> Kept<T> {
    /// Of no case yet.
    pub(super) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Keeps what a case's trace holds, so that it needs not run again to be compared.
    pub fn keep(&self, case: &str, found: T) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(case.to_owned(), found);
    }

    /// What the trace of a case that ran in this process holds.
    #[must_use]
    pub fn of(&self, case: &str) -> Option<T> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(case).cloned()
    }
}
