//! speedscope's own format: what was open on each thread from when to when. Threads are profiles of their own, whose events the format wants one
//! after the other: they wait in a file without a name.

use std::io::Write;

use instr_trace::model::{At, Begin, End, Mark, Since, Sink, Span, replay};

use crate::error::Error;
use crate::format::{Input, Progress, Stats};
use crate::frames::Frames;
use crate::nesting::{self, Nesting, is_frame};
use crate::replays::{self, Steps};
use crate::spool::Spool;
use crate::text::json_string;

/// Where the format is described.
const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// Writes a profile for each thread of each process, and behind them the frames.
pub(crate) fn write(
    input: &Input<'_>,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
) -> Result<Stats, Error> {
    let name = input
        .traces()
        .first()
        .map(|trace| &*trace.metadata().program);
    let head = format!(
        "{{\"$schema\":\"{SCHEMA}\",\"exporter\":\"instr {}\",\"name\":{},\"profiles\":[",
        env!("CARGO_PKG_VERSION"),
        json_string(name.unwrap_or("")),
    );
    out.write_all(head.as_bytes()).map_err(Error::Output)?;
    let (mut shared, mut stats, mut first) = (Shared::default(), Stats::default(), true);
    replays::processes(input, progress, |process, trace, steps| {
        let place = |time| input.session().time(process, time);
        let threads = trace.threads();
        let mut events = Events {
            frames: Frames::new(input.names(process)),
            base: shared.count,
            nesting: Nesting::new(threads.len()),
            spool: Spool::new(threads.len()).map_err(Error::spool)?,
            last: vec![0; threads.len()],
            place: &place,
            steps,
            failed: None,
            spans: 0,
        };
        replay(trace, &mut events)?;
        if let Some(error) = events.failed.take() {
            return Err(Error::spool(error));
        }
        stats.events += events.spans;
        let Events {
            frames, mut spool, ..
        } = events;
        for (position, info) in threads.iter().enumerate() {
            let title = match input.traces().len() {
                1 => info.name.clone(),
                _ => format!("{}: {}", input.title(process), info.name),
            };
            let (begin, end) = (place(info.first_time), place(info.last_time));
            let separator = if first { "\n" } else { ",\n" };
            first = false;
            let name = json_string(&title);
            write!(
                out,
                "{separator}{{\"type\":\"evented\",\"name\":{name},\"unit\":\"nanoseconds\",\"startValue\":{begin},\"endValue\":{end},\"events\":["
            )
            .and_then(|()| spool.copy(position, out))
            .and_then(|()| out.write_all(b"]}"))
            .map_err(Error::Output)?;
        }
        shared.add(&frames);
        Ok(())
    })?;
    write!(out, "\n],\"shared\":{{\"frames\":[{}\n]}}}}\n", shared.text).map_err(Error::Output)?;
    Ok(stats)
}

/// The frames of all processes, as JSON.
#[derive(Default)]
struct Shared {
    text: String,
    count: usize,
}

impl Shared {
    fn add(&mut self, frames: &Frames<'_>) {
        for frame in frames.all() {
            self.text
                .push_str(if self.count == 0 { "\n" } else { ",\n" });
            self.count += 1;
            self.text.push_str("{\"name\":");
            self.text.push_str(&json_string(&frame.name));
            if let Some(file) = &frame.file {
                self.text.push_str(",\"file\":");
                self.text.push_str(&json_string(file));
            }
            if let Some(line) = frame.line {
                self.text.push_str(&format!(",\"line\":{line}"));
            }
            self.text.push('}');
        }
    }
}

/// The sink of one process.
struct Events<'n, 'p, 's> {
    frames: Frames<'n>,
    /// Number of its first frame in the file.
    base: usize,
    nesting: Nesting<u32>,
    spool: Spool,
    /// Time of the last event of each thread.
    last: Vec<u64>,
    /// A time of the process in the output.
    place: &'p dyn Fn(u64) -> u64,
    steps: Steps<'s>,
    failed: Option<std::io::Error>,
    spans: u64,
}

impl Events<'_, '_, '_> {
    fn event(&mut self, at: At, opens: bool, frame: u32) {
        let time = at.time.max(self.last[at.position]);
        self.last[at.position] = time;
        let (time, frame) = ((self.place)(time), self.base + frame as usize);
        let kind = if opens { 'O' } else { 'C' };
        let comma = if self.spool.is_empty(at.position) {
            ""
        } else {
            ","
        };
        let written = self.spool.add(at.position, |out| {
            // A vector takes everything.
            _ = write!(
                out,
                "{comma}{{\"type\":\"{kind}\",\"at\":{time},\"frame\":{frame}}}"
            );
        });
        if self.failed.is_none() {
            self.failed = written.err();
        }
    }

    fn apply(&mut self, at: At, steps: &[nesting::Step<u32>]) {
        for step in steps {
            match *step {
                nesting::Step::Open(frame) => self.event(at, true, frame),
                nesting::Step::Close(frame) => self.event(at, false, frame),
            }
        }
    }
}

impl Sink for Events<'_, '_, '_> {
    const STATES: bool = false;

    fn begin(&mut self, at: At, span: &Span, _how: Begin) {
        if is_frame(span) {
            self.steps.step(at.time);
            self.spans += 1;
            let frame = self.frames.of(at, span);
            self.nesting.begin(at, span, frame);
            self.event(at, true, frame);
        }
    }

    fn end(&mut self, at: At, span: &Span, _how: End, _since: Since) {
        if is_frame(span) {
            let steps = self.nesting.end(at, span).to_vec();
            self.apply(at, &steps);
        }
    }

    fn thread_end(&mut self, at: At) {
        let steps = self.nesting.end_thread(at.position).to_vec();
        self.apply(at, &steps);
    }

    fn mark(&mut self, at: At, mark: Mark<'_>) {
        if let Mark::Text { address, text } = mark {
            self.frames.text(at.position, address, text);
        }
    }
}
