//! The section as data.

use serde::Serialize;

use super::super::model::{Place, Times};

/// How a thread came to be.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Birth {
    /// Index of the thread that made it.
    pub creator: u32,
    /// The function that it began with.
    pub function: Place,
    /// The call that made it; null when that was not recorded.
    pub call: Option<Place>,
}

/// What one call did with one lock.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct LockCall {
    /// The call.
    #[serde(flatten)]
    pub place: Place,
    /// Acquisitions.
    pub count: u64,
    /// Of them, those that had to wait.
    pub contended: u64,
    /// Tries that found it held, and waits that were given up.
    pub failed: u64,
    /// Time from asking to having, or to giving up, ns.
    pub wait_ns: u64,
    /// The longest of them, ns.
    pub wait_max_ns: u64,
    /// Time from having to giving back, ns.
    pub held_ns: u64,
    /// The longest of them, ns.
    pub held_max_ns: u64,
}

/// One call that waits for one object.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct WaitCall {
    /// `condition variable`, `thread barrier`, `semaphore`, `join`, `once`, `future` or `interpreter lock`.
    pub kind: &'static str,
    /// Symbol of the object, or its address; `thread N` for a join, and for an interpreter's lock, which that thread has.
    pub object: String,
    /// The call.
    #[serde(flatten)]
    pub place: Place,
    /// Number and times.
    #[serde(flatten)]
    pub times: Times,
}
