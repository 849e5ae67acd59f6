//! Chunks of loops and tasks of taskloops: together they are every iteration once.

use std::collections::BTreeMap;

use crate::ctf::Event;

/// Bits of `loop_begin`'s schedule: the bounds are not known, or the iterations are numbered through several loops.
const NO_BOUNDS: i128 = 0x4000;
const DOACROSS: i128 = 0x1000;

/// Bounds and step of a loop; the end is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    start: i128,
    end: i128,
    step: i128,
}

/// Says of each loop whose chunks, and of each taskloop whose tasks, are not every iteration once. Nothing is said where a
/// construct was cancelled, or does not tell its pieces.
#[must_use]
pub fn pieces(events: &[Event]) -> Vec<String> {
    if events.iter().any(|event| event.name == "cancel") {
        return Vec::new();
    }
    let mut problems = taskloops(events);
    problems.extend(loops(events));
    problems
}

fn number(event: &Event, field: &str) -> i128 {
    event.get(field).unwrap_or(-1)
}

fn taskloops(events: &[Event]) -> Vec<String> {
    type Loop = (Range, Vec<(i128, i128)>);
    let mut loops: BTreeMap<(i128, i128), Loop> = BTreeMap::new();
    for event in events {
        if event.name == "taskloop_begin" && number(event, "num_tasks") > 0 {
            let range = Range {
                start: number(event, "start"),
                end: number(event, "end"),
                step: number(event, "step"),
            };
            loops.insert((event.stream, number(event, "seq")), (range, Vec::new()));
        } else if event.name == "taskloop_task" {
            let id = (number(event, "loop_thread"), number(event, "loop_seq"));
            if let Some((_, pieces)) = loops.get_mut(&id) {
                pieces.push((number(event, "start"), number(event, "end")));
            }
        }
    }
    let wrong = loops.into_iter().filter_map(|(id, (range, pieces))| {
        let why = partition(range, pieces).err()?;
        Some(format!("taskloop {id:?} over {range:?}: {why}"))
    });
    wrong.collect()
}

/// A work-sharing loop: region, and its number among the loops of the region's body.
type LoopId = (i128, i128, usize);

/// Region and loops so far of an implicit task, and the loop it is in.
type Body = (i128, i128, usize, Option<LoopId>);

fn loops(events: &[Event]) -> Vec<String> {
    let mut bodies: BTreeMap<i128, Vec<Body>> = BTreeMap::new();
    let mut loops: BTreeMap<LoopId, (Range, Vec<(i128, i128)>)> = BTreeMap::new();
    for event in events {
        let stack = bodies.entry(event.stream).or_default();
        match event.name.as_str() {
            "implicit_begin" => {
                let (thread, seq) = (number(event, "region_thread"), number(event, "region_seq"));
                stack.push((thread, seq, 0, None));
            }
            "implicit_end" => _ = stack.pop(),
            "loop_begin" => {
                let Some((thread, seq, count, open)) = stack.last_mut() else {
                    continue;
                };
                let id = (*thread, *seq, *count);
                *count += 1;
                *open = None;
                if number(event, "schedule") & (NO_BOUNDS | DOACROSS) != 0 {
                    continue;
                }
                let range = Range {
                    start: number(event, "start"),
                    end: number(event, "end"),
                    step: number(event, "incr"),
                };
                loops.entry(id).or_insert((range, Vec::new()));
                *open = Some(id);
            }
            "chunk_begin" => {
                let open = stack.last().and_then(|body| body.3);
                if let Some((_, pieces)) = open.and_then(|id| loops.get_mut(&id)) {
                    pieces.push((number(event, "begin"), number(event, "end")));
                }
            }
            "work_end" => {
                if let Some(body) = stack.last_mut() {
                    body.3 = None;
                }
            }
            _ => {}
        }
    }
    let wrong = loops.into_iter().filter_map(|(id, (range, pieces))| {
        let why = partition(range, pieces).err()?;
        Some(format!("loop {id:?} over {range:?}: {why}"))
    });
    wrong.collect()
}

/// Whether the pieces follow each other from the first to the last iteration. The last may end behind the range by less than a step.
fn partition(range: Range, mut pieces: Vec<(i128, i128)>) -> Result<(), String> {
    let Range { start, end, step } = range;
    if step == 0 {
        return Err("a step of 0".into());
    }
    let up = step > 0;
    let iterations = if up == (start < end) && start != end {
        ((end - start).abs() + step.abs() - 1) / step.abs()
    } else {
        0
    };
    pieces.sort_unstable();
    if !up {
        pieces.reverse();
    }
    let mut next = start;
    for (begin, end) in pieces {
        if begin != next || begin == end || up != (begin < end) {
            return Err(format!("{begin} to {end} where {next} comes next"));
        }
        next = end;
    }
    let whole = start + iterations * step;
    if next == whole || (iterations > 0 && next == end) {
        Ok(())
    } else {
        Err(format!("the pieces end at {next}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound(start: i128, end: i128, step: i128, pieces: &[(i128, i128)]) -> bool {
        partition(Range { start, end, step }, pieces.to_vec()).is_ok()
    }

    #[test]
    fn pieces_are_every_iteration_once() {
        assert!(sound(0, 10, 1, &[(7, 10), (0, 7)]));
        assert!(sound(0, 10, 3, &[(0, 6), (6, 12)]));
        assert!(sound(0, 10, 3, &[(0, 6), (6, 10)]));
        assert!(sound(9, -1, -2, &[(1, -1), (9, 1)]));
        assert!(sound(5, 5, 1, &[]) && sound(5, 0, 1, &[]));
        for pieces in [
            &[] as &[(i128, i128)],
            &[(0, 7)],
            &[(7, 10)],
            &[(0, 7), (8, 10)],
            &[(0, 7), (6, 10)],
            &[(0, 10), (0, 10)],
            &[(0, 0), (0, 10)],
            &[(0, 11)],
            &[(-1, 10)],
        ] {
            assert!(!sound(0, 10, 1, pieces), "{pieces:?}");
        }
        assert!(!sound(5, 5, 1, &[(5, 6)]));
    }
}
