//! Tasks of event loops (Python's asyncio) as lanes below the threads of their process: how many there are, and of the first ones when each runs.

use hashbrown::HashMap;
use instr_trace::model::{Begin, End};
use instr_trace::words::{Asynchronous, asynchronous, function_label};

use super::lanes::{Lanes, Shape};

/// Tasks of a process that have a lane of their own.
const MOST: usize = 12;

/// The tasks of one process.
#[derive(Debug, Default)]
pub(super) struct LoopTasks {
    /// Lanes by the address of a task's text, which each task has for itself; none: it has no lane.
    lanes: HashMap<u64, Option<usize>>,
    /// Tasks that have begun and have not ended.
    alive: Option<Option<usize>>,
}

impl LoopTasks {
    /// A function with this text begins or goes on at `time` (of the session, ns); it may be a task.
    pub(super) fn begin(
        &mut self,
        (process, lanes): (usize, &mut Lanes),
        (address, text): (u64, &str),
        time: u64,
        how: Begin,
    ) {
        if asynchronous(text) != Some(Asynchronous::Task) {
            return;
        }
        let number = self.alive.get_or_insert_with(|| {
            lanes.open(process, "tasks of asyncio, not ended", "", Shape::Step)
        });
        if let Some(alive) = lanes.get(*number).filter(|_| how == Begin::Told) {
            alive.add(time, 1.0);
        }
        let known = self.lanes.len();
        let own = *self.lanes.entry(address).or_insert_with(|| {
            let name = || format!("{}, 1: it runs", function_label(text));
            (known < MOST)
                .then(|| lanes.open(process, &name(), "", Shape::Step))
                .flatten()
        });
        if let Some(own) = lanes.get(own) {
            own.set(time, 1.0);
        }
    }

    /// A function leaves its thread at `time`.
    pub(super) fn end(&mut self, lanes: &mut Lanes, address: u64, time: u64, how: End) {
        let Some(own) = self.lanes.get(&address) else {
            return;
        };
        if let Some(own) = lanes.get(*own) {
            own.set(time, 0.0);
        }
        if let Some(alive) = lanes.get(self.alive.flatten()).filter(|_| how.is_final()) {
            alive.add(time, -1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::collected;
    use instr_trace::{Session, Trace, synth};

    /// Two tasks on one thread: the first runs from 10 to 20 and from 50 to 60, the second from 20 to 40. Between them a function that is none.
    #[test]
    fn tasks_of_an_event_loop_have_lanes() {
        let dir = tempfile::tempdir().unwrap();
        let layout = synth::layouts()[0];
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        let start = synth::START_TICKS;
        let mut stream = synth::StreamWriter::create(dir.path(), layout, 0, 1 << 16).unwrap();
        stream.thread_begin(start, 1, 0).unwrap();
        for (address, text) in [
            (0xa, "task one\t/a.py:1"),
            (0xb, "task two\t/a.py:5"),
            (0xc, "f\t/a.py:9"),
        ] {
            stream.string(start, text, address).unwrap();
        }
        stream.function_begin(start + 10, 0xa).unwrap();
        stream.function_suspend(start + 20, 0xa).unwrap();
        stream.function_begin(start + 20, 0xb).unwrap();
        stream.function_begin(start + 25, 0xc).unwrap();
        stream.function_end(start + 30, 0xc).unwrap();
        stream.function_end(start + 40, 0xb).unwrap();
        stream.function_resume(start + 50, 0xa).unwrap();
        stream.function_end(start + 60, 0xa).unwrap();
        stream.thread_end(start + 100).unwrap();
        stream.finish().unwrap();
        let session = Session::of(vec![Trace::open(dir.path()).unwrap()]);
        let timeline = collected(&session).timeline;
        let lanes = timeline.lanes.iter();
        let lanes: Vec<_> = lanes
            .map(|lane| (lane.name.as_str(), lane.least, lane.most))
            .collect();
        assert_eq!(
            lanes,
            [
                ("tasks of asyncio, not ended", 0.0, 2.0),
                ("task one (a.py:1), 1: it runs", 0.0, 1.0),
                ("task two (a.py:5), 1: it runs", 0.0, 1.0),
            ]
        );
    }
}
