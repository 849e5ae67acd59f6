//! Threads of programs that recorded nothing themselves, as rows of the time line: whether each ran, was ready to run or was blocked, by the kernel's part of
//! the traces. The times are those of `instr processors`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use hashbrown::HashMap;
use instr_analysis::processors::{Stretch, each_stretch};
use instr_trace::Session;
use instr_trace::kernel::Part;

use super::Collector;
use super::longest::{What, Where};
use super::model::{Process, Track};
use super::processors::parts;
use super::spans::Span;

/// States of such a thread, by number.
pub(super) const STATE_NAMES: [&str; 4] = ["running", "unknown", "ready", "blocked"];
/// Threads that have a row.
const MOST: usize = 256;

/// The rows.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// The end of the last recording, ns since the session's begin.
    pub(super) end: u64,
    /// Processes, behind those of the session.
    pub(super) processes: Vec<Process>,
    pub(super) tracks: Vec<Track>,
    /// Threads that have none: those that ran least.
    pub(crate) left_out: usize,
    /// Rows by the number of the thread.
    rows: HashMap<usize, usize>,
    /// Rows by the system's numbers of process and thread.
    pub(super) by_tid: HashMap<(u64, u32), usize>,
}

/// A thread, as it was seen.
struct Seen {
    application: Option<usize>,
    process: usize,
    pid: u32,
    program: String,
    name: String,
    tid: u32,
    begin: u64,
    end: u64,
    ran: u64,
}

/// From times of the recordings to those of the session.
fn place(session: &Session, begin: u64) -> impl Fn(u64) -> u64 {
    let from = session.begin();
    move |ns| begin.saturating_add(ns).saturating_sub(from)
}

/// Which trace of the session each part is of.
fn owners(session: &Session) -> Vec<usize> {
    let traces = session.traces().iter().enumerate();
    let own = traces.filter(|(_, trace)| matches!(Part::of_trace(trace.dir()), Ok(Some(_))));
    own.map(|(number, _)| number).collect()
}

impl Rows {
    /// The rows of a session whose programs recorded no event; `None` where the kernel's part has nothing either.
    pub(super) fn of(session: &Session) -> Result<Option<Self>, String> {
        let parts = parts(session)?;
        let begins = parts.iter().map(|part| part.info().start_monotonic_ns);
        let Some(begin) = begins.min() else {
            return Ok(None);
        };
        let place = place(session, begin);
        let mut seen: BTreeMap<usize, Seen> = BTreeMap::new();
        let parts: Vec<_> = parts.iter().collect();
        let found = each_stretch(&parts, &mut |stretch| note(&mut seen, stretch));
        let found = found.map_err(|error| error.to_string())?;
        // The program's threads, then those of others that ran, the longest first.
        let mut chosen: Vec<(usize, Seen)> = seen.into_iter().collect();
        chosen.retain(|(_, thread)| thread.application.is_some() || thread.ran > 0);
        chosen.sort_by_key(|(number, thread)| {
            (thread.application.is_none(), Reverse(thread.ran), *number)
        });
        let left_out = chosen.len().saturating_sub(MOST);
        chosen.truncate(MOST);
        chosen.sort_by_key(|(number, thread)| {
            (thread.application.is_none(), thread.process, *number)
        });
        let mut rows = Self {
            end: place(found.duration_ns),
            left_out,
            ..Self::default()
        };
        let own = session.traces().len();
        let mut before = None;
        for (number, thread) in chosen {
            if before.replace(thread.process) != Some(thread.process) {
                rows.processes.push(Process {
                    program: thread.program,
                    pid: thread.pid.into(),
                });
            }
            rows.rows.insert(number, rows.tracks.len());
            let numbers = (u64::from(thread.pid), thread.tid);
            rows.by_tid.insert(numbers, rows.tracks.len());
            rows.tracks.push(Track {
                process: own + rows.processes.len() - 1,
                name: format!("{} ({})", thread.name, thread.tid),
                spans: 0,
                begin_ns: place(thread.begin),
                end_ns: place(thread.end),
            });
        }
        Ok((!rows.tracks.is_empty()).then_some(rows))
    }

    /// Puts what the threads did into bins and spans.
    pub(super) fn fill(&self, session: &Session, collector: &mut Collector) -> Result<(), String> {
        let parts = parts(session)?;
        let begins = parts.iter().map(|part| part.info().start_monotonic_ns);
        let place = place(session, begins.min().unwrap_or(0));
        let parts: Vec<_> = parts.iter().collect();
        let owners = owners(session);
        let told = each_stretch(&parts, &mut |stretch| {
            let Some(&track) = self.rows.get(&stretch.thread) else {
                return;
            };
            let state = STATE_NAMES.iter().position(|name| *name == stretch.state);
            let state = state.unwrap_or(1) as u8;
            let (begin, end) = (place(stretch.begin_ns), place(stretch.end_ns));
            collector.add(
                track,
                Span {
                    begin,
                    end,
                    state,
                    wait: 0,
                    code: 0,
                },
            );
            let owner = stretch.application.and_then(|at| owners.get(at));
            if let Some(&process) = owner {
                let at = Where { begin, end, track };
                let what = What::Kernel(stretch.state);
                collector.longest.add(process, what, at);
            }
        });
        told.map(|_| ()).map_err(|error| error.to_string())
    }
}

fn note(seen: &mut BTreeMap<usize, Seen>, stretch: &Stretch<'_>) {
    let thread = seen.entry(stretch.thread).or_insert_with(|| Seen {
        application: stretch.application,
        process: stretch.process,
        pid: stretch.pid,
        program: String::new(),
        name: String::new(),
        tid: stretch.tid,
        begin: stretch.begin_ns,
        end: stretch.end_ns,
        ran: 0,
    });
    // A program that was started has its name from then on.
    if thread.name != stretch.name {
        stretch.name.clone_into(&mut thread.name);
    }
    if thread.program != stretch.process_name {
        stretch.process_name.clone_into(&mut thread.program);
    }
    thread.end = stretch.end_ns;
    if stretch.state == "running" {
        thread.ran += stretch.end_ns - stretch.begin_ns;
    }
}
