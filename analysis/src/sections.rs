//! In which parallel region each thread was, and when, by the traces of the programs' own: what colours "core against time" figures.
//!
//! | thread | on a processor from 10 to 40, in a region from 20 to 30 |
//! |---|---|
//! | pieces | 10 to 20 sequential, 20 to 30 the region, 30 to 40 sequential |
//!
//! A thread is in the innermost region that it began, or of which it executes the implicit task or waits in the closing barrier. All other time is
//! sequential. That is told of each thread: while one is in a region, another one of the process may be outside.
//!
//! 16 bytes are kept for each begin and end of a region on a thread.

use hashbrown::{HashMap, HashSet};
use instr_trace::event::RegionId;
use instr_trace::model::{At, Begin, Code, End, Since, Sink, Span, replay};
use instr_trace::{Error, Trace};

/// A section by its number: [`SEQUENTIAL`], or position in [`Sections::regions`] and 1.
pub type Section = u32;

/// Outside of all regions.
pub const SEQUENTIAL: Section = 0;

/// A thread is in this section from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    /// ns by `CLOCK_MONOTONIC`.
    time: u64,
    section: Section,
}

/// The changes of one thread, and how many of them lie before what was asked last.
#[derive(Clone, Debug, Default)]
struct Track {
    changes: Vec<Change>,
    passed: usize,
}

/// Sections of the threads of some processes.
#[derive(Clone, Debug, Default)]
pub struct Sections {
    regions: Vec<(usize, Code)>,
    by_code: HashMap<(usize, Code), Section>,
    /// By process and thread, as the system numbers them.
    tracks: HashMap<(u32, u32), Track>,
    processes: HashSet<u32>,
}

impl Sections {
    /// Reads traces.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    pub fn of(traces: &[Trace]) -> Result<Self, Error> {
        let mut found = Self::default();
        for (process, trace) in traces.iter().enumerate() {
            let threads = trace.threads();
            if threads.is_empty() {
                continue; // it recorded nothing itself
            }
            let pid = u32::try_from(trace.metadata().pid).unwrap_or(0);
            found.processes.insert(pid);
            let mut collector = Collector {
                sections: &mut found,
                process,
                pid,
                begin: trace.metadata().start_monotonic_ns,
                tids: threads.iter().map(|thread| thread.os_tid).collect(),
                open: vec![Vec::new(); threads.len()],
                last: vec![None; threads.len()],
            };
            replay(trace, &mut collector)?;
        }
        for track in found.tracks.values_mut() {
            // A number may have been that of several threads, one after the other.
            track.changes.sort_by_key(|change| change.time);
        }
        Ok(found)
    }

    /// Each region that was executed: position of its trace, and its code.
    pub fn regions(&self) -> &[(usize, Code)] {
        &self.regions
    }

    /// Divides a time of a thread, ns by `CLOCK_MONOTONIC`, at the borders of its sections; `None`: its process recorded nothing itself. Quick where the
    /// times of each thread are asked for in order.
    pub fn divide(
        &mut self,
        (pid, tid): (u32, u32),
        (begin, end): (u64, u64),
        each: &mut dyn FnMut(u64, u64, Option<Section>),
    ) {
        let Some(track) = self.tracks.get_mut(&(pid, tid)) else {
            let known = self.processes.contains(&pid);
            return each(begin, end, known.then_some(SEQUENTIAL));
        };
        let changes = &track.changes;
        let before = |at: usize| at.checked_sub(1).and_then(|at| changes.get(at));
        if before(track.passed).is_some_and(|change| change.time > begin) {
            track.passed = changes.partition_point(|change| change.time <= begin);
        }
        let mut at = track.passed;
        while changes.get(at).is_some_and(|change| change.time <= begin) {
            at += 1;
        }
        let mut from = begin;
        let mut section = before(at).map_or(SEQUENTIAL, |change| change.section);
        while let Some(change) = changes.get(at).filter(|change| change.time < end) {
            if change.section != section {
                if change.time > from {
                    each(from, change.time, Some(section));
                }
                (from, section) = (change.time, change.section);
            }
            at += 1;
        }
        each(from, end, Some(section));
        track.passed = at;
    }
}

/// Follows the threads of one trace.
struct Collector<'a> {
    sections: &'a mut Sections,
    process: usize,
    pid: u32,
    begin: u64,
    /// By position of the thread.
    tids: Vec<u32>,
    open: Vec<Vec<(Span, Section)>>,
    /// The region that ended last on the thread: its closing barrier belongs to it.
    last: Vec<Option<(RegionId, Section)>>,
}

