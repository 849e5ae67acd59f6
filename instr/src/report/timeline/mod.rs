//! The time line of a session for the page: a [`Sink`](instr_trace::model::Sink) that keeps as much as a page can hold, in memory that does not grow
//! with the trace.
//!
//! | module | keeps |
//! |---|---|
//! | `bins` | levels of bins: how long each thread was in each state, and the code that ran longest; always exact |
//! | `spans` | the spans themselves; the shortest ones go when there are too many |
//! | `lanes` | values over time |
//! | `ready`, `lost` | tasks that are ready, and events that were lost, as lanes |
//! | `loop_tasks` | tasks of asyncio as lanes |
//! | `longest` | the longest execution of each construct: where numbers of tables lead to |
//! | `durations` | how long bodies ran, by thread |
//! | `task_levels` | tasks by function and level of the task graph |
//! | `task_graph`, `graph_data` | tasks and dependences of the longest regions, their critical paths |
//! | `processors` | who ran on which processor |
//! | `kernel_threads` | threads of programs that recorded nothing themselves |
//! | `series` | what `instr run --config` read, as lanes |
//! | `codes`, `waits` | numbers of names |
//! | `part` | a part of the time in columns, for outputs other than the page |
//! | `model` | what is written |

mod bins;
mod codes;
mod durations;
mod graph_data;
pub(super) mod kernel_threads;
pub(crate) mod lanes;
pub(crate) mod longest;
mod loop_tasks;
mod lost;
pub(crate) mod model;
pub(crate) mod part;
mod processors;
mod ready;
pub(crate) mod series;
mod sink;
mod spans;
mod task_graph;
pub(super) mod task_levels;
#[cfg(test)]
mod tests;
mod waits;

use std::collections::BTreeMap;

use instr_trace::model::{pays_apart, relayed, replay};
use instr_trace::tasks::{TaskStates, follows};
use instr_trace::{Error, Names, Session, Trace};

use super::columns::Block;
use bins::Bins;
use codes::Codes;
use durations::Durations;
use kernel_threads::Rows;
use lanes::Lanes;
use longest::Longest;
use model::{Histogram, Lane, Level, Process, Timeline, Track};
use part::Part;
use ready::Ready;
use spans::{Span, Spans};
use task_graph::{MOST_SEGMENTS, TaskGraphs};
use task_levels::TaskLevels;
use waits::Waits;

/// States of a thread.
pub(crate) const STATES: usize = 5;
/// Their names, by number.
pub(crate) const STATE_NAMES: [&str; STATES] =
    ["useful", "synchronization", "scheduling", "idle", "flush"];

/// Everything that is kept of all processes.
#[derive(Debug)]
struct Collector {
    /// The end of the last process.
    end: u64,
    bins: Bins,
    spans: Spans,
    codes: Codes,
    waits: Waits,
    lanes: Lanes,
    /// Runs of different times are side by side: a processor has no row for both.
    apart: bool,
    /// Series that were 0 all the time.
    without_values: usize,
    longest: Longest,
    durations: Durations,
    /// Names of the program's own regions, by process and address.
    user_names: BTreeMap<(usize, u64), String>,
    /// What is looked at, if not all.
    part: Option<Part>,
}

impl Collector {
    fn new(tracks: usize, end: u64) -> Self {
        Self {
            end,
            bins: Bins::new(tracks, end),
            spans: Spans::new(tracks),
            codes: Codes::new(),
            waits: Waits::new(),
            lanes: Lanes::new((0, end)),
            apart: false,
            without_values: 0,
            longest: Longest::default(),
            durations: Durations::default(),
            user_names: BTreeMap::new(),
            part: None,
        }
    }

    /// Whether what ends at this time is looked at.
    fn takes(&self, time: u64) -> bool {
        self.part.as_ref().is_none_or(|part| part.holds(time))
    }

    fn add(&mut self, track: usize, span: Span) {
        if let Some(part) = &self.part {
            if let Some((row, span)) = part.cut(track, span) {
                self.bins.add(row, &span);
            }
            return;
        }
        self.bins.add(track, &span);
        self.spans.add(track, span);
    }
}

/// The time line, and where its tables lead to.
pub(super) struct Collected {
    pub(super) timeline: Timeline,
    pub(super) longest: Longest,
    pub(super) histograms: Vec<Histogram>,
    /// By process.
    pub(super) task_levels: Vec<TaskLevels>,
    /// The tables.
    pub(super) block: Block,
}

