//! One time line for several processes.

use crate::trace::Trace;

/// What is to be added to the times of a process, ns, so that the first event of all is at 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shift(i64);

impl Shift {
    /// A time of the process in the output.
    #[inline]
    pub(crate) fn output(self, time: u64) -> u64 {
        time.saturating_add_signed(self.0)
    }

    /// ns; below 0 too.
    pub(crate) fn ns(self) -> i64 {
        self.0
    }

    /// A time of the output in the process.
    pub(crate) fn process(self, time: u64) -> u64 {
        time.saturating_add_signed(self.0.saturating_neg())
    }
}

/// The program begins with its first event. How far the traces are apart the monotonic clock tells on one host, else the time of day.
#[derive(Debug)]
pub(crate) struct Timeline {
    /// From the times of each trace to those of the output.
    pub(crate) shifts: Vec<Shift>,
    /// The first event of all, ns, by the clock that tells how far the traces are apart.
    pub(crate) begin: u64,
    /// The time of day then, ns since 1970.
    pub(crate) realtime: u64,
}

impl Timeline {
    /// Lets every run begin at 0: `run` says of each trace which one began its run.
    pub(crate) fn begin_together(&mut self, traces: &[Trace], run: impl Fn(usize) -> usize) {
        let first = |trace: &Trace| trace.threads().iter().map(|info| info.first_time).min();
        let mut begins = std::collections::HashMap::<usize, i64>::new();
        for (at, trace) in traces.iter().enumerate() {
            let Some(first) = first(trace) else { continue };
            let first = i64::try_from(first).unwrap_or(i64::MAX);
            let begin = self.shifts[at].0.saturating_add(first);
            let known = begins.entry(run(at)).or_insert(begin);
            *known = begin.min(*known);
        }
        for (at, shift) in self.shifts.iter_mut().enumerate() {
            let begin = begins.get(&run(at)).copied().unwrap_or(0);
            shift.0 = shift.0.saturating_sub(begin);
        }
    }

    pub(crate) fn of(traces: &[Trace]) -> Self {
        let host = |trace: &Trace| trace.metadata().hostname.clone();
        let same = traces
            .windows(2)
            .all(|pair| host(&pair[0]) == host(&pair[1]));
        let start = |trace: &Trace| {
            let metadata = trace.metadata();
            if same {
                metadata.start_monotonic_ns
            } else {
                metadata.start_realtime_ns
            }
        };
        let first = |trace: &Trace| {
            let first = trace.threads().iter().map(|info| info.first_time).min()?;
            let realtime = trace.metadata().start_realtime_ns.saturating_add(first);
            Some((start(trace).saturating_add(first), realtime))
        };
        let whole = |trace: &Trace| (start(trace), trace.metadata().start_realtime_ns);
        let begin = traces.iter().filter_map(first).min();
        // Without any event the recordings of the kernel's part are what there is.
        let begin = begin.or_else(|| traces.iter().map(whole).min());
        let (begin, realtime) = begin.unwrap_or_default();
        let shift = |trace: &Trace| {
            let distance = i128::from(start(trace)) - i128::from(begin);
            Shift(i64::try_from(distance).unwrap_or(i64::MAX))
        };
        Self {
            shifts: traces.iter().map(shift).collect(),
            begin,
            realtime,
        }
    }
}
