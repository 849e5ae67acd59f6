//! Events that were lost so far, as a lane for each process that lost some.

use instr_trace::Session;

use super::lanes::{Lanes, Shape};
use super::part::rows;

/// Adds the lanes. The last value of one is what `instr summary` says of the process's threads.
pub(super) fn add(session: &Session, lanes: &mut Lanes) {
    let mut lost: Vec<(usize, u64, u64)> = Vec::new();
    for row in rows(session) {
        let own = row.losses.iter().filter(|loss| loss.events > 0);
        lost.extend(own.map(|loss| (row.process, loss.end, loss.events)));
    }
    lost.sort_unstable();
    for of_process in lost.chunk_by(|a, b| a.0 == b.0) {
        let process = of_process[0].0;
        let number = lanes.open(process, "events lost so far", "", Shape::Step);
        let Some(lane) = lanes.get(number) else {
            continue;
        };
        lane.set(session.time(process, 0), 0.0);
        for (_, time, events) in of_process {
            lane.add(*time, *events as f64);
        }
        let ended = session.traces()[process].end_time();
        lane.finish(session.time(process, ended).saturating_add(1));
    }
}
