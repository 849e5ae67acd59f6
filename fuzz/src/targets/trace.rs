//! The reader of raw traces.

use anyhow::Result;
use instr_trace::depend::Edges;
use instr_trace::model::Interpreter;
use instr_trace::names::{Names, NoNames};
use instr_trace::paraver::{self, Comms, Options};
use instr_trace::tasks::{RegionRecord, TaskRecord, TaskSink, TaskStates};
use instr_trace::{Payload, Session, Trace, synth};

use super::Target;
use crate::input::Input;
use crate::seeds::Seeds;

/// Feeds `instr_trace`.
pub(crate) struct Traces {
    folder: tempfile::TempDir,
}

impl Traces {
    pub(crate) fn new() -> Result<Self> {
        Ok(Traces {
            folder: tempfile::tempdir()?,
        })
    }
}

impl Target for Traces {
    fn seeds(&self, _: &Seeds) -> Result<Vec<Input>> {
        let mut inputs = Vec::new();
        for layout in synth::all_layouts() {
            let folder = tempfile::tempdir()?;
            synth::user_events(folder.path(), layout, 2, 200, 10)?;
            inputs.push(Input::read(folder.path())?);
            let folder = tempfile::tempdir()?;
            synth::tasks(folder.path(), layout, 3, 200)?;
            inputs.push(Input::read(folder.path())?);
            // The second thread was killed: its last packets are in a window.
            let stream = std::fs::read(synth::stream_path(folder.path(), 1))?;
            let window = synth::window(layout, 1, &[stream, Vec::new()], 0, 1);
            std::fs::remove_file(synth::stream_path(folder.path(), 1))?;
            std::fs::write(folder.path().join(".window_0001"), window)?;
            inputs.push(Input::read(folder.path())?);
        }
        Ok(inputs)
    }

    fn run(&mut self, input: &Input) -> bool {
        let folder = self.folder.path();
        if input.write_folder(folder).is_err() {
            return false;
        }
        let Ok(trace) = Trace::open(folder) else {
            return false;
        };
        let _ = (
            trace.warnings(),
            trace.end_time(),
            trace.bytes(),
            trace.discarded(),
            trace.truncated_streams(),
        );
        let (events, bytes) = (read_all(&trace), trace.bytes());
        match input.fingerprint() % 4 {
            0 => self.write_paraver(trace),
            1 => self.repair(&trace, events),
            _ => {}
        }
        // Every event takes at least its header of eight bytes.
        assert!(
            events * 8 <= bytes.max(1),
            "{events} events out of {bytes} bytes"
        );
        events > 0
    }
}

impl Traces {
    /// Writes the trace for Paraver; only an error may come of it.
    fn write_paraver(&self, trace: Trace) {
        let Ok(folder) = tempfile::tempdir_in(self.folder.path()) else {
            return;
        };
        let options = Options { comms: Comms::All };
        let names: [Box<dyn Names>; 1] = [Box::new(NoNames)];
        let _ = paraver::write(
            &Session::of(vec![trace]),
            &names,
            &options,
            &folder.path().join("out"),
            &mut |_, _| {},
        );
    }

    /// Writes a sound copy, which must hold the same number of events.
    fn repair(&self, trace: &Trace, events: u64) {
        let Ok(folder) = tempfile::tempdir_in(self.folder.path()) else {
            return;
        };
        let copy = folder.path().join("copy");
        if trace.repair(&copy).is_err() {
            return;
        }
        match Trace::open(&copy) {
            Ok(copy) => assert_eq!(read_all(&copy), events, "events of the repaired trace"),
            Err(error) => panic!("the repaired trace is refused: {error}"),
        }
    }
}

/// Does with tasks and regions what `instr graph` does.
struct Analysis;

impl TaskSink for Analysis {
    fn task(&mut self, task: &TaskRecord) {
        let _ = (task.ready_wait(), task.dependency_wait());
    }

    fn region(&mut self, region: RegionRecord) {
        let _ = (region.lower_bound(), region.upper_bound(), region.width());
        if let Some(segments) = &region.segments {
            let path = segments.critical_path();
            assert_eq!(path.slack.len(), segments.tasks().len(), "tasks with slack");
        }
    }
}

/// Reads the trace in both ways; gives the number of recorded events.
fn read_all(trace: &Trace) -> u64 {
    let mut model = Interpreter::new(trace.threads());
    let states = TaskStates::with_segments(trace.threads(), Analysis);
    let mut sinks = (Edges::new(|_, _| {}), states);
    let (mut events, mut last) = (0_u64, 0);
    let mut merge = trace.merge();
    while let Ok(Some(event)) = merge.next() {
        assert!(
            event.time >= last,
            "events out of order: {} after {last}",
            event.time
        );
        last = event.time;
        if let Some(position) = trace.position(event.thread) {
            model.event(position, &event, &mut sinks);
        }
        // The reader adds these two at the edges of packets, whose damage a repaired copy no longer has.
        let added = matches!(event.payload, Payload::FlushBegin | Payload::Lost { .. });
        events += u64::from(!added);
    }
    model.finish(&mut sinks);
    sinks.1.finish();
    for position in 0..trace.threads().len() {
        let Some(mut stream) = trace.stream(position) else {
            continue;
        };
        while let Ok(Some(_)) = stream.next() {}
    }
    events
}
