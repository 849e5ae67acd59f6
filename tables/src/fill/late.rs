//! The launcher's record of who ran on which processor, to rows of `switches`. One record has the switches of many processes, in order of their ends; so their
//! rows are kept apart here, and come when all else was given.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use instr_analysis::processors::each_slice;
use instr_trace::kernel::Part;
use instr_trace::{Error, Session, Trace};

use crate::batch::Gathered;
use crate::define::Gather as _;
use crate::tables::switches;

use super::shift;
use super::words::int;

/// Rows of all processes that are kept at most.
const KEPT: usize = 1 << 18;

/// The identity of a record.
fn identity(part: &Part) -> (&str, u32, u64) {
    let info = part.info();
    (&info.boot_id, info.pid, info.start_monotonic_ns)
}

/// The processes that a record is about.
struct Known<'s> {
    session: &'s Session,
    /// The first of them.
    first: usize,
    /// By the system's number: begins, and their positions.
    processes: HashMap<u32, Vec<(i64, usize)>>,
    /// By process and the system's number of a thread: ends, and the threads' numbers.
    threads: HashMap<(usize, u32), Vec<(i64, i32)>>,
}

impl<'s> Known<'s> {
    fn new(session: &'s Session, of: &[usize]) -> Self {
        let mut known = Self {
            session,
            first: of.first().copied().unwrap_or(0),
            processes: HashMap::new(),
            threads: HashMap::new(),
        };
        for &number in of {
            let trace = &session.traces()[number];
            let shift = shift(session, number);
            let pid = trace.metadata().pid as u32;
            let begin = int(trace
                .threads()
                .iter()
                .map(|info| info.first_time)
                .min()
                .unwrap_or(0));
            let processes = known.processes.entry(pid).or_default();
            processes.push((begin.wrapping_add(shift), number));
            for info in trace.threads() {
                let threads = known.threads.entry((number, info.os_tid)).or_default();
                threads.push((int(info.last_time).wrapping_add(shift), info.index as i32));
            }
        }
        let all = known.threads.values_mut();
        all.for_each(|threads| threads.sort_unstable());
        let all = known.processes.values_mut();
        all.for_each(|processes| processes.sort_unstable());
        known
    }

    /// Process and thread that ran from `begin` on: of several with the same numbers those that lived then.
    fn find(&self, pid: u32, tid: u32, begin: i64) -> (usize, Option<i32>) {
        let processes = self.processes.get(&pid).map_or(&[][..], Vec::as_slice);
        let behind = processes.partition_point(|(from, _)| *from <= begin);
        let Some((_, process)) = processes.get(behind.saturating_sub(1)) else {
            return (self.first, None);
        };
        let threads = self
            .threads
            .get(&(*process, tid))
            .map_or(&[][..], Vec::as_slice);
        let ended = threads.partition_point(|(end, _)| *end < begin);
        let thread = threads.get(ended).or(threads.last());
        (*process, thread.map(|(_, index)| *index))
    }
}

pub(super) fn switches(session: &Session, gathered: &mut Gathered<'_>) -> Result<(), Error> {
    if !gathered.wants::<switches::Row>() {
        return Ok(());
    }
    let parts = session.traces().iter().map(Trace::kernel_part);
    let parts: Vec<Option<&Part>> = parts.collect();
    let mut seen = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let Some(part) = part.filter(|part| !seen.contains(&identity(part))) else {
            continue;
        };
        seen.push(identity(part));
        let is_same =
            |at: &usize| parts[*at].is_some_and(|other| identity(other) == identity(part));
        let of: Vec<usize> = (number..parts.len()).filter(is_same).collect();
        record(part, &Known::new(session, &of), gathered)?;
    }
    Ok(())
}

/// Rows by process.
type Kept = BTreeMap<usize, switches::Rows>;

fn record(part: &Part, known: &Known<'_>, gathered: &mut Gathered<'_>) -> Result<(), Error> {
    let first = &known.session.traces()[known.first];
    let start = part.info().start_monotonic_ns;
    let shift = shift(known.session, known.first)
        .wrapping_add(int(start))
        .wrapping_sub(int(first.metadata().start_monotonic_ns));
    let wanted = gathered.wanted::<switches::Row>();
    let mut kept = Kept::new();
    let mut count = 0;
    let allocation = each_slice(&[part], &mut |slice| {
        let begin_ns = int(slice.begin_ns).wrapping_add(shift);
        let end_ns = int(slice.end_ns).wrapping_add(shift);
        let (process, thread) = known.find(slice.pid, slice.tid, begin_ns);
        let row = switches::Row {
            process: process as i32,
            thread,
            begin_ns,
            end_ns,
            duration_ns: end_ns.saturating_sub(begin_ns),
            processor: Some(slice.processor as i32),
            pid: slice.pid.into(),
            tid: slice.tid.into(),
            name: gathered.texts.number(slice.name),
            next: gathered.texts.number(slice.then),
        };
        let rows = kept.entry(process);
        rows.or_insert_with(|| switches::Rows::new(wanted))
            .push(row);
        count += 1;
        if count >= KEPT {
            count = 0;
            give(&mut kept, gathered);
        }
    })?;
    give(&mut kept, gathered);
    gathered.damaged(allocation.damaged_streams);
    Ok(())
}

fn give(kept: &mut Kept, gathered: &mut Gathered<'_>) {
    for (process, mut rows) in std::mem::take(kept) {
        gathered.give(process, &mut rows);
    }
}
