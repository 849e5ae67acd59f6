//! What is open on one thread.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use instr_trace::event::{MutexKind, SyncKind};
use instr_trace::{RegionId, TaskId};

use super::model::Times;

/// A running body.
#[derive(Debug, Clone, Copy)]
pub(super) enum Body {
    Implicit {
        region: RegionId,
        function: Option<u64>,
        leads: bool,
    },
    Task {
        task: TaskId,
        function: Option<u64>,
        begin: Option<u64>,
        inner_ns: u64,
    },
}

impl Body {
    pub(super) fn function(&self) -> Option<u64> {
        match *self {
            Self::Implicit { function, .. } | Self::Task { function, .. } => function,
        }
    }
}

#[derive(Debug)]
pub(super) struct OpenWork {
    pub(super) schedule: Option<&'static str>,
    pub(super) function: Option<u64>,
    pub(super) instances: u64,
    pub(super) pieces: u64,
    pub(super) begin: u64,
}

#[derive(Debug, Default)]
pub(super) struct ThreadState {
    pub(super) events: u64,
    pub(super) last: u64,
    pub(super) bodies: Vec<Body>,
    pub(super) regions: Vec<(u32, u64, u64)>,
    pub(super) creating: Vec<u32>,
    pub(super) work: Vec<OpenWork>,
    pub(super) syncs: Vec<(SyncKind, u64)>,
    pub(super) asking: Vec<(MutexKind, u64, u64)>,
    pub(super) holding: Vec<(MutexKind, u64, u64)>,
    pub(super) user: Vec<(u64, u64)>,
    pub(super) calls: Vec<(u64, u64)>,
    pub(super) strings: HashMap<u64, String>,
}

pub(super) fn open_work(thread: &mut ThreadState, schedule: Option<&'static str>, begin: u64) {
    let body = thread.bodies.last();
    let counts = !matches!(body, Some(Body::Implicit { leads: false, .. }));
    let function = body.and_then(Body::function);
    thread.work.push(OpenWork {
        schedule,
        function,
        instances: u64::from(counts),
        pieces: 0,
        begin,
    });
}

pub(super) fn take_last<T>(open: &mut Vec<T>, matches: impl Fn(&T) -> bool) -> Option<T> {
    open.iter().rposition(matches).map(|at| open.remove(at))
}

pub(super) fn text(thread: &ThreadState, address: u64) -> String {
    thread
        .strings
        .get(&address)
        .cloned()
        .unwrap_or_else(|| format!("{address:#x}"))
}

pub(super) fn add_named(
    to: &mut BTreeMap<String, Times>,
    thread: &ThreadState,
    name: u64,
    ns: u64,
) {
    match thread.strings.get(&name).and_then(|text| to.get_mut(text)) {
        Some(times) => times.add(ns),
        None => to.entry(text(thread, name)).or_default().add(ns),
    }
}
