//! Closed forms and a model of single bytes.

use super::{Collector, Counted};
use instr_trace::event::{BlockKind, ParallelKind};
use instr_trace::model::Interpreter;
use instr_trace::{Event, Payload, ThreadInfo};

fn fold(events: &[(u64, u32, Payload<'_>)]) -> Counted {
    let threads = [0, 1].map(|index| ThreadInfo {
        index,
        os_tid: 0,
        name: String::new(),
        initial: index == 0,
        worker: false,
        first_time: 0,
        last_time: u64::MAX,
        discarded: 0,
        truncated: false,
        packets: 1,
        bytes: 0,
    });
    let mut model = Interpreter::new(&threads);
    let mut collector = Collector::new(&threads);
    for &(time, thread, payload) in events {
        let event = Event {
            time,
            ticks: time,
            thread,
            payload,
        };
        model.event(thread as usize, &event, &mut collector);
    }
    model.finish(&mut collector);
    collector.finish()
}

fn got(address: u64, bytes: u64) -> Payload<'static> {
    Payload::MemAlloc {
        kind: BlockKind::Malloc,
        address,
        bytes,
        site: 0x40,
    }
}

fn free(address: u64) -> Payload<'static> {
    Payload::MemFree {
        kind: BlockKind::Malloc,
        address,
    }
}

fn moved(old: u64, address: u64, bytes: u64) -> Payload<'static> {
    Payload::MemRealloc {
        old,
        address,
        bytes,
        site: 0x50,
    }
}

#[test]
fn a_realloc_is_one_block_that_changes_its_size() {
    let counted = fold(&[
        (1, 0, got(0x1000, 100)),
        (2, 0, moved(0x1000, 0x2000, 300)),
        (3, 0, moved(0x2000, 0, 1 << 60)),
        (4, 0, moved(0, 0x3000, 50)),
        (5, 0, moved(0x3000, 0, 0)),
        (6, 0, got(0, 1 << 60)),
    ]);
    assert_eq!((counted.allocations, counted.frees), (3, 2));
    assert_eq!(counted.allocated_bytes, 450);
    assert_eq!((counted.refused, counted.reallocations), (2, 1));
    assert_eq!((counted.live.bytes, counted.live.high_water), (300, 350));
    assert_eq!((counted.live.blocks, counted.high_water_ns), (1, 4));
    assert_eq!(counted.sites[&0x40].live.bytes, 0);
    assert_eq!(counted.sites[&0x50].live.bytes, 300);
}

#[test]
fn an_address_told_twice_belongs_to_two_blocks_for_a_while() {
    // Thread 1 gets what thread 0's realloc has left before that is told.
    let counted = fold(&[
        (1, 0, got(0x1000, 100)),
        (2, 1, got(0x1000, 7)),
        (3, 0, moved(0x1000, 0x2000, 300)),
        (4, 1, free(0x1000)),
        (5, 0, free(0x2000)),
        (6, 0, free(0x2000)),
    ]);
    assert_eq!((counted.live.bytes, counted.live.blocks), (0, 0));
    assert_eq!((counted.frees, counted.unknown_frees), (4, 1));
    assert_eq!(counted.live.high_water, 307);
}

#[test]
fn a_region_has_the_most_that_was_in_use_while_it_ran() {
    let region = |function| Payload::ParallelBegin {
        seq: function as u32,
        function,
        requested: 0,
        kind: ParallelKind::Region,
        call_site: false,
    };
    let counted = fold(&[
        (1, 0, got(1, 10)),
        (2, 0, region(8)),
        (3, 1, got(2, 20)),
        (4, 1, free(2)),
        (5, 0, Payload::ParallelEnd { seq: 8 }),
        (6, 0, got(3, 100)),
        (7, 0, free(3)),
        (8, 0, region(9)),
    ]);
    let of = |address: u64| counted.regions[&address.into()];
    assert_eq!((of(8), of(9)), ((1, 30), (1, 10)));
}

#[test]
fn mappings_are_taken_away_in_parts() {
    let map = |address, bytes| Payload::MemMap {
        address,
        bytes,
        site: 0,
    };
    let unmap = |address, bytes| Payload::MemUnmap { address, bytes };
    const P: u64 = 4096;
    let mut events = vec![(0, 0, map(10 * P, 10 * P)), (1, 0, unmap(12 * P, P))];
    events.push((2, 0, map(11 * P, 4 * P - 5)));
    events.push((3, 0, unmap(19 * P, 50 * P)));
    events.push((4, 0, unmap(5 * P, 6 * P)));
    let counted = fold(&events);
    // The same with a set of pages.
    let mut pages: std::collections::BTreeSet<u64> = (10..20).collect();
    pages.remove(&12);
    pages.extend(11..15);
    pages.retain(|page| !(19..69).contains(page) && !(5..11).contains(page));
    assert_eq!(counted.mapped.bytes, pages.len() as u64 * P);
    assert_eq!(counted.mapped.high_water_bytes, 10 * P);
    assert_eq!((counted.mapped.maps, counted.mapped.unmaps), (2, 3));
}