/// Reads all traces of a session. `names` are those of each process; with `apart` it has runs of different times. `progress` is called now and then with (done, total).
///
/// # Errors
///
/// Stream files that cannot be read any more.
pub(super) fn collect(
    session: &Session,
    names: &[Box<dyn Names + '_>],
    apart: bool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Collected, Error> {
    let traces = session.traces();
    let ends = (0..).zip(traces);
    let ends = ends.map(|(number, trace)| session.time(number, trace.end_time()));
    let end = ends.max().unwrap_or(0);
    let threads = traces.iter().map(|trace| trace.threads().len()).sum();
    // Without any thread of a trace those of the kernel's part are what there is.
    let of_kernel = match threads {
        0 if !apart => Rows::of(session),
        _ => Ok(None),
    };
    let (of_kernel, mut trouble) = match of_kernel {
        Ok(rows) => (rows, None),
        Err(why) => (None, Some(why)),
    };
    let end = of_kernel.as_ref().map_or(end, |rows| rows.end);
    let threads = of_kernel.as_ref().map_or(threads, |rows| rows.tracks.len());
    let mut collector = Collector::new(threads, end);
    if let Some(rows) = &of_kernel {
        trouble = rows.fill(session, &mut collector).err();
    }
    let total = traces.iter().map(Trace::end_time).sum();
    let (mut done, mut tracks) = (0u64, Vec::new());
    let mut task_graphs = Vec::new();
    for (number, trace) in traces.iter().enumerate() {
        let place = |time| session.time(number, time);
        let mut at = |time: u64| progress(time.saturating_add(done).min(total), total);
        let of = (number, tracks.len(), trace.threads().len());
        let mut process = sink::Process::new(&mut collector, of, &place, &mut at);
        let to_session = |time| session.time(number, time);
        let ready = Ready::new(number, end, &to_session);
        let mut tasks = TaskStates::with_segments_up_to(MOST_SEGMENTS, trace.threads(), ready);
        let apart = pays_apart(trace.bytes());
        relayed(&mut tasks, apart, follows, |tasks| {
            replay(trace, &mut (&mut process, tasks))
        })?;
        let Ready { graphs, lane, .. } = tasks.finish();
        task_graphs.push(graphs);
        if let Some(lane) = lane {
            collector.lanes.insert(lane);
        }
        done = done.saturating_add(trace.end_time());
        tracks.extend(trace.threads().iter().map(|thread| Track {
            process: number,
            name: thread.name.clone(),
            spans: 0,
            begin_ns: place(thread.first_time),
            end_ns: place(thread.last_time),
        }));
        let ended = place(trace.end_time());
        let lanes = collector.lanes.all.iter_mut();
        lanes
            .filter(|lane| lane.process == number)
            .for_each(|lane| lane.finish(ended));
    }
    lost::add(session, &mut collector.lanes);
    collector.without_values = series::add(session, &mut collector.lanes, end)?;
    collector.apart = apart;
    let mut collected = store(collector, session, names, tracks, task_graphs, of_kernel);
    let timeline = &mut collected.timeline;
    timeline.processors_trouble = timeline.processors_trouble.take().or(trouble);
    Ok(collected)
}

fn levels(bins: Bins, block: &mut Block) -> Vec<Level> {
    let levels = bins.store(block).into_iter();
    let levels = levels.map(|level| Level {
        width_ns: level.width,
        bins: level.bins,
        unit_ns: level.unit,
        table: level.table,
    });
    levels.collect()
}

fn store(
    mut collector: Collector,
    session: &Session,
    names: &[Box<dyn Names + '_>],
    mut tracks: Vec<Track>,
    task_graphs: Vec<TaskGraphs>,
    of_kernel: Option<Rows>,
) -> Collected {
    let of_kernel = of_kernel.map(|rows| {
        tracks = rows.tracks;
        (rows.processes, rows.left_out, rows.by_tid)
    });
    let end = collector.end;
    let exact_from_ns = collector.spans.exact_from();
    // Where all spans are there, bins save drawing many of them. One for two spans is enough.
    let most = match exact_from_ns {
        0 => (collector.spans.most() / 2).max(1024),
        _ => usize::MAX,
    };
    collector.bins.finish(most);
    let mut block = Block::default();
    let (table, counts) = collector.spans.store(&mut block);
    for (track, count) in tracks.iter_mut().zip(counts) {
        track.spans = count;
    }
    let spans = model::Spans {
        exact_from_ns,
        table,
    };
    let levels = levels(collector.bins, &mut block);
    let mut room = lanes::room();
    let lanes = collector.lanes.all.iter().map(|lane| {
        let (least, most) = lane.range();
        Lane {
            process: lane.process,
            name: lane.name.clone(),
            unit: lane.unit.clone(),
            step: lane.is_step(),
            width_ns: lane.width(),
            least,
            most,
            end_ns: lane.end(),
            table: lane.store(&mut block),
            points: lane.store_points(&mut room, &mut block),
        }
    });
    let lanes = lanes.collect();
    let found = match collector.apart {
        true => Err("the page compares two runs".to_owned()),
        false => {
            let rows = of_kernel.as_ref().map(|(_, _, rows)| rows);
            processors::collect(session, rows, end, &mut block)
        }
    };
    let (processors, processors_trouble) = match found {
        Ok(found) => (found, None),
        Err(why) => (None, Some(why)),
    };
    let mut task_levels = Vec::new();
    let mut graphs = graph_data::Graphs::default();
    for (process, of) in task_graphs.into_iter().enumerate() {
        task_levels.push(of.levels);
        graphs.add(process, of.graphs, of.left_out);
    }
    let (graphs, graphs_left_out) = graphs.store(session, names, &mut collector.codes, &mut block);
    let processes = session.traces().iter().map(|trace| Process {
        program: trace.metadata().program.clone(),
        pid: trace.metadata().pid,
    });
    let mut processes: Vec<Process> = processes.collect();
    let (states, tracks_left_out) = match of_kernel {
        Some((others, left_out, _)) => {
            processes.extend(others);
            (kernel_threads::STATE_NAMES.to_vec(), left_out)
        }
        None => (STATE_NAMES.to_vec(), 0),
    };
    let timeline = Timeline {
        end_ns: end,
        realtime_ns: session.realtime(),
        processes,
        tracks,
        tracks_left_out,
        states,
        waits: collector.waits.into_names(),
        codes: collector.codes.labels(names),
        levels,
        spans,
        lanes,
        lanes_left_out: collector.lanes.left_out,
        series_without_values: collector.without_values,
        processors,
        processors_trouble,
        graphs,
        graphs_left_out,
    };
    Collected {
        timeline,
        longest: collector.longest,
        histograms: collector.durations.finish(),
        task_levels,
        block,
    }
}
