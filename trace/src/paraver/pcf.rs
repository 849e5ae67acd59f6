//! The `.pcf` file: labels and colours.

use std::io::{Result, Write};

use super::names::{NameTables, Table};
use super::rows::clean;
use super::types::*;

const OPTIONS: &str = "DEFAULT_OPTIONS

LEVEL               THREAD
UNITS               NANOSEC
LOOK_BACK           100
SPEED               1
FLAG_ICONS          ENABLED
NUM_OF_STATE_COLORS 1000
YMAX_SCALE          37


DEFAULT_SEMANTIC

THREAD_FUNC          State As Is

";

/// Colours of Paraver's gradient, and names, as Extrae writes them.
const GRADIENT: &[[u8; 3]] = &[
    [0, 255, 2],
    [0, 244, 13],
    [0, 232, 25],
    [0, 220, 37],
    [0, 209, 48],
    [0, 197, 60],
    [0, 185, 72],
    [0, 173, 84],
    [0, 162, 95],
    [0, 150, 107],
    [0, 138, 119],
    [0, 127, 130],
    [0, 115, 142],
    [0, 103, 154],
    [0, 91, 166],
];

/// Writes the whole file.
pub(super) fn write(
    out: &mut impl Write,
    names: &NameTables<'_>,
    readings: &[(u32, String)],
    (processors, scheduled): (&[(u32, String)], bool),
) -> Result<()> {
    out.write_all(OPTIONS.as_bytes())?;
    states(out)?;
    for (kind, label, values) in FIXED {
        block(out, &[(*kind, label)])?;
        if !values.is_empty() {
            writeln!(out, "VALUES")?;
            for (value, label) in *values {
                writeln!(out, "{value}      {label}")?;
            }
        }
    }
    block(out, FUNCTION_TYPES)?;
    sampled(out, names, SAMPLED_FUNCTION, "Sampled function")?;
    table(out, &[(0, "End"), (1, "Unresolved")], &names.functions)?;
    block(out, LINE_TYPES)?;
    sampled(out, names, SAMPLED_LINE, "Sampled line")?;
    table(out, &[(0, "End"), (1, "Unresolved")], &names.lines)?;
    if !names.regions.texts.is_empty() {
        block(out, &[(REGION, "User region")])?;
        table(out, &[(0, "End")], &names.regions)?;
    }
    if !names.calls.texts.is_empty() {
        block(out, &[(CALL, "Call")])?;
        table(out, &[(0, "End")], &names.calls)?;
    }
    if !names.user_functions.texts.is_empty() {
        block(out, USER_FUNCTION_TYPES)?;
        table(out, &[(0, "End"), (1, "Unresolved")], &names.user_functions)?;
        block(out, USER_LINE_TYPES)?;
        table(out, &[(0, "End"), (1, "Unresolved")], &names.user_lines)?;
    }
    if !names.loop_tasks.texts.is_empty() {
        block(out, &[(LOOP_TASK, "Task of asyncio")])?;
        table(out, &[(0, "none")], &names.loop_tasks)?;
        block(out, &[(LOOP_TASK_NUMBER, "Task of asyncio, its number")])?;
    }
    if !names.awaited.texts.is_empty() {
        block(out, &[(LOOP_TASK_AWAITS, "Task of asyncio awaits")])?;
        table(out, &[(0, "none")], &names.awaited)?;
    }
    for (kind, text) in (COUNTER..COUNTER + COUNTERS).zip(&names.counters.texts) {
        block(out, &[(kind, &clean(text))])?;
    }
    for (kind, text) in readings {
        block(out, &[(*kind, &clean(text))])?;
    }
    if !processors.is_empty() {
        block(out, &[(EXECUTING_CPU, "Executing CPU")])?;
        block(out, &[(PROCESSOR, "Processor of the thread")])?;
        writeln!(out, "VALUES\n0      not running")?;
        for (value, label) in processors {
            writeln!(out, "{value}      {label}")?;
        }
    }
    if scheduled {
        block(out, &[(SCHEDULED, "Scheduling of the thread")])?;
        writeln!(out, "VALUES")?;
        for (value, label) in SCHEDULED_VALUES {
            writeln!(out, "{value}      {label}")?;
        }
    }
    for (kind, shown) in &names.user_types {
        match kind == shown {
            true => block(out, &[(*kind, &format!("User event {kind}"))])?,
            false => block(
                out,
                &[(*shown, &format!("User event {kind} (a type that is taken)"))],
            )?,
        }
    }
    gradient(out)
}

fn states(out: &mut impl Write) -> Result<()> {
    writeln!(out, "\nSTATES")?;
    for (number, label, _) in STATES {
        writeln!(out, "{number:<4} {label}")?;
    }
    writeln!(out, "\n\nSTATES_COLOR")?;
    for (number, _, [red, green, blue]) in STATES {
        writeln!(out, "{number:<4} {{{red},{green},{blue}}}")?;
    }
    Ok(())
}

/// Opens a block of types that share the values that follow.
fn block(out: &mut impl Write, types: &[(u32, &str)]) -> Result<()> {
    writeln!(out, "\n\nEVENT_TYPE")?;
    for (kind, label) in types {
        writeln!(out, "{}    {kind}    {label}", gradient_group(*kind))?;
    }
    Ok(())
}

/// The types of samples, in the block that is open.
fn sampled(out: &mut impl Write, names: &NameTables<'_>, first: u32, label: &str) -> Result<()> {
    for depth in 0..names.sampled_depths {
        match depth {
            0 => writeln!(out, "0    {first}    {label}")?,
            _ => writeln!(out, "0    {}    {label} (caller {depth})", first + depth)?,
        }
    }
    Ok(())
}

fn table(out: &mut impl Write, fixed: &[(u32, &str)], table: &Table) -> Result<()> {
    writeln!(out, "VALUES")?;
    for (value, label) in fixed {
        writeln!(out, "{value}      {label}")?;
    }
    for (value, text) in (table.first()..).zip(&table.texts) {
        writeln!(out, "{value}      {}", clean(text))?;
    }
    Ok(())
}

fn gradient(out: &mut impl Write) -> Result<()> {
    writeln!(out, "\n\nGRADIENT_COLOR")?;
    for (number, [red, green, blue]) in GRADIENT.iter().enumerate() {
        writeln!(out, "{number:<4} {{{red},{green},{blue}}}")?;
    }
    writeln!(out, "\n\nGRADIENT_NAMES")?;
    for number in 0..GRADIENT.len() {
        writeln!(out, "{number:<4} Gradient {number}")?;
    }
    writeln!(out)
}
