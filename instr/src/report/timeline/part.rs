//! A part of the time in columns, for outputs other than the page: how long each thread was in each state, what it ran longest, where
//! events are missing, and the lanes.

use instr_trace::model::{Code, replay};
use instr_trace::names::CodeRole;
use instr_trace::{Error, Names, Session, Trace};

use super::bins::Bins;
use super::codes::Codes;
use super::durations::Durations;
use super::lanes::{Lane, Lanes};
use super::longest::{Longest, What, Where};
use super::model::{CodeLabel, Histogram};
use super::spans::{Span, Spans};
use super::waits::Waits;
use super::{Collector, STATES, sink};
use crate::summary::model::Place;

/// Cells of a picture: rows and columns multiplied. Of more rows, only the first ones are drawn.
pub(crate) const MOST_CELLS: usize = 1 << 22;

/// What is looked at: a time of the session, ns, in columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Columns: at most this many are made, fewer where the time has fewer nanoseconds.
    pub(crate) columns: usize,
}

impl Window {
    /// Time of a column, ns.
    pub(crate) fn width(&self) -> u64 {
        let length = self.to.saturating_sub(self.from);
        length.div_ceil(self.columns.max(1) as u64).max(1)
    }

    /// Columns that have time in them.
    pub(crate) fn used(&self) -> usize {
        let length = self.to.saturating_sub(self.from);
        (length.div_ceil(self.width()) as usize).max(1)
    }

    /// Columns that a time touches, where it does.
    pub(crate) fn columns_of(
        &self,
        begin: u64,
        end: u64,
    ) -> Option<std::ops::RangeInclusive<usize>> {
        let inside = begin <= self.to && end >= self.from;
        let at = |time: u64| ((time.max(self.from) - self.from) / self.width()) as usize;
        let last = self.used() - 1;
        inside.then(|| at(begin).min(last)..=at(end.saturating_sub(1).max(begin)).min(last))
    }
}

/// A window, and the row of each track that is shown.
#[derive(Debug)]
pub(super) struct Part {
    window: Window,
    rows: Vec<Option<usize>>,
}

impl Part {
    pub(super) fn holds(&self, time: u64) -> bool {
        (self.window.from..=self.window.to).contains(&time)
    }

    /// What of a span is in the window, from its begin on, and the row.
    pub(super) fn cut(&self, track: usize, span: Span) -> Option<(usize, Span)> {
        let row = self.rows.get(track).copied().flatten()?;
        let (begin, end) = (
            span.begin.max(self.window.from),
            span.end.min(self.window.to),
        );
        let from = self.window.from;
        (begin < end).then(|| {
            let cut = Span {
                begin: begin - from,
                end: end - from,
                ..span
            };
            (row, cut)
        })
    }
}

/// Events of a thread that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    /// The last time before and the first time behind them, ns since the session's begin.
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// How many; 0: nobody counted them.
    pub(crate) events: u64,
}

/// A thread.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Number of the process in the session.
    pub(crate) process: usize,
    /// Index of the thread in its process.
    pub(crate) thread: u32,
    pub(crate) name: String,
    /// First and last event, ns since the session's begin.
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) losses: Vec<Loss>,
}

/// All threads of a session, in its order.
pub(crate) fn rows(session: &Session) -> Vec<Row> {
    let of_process = |(process, trace): (usize, &Trace)| {
        let row = |position: usize| {
            let thread = &trace.threads()[position];
            Row {
                process,
                thread: thread.index,
                name: thread.name.clone(),
                begin: session.time(process, thread.first_time),
                end: session.time(process, thread.last_time),
                losses: losses(session, process, position),
            }
        };
        (0..trace.threads().len()).map(row).collect::<Vec<_>>()
    };
    session
        .traces()
        .iter()
        .enumerate()
        .flat_map(of_process)
        .collect()
}

/// Where packets of a thread say that events are missing.
fn losses(session: &Session, process: usize, position: usize) -> Vec<Loss> {
    let trace = &session.traces()[process];
    let thread = &trace.threads()[position];
    let place = |ticks| session.time(process, trace.clock().to_ns(ticks));
    let (mut all, mut counted, mut last) = (Vec::new(), 0, None);
    for packet in trace.packets(position) {
        let begin = place(packet.begin);
        if packet.after_loss {
            all.push(Loss {
                begin: last.unwrap_or(begin).min(begin),
                end: begin,
                events: packet.discarded.saturating_sub(counted),
            });
        }
        counted = counted.max(packet.discarded);
        last = Some(if packet.end == 0 {
            begin
        } else {
            place(packet.end)
        });
    }
    let events = thread.discarded.saturating_sub(counted);
    if events > 0 || thread.truncated {
        let end = session.time(process, thread.last_time);
        all.push(Loss {
            begin: end,
            end,
            events,
        });
    }
    all
}

