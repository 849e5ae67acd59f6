//! Task graphs as the page carries them: rows of tasks and dependences, in times of the session.

use std::cmp::Reverse;

use hashbrown::HashMap;
use instr_trace::tasks::{Parent, TaskKind};
use instr_trace::{Names, Session, TaskId};

use super::super::columns::{Block, CELLS, EDGES, Stored, TASKS};
use super::codes::Codes;
use super::model::{LeftOut, PathPart, TaskGraph};
use super::task_graph::{Graph, Task, bounded};
use crate::graph::Places;
use crate::graph::model::Region;

/// Functions of a region by level.
const FUNCTIONS: usize = 40;

/// The graphs of all processes.
#[derive(Default)]
pub(super) struct Graphs {
    graphs: Vec<Graph>,
    /// Their processes.
    processes: Vec<usize>,
    left_out: LeftOut,
}

impl Graphs {
    pub(super) fn add(&mut self, process: usize, graphs: Vec<Graph>, left_out: LeftOut) {
        self.processes.extend(graphs.iter().map(|_| process));
        self.graphs.extend(graphs);
        self.left_out.regions += left_out.regions;
        let elapsed = self.left_out.elapsed_ns;
        self.left_out.elapsed_ns = elapsed.saturating_add(left_out.elapsed_ns);
    }

    /// Writes the longest ones.
    pub(super) fn store(
        self,
        session: &Session,
        names: &[Box<dyn Names + '_>],
        codes: &mut Codes,
        block: &mut Block,
    ) -> (Vec<TaskGraph>, LeftOut) {
        let mut all: Vec<_> = self.processes.into_iter().zip(self.graphs).collect();
        all.sort_by_key(|(process, graph)| {
            (Reverse(graph.record.elapsed), *process, graph.record.begin)
        });
        let (processes, mut graphs): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        let mut left_out = self.left_out;
        bounded(&mut graphs, &mut left_out);
        let mut stored = Vec::new();
        for (process, graph) in processes.into_iter().zip(graphs) {
            stored.push(one(process, graph, session, names, codes, block));
        }
        (stored, left_out)
    }
}

fn one(
    process: usize,
    graph: Graph,
    session: &Session,
    names: &[Box<dyn Names + '_>],
    codes: &mut Codes,
    block: &mut Block,
) -> TaskGraph {
    let record = &graph.record;
    let mut region = Region::new(record, place(record, names[process].as_ref()));
    region.levels.clear();
    let path = graph.path.as_ref().map(|path| {
        let mut parts: Vec<_> = path
            .iter()
            .map(|(code, on_path)| PathPart {
                code: codes.number(process, *code, true),
                tasks: on_path.tasks,
                ns: on_path.ns,
            })
            .collect();
        parts.push(PathPart {
            code: 0,
            tasks: 0,
            ns: graph.outside_ns,
        });
        parts.sort_by_key(|part| (Reverse(part.ns), part.code));
        parts
    });
    let functions = graph.levels.functions();
    let shown = &functions[..functions.len().min(FUNCTIONS)];
    let mut cells = Vec::new();
    for (code, of) in shown {
        let number = codes.number(process, *code, true);
        let used = (0u8..).zip(of.bands).filter(|(_, tasks)| *tasks > 0);
        cells.extend(used.map(|(band, tasks)| (number, band, tasks)));
    }
    let bands = cells.iter().map(|(_, band, _)| u32::from(*band) + 1).max();
    let cells = block
        .table(&CELLS, cells.len())
        .u16(cells.iter().map(|cell| cell.0))
        .u8(cells.iter().map(|cell| cell.1))
        .varint(cells.iter().map(|cell| cell.2))
        .finish();
    let edges = graph.tasks.as_ref().map(|_| {
        let table = block.table(&EDGES, graph.edges.len());
        let table = table.u32(graph.edges.iter().map(|(from, _)| *from));
        table.u32(graph.edges.iter().map(|(_, to)| *to)).finish()
    });
    let rows = graph
        .tasks
        .as_ref()
        .map(|all| tasks(all, process, session, codes, block));
    TaskGraph {
        process,
        begin_ns: session.time(process, record.begin),
        end_ns: session.time(process, record.begin.saturating_add(record.elapsed)),
        region,
        path,
        band_levels: graph.levels.width(),
        bands: bands.unwrap_or(0),
        cells,
        tasks: rows,
        edges,
    }
}

fn place(
    record: &instr_trace::tasks::RegionRecord,
    names: &dyn Names,
) -> crate::summary::model::Place {
    let mut places = Places::new(names);
    places.region(record.function, record.call_site).clone()
}

fn tasks(
    all: &[Task],
    process: usize,
    session: &Session,
    codes: &mut Codes,
    block: &mut Block,
) -> Stored {
    let traces = session.traces();
    let before = traces.iter().take(process);
    let first: usize = before.map(|trace| trace.threads().len()).sum();
    let threads = traces[process].threads().iter();
    let tracks: HashMap<u32, u64> = threads
        .zip(first as u64..)
        .map(|(thread, track)| (thread.index, track))
        .collect();
    let rows: HashMap<TaskId, u64> = all.iter().map(|task| task.record.id).zip(0u64..).collect();
    let known = |number: Option<u64>| number.map_or(0, |number| number.saturating_add(1));
    let time = |time: Option<u64>| known(time.map(|time| session.time(process, time)));
    let records = || all.iter().map(|task| &task.record);
    let numbers: Vec<u16> = records()
        .map(|task| match task.kind {
            TaskKind::Taskwait => 0,
            _ => codes.number(process, super::task_levels::code_of(task), true),
        })
        .collect();
    let parent = |parent: Option<Parent>| match parent {
        Some(Parent::Explicit(task)) => known(rows.get(&task).copied()),
        _ => 0,
    };
    block
        .table(&TASKS, all.len())
        .varint(records().map(|task| u64::from(task.id.thread)))
        .varint(records().map(|task| u64::from(task.id.seq)))
        .u16(numbers.into_iter())
        .u8(records().map(|task| match task.kind {
            TaskKind::Task => 0,
            TaskKind::Taskloop => 1,
            TaskKind::Taskwait => 2,
            TaskKind::Target => 3,
        }))
        .u8(all.iter().map(|task| {
            let flag = |is: bool, flag: u8| if is { flag } else { 0 };
            flag(task.critical, 1)
                | flag(task.record.undeferred, 2)
                | flag(task.record.cancelled, 4)
        }))
        .varint(records().map(|task| known(task.thread.and_then(|at| tracks.get(&at).copied()))))
        .varint(records().map(|task| known(tracks.get(&task.id.thread).copied())))
        .varint(records().map(|task| parent(task.parent)))
        .varint(records().map(|task| time(task.created)))
        .varint(records().map(|task| time(task.ready)))
        .varint(records().map(|task| time(task.begin)))
        .varint(records().map(|task| time(task.end)))
        .varint(records().map(|task| time(task.complete)))
        .varint(records().map(|task| task.work))
        .varint(records().map(|task| known(task.level.map(u64::from))))
        .varint(all.iter().map(|task| known(task.slack)))
        .finish()
}
