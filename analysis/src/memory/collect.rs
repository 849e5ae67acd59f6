//! Memory in, numbers out. Memory grows with the places that get blocks, not with the events.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use instr_trace::event::StackKind;
use instr_trace::model::{
    At, Begin, Caller, End, Gone, HeapCall, Memory, PagesCall, PagesFunction, Since, Sink, Span,
};
use instr_trace::{RegionId, ThreadInfo};

use crate::counts::Code;

use super::model::{Heap, LivePoint, Mapped, Stack};
use super::places::{Count, Counts, Live};

/// More regions open at a time are damage: they are not followed.
const MAX_REGIONS: usize = 1 << 14;
/// The library tells the state of its heap twice; what is told more often than this is damage.
const MAX_STATES: usize = 1 << 10;
/// Intervals of the time line.
const POINTS: usize = 128;

/// Folds what an interpreter gives of memory.
#[derive(Debug)]
pub struct Collector {
    /// What was counted.
    pub out: Counted,
    sites: Counts<u64>,
    bodies: Counts<Caller>,
    /// Open ones: body, and when they began.
    regions: HashMap<RegionId, (Code, u64)>,
    /// For each open region, by its begin: the most in use from there to the begin of the next one.
    peaks: BTreeMap<u64, u64>,
    /// Regions that have begun, which is the time of the two above.
    begins: u64,
    width_ns: u64,
    /// Numbers of threads by position.
    threads: Vec<u32>,
}

/// Numbers by address.
#[derive(Debug, Default)]
pub struct Counted {
    /// Whether anything was told.
    pub any: bool,
    /// See the fields of the same names in `docs/summary-json.md`, "memory".
    pub allocations: u64,
    /// Likewise.
    pub frees: u64,
    /// Likewise.
    pub allocated_bytes: u64,
    /// Likewise.
    pub refused: u64,
    /// Likewise.
    pub reallocations: u64,
    /// Likewise.
    pub unknown_frees: u64,
    /// Likewise.
    pub unfollowed: u64,
    /// All blocks.
    pub live: Live,
    /// When the high-water mark was reached.
    pub high_water_ns: u64,
    /// Pages.
    pub mapped: Mapped,
    /// States of the heap.
    pub heap: Vec<Heap>,
    /// The time line.
    pub points: Vec<LivePoint>,
    /// By return address.
    pub sites: BTreeMap<u64, Count>,
    /// By body.
    pub bodies: BTreeMap<Caller, Count>,
    /// Executions and high-water mark by region body.
    pub regions: BTreeMap<Code, (u64, u64)>,
    /// By thread.
    pub stacks: BTreeMap<u32, Stack>,
}

impl Sink for Collector {
    const MARKS: bool = false;
    const MEMORY: bool = true;

    #[inline]
    fn memory(&mut self, at: At, memory: &Memory) {
        match *memory {
            Memory::Heap(ref call) => self.heap(at.time, call),
            Memory::Pages(ref call) => self.pages(call),
            Memory::Library {
                arena,
                used,
                free,
                mapped,
            } => {
                // The first ones and the last.
                self.out.heap.truncate(MAX_STATES);
                self.out.heap.push(Heap {
                    time_ns: at.time,
                    arena_bytes: arena,
                    used_bytes: used,
                    free_bytes: free,
                    mapped_bytes: mapped,
                });
                self.out.any = true;
            }
            Memory::Stack {
                kind,
                low,
                high,
                mark,
            } => self.stack(at.position, kind, (low, high), mark),
            _ => {}
        }
    }

    #[inline]
    fn begin(&mut self, _at: At, span: &Span, how: Begin) {
        if let Span::Parallel { region, code, .. } = *span
            && how != Begin::Resumed
        {
            self.region_begins(region, code);
        }
    }

    #[inline]
    fn end(&mut self, _at: At, span: &Span, how: End, _since: Since) {
        if let Span::Parallel { region, .. } = *span
            && how != End::Suspended
            && let Some((code, since)) = self.regions.remove(&region)
        {
            self.region_ends(code, since);
        }
    }
}

impl Collector {
    /// For the threads of one trace.
    pub fn new(threads: &[ThreadInfo]) -> Self {
        Self {
            out: Counted::default(),
            sites: Counts::default(),
            bodies: Counts::default(),
            regions: HashMap::new(),
            peaks: BTreeMap::new(),
            begins: 0,
            width_ns: 0,
            threads: threads.iter().map(|info| info.index).collect(),
        }
    }

    /// What is open counts up to here.
    pub fn finish(mut self) -> Counted {
        let mut open: Vec<(Code, u64)> = std::mem::take(&mut self.regions).into_values().collect();
        open.sort_unstable_by_key(|&(_, since)| since);
        for (code, since) in open {
            self.region_ends(code, since);
        }
        self.out.sites = self.sites.into_counts();
        self.out.bodies = self.bodies.into_counts();
        self.out
    }

