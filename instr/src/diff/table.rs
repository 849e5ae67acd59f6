//! The comparison for people.

use std::io::{self, Write};

use super::matching::Matched;
use super::model::{Diff, Measure, Order, Row, Verdict};
use super::run::Kind;
use crate::page::Page;
use crate::sheet::Sheet;
use crate::summary::first;
use crate::summary::units::{count, counted, elide, time};

/// Sentences about what changed; the table has all.
const SENTENCES: usize = 3;

/// Writes the page; `all`: also constructs that do not differ.
///
/// # Errors
///
/// Those of the page.
pub(super) fn write(diff: &Diff, all: bool, page: &mut Page<'_>) -> io::Result<()> {
    title(diff, page)?;
    verdict(diff, page)?;
    for note in &diff.notes {
        page.paragraph("  note: ", note)?;
    }
    whole(diff, page)?;
    constructs(diff, all, page)
}

fn title(diff: &Diff, page: &mut Page<'_>) -> io::Result<()> {
    let (before, after) = (&diff.before, &diff.after);
    let program = elide(&after.program, 48);
    let runs = |number: usize| counted(number as u64, "run");
    let order = match diff.order {
        Order::InTurn => ", made in turn",
        _ => "",
    };
    let mut line = format!(
        "{program}: {} before, {} after{order}",
        runs(before.runs.len()),
        runs(after.runs.len())
    );
    if before.threads == after.threads {
        line += &format!(" · {}", counted(after.threads, "thread"));
    }
    if before.target == after.target {
        line += &format!(" · {}", elide(&after.target, 48));
    }
    page.paragraph("", &line)
}

/// `+5.1%`; nothing where there is no ratio.
pub(crate) fn change(share: f64) -> String {
    match share.abs() {
        10.0.. => format!("{:+.0}%", share * 100.0),
        _ => format!("{:+.1}%", share * 100.0),
    }
}

/// `+4.6 … +5.5%`.
pub(crate) fn range([low, high]: [f64; 2]) -> String {
    format!("{:+.1} … {:+.1}%", low * 100.0, high * 100.0)
}

/// What is said of a row.
pub(crate) fn result(row: &Row) -> &'static str {
    match (row.matched, row.verdict) {
        (Matched::New, _) => "new",
        (Matched::Gone, _) => "gone",
        (_, Some(Verdict::Slower)) => "slower",
        (_, Some(Verdict::Faster)) => "faster",
        (_, Some(Verdict::Same)) => "same",
        (_, None) => "",
    }
}

fn verdict(diff: &Diff, page: &mut Page<'_>) -> io::Result<()> {
    if diff.level.is_none() {
        return Ok(());
    }
    let differs = |row: &&Row| matches!(row.verdict, Some(Verdict::Slower | Verdict::Faster));
    let found: Vec<&Row> = diff.rows.iter().filter(differs).collect();
    writeln!(page)?;
    if found.is_empty() {
        let text = format!(
            "No difference beyond noise: of {} none is significant at {} and {} or more.",
            counted(diff.tested as u64, "comparison"),
            diff.level.unwrap_or_default(),
            change(diff.noticeable).trim_start_matches('+'),
        );
        return page.paragraph("", &text);
    }
    // Code first: what waits does so because of code.
    let (code, waits): (Vec<&Row>, Vec<&Row>) = found
        .iter()
        .partition(|row| row.kind.is_code() && row.kind != Kind::Run);
    let told = code.iter().chain(&waits).take(SENTENCES);
    for row in told {
        page.paragraph("", &sentence(row))?;
    }
    match found.len().saturating_sub(SENTENCES) {
        0 => Ok(()),
        more => page.paragraph(
            "",
            &format!("{} more, see below.", counted(more as u64, "difference")),
        ),
    }
}

fn sentence(row: &Row) -> String {
    let name = match row.kind {
        kind if kind.has_place() => first::place(&row.label),
        kind => format!("{} ({})", elide(&row.label, 60), kind.name()),
    };
    let Some((measure, is_total)) = row.telling() else {
        return name;
    };
    let by = match (measure.change, measure.range) {
        (Some(share), Some(limits)) => format!(" by {} ({})", change(share), range(limits)),
        (Some(share), None) => format!(" by {}", change(share)),
        _ => String::new(),
    };
    let counts = match row.count {
        [Some(before), Some(after)] if before != after => format!(
            "; executed {} times, before {}",
            count(after),
            count(before)
        ),
        _ => String::new(),
    };
    let what = match is_total && row.kind != Kind::Run {
        true => ", all executions together",
        false => "",
    };
    let result = result(row);
    format!(
        "{}{}: {name}{what}{by}{counts}.",
        result[..1].to_uppercase(),
        &result[1..]
    )
}

