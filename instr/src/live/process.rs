//! A process that is followed: its trace, the model of its events, and whether it still runs.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use instr_trace::model::{Code, Interpreter};
use instr_trace::names::CodeRole;
use instr_trace::{Event, Follow, Follower, Metadata, ThreadInfo, Trace};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use super::watch::Watch;
use crate::cli::SymbolOptions;
use crate::summary::model::Place;
use crate::symbols::Symbols;

/// Events that are younger are left for the next look, ns: a thread may be interrupted between reading the clock and writing.
const MARGIN: u64 = 20_000_000;

/// Whether the process still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// It does.
    Running,
    /// It has ended, and completed its trace.
    Ended,
    /// It is gone, and did not.
    Killed,
    /// The trace was removed, or another run has its name.
    Removed,
}

/// One process.
pub(super) struct Process {
    pub(super) dir: PathBuf,
    pub(super) state: State,
    pub(super) program: String,
    pub(super) pid: u64,
    pub(super) followed: Followed,
    pub(super) discarded: u64,
    pub(super) bytes: u64,
    /// How far the time line is shown, ns since the trace's start.
    pub(super) now: u64,
    pub(super) children: Vec<PathBuf>,
    follow: Follow,
    symbols: Option<(usize, Symbols)>,
    labels: HashMap<(Code, bool), String>,
}

/// What gets the events.
#[derive(Default)]
pub(super) struct Followed {
    model: Option<Interpreter>,
    pub(super) watch: Watch,
    /// In order of their appearance: what the model calls positions.
    pub(super) threads: Vec<ThreadInfo>,
    positions: HashMap<u32, usize>,
    /// Events of the program's threads.
    pub(super) events: u64,
}

impl Follower for Followed {
    fn opened(&mut self, trace: &Trace) {
        for info in trace.threads() {
            match self.positions.get(&info.index) {
                Some(position) => self.threads[*position] = info.clone(),
                None => {
                    self.positions.insert(info.index, self.threads.len());
                    self.threads.push(info.clone());
                }
            }
        }
        self.watch
            .threads
            .resize_with(self.threads.len(), Default::default);
        let model = self.model.get_or_insert_with(|| Interpreter::of(trace));
        model.extend(&self.threads);
    }

    fn event(&mut self, event: &Event<'_>) {
        let position = self.positions.get(&event.thread).copied();
        if let Some(position) = position {
            let counts = u64::from(event.payload.id() != 0);
            self.events += counts;
            self.watch.threads[position].events += counts;
        }
        if let Some(model) = &mut self.model {
            model.event(position.unwrap_or(usize::MAX), event, &mut self.watch);
        }
    }
}

impl Process {
    pub(super) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            state: State::Running,
            program: String::new(),
            pid: 0,
            followed: Followed::default(),
            discarded: 0,
            bytes: 0,
            now: 0,
            children: Vec::new(),
            follow: Follow::new(dir),
            symbols: None,
            labels: HashMap::new(),
        }
    }

    /// Reads what came since the last look.
    ///
    /// # Errors
    ///
    /// A trace that cannot be read; once it could, it is taken for removed.
    pub(super) fn look(&mut self, symbols: &SymbolOptions) -> Result<(), instr_trace::Error> {
        if self.state != State::Running {
            return Ok(());
        }
        // Whether it has ended is asked first: what is read then is all.
        let metadata = Metadata::file_in(&self.dir).and_then(|path| Metadata::read(&path).ok());
        let over = metadata.as_ref().and_then(over);
        // The trace is opened later than this: what is younger may be there of some threads alone.
        let (floor, clock) = (self.now, monotonic());
        let until = |trace: &Trace| {
            let since = clock.saturating_sub(trace.metadata().start_monotonic_ns);
            over.is_none()
                .then(|| since.saturating_sub(MARGIN).max(floor))
        };
        let look = match self.follow.look(until, &mut self.followed) {
            Ok(look) if look.is_another => {
                self.end(State::Removed);
                return Ok(());
            }
            Ok(look) => look,
            Err(_) if self.pid != 0 || !self.followed.threads.is_empty() => {
                self.end(State::Removed);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let trace = look.trace;
        let metadata = trace.metadata();
        self.program.clone_from(&metadata.program);
        self.pid = metadata.pid;
        self.discarded = trace.discarded();
        self.bytes = trace.bytes();
        self.children = trace.children().to_vec();
        let modules = metadata.modules.len();
        if self
            .symbols
            .as_ref()
            .is_none_or(|(known, _)| *known != modules)
        {
            self.symbols = Some((modules, Symbols::of(&trace, symbols)));
            self.labels.clear();
        }
        self.now = until(&trace).unwrap_or(0).max(self.now);
        if let Some(state) = over {
            self.now = trace.end_time();
            self.end(state);
        }
        Ok(())
    }

    fn end(&mut self, state: State) {
        self.state = state;
        if let Some(model) = self.followed.model.take() {
            model.finish(&mut self.followed.watch);
        }
    }

    /// The name of a region or task.
    pub(super) fn label(&mut self, body: (Code, bool)) -> String {
        let Some((_, symbols)) = &self.symbols else {
            return String::new();
        };
        let role = if body.1 {
            CodeRole::Task
        } else {
            CodeRole::Parallel
        };
        let label = || Place::of(symbols, Some(body.0), role).label;
        self.labels.entry(body).or_insert_with(label).clone()
    }
}

/// How a process ended, if it did.
fn over(metadata: &Metadata) -> Option<State> {
    if metadata.closed {
        return Some(State::Ended);
    }
    let here = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let program = fs::read_link(format!("/proc/{}/exe", metadata.pid));
    let lives = match program {
        Ok(path) => {
            // A program that was built again while it runs.
            let path = path.display().to_string();
            path.strip_suffix(" (deleted)").unwrap_or(&path) == metadata.executable
        }
        Err(error) => error.kind() == std::io::ErrorKind::PermissionDenied,
    };
    // Under an emulator the process is that of another program.
    let lives =
        lives || super::target::windows(metadata.pid).is_ok_and(|folders| !folders.is_empty());
    (here.trim_end() != metadata.hostname || !lives).then_some(State::Killed)
}

fn monotonic() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    (time.tv_sec as u64)
        .saturating_mul(1_000_000_000)
        .saturating_add(time.tv_nsec as u64)
}
