//! OTF2, as Vampir, Score-P's tools and Scalasca read it: a folder with a file for each thread and one of definitions, written by the system's own
//! library (`library`). `docs/export.md` has what is in it.

mod archive;
mod definitions;
mod library;
mod locks;
mod sink;

use std::path::Path;

use instr_trace::model::replay;

use crate::error::Error;
use crate::format::{Input, Progress, Stats};
use crate::frames::Frame;
use crate::replays;

use archive::Archive;
use definitions::{Clock, Definitions, Metric, Process, Team};
use sink::Records;

/// `OTF2_Paradigm`: who makes threads and regions.
mod paradigm {
    pub(super) const UNKNOWN: u8 = 0;
    pub(super) const USER: u8 = 1;
    pub(super) const OPENMP: u8 = 3;
    pub(super) const MEASUREMENT_SYSTEM: u8 = 6;
    pub(super) const PTHREAD: u8 = 7;
}

/// What records of all processes speak of.
#[derive(Default)]
struct World {
    regions: Vec<Frame>,
    teams: Vec<Team>,
    metrics: Vec<Metric>,
    /// Locks so far.
    locks: u32,
    /// The last time, ns.
    last: u64,
}

/// Writes an archive into an empty folder.
pub(crate) fn write(
    input: &Input<'_>,
    folder: &Path,
    progress: &mut Progress<'_>,
) -> Result<Stats, Error> {
    let (session, traces) = (input.session(), input.traces());
    let threads: usize = traces.iter().map(|trace| trace.threads().len()).sum();
    let mut archive = Archive::create(folder, threads, threads + traces.len())?;
    let mut world = World::default();
    let mut base = 0;
    replays::processes(input, progress, |process, trace, steps| {
        let place = |time| session.begin().saturating_add(session.time(process, time));
        let locations = (base, threads + process);
        let mut records = Records::new(
            (trace, input.names(process)),
            locations,
            &place,
            (&mut archive, &mut world),
            steps,
        );
        replay(trace, &mut records)?;
        records.finish();
        base += trace.threads().len();
        archive.result()
    })?;
    let stats = Stats {
        events: archive.records,
        ..Stats::default()
    };
    let counts = archive.end_events()?;
    let process = |(number, trace): (usize, &instr_trace::Trace)| Process {
        title: input.title(number),
        machine: trace.metadata().hostname.clone(),
        parent: session.parent(number),
        threads: trace
            .threads()
            .iter()
            .map(|info| info.name.clone())
            .collect(),
    };
    let processes: Vec<Process> = traces.iter().enumerate().map(process).collect();
    let mut definitions = Definitions::new(&mut archive);
    definitions.clock(Clock {
        begin: session.begin(),
        length: world.last.saturating_sub(session.begin()),
        realtime: session.realtime(),
    });
    definitions.processes(&processes, &counts);
    for (number, frame) in (0..).zip(&world.regions) {
        definitions.region(number, frame);
    }
    definitions.teams(threads, &world.teams);
    for (number, metric) in (0..).zip(&world.metrics) {
        definitions.metric(number, metric);
    }
    archive.close()?;
    Ok(stats)
}