fn ns(ns: f64) -> String {
    time(ns.round() as u64)
}

fn whole(diff: &Diff, page: &mut Page<'_>) -> io::Result<()> {
    let (text, header) = header(diff, "the whole run", false);
    let mut sheet = Sheet::new(text, &header);
    for row in diff
        .rows
        .iter()
        .filter(|row| row.kind == Kind::Run && row.total.is_some())
    {
        sheet.add_row(line(diff, row, elide(&row.label, 60), false));
    }
    sheet.print_all(page)
}

/// Columns, the most telling ones first, and how many of them are text. What only repeats tell is not there without them.
fn header(diff: &Diff, first: &'static str, has_times: bool) -> (usize, Vec<&'static str>) {
    let has_repeats = diff.level.is_some();
    let mut header = vec![first];
    header.extend(has_repeats.then_some("result"));
    let text = header.len();
    header.extend(["change", "before", "after"]);
    if has_repeats {
        header.extend(["range (95%)", "noise"]);
    }
    header.extend(has_times.then_some("times"));
    (text, header)
}

/// The cells of a row below such a header.
fn line(diff: &Diff, row: &Row, label: String, has_times: bool) -> Vec<String> {
    let has_repeats = diff.level.is_some();
    let measure = row.telling().map(|telling| telling.0);
    let text = |of: fn(&Measure) -> Option<String>| measure.and_then(of).unwrap_or_default();
    let mut line = vec![label];
    line.extend(has_repeats.then(|| result(row).to_owned()));
    line.push(match result(row) {
        alone @ ("new" | "gone") if !has_repeats => alone.to_owned(),
        _ => text(|measure| measure.change.map(change)),
    });
    line.push(text(|measure| measure.before_ns.map(ns)));
    line.push(text(|measure| measure.after_ns.map(ns)));
    if has_repeats {
        line.push(text(|measure| measure.range.map(range)));
        line.push(text(|measure| {
            measure.noise.map(|share| format!("{:.1}%", share * 100.0))
        }));
    }
    line.extend(has_times.then(|| times(row)));
    line
}

fn constructs(diff: &Diff, all: bool, page: &mut Page<'_>) -> io::Result<()> {
    let is_shown = |row: &&Row| match row.verdict {
        _ if row.kind == Kind::Run => false,
        _ if all || diff.level.is_none() => true,
        Some(Verdict::Same) => false,
        Some(_) => true,
        None => matches!(row.matched, Matched::New | Matched::Gone),
    };
    let rows: Vec<&Row> = diff.rows.iter().filter(is_shown).collect();
    let (of_code, of_waits): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| row.kind.is_code());
    let (text, header_of_code) = header(diff, "one execution of", true);
    table(
        diff,
        Sheet::of_places(text, &header_of_code),
        &of_code,
        page,
    )?;
    let (text, header_of_waits) = header(diff, "waiting and locks, all threads", true);
    table(diff, Sheet::new(text, &header_of_waits), &of_waits, page)?;
    let constructs = diff.rows.iter().filter(|row| row.kind != Kind::Run).count();
    let more = constructs - rows.len();
    if more > 0 {
        writeln!(page)?;
        let text = format!(
            "{} without a difference: --all shows them.",
            counted(more as u64, "construct")
        );
        page.paragraph("", &text)?;
    }
    Ok(())
}

fn table(diff: &Diff, mut sheet: Sheet, rows: &[&Row], page: &mut Page<'_>) -> io::Result<()> {
    for row in rows.iter().take(page.rows) {
        let is_total = row.kind.is_code() && row.telling().is_some_and(|(_, is_total)| is_total);
        let label = match row.kind {
            kind if kind.has_place() => row.label.clone(),
            kind => format!("{} ({})", elide(&row.label, 60), kind.name()),
        };
        let label = match is_total {
            true => format!("all of {label}"),
            false => label,
        };
        sheet.add_row(line(diff, row, label, true));
    }
    sheet.print(rows.len(), page)
}

fn times(row: &Row) -> String {
    let number = |of: Option<u64>| of.map_or("-".to_owned(), count);
    match row.count {
        [before, after] if before == after => number(after),
        [None, after] => number(after),
        [before, None] => number(before),
        [before, after] => format!("{} > {}", number(before), number(after)),
    }
}
