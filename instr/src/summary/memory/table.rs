//! For people.

use std::cmp::Reverse;
use std::io::{self, Write};

use super::super::model::Summary;
use super::super::table::label;
use super::super::units::{count, counted, size, time};
use super::model::{Memory, Site};
use crate::page::Page;
use crate::sheet::Sheet;

/// Writes the tables of memory, if there is anything to tell.
///
/// # Errors
///
/// Those of the page.
pub fn write(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let Some(memory) = &summary.memory else {
        return Ok(());
    };
    if memory.allocations > 0 || memory.refused > 0 {
        heap(memory, page)?;
    }
    regions(memory, page)?;
    stacks(memory, page)
}

fn heap(memory: &Memory, page: &mut Page<'_>) -> io::Result<()> {
    writeln!(page)?;
    let heap = format!(
        "{} got, {}; at most {} in use, after {}; {} in use at the end ({})",
        counted(memory.allocations, "block"),
        size(memory.allocated_bytes),
        size(memory.live_high_water_bytes),
        time(memory.live_high_water_ns),
        counted(memory.live_blocks, "block"),
        size(memory.live_bytes),
    );
    page.paragraph("heap: ", &heap)?;
    if memory.mapped.maps > 0 {
        writeln!(
            page,
            "mapped: {}, at most {}; {} at the end",
            counted(memory.mapped.maps, "mapping"),
            size(memory.mapped.high_water_bytes),
            size(memory.mapped.bytes),
        )?;
    }
    let mut table = Sheet::of_places(1, &["memory got in", "blocks", "bytes", "most in use"]);
    for body in memory.bodies.iter().take(page.rows) {
        table.add_row([
            body.place.label.clone(),
            count(body.allocations),
            size(body.allocated_bytes),
            size(body.live_high_water_bytes),
        ]);
    }
    table.print(memory.bodies.len(), page)?;
    sites(
        "memory got by",
        &memory.sites.iter().collect::<Vec<_>>(),
        page,
    )
}

fn sites(title: &str, sites: &[&Site], page: &mut Page<'_>) -> io::Result<()> {
    let header = [
        title,
        "blocks",
        "bytes",
        "most in use",
        "left",
        "bytes left",
    ];
    let mut table = Sheet::of_places(1, &header);
    for site in sites.iter().take(page.rows) {
        table.add_row([
            label(&site.place),
            count(site.allocations),
            size(site.allocated_bytes),
            size(site.live_high_water_bytes),
            count(site.live_blocks),
            size(site.live_bytes),
        ]);
    }
    table.print(sites.len(), page)
}

/// Blocks that nobody gave back, by the call that got them, most bytes first.
///
/// # Errors
///
/// Those of the page.
pub fn leaks(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let Some(memory) = &summary.memory else {
        let how = "no memory was traced; link the program with instr-cc --instr-memory";
        return writeln!(page, "{}: {how}", summary.program);
    };
    writeln!(
        page,
        "{}: {} never given back, {}",
        summary.program,
        counted(memory.live_blocks, "block"),
        size(memory.live_bytes)
    )?;
    let mut left: Vec<&Site> = memory.sites.iter().filter(|s| s.live_blocks > 0).collect();
    left.sort_by_key(|site| (Reverse(site.live_bytes), site.place.address));
    sites("got by", &left, page)?;
    summary
        .children
        .iter()
        .try_for_each(|child| leaks(child, page))
}

fn regions(memory: &Memory, page: &mut Page<'_>) -> io::Result<()> {
    let header = ["memory while running", "count", "most in use"];
    let mut table = Sheet::of_places(1, &header);
    for region in memory.regions.iter().take(page.rows) {
        table.add_row([
            label(&region.place),
            count(region.count),
            size(region.live_high_water_bytes),
        ]);
    }
    table.print(memory.regions.len(), page)
}

fn stacks(memory: &Memory, page: &mut Page<'_>) -> io::Result<()> {
    let mut table = Sheet::new(1, &["stack of thread", "used", "of"]);
    for stack in memory.stack_high_water.iter().take(page.rows) {
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
    table.print(memory.stack_high_water.len(), page)
}