    fn region_begins(&mut self, region: RegionId, code: Code) {
        if self.regions.len() >= MAX_REGIONS {
            return;
        }
        self.begins += 1;
        self.peaks.insert(self.begins, self.out.live.bytes);
        let before = self.regions.insert(region, (code, self.begins));
        if let Some((code, since)) = before {
            self.region_ends(code, since);
        }
    }

    fn region_ends(&mut self, code: Code, since: u64) {
        let most = self.forget(since);
        let entry = self.out.regions.entry(code).or_default();
        *entry = (entry.0 + 1, entry.1.max(most));
    }

    /// The most in use since the begin of a region, which is not asked for again.
    fn forget(&mut self, since: u64) -> u64 {
        let most = self.peaks.range(since..).map(|(_, &most)| most).max();
        let own = self.peaks.remove(&since).unwrap_or(0);
        if let Some((_, before)) = self.peaks.range_mut(..since).next_back() {
            *before = (*before).max(own);
        }
        most.unwrap_or(0)
    }

    fn heap(&mut self, now: u64, call: &HeapCall) {
        let out = &mut self.out;
        out.any = true;
        if call.refused {
            out.refused += 1;
            return;
        }
        out.frees += u64::from(call.gone.is_some());
        out.reallocations += u64::from(call.gone.is_some() && call.got.is_some());
        match call.gone {
            Some(Gone::Block {
                bytes,
                site,
                caller,
            }) => {
                self.sites.gives(site, bytes);
                self.bodies.gives(caller, bytes);
            }
            Some(Gone::Unknown) => out.unknown_frees += 1,
            None => {}
        }
        if let Some(got) = call.got {
            out.allocations += 1;
            out.allocated_bytes = out.allocated_bytes.saturating_add(call.bytes);
            out.unfollowed += u64::from(!got.followed);
            self.sites.of(got.site).got(call.bytes, got.followed);
            self.bodies.of(got.caller).got(call.bytes, got.followed);
        }
        out.live.blocks = call.blocks_in_use;
        out.live.bytes = call.bytes_in_use;
        if call.bytes_in_use > out.live.high_water {
            (out.live.high_water, out.high_water_ns) = (call.bytes_in_use, now);
        }
        if let Some(mut newest) = self.peaks.last_entry() {
            *newest.get_mut() = call.bytes_in_use.max(*newest.get());
        }
        self.point(now, call.bytes_in_use);
    }

    /// Keeps the most of each interval; the intervals become longer with the run.
    fn point(&mut self, now: u64, bytes: u64) {
        self.width_ns = self.width_ns.max(1);
        while now / self.width_ns >= POINTS as u64 {
            self.width_ns *= 2;
            let width = self.width_ns;
            let mut merged: Vec<LivePoint> = Vec::with_capacity(POINTS);
            for point in self.out.points.drain(..) {
                let time_ns = point.time_ns / width * width;
                match merged.last_mut().filter(|last| last.time_ns == time_ns) {
                    Some(last) => last.max_bytes = last.max_bytes.max(point.max_bytes),
                    None => merged.push(LivePoint { time_ns, ..point }),
                }
            }
            self.out.points = merged;
        }
        let time_ns = now / self.width_ns * self.width_ns;
        match self
            .out
            .points
            .last_mut()
            .filter(|last| last.time_ns >= time_ns)
        {
            Some(last) => last.max_bytes = last.max_bytes.max(bytes),
            None => self.out.points.push(LivePoint {
                time_ns,
                max_bytes: bytes,
            }),
        }
    }

    fn pages(&mut self, call: &PagesCall) {
        self.out.any = true;
        let mapped = &mut self.out.mapped;
        let count = match call.function {
            _ if call.refused => &mut mapped.refused,
            PagesFunction::Map => &mut mapped.maps,
            PagesFunction::Unmap => &mut mapped.unmaps,
            PagesFunction::Remap => &mut mapped.remaps,
        };
        *count += 1;
        mapped.bytes = call.mapped;
        mapped.high_water_bytes = mapped.high_water_bytes.max(call.mapped);
    }

    fn stack(&mut self, position: usize, kind: StackKind, (low, high): (u64, u64), mark: u64) {
        let Some(&thread) = self.threads.get(position) else {
            return;
        };
        // Without a last word (a killed program) nothing is known but the begin.
        let stack = Stack {
            thread,
            bytes: high.saturating_sub(mark),
            exact: kind == StackKind::Touched,
            size_bytes: high.saturating_sub(low),
        };
        if kind != StackKind::Bounds || !self.out.stacks.contains_key(&thread) {
            self.out.stacks.insert(thread, stack);
        }
    }
}