impl Collector<'_> {
    fn section(&mut self, code: Code) -> Section {
        let regions = &mut self.sections.regions;
        let key = (self.process, code);
        *self.sections.by_code.entry(key).or_insert_with(|| {
            regions.push(key);
            Section::try_from(regions.len()).unwrap_or(SEQUENTIAL)
        })
    }

    /// Notes in which section the thread is now.
    fn note(&mut self, at: At) {
        let (Some(open), Some(tid)) = (self.open.get(at.position), self.tids.get(at.position))
        else {
            return;
        };
        let section = open.last().map_or(SEQUENTIAL, |(_, section)| *section);
        let time = self.begin.saturating_add(at.time);
        let track = self.sections.tracks.entry((self.pid, *tid)).or_default();
        let changes = &mut track.changes;
        match changes.last_mut() {
            Some(last) if last.section == section => {}
            Some(last) if last.time == time => last.section = section,
            _ => changes.push(Change { time, section }),
        }
    }
}

impl Sink for Collector<'_> {
    const MARKS: bool = false;
    const TASK_CODES: bool = false;
    const STATES: bool = false;
    const TIMES: bool = false;

    fn thread_begin(&mut self, at: At) {
        self.note(at);
    }

    fn thread_end(&mut self, at: At) {
        if let Some(open) = self.open.get_mut(at.position) {
            open.clear();
        }
        self.note(at);
    }

    fn begin(&mut self, at: At, span: &Span, _how: Begin) {
        let Some(last) = self.last.get(at.position).copied() else {
            return;
        };
        let section = match *span {
            Span::Parallel { code, .. } | Span::Implicit { code, .. } => self.section(code),
            Span::Closing { region } => match last {
                Some((of, section)) if of == region => section,
                _ => return,
            },
            _ => return,
        };
        self.open[at.position].push((*span, section));
        self.note(at);
    }

    fn end(&mut self, at: At, span: &Span, how: End, _since: Since) {
        let is_region = matches!(
            span,
            Span::Parallel { .. } | Span::Implicit { .. } | Span::Closing { .. }
        );
        // Where only the true end is told, the span has left the thread before.
        if !is_region || matches!(how, End::Unseen { .. }) {
            return;
        }
        let Some(open) = self.open.get_mut(at.position) else {
            return;
        };
        let Some(place) = open.iter().rposition(|(other, _)| other == span) else {
            return;
        };
        let (_, section) = open.remove(place);
        if let Span::Implicit { region, .. } = span {
            self.last[at.position] = Some((*region, section));
        }
        self.note(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A track of one thread with changes at these times, to sections 1, 0, 1, 0 …
    fn of(times: &[u64]) -> Sections {
        let mut sections = Sections::default();
        sections.processes.insert(7);
        let changes = times.iter().zip([1, 0].into_iter().cycle());
        let changes = changes
            .map(|(time, section)| Change {
                time: *time,
                section,
            })
            .collect();
        let track = Track { changes, passed: 0 };
        sections.tracks.insert((7, 8), track);
        sections
    }

    fn divided(
        sections: &mut Sections,
        thread: (u32, u32),
        time: (u64, u64),
    ) -> Vec<(u64, u64, Option<Section>)> {
        let mut pieces = Vec::new();
        sections.divide(thread, time, &mut |begin, end, section| {
            pieces.push((begin, end, section));
        });
        pieces
    }

    #[test]
    fn times_are_divided_at_the_borders_of_regions() {
        let mut sections = of(&[20, 30]);
        let pieces = divided(&mut sections, (7, 8), (10, 40));
        assert_eq!(
            pieces,
            [(10, 20, Some(0)), (20, 30, Some(1)), (30, 40, Some(0))]
        );
        assert_eq!(divided(&mut sections, (7, 9), (1, 2)), [(1, 2, Some(0))]);
        assert_eq!(divided(&mut sections, (6, 6), (1, 2)), [(1, 2, None)]);
    }

    /// Against the section of every single nanosecond, in order and not.
    #[test]
    fn pieces_are_those_of_a_search_through_all_times() {
        let mut seed = 12345u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..200 {
            let mut times: Vec<u64> = (0..random(12)).map(|_| random(60)).collect();
            times.sort_unstable();
            let mut sections = of(&times);
            let at = |time: u64| {
                let passed = times.iter().filter(|change| **change <= time).count();
                u32::from(passed % 2 == 1)
            };
            let mut begin = 0;
            for turn in 0..12 {
                let end = begin + 1 + random(15);
                let pieces = divided(&mut sections, (7, 8), (begin, end));
                let mut expected = begin;
                for (from, to, section) in pieces {
                    assert_eq!(from, expected);
                    assert!(to > from);
                    for time in from..to {
                        assert_eq!(section, Some(at(time)), "{times:?} at {time}");
                    }
                    expected = to;
                }
                assert_eq!(expected, end);
                begin = if turn == 6 { 0 } else { end + random(3) };
            }
        }
    }
}
