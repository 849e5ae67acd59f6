//! From a session to rows: each process is replayed once, and what its events mean becomes rows of the tables that the output wants.

mod late;
mod moments;
mod series;
mod spans;
mod tasks;
mod values;
mod words;

use std::sync::mpsc::channel;

use instr_trace::model::{Sink, pays_apart, relayed, replay_with};
use instr_trace::tasks::{TaskStates, follows};
use instr_trace::{Error, Names, Session, Trace};

use crate::batch::{Gathered, Output};
use crate::tables::{
    edges, memory, processes, samples, sensors, states, switches, tasks as task_table, threads,
};
use crate::texts::Texts;

use spans::Rows;
use tasks::Records;
use words::int;

/// Events between two calls of the progress function.
const STEP: u64 = 1 << 16;

/// Gives the rows of all processes to `output`. `names` are the symbols of each; missing ones leave addresses. `progress` is called now and then with
/// (done, total). `texts` are those of a former reading, if there was one; all that columns refer to come back.
///
/// # Errors
///
/// Stream files that cannot be read any more, and what the output refuses ([`Error::Output`]).
pub fn read<'a>(
    session: &'a Session,
    names: &'a [Box<dyn Names + 'a>],
    texts: Texts,
    output: &mut dyn Output,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Texts, Error> {
    let traces = session.traces();
    let total = traces.iter().map(Trace::end_time).sum();
    let mut done = 0u64;
    let mut gathered = Gathered::new(output, texts);
    for (number, trace) in traces.iter().enumerate() {
        let names = names.get(number);
        let names = names.map_or(&instr_trace::names::NoNames as &dyn Names, |names| {
            names.as_ref()
        });
        let mut at = |time: u64| progress(time.saturating_add(done).min(total), total);
        gathered.process = number;
        process(session, number, names, &mut gathered, &mut at)?;
        done = done.saturating_add(trace.end_time());
        gathered.check().map_err(Error::Output)?;
    }
    late::switches(session, &mut gathered)?;
    gathered.check().map_err(Error::Output)?;
    Ok(gathered.into_texts())
}

/// What must be added to the times of a process, ns, so that they are those of the session.
fn shift(session: &Session, process: usize) -> i64 {
    session.offset(process).wrapping_sub(int(session.begin()))
}

fn process(
    session: &Session,
    number: usize,
    names: &dyn Names,
    gathered: &mut Gathered<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let trace = &session.traces()[number];
    let states = gathered.wants::<states::Row>()
        || gathered.wants::<memory::Row>()
        || gathered.wants::<samples::Row>()
        || gathered.wants::<sensors::Row>()
        || gathered.wants::<switches::Row>();
    let mut counts = vec![0; trace.threads().len()];
    match states {
        true => replay::<true>(session, number, names, gathered, (&mut counts, progress))?,
        false => replay::<false>(session, number, names, gathered, (&mut counts, progress))?,
    }
    series::add(session, number, gathered)?;
    about(session, number, &counts, gathered);
    gathered.end_process();
    Ok(())
}

/// Replays the process; `ALL`: also states, memory, readings, samples and switches are wanted.
fn replay<const ALL: bool>(
    session: &Session,
    number: usize,
    names: &dyn Names,
    gathered: &mut Gathered<'_>,
    (counts, progress): (&mut [u64], &mut dyn FnMut(u64)),
) -> Result<(), Error> {
    let trace = &session.traces()[number];
    let follow_tasks = trace.has_tasks()
        && (gathered.wants::<task_table::Row>() || gathered.wants::<edges::Row>());
    let needs_events = ALL || follow_tasks || gathered.needs_events();
    if !needs_events {
        return Ok(());
    }
    let (sender, receiver) = channel();
    let mut rows = Rows::<ALL>::new(trace, shift(session, number), names, gathered, receiver);
    let mut events = 0u64;
    let seen = |position: usize, event: &instr_trace::Event<'_>| {
        if let Some(count) = counts.get_mut(position) {
            *count += u64::from(event.payload.id() != 0);
        }
        events += 1;
        if events.is_multiple_of(STEP) {
            progress(event.time);
        }
    };
    if follow_tasks {
        let mut tasks = TaskStates::new(trace.threads(), Records::new(sender));
        relayed(&mut tasks, pays_apart(trace.bytes()), follows, |tasks| {
            replay_with(trace, &mut (&mut rows, tasks), seen)
        })?;
        tasks.finish().send();
    } else {
        drop(sender);
        replay_sink(trace, &mut rows, seen)?;
    }
    rows.finish();
    Ok(())
}

fn replay_sink<S: Sink>(
    trace: &Trace,
    sink: &mut S,
    seen: impl FnMut(usize, &instr_trace::Event<'_>),
) -> Result<(), Error> {
    replay_with(trace, sink, seen)
}

/// The rows of the process itself and of its threads.
fn about(session: &Session, number: usize, counts: &[u64], gathered: &mut Gathered<'_>) {
    let trace = &session.traces()[number];
    let metadata = trace.metadata();
    let shift = shift(session, number);
    let place = |time: u64| int(time).wrapping_add(shift);
    let process = number as i32;
    for (info, events) in trace.threads().iter().zip(counts) {
        let row = threads::Row {
            process,
            thread: info.index as i32,
            tid: info.os_tid.into(),
            name: gathered.texts.number(&info.name),
            initial: info.initial,
            worker: info.worker,
            begin_ns: place(info.first_time),
            end_ns: place(info.last_time),
            events: int(*events),
            lost: int(info.discarded),
        };
        gathered.add(row);
    }
    let first = trace.threads().iter().map(|info| info.first_time).min();
    let small = |number: u64| i32::try_from(number).ok();
    let texts = &mut gathered.texts;
    let row = processes::Row {
        process,
        pid: int(metadata.pid),
        parent: session.parent(number).map(|parent| parent as i32),
        program: texts.number(&metadata.program),
        arguments: metadata.arguments.as_deref().map(|text| texts.number(text)),
        executable: texts.number(&metadata.executable),
        host: texts.number(&metadata.hostname),
        target: texts.number(&metadata.target),
        openmp: texts.number(&metadata.openmp),
        begin_ns: place(first.unwrap_or(0)),
        end_ns: place(trace.end_time()),
        epoch_ns: int(session.realtime()),
        processors: metadata.processors.and_then(small),
        events: int(counts.iter().sum()),
        lost: int(trace.discarded()),
        closed: metadata.closed,
    };
    gathered.add(row);
}
