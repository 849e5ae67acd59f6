//! Events in, numbers out. Memory grows with the blocks in use and the places that get them, not with the events.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use instr_trace::event::StackKind;
use instr_trace::{Blocks, Event, Payload, RegionId};

use super::super::counts::Code;
use super::model::{Heap, LivePoint, Mapped, Stack};
use super::places::{Count, Live, Places};

/// More blocks at a time are not followed: they count as got, and as unknown when they are given back.
const MAX_BLOCKS: usize = 1 << 24;
/// More mappings at a time are not followed.
const MAX_MAPPINGS: usize = 1 << 20;
/// More regions open at a time are damage: they are not followed.
const MAX_REGIONS: usize = 1 << 14;
/// Intervals of the time line.
const POINTS: usize = 128;

/// A body and whether it is an explicit task's.
pub type BodyCode = (Option<Code>, bool);

/// Folds the memory events of a merged trace.
#[derive(Debug)]
pub struct Collector {
    /// What was counted.
    pub out: Counted,
    live: Blocks<Block>,
    sites: Places<u64>,
    bodies: Places<BodyCode>,
    /// Open ones: body, and when they began.
    regions: HashMap<RegionId, (Code, u64)>,
    /// For each open region, by its begin: the most in use from there to the begin of the next one.
    peaks: BTreeMap<u64, u64>,
    /// Regions that have begun, which is the time of the two above.
    begins: u64,
    mapped: BTreeMap<u64, u64>,
    width_ns: u64,
    high_water: u64,
}

impl Default for Collector {
    fn default() -> Self {
        Self {
            out: Counted::default(),
            live: Blocks::new(MAX_BLOCKS),
            sites: Places::default(),
            bodies: Places::default(),
            regions: HashMap::new(),
            peaks: BTreeMap::new(),
            begins: 0,
            mapped: BTreeMap::new(),
            width_ns: 0,
            high_water: 0,
        }
    }
}

/// Numbers by address.
#[derive(Debug, Default)]
pub struct Counted {
    /// Whether anything was told.
    pub any: bool,
    /// See the fields of the same names in [`super::model::Memory`].
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
    pub bodies: BTreeMap<BodyCode, Count>,
    /// Executions and high-water mark by region body.
    pub regions: BTreeMap<Code, (u64, u64)>,
    /// By thread.
    pub stacks: BTreeMap<u32, Stack>,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    bytes: u64,
    site: u32,
    body: u32,
}

