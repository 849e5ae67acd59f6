//! The time line as numbers.

use std::io::{self, Write};

use instr_trace::Session;
use serde::Serialize;

use crate::report::timeline::model::CodeLabel;
use crate::report::timeline::part::{self, Loss, View};

/// Version of the record.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Timeline<'v> {
    format: u32,
    by: &'static str,
    from_ns: u64,
    to_ns: u64,
    column_ns: u64,
    codes: &'v [CodeLabel],
    rows: Vec<Row<'v>>,
}

#[derive(Serialize)]
struct Row<'v> {
    program: &'v str,
    pid: u64,
    thread: u32,
    name: &'v str,
    begin_ns: u64,
    end_ns: u64,
    useful_ns: Vec<u64>,
    sync_ns: Vec<u64>,
    sched_ns: Vec<u64>,
    idle_ns: Vec<u64>,
    flush_ns: Vec<u64>,
    code: Vec<usize>,
    losses: Vec<Missing>,
}

#[derive(Serialize)]
struct Missing {
    begin_ns: u64,
    end_ns: u64,
    events: u64,
}

/// Writes the rows of threads.
pub(super) fn write(session: &Session, view: &View, out: &mut dyn Write) -> io::Result<()> {
    let timeline = Timeline {
        format: FORMAT,
        by: "thread",
        from_ns: view.window.from,
        to_ns: view.window.to,
        column_ns: view.window.width(),
        codes: &view.codes,
        rows: view
            .rows
            .iter()
            .enumerate()
            .map(|(number, row)| of_thread(session, view, number, row))
            .collect(),
    };
    serde_json::to_writer(&mut *out, &timeline)?;
    writeln!(out)
}

fn of_thread<'v>(session: &'v Session, view: &View, number: usize, row: &'v part::Row) -> Row<'v> {
    let columns = view.window.used();
    let metadata = session.traces()[row.process].metadata();
    let state = |state: usize| {
        (0..columns)
            .map(|column| view.states(number, column)[state])
            .collect()
    };
    let missing = |loss: &Loss| Missing {
        begin_ns: loss.begin,
        end_ns: loss.end,
        events: loss.events,
    };
    Row {
        program: &metadata.program,
        pid: metadata.pid,
        thread: row.thread,
        name: &row.name,
        begin_ns: row.begin,
        end_ns: row.end,
        useful_ns: state(0),
        sync_ns: state(1),
        sched_ns: state(2),
        idle_ns: state(3),
        flush_ns: state(4),
        code: (0..columns)
            .map(|column| view.code(number, column))
            .collect(),
        losses: row.losses.iter().map(missing).collect(),
    }
}

/// A processor: its busy time in each column, and the number of the program that ran longest there (`programs`); null: none.
#[derive(Serialize)]
pub(super) struct Processor {
    pub(super) processor: u32,
    pub(super) busy_ns: Vec<u64>,
    pub(super) program: Vec<Option<usize>>,
}

#[derive(Serialize)]
pub(super) struct Processors<'v> {
    format: u32,
    by: &'static str,
    from_ns: u64,
    to_ns: u64,
    column_ns: u64,
    programs: &'v [String],
    rows: &'v [Processor],
}

/// Writes the rows of processors.
pub(super) fn write_processors(
    window: part::Window,
    programs: &[String],
    rows: &[Processor],
    out: &mut dyn Write,
) -> io::Result<()> {
    let timeline = Processors {
        format: FORMAT,
        by: "processor",
        from_ns: window.from,
        to_ns: window.to,
        column_ns: window.width(),
        programs,
        rows,
    };
    serde_json::to_writer(&mut *out, &timeline)?;
    writeln!(out)
}
