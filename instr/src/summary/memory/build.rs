//! Numbers by address to a [`Memory`] with names.

use std::cmp::Reverse;

use instr_analysis::memory::Counted;
use instr_trace::Names;
use instr_trace::names::CodeRole;

use super::super::counts::Code;
use super::super::model::Place;
use super::model::{BodyMemory, Memory, RegionMemory, Site};

/// Names what was counted; nothing when no memory event was there. `begin` is the time of the first event.
pub fn build(counted: Counted, begin: u64, names: &dyn Names) -> Option<Memory> {
    if !counted.any && counted.stacks.is_empty() {
        return None;
    }
    let since = |time: u64| time.saturating_sub(begin);
    let mut memory = Memory {
        allocations: counted.allocations,
        frees: counted.frees,
        allocated_bytes: counted.allocated_bytes,
        live_high_water_bytes: counted.live.high_water,
        live_high_water_ns: since(counted.high_water_ns),
        live_bytes: counted.live.bytes,
        live_blocks: counted.live.blocks,
        refused: counted.refused,
        reallocations: counted.reallocations,
        unknown_frees: counted.unknown_frees,
        unfollowed: counted.unfollowed,
        mapped: counted.mapped,
        heap: counted.heap,
        live_over_time: counted.points,
        stack_high_water: counted.stacks.into_values().collect(),
        ..Memory::default()
    };
    memory
        .heap
        .iter_mut()
        .for_each(|h| h.time_ns = since(h.time_ns));
    memory
        .live_over_time
        .iter_mut()
        .for_each(|p| p.time_ns = since(p.time_ns));
    memory.sites = counted
        .sites
        .iter()
        .map(|(&site, count)| Site {
            place: Place::of(names, Some(Code::new(site, true)), CodeRole::Function),
            allocations: count.allocations,
            allocated_bytes: count.bytes,
            live_high_water_bytes: count.live.high_water,
            live_bytes: count.live.bytes,
            live_blocks: count.live.blocks,
        })
        .collect();
    memory
        .sites
        .sort_by_key(|site| (Reverse(site.allocated_bytes), site.place.address));
    memory.bodies = counted
        .bodies
        .iter()
        .map(|(caller, count)| BodyMemory {
            place: {
                let code = Some(caller.code).filter(|code| code.address != 0);
                match caller.task {
                    true => Place::of(names, code, CodeRole::Task),
                    false => Place::around(names, code),
                }
            },
            task: caller.task,
            allocations: count.allocations,
            allocated_bytes: count.bytes,
            live_high_water_bytes: count.live.high_water,
        })
        .collect();
    memory
        .bodies
        .sort_by_key(|body| (Reverse(body.allocated_bytes), body.place.address));
    if counted.allocations > 0 {
        memory.regions = counted
            .regions
            .iter()
            .map(|(&code, &(count, most))| RegionMemory {
                place: Place::of(names, Some(code), CodeRole::Parallel),
                count,
                live_high_water_bytes: most,
            })
            .collect();
        memory
            .regions
            .sort_by_key(|region| (Reverse(region.live_high_water_bytes), region.place.address));
    }
    Some(memory)
}