impl Collector {
    /// Takes the next event; `body` runs on its thread.
    #[inline]
    pub fn event(&mut self, event: &Event<'_>, body: impl FnOnce() -> BodyCode) {
        match event.payload {
            Payload::MemAlloc {
                address,
                bytes,
                site,
                ..
            } => {
                let block = self.block(bytes, site, body);
                self.got(event.time, address, block);
            }
            Payload::MemFree { address, .. } => self.gives_back(event.time, address),
            Payload::MemRealloc {
                old,
                address,
                bytes,
                site,
            } => {
                let block = self.block(bytes, site, body);
                self.moved(event.time, old, address, block);
            }
            Payload::ParallelBegin {
                seq,
                function,
                call_site,
                ..
            } => self.region_begins(event.thread, seq, Code::new(function, call_site)),
            Payload::ParallelEnd { seq } => {
                let id = RegionId {
                    thread: event.thread,
                    seq,
                };
                if let Some((code, since)) = self.regions.remove(&id) {
                    self.region_ends(code, since);
                }
            }
            Payload::Lost { region: None, .. } => {
                let lost = self
                    .regions
                    .extract_if(|id, _| id.thread == event.thread)
                    .map(|(_, (_, since))| since);
                for since in lost.collect::<Vec<_>>() {
                    self.forget(since);
                }
            }
            _ => self.rare(event),
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

    fn block(&mut self, bytes: u64, site: u64, body: impl FnOnce() -> BodyCode) -> Block {
        Block {
            bytes,
            site: self.sites.index(site),
            body: self.bodies.index(body()),
        }
    }

    fn region_begins(&mut self, thread: u32, seq: u32, code: Code) {
        if self.regions.len() >= MAX_REGIONS {
            return;
        }
        self.begins += 1;
        self.peaks.insert(self.begins, self.out.live.bytes);
        let before = self
            .regions
            .insert(RegionId { thread, seq }, (code, self.begins));
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

    fn got(&mut self, now: u64, address: u64, block: Block) {
        self.out.any = true;
        if address == 0 {
            self.out.refused += 1;
            return;
        }
        if self.enter(address, block) {
            self.out.live.add(block.bytes);
        }
        self.changed(now);
    }

    /// Counts a block and follows it; false when it is not followed.
    fn enter(&mut self, address: u64, block: Block) -> bool {
        self.out.allocations += 1;
        self.out.allocated_bytes = self.out.allocated_bytes.saturating_add(block.bytes);
        let followed = self.live.insert(address, block);
        self.out.unfollowed += u64::from(!followed);
        self.of(block, |count| {
            count.allocations += 1;
            count.bytes = count.bytes.saturating_add(block.bytes);
            if followed {
                count.live.add(block.bytes);
            }
        });
        followed
    }

    /// The counts of the place and the body that got a block.
    fn of(&mut self, block: Block, change: impl Fn(&mut Count)) {
        change(self.sites.count(block.site));
        change(self.bodies.count(block.body));
    }

    fn gives_back(&mut self, now: u64, address: u64) {
        self.out.any = true;
        self.out.frees += 1;
        match self.live.remove(address) {
            Some(block) => {
                self.out.live.remove(block.bytes);
                self.of(block, |count| count.live.remove(block.bytes));
            }
            None => self.out.unknown_frees += 1,
        }
        self.changed(now);
    }

    fn moved(&mut self, now: u64, old: u64, address: u64, block: Block) {
        if old == 0 {
            return self.got(now, address, block);
        }
        if address == 0 {
            match block.bytes {
                0 => self.gives_back(now, old),
                _ => self.out.refused += 1,
            }
            return;
        }
        self.out.any = true;
        self.out.frees += 1;
        self.out.reallocations += 1;
        // Never both at a time: the program sees one block that changes its size.
        let gone = self.live.remove(old);
        match gone {
            Some(gone) => self.of(gone, |count| count.live.remove(gone.bytes)),
            None => self.out.unknown_frees += 1,
        }
        let followed = self.enter(address, block);
        match (gone, followed) {
            (Some(gone), true) => self.out.live.replace(gone.bytes, block.bytes),
            (Some(gone), false) => self.out.live.remove(gone.bytes),
            (None, true) => self.out.live.add(block.bytes),
            (None, false) => {}
        }
        self.changed(now);
    }

    /// The sum of all blocks is another one from `now` on.
    fn changed(&mut self, now: u64) {
        let bytes = self.out.live.bytes;
        if bytes > self.high_water {
            self.high_water = bytes;
            self.out.high_water_ns = now;
        }
        if let Some(mut newest) = self.peaks.last_entry() {
            *newest.get_mut() = bytes.max(*newest.get());
        }
        self.point(now, bytes);
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

    fn rare(&mut self, event: &Event<'_>) {
        match event.payload {
            Payload::MemMap { address: 0, .. } | Payload::MemRemap { address: 0, .. } => {
                self.out.mapped.refused += 1;
            }
            Payload::MemMap { address, bytes, .. } => {
                self.out.mapped.maps += 1;
                self.unmap(address, bytes);
                self.map(address, bytes);
            }
            // Told before the call, which the system refuses.
            Payload::MemUnmap { address, bytes } if !address.is_multiple_of(PAGE) || bytes == 0 => {
                self.out.mapped.refused += 1;
            }
            Payload::MemUnmap { address, bytes } => {
                self.out.mapped.unmaps += 1;
                self.unmap(address, bytes);
            }
            Payload::MemRemap {
                old,
                old_bytes,
                address,
                bytes,
                ..
            } => {
                self.out.mapped.remaps += 1;
                self.unmap(old, old_bytes);
                self.unmap(address, bytes);
                self.map(address, bytes);
            }
            Payload::MemHeap {
                arena,
                used,
                free,
                mapped,
            } => self.out.heap.push(Heap {
                time_ns: event.time,
                arena_bytes: arena,
                used_bytes: used,
                free_bytes: free,
                mapped_bytes: mapped,
            }),
            Payload::Stack { .. } => return self.stack(event),
            _ => return,
        }
        self.out.any = true;
    }

    fn map(&mut self, address: u64, bytes: u64) {
        let end = address.saturating_add(pages(bytes));
        if end > address && self.mapped.len() < MAX_MAPPINGS {
            self.mapped.insert(address, end);
        }
        let mapped = &mut self.out.mapped;
        mapped.bytes = mapped.bytes.saturating_add(end - address);
        mapped.high_water_bytes = mapped.high_water_bytes.max(mapped.bytes);
    }

    /// Takes [address, address + bytes) out of the mappings, parts of them too.
    fn unmap(&mut self, address: u64, bytes: u64) {
        let end = address.saturating_add(pages(bytes));
        let below = self.mapped.range(..address).next_back();
        if let Some((&from, &to)) = below
            && to > address
        {
            self.mapped.insert(from, address);
            if to > end {
                self.mapped.insert(end, to);
            }
            self.unmapped(to.min(end) - address);
        }
        while let Some((&from, &to)) = self.mapped.range(address..end).next() {
            self.mapped.remove(&from);
            if to > end {
                self.mapped.insert(end, to);
            }
            self.unmapped(to.min(end) - from);
        }
    }

    fn unmapped(&mut self, bytes: u64) {
        let mapped = &mut self.out.mapped;
        mapped.bytes = mapped.bytes.saturating_sub(bytes);
    }

    fn stack(&mut self, event: &Event<'_>) {
        let Payload::Stack {
            kind,
            low,
            high,
            mark,
        } = event.payload
        else {
            return;
        };
        // Without a last word (a killed program) nothing is known but the begin.
        let stack = Stack {
            thread: event.thread,
            bytes: high.saturating_sub(mark),
            exact: kind == StackKind::Touched,
            size_bytes: high.saturating_sub(low),
        };
        if kind != StackKind::Bounds || !self.out.stacks.contains_key(&event.thread) {
            self.out.stacks.insert(event.thread, stack);
        }
    }
}

/// Bytes of the smallest page there is: it serves for all, as lengths are hardly ever no multiples of larger ones.
const PAGE: u64 = 4096;

/// Whole pages.
fn pages(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(PAGE).unwrap_or(bytes)
}
