//! For people.

use std::cmp::Reverse;
use std::io::{self, Write};

use super::super::model::Summary;
use super::super::table::{MAX_ROWS, Sheet, label};
use super::super::units::{count, counted, size, time};
use super::model::{Memory, Site};

/// Writes the tables of memory, if there is anything to tell.
///
/// # Errors
///
/// Those of `out`.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let Some(memory) = &summary.memory else {
        return Ok(());
    };
    if memory.allocations > 0 || memory.refused > 0 {
        heap(memory, out)?;
    }
    regions(memory, out)?;
    stacks(memory, out)
}

fn heap(memory: &Memory, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\nheap: {} got, {}; at most {} in use, after {}; {} in use at the end ({})",
        counted(memory.allocations, "block"),
        size(memory.allocated_bytes),
        size(memory.live_high_water_bytes),
        time(memory.live_high_water_ns),
        counted(memory.live_blocks, "block"),
        size(memory.live_bytes),
    )?;
    if memory.mapped.maps > 0 {
        writeln!(
            out,
            "mapped: {}, at most {}; {} at the end",
            counted(memory.mapped.maps, "mapping"),
            size(memory.mapped.high_water_bytes),
            size(memory.mapped.bytes),
        )?;
    }
    let mut table = Sheet::new(1, &["memory got in", "blocks", "bytes", "most in use"]);
    for body in memory.bodies.iter().take(MAX_ROWS) {
        table.add_row([
            label(&body.place),
            count(body.allocations),
            size(body.allocated_bytes),
            size(body.live_high_water_bytes),
        ]);
    }
    table.print(memory.bodies.len(), out)?;
    sites(
        "memory got by",
        &memory.sites.iter().collect::<Vec<_>>(),
        out,
    )
}

fn sites(title: &str, sites: &[&Site], out: &mut dyn Write) -> io::Result<()> {
    let header = [
        title,
        "blocks",
        "bytes",
        "most in use",
        "left",
        "bytes left",
    ];
    let mut table = Sheet::new(1, &header);
    for site in sites.iter().take(MAX_ROWS) {
        table.add_row([
            label(&site.place),
            count(site.allocations),
            size(site.allocated_bytes),
            size(site.live_high_water_bytes),
            count(site.live_blocks),
            size(site.live_bytes),
        ]);
    }
    table.print(sites.len(), out)
}

/// Blocks that nobody gave back, by the call that got them, most bytes first.
///
/// # Errors
///
/// Those of `out`.
pub fn leaks(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let Some(memory) = &summary.memory else {
        let how = "no memory was traced; link the program with instr-cc --instr-memory";
        return writeln!(out, "{}: {how}", summary.program);
    };
    writeln!(
        out,
        "{}: {} never given back, {}",
        summary.program,
        counted(memory.live_blocks, "block"),
        size(memory.live_bytes)
    )?;
    let mut left: Vec<&Site> = memory.sites.iter().filter(|s| s.live_blocks > 0).collect();
    left.sort_by_key(|site| (Reverse(site.live_bytes), site.place.address));
    sites("got by", &left, out)?;
    summary
        .children
        .iter()
        .try_for_each(|child| leaks(child, out))
}

fn regions(memory: &Memory, out: &mut dyn Write) -> io::Result<()> {
    let header = ["memory while running", "count", "most in use"];
    let mut table = Sheet::new(1, &header);
    for region in memory.regions.iter().take(MAX_ROWS) {
        table.add_row([
            label(&region.place),
            count(region.count),
            size(region.live_high_water_bytes),
        ]);
    }
    table.print(memory.regions.len(), out)
}

fn stacks(memory: &Memory, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Sheet::new(1, &["stack of thread", "used", "of"]);
    for stack in memory.stack_high_water.iter().take(MAX_ROWS) {
        let used = size(stack.bytes);
        table.add_row([
            stack.thread.to_string(),
            if stack.exact {
                used
            } else {
                format!(">= {used}")
            },
            size(stack.size_bytes),
        ]);
    }
    table.print(memory.stack_high_water.len(), out)
}