#[test]
fn the_time_line_keeps_the_peaks_however_long_the_run() {
    let mut events = Vec::new();
    for i in 0..10_000_u64 {
        events.push((i * 1_000, 0, got(i + 1, 10)));
        if i % 1000 == 7 {
            events.push((i * 1_000 + 1, 0, got(1 << 40, 5_000_000)));
            events.push((i * 1_000 + 2, 0, free(1 << 40)));
        }
    }
    let counted = fold(&events);
    let points = &counted.points;
    assert!(points.len() > 32 && points.len() <= 128, "{}", points.len());
    assert!(points.is_sorted_by(|a, b| a.time_ns < b.time_ns));
    let peaks = points.iter().filter(|p| p.max_bytes >= 5_000_000).count();
    assert_eq!(peaks, 10);
    let most = points.iter().map(|p| p.max_bytes).max();
    assert_eq!(most, Some(counted.live.high_water));
    assert_eq!(counted.live.high_water, 9_008 * 10 + 5_000_000);
}

/// A generator of numbers, the same ones every time.
fn random(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Addresses given back twice, never got, told twice, moved onto each other; regions whose inner ones do not end, that end twice and never:
/// as a model that looks at everything again after each event.
#[test]
fn any_order_of_events_counts_as_the_model_does() {
    use std::collections::{BTreeMap, VecDeque};
    for seed in 0..20 {
        let (mut state, mut events) = (seed, Vec::new());
        let mut blocks: BTreeMap<u64, VecDeque<u64>> = BTreeMap::new();
        let (mut allocations, mut frees, mut unknown, mut high, mut live) = (0, 0, 0, 0, 0_u64);
        let mut open: BTreeMap<u32, u64> = BTreeMap::new();
        // Begins of regions, outermost first, and the place of the last begin of each.
        let (mut nested, mut places) = (Vec::new(), BTreeMap::new());
        let mut peaks: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        let ended = |peaks: &mut BTreeMap<u64, (u64, u64)>, seq: u32, most: u64| {
            let peak = peaks.entry(u64::from(seq % 4)).or_default();
            *peak = (peak.0 + 1, peak.1.max(most));
        };
        for time in 0..3_000 {
            let (address, bytes) = (random(&mut state) % 12 + 1, random(&mut state) % 100);
            let mut give = |blocks: &mut BTreeMap<u64, VecDeque<u64>>, address| {
                frees += 1;
                let gone = blocks.get_mut(&address).and_then(VecDeque::pop_front);
                unknown += u64::from(gone.is_none());
                gone.unwrap_or(0)
            };
            let payload = match random(&mut state) % 8 {
                0..=2 => {
                    live += bytes;
                    allocations += 1;
                    blocks.entry(address).or_default().push_back(bytes);
                    got(address, bytes)
                }
                3 | 4 => {
                    live -= give(&mut blocks, address);
                    free(address)
                }
                5 => {
                    let old = random(&mut state) % 12 + 1;
                    live -= give(&mut blocks, old);
                    live += bytes;
                    allocations += 1;
                    blocks.entry(address).or_default().push_back(bytes);
                    moved(old, address, bytes)
                }
                6 => {
                    let seq = (random(&mut state) % 8) as u32;
                    if let Some(most) = open.insert(seq, live) {
                        ended(&mut peaks, seq, most);
                    }
                    places.insert(seq, nested.len());
                    nested.push(seq);
                    Payload::ParallelBegin {
                        seq,
                        function: u64::from(seq % 4),
                        requested: 0,
                        kind: ParallelKind::Region,
                        call_site: false,
                    }
                }
                _ => {
                    let seq = (random(&mut state) % 8) as u32;
                    // Those inside of it end with it.
                    let place = places.remove(&seq);
                    let place = place.filter(|place| nested.get(*place) == Some(&seq));
                    for inner in nested.split_off(place.unwrap_or(nested.len())) {
                        if let Some(most) = open.remove(&inner) {
                            ended(&mut peaks, inner, most);
                        }
                    }
                    Payload::ParallelEnd { seq }
                }
            };
            high = high.max(live);
            open.values_mut().for_each(|most| *most = live.max(*most));
            events.push((time, 0, payload));
        }
        for (seq, most) in open {
            ended(&mut peaks, seq, most);
        }
        let counted = fold(&events);
        let told = (counted.allocations, counted.frees, counted.unknown_frees);
        assert_eq!(told, (allocations, frees, unknown));
        assert_eq!((counted.live.bytes, counted.live.high_water), (live, high));
        let left: usize = blocks.values().map(VecDeque::len).sum();
        assert_eq!(counted.live.blocks, left as u64);
        let regions = counted.regions.iter();
        let regions: BTreeMap<u64, (u64, u64)> =
            regions.map(|(code, peak)| (code.address, *peak)).collect();
        assert_eq!(regions, peaks, "seed {seed}");
    }
}
