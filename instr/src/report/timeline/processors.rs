//! Who ran on which processor, where `instr run` recorded that: the slices that `instr processors` counts, as rows of the time line. Bounded as threads
//! are: bins with exact sums, and slices of which the shortest go when there are too many.

use hashbrown::HashMap;
use instr_analysis::processors::{Slice, comparable, each_slice};
use instr_trace::Session;
use instr_trace::kernel::Part;

use super::super::columns::Block;
use super::bins::Bins;
use super::model::{Processors, Runner, Spans as StoredSpans};
use super::spans::{Span, Spans};

/// States of a processor, by number: a thread of what was recorded runs, or one of another program.
const OWN: u8 = 0;
const OTHER: u8 = 1;
/// What threads did then, by number.
const THEN: [&str; 4] = ["unknown", "blocked", "ready", "ended"];
/// Who is nobody with a name of its own.
const OTHERS: &str = "other programs";

/// Threads by number, with what colours them.
#[derive(Default)]
struct Runners {
    numbers: HashMap<(u32, u32, String), u16>,
    all: Vec<Runner>,
    groups: Vec<String>,
    known: HashMap<String, usize>,
}

impl Runners {
    fn group(&mut self, name: &str) -> usize {
        if let Some(at) = self.known.get(name) {
            return *at;
        }
        let at = self.groups.len();
        self.groups.push(name.to_owned());
        self.known.insert(name.to_owned(), at);
        at
    }

    /// The number of a slice's thread, from 1 on; 0 when there are too many.
    fn number(&mut self, slice: &Slice<'_>, group: &str, track: Option<usize>) -> u16 {
        let key = (slice.pid, slice.tid, slice.name.to_owned());
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let Ok(number) = u16::try_from(self.all.len() + 1) else {
            return 0;
        };
        let group = self.group(group);
        self.all.push(Runner {
            name: slice.name.to_owned(),
            process: slice.process_name.to_owned(),
            pid: slice.pid,
            tid: slice.tid,
            group,
            track,
        });
        self.numbers.insert(key, number);
        number
    }
}

/// The parts of the traces that the kernel told.
pub(super) fn parts(session: &Session) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    for trace in session.traces() {
        parts.extend(Part::of_trace(trace.dir()).map_err(|error| error.to_string())?);
    }
    let all: Vec<&Part> = parts.iter().collect();
    match comparable(&all) {
        Some(why) => Err(why),
        None => Ok(parts),
    }
}

/// Tracks by the system's numbers of process and thread.
fn tracks(session: &Session) -> HashMap<(u64, u32), usize> {
    let threads = session.traces().iter().flat_map(|trace| {
        let pid = trace.metadata().pid;
        trace
            .threads()
            .iter()
            .map(move |thread| (pid, thread.os_tid))
    });
    threads.zip(0..).filter(|((_, tid), _)| *tid > 0).collect()
}

/// The rows; none where nothing was recorded, and why not where they cannot be put on the time line.
pub(super) fn collect(
    session: &Session,
    of_kernel: Option<&HashMap<(u64, u32), usize>>,
    end: u64,
    block: &mut Block,
) -> Result<Option<Processors>, String> {
    let parts = parts(session)?;
    let mut numbers: Vec<u32> = parts.iter().flat_map(Part::processors).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let begin = parts
        .iter()
        .map(|part| part.info().start_monotonic_ns)
        .min();
    let Some(begin) = begin.filter(|_| !numbers.is_empty()) else {
        return Ok(None);
    };
    let rows: HashMap<u32, usize> = numbers.iter().copied().zip(0..).collect();
    let tracks = match of_kernel {
        Some(rows) => rows.clone(),
        None => tracks(session),
    };
    let mut runners = Runners::default();
    let (mut bins, mut spans) = (Bins::new(numbers.len(), end), Spans::new(numbers.len()));
    let place = |ns: u64| {
        let time = begin.saturating_add(ns).saturating_sub(session.begin());
        time.min(end)
    };
    let parts: Vec<&Part> = parts.iter().collect();
    let allocation = each_slice(&parts, &mut |slice| {
        let Some(row) = rows.get(&slice.processor) else {
            return;
        };
        let group = match slice.application {
            None => OTHERS,
            Some(at) if parts.len() > 1 => parts[at].info().program.as_str(),
            Some(_) => slice.process_name,
        };
        let track = tracks.get(&(u64::from(slice.pid), slice.tid)).copied();
        let span = Span {
            begin: place(slice.begin_ns),
            end: place(slice.end_ns),
            state: match slice.application {
                Some(_) => OWN,
                None => OTHER,
            },
            wait: THEN
                .iter()
                .position(|then| *then == slice.then)
                .unwrap_or(0) as u8,
            code: runners.number(slice, group, track),
        };
        if span.begin < span.end {
            bins.add(*row, &span);
            spans.add(*row, span);
        }
    });
    let allocation = allocation.map_err(|error| error.to_string())?;
    let exact_from_ns = spans.exact_from();
    let most = match exact_from_ns {
        0 => (spans.most() / 2).max(1024),
        _ => usize::MAX,
    };
    bins.finish(most);
    let (table, counts) = spans.store(block);
    Ok(Some(Processors {
        recorded: allocation.recorded,
        lost: allocation.lost,
        numbers,
        counts,
        runners: runners.all,
        groups: runners.groups,
        then: THEN.to_vec(),
        levels: super::levels(bins, block),
        spans: StoredSpans {
            exact_from_ns,
            table,
        },
    }))
}