/// The end of the last thread, ns since the session's begin.
pub(crate) fn end(session: &Session) -> u64 {
    let ends = session.traces().iter().enumerate();
    let ends = ends.map(|(number, trace)| session.time(number, trace.end_time()));
    ends.max().unwrap_or(0)
}

/// The rows that were asked for, in columns.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) window: Window,
    pub(crate) rows: Vec<Row>,
    /// Bodies; the first one is none.
    pub(crate) codes: Vec<CodeLabel>,
    pub(crate) lanes: Vec<Lane>,
    /// Durations of what ended in the window, by code and position in [`rows`] of the whole session.
    pub(crate) histograms: Vec<Histogram>,
    longest: Longest,
    user_names: std::collections::BTreeMap<(usize, u64), String>,
    bins: Bins,
}

impl View {
    /// Time of a cell in each state, ns, in order of [`super::STATE_NAMES`].
    pub(crate) fn states(&self, row: usize, column: usize) -> [u64; STATES] {
        self.bins.states(row, column)
    }

    /// The body that ran longest in a cell: a number of [`View::codes`].
    pub(crate) fn code(&self, row: usize, column: usize) -> usize {
        usize::from(self.bins.code(row, column))
    }

    /// Regions, tasks and regions of the program's own, with the longest execution of each.
    pub(crate) fn executions(&self, names: &[Box<dyn Names + '_>]) -> Vec<(String, Where)> {
        let label = |process: usize, code: Code, role| {
            let names = names.get(process)?;
            Some(Place::of(names.as_ref(), Some(code), role).label)
        };
        let found = self.longest.all().filter_map(|(process, what, at)| {
            let name = match what {
                What::Region(code) => label(process, code, CodeRole::Parallel)?,
                What::Task(code) => label(process, code, CodeRole::Task)?,
                What::User(name) => self.user_names.get(&(process, name))?.clone(),
                What::Wait(_) | What::Lock(..) | What::Serial | What::Kernel(_) => return None,
            };
            Some((name, at))
        });
        found.collect()
    }
}

/// Reads all traces of a session. `names` are those of each process; `shown` says which of [`rows`] are shown; `progress` is called now and then with
/// (done, total).
///
/// # Errors
///
/// Stream files that cannot be read any more.
pub(crate) fn view(
    session: &Session,
    names: &[Box<dyn Names + '_>],
    window: Window,
    shown: &dyn Fn(usize, &Row) -> bool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<View, Error> {
    let most = MOST_CELLS / window.used();
    let (mut places, mut chosen) = (Vec::new(), Vec::new());
    for (track, row) in rows(session).into_iter().enumerate() {
        let place = (shown(track, &row) && chosen.len() < most).then_some(chosen.len());
        places.push(place);
        if place.is_some() {
            chosen.push(row);
        }
    }
    let mut collector = Collector {
        end: window.to,
        bins: Bins::of_one_level(chosen.len(), window.used(), window.width()),
        spans: Spans::new(0),
        codes: Codes::new(),
        waits: Waits::new(),
        lanes: Lanes::new((window.from, window.to)),
        without_values: 0,
        apart: false,
        longest: Longest::default(),
        durations: Durations::default(),
        user_names: std::collections::BTreeMap::new(),
        part: Some(Part {
            window,
            rows: places,
        }),
    };
    let total = session.traces().iter().map(Trace::end_time).sum();
    let (mut done, mut first) = (0u64, 0);
    for (number, trace) in session.traces().iter().enumerate() {
        let place = |time| session.time(number, time);
        let mut at = |time: u64| progress(time.saturating_add(done).min(total), total);
        let of = (number, first, trace.threads().len());
        let mut process = sink::Process::new(&mut collector, of, &place, &mut at);
        replay(trace, &mut process)?;
        done = done.saturating_add(trace.end_time());
        first += trace.threads().len();
        let ended = place(trace.end_time());
        let lanes = collector.lanes.all.iter_mut();
        lanes
            .filter(|lane| lane.process == number)
            .for_each(|lane| lane.finish(ended));
    }
    collector.bins.finish(usize::MAX);
    Ok(View {
        window,
        rows: chosen,
        codes: collector.codes.labels(names),
        lanes: collector.lanes.all,
        histograms: collector.durations.finish(),
        longest: collector.longest,
        user_names: collector.user_names,
        bins: collector.bins,
    })
}
