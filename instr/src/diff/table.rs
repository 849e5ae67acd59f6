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
        Kind::Region | Kind::Task | Kind::Loop => first::place(&row.label),
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

fn ns(ns: Option<f64>) -> String {
    ns.map_or(String::new(), |ns| time(ns.round() as u64))
}

fn cells(measure: Option<&Measure>) -> [String; 5] {
    let Some(measure) = measure else {
        return Default::default();
    };
    [
        ns(measure.before_ns),
        ns(measure.after_ns),
        measure.change.map_or(String::new(), change),
        measure.range.map_or(String::new(), range),
        measure
            .noise
            .map_or(String::new(), |share| format!("{:.1}%", share * 100.0)),
    ]
}

fn whole(diff: &Diff, page: &mut Page<'_>) -> io::Result<()> {
    let mut sheet = Sheet::new(
        1,
        &header(diff, &["the whole run", "before", "after", "change"]),
    );
    for row in diff
        .rows
        .iter()
        .filter(|row| row.kind == Kind::Run && row.total.is_some())
    {
        let mut line = vec![elide(&row.label, 60)];
        line.extend(last(diff, cells(row.total.as_ref()), row));
        sheet.add_row(line);
    }
    sheet.print_all(page)
}

/// With repeats, what they tell stands behind.
fn header<'h>(diff: &Diff, columns: &[&'h str]) -> Vec<&'h str> {
    let mut header = columns.to_vec();
    match diff.level {
        Some(_) => header.extend(["range (95%)", "noise", "result"]),
        None => {}
    }
    header
}

fn last(diff: &Diff, cells: [String; 5], row: &Row) -> Vec<String> {
    let mut cells = cells.to_vec();
    match diff.level {
        Some(_) => cells.push(result(row).to_owned()),
        None => cells.truncate(3),
    }
    cells
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
    let of_code: Vec<&Row> = rows
        .iter()
        .copied()
        .filter(|row| row.kind.is_code())
        .collect();
    let of_waits: Vec<&Row> = rows
        .iter()
        .copied()
        .filter(|row| !row.kind.is_code())
        .collect();
    code(diff, &of_code, page)?;
    waits(diff, &of_waits, page)?;
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

fn times(row: &Row) -> String {
    let number = |of: Option<u64>| of.map_or("-".to_owned(), count);
    match row.count {
        [before, after] if before == after => number(after),
        [None, after] => number(after),
        [before, None] => number(before),
        [before, after] => format!("{} > {}", number(before), number(after)),
    }
}

fn code(diff: &Diff, rows: &[&Row], page: &mut Page<'_>) -> io::Result<()> {
    let columns = ["one execution of", "times", "before", "after", "change"];
    let mut sheet = Sheet::of_places(1, &header(diff, &columns));
    for row in rows.iter().take(page.rows) {
        let (measure, is_total) = row.telling().map_or((None, false), |(measure, is_total)| {
            (Some(measure), is_total)
        });
        let label = match row.kind {
            Kind::User | Kind::Call => format!("{} ({})", elide(&row.label, 60), row.kind.name()),
            _ => row.label.clone(),
        };
        let mut line = vec![match is_total {
            true => format!("all of {label}"),
            false => label,
        }];
        line.push(times(row));
        line.extend(last(diff, cells(measure), row));
        sheet.add_row(line);
    }
    sheet.print(rows.len(), page)
}

fn waits(diff: &Diff, rows: &[&Row], page: &mut Page<'_>) -> io::Result<()> {
    let columns = [
        "waiting and locks, all threads",
        "what",
        "times",
        "before",
        "after",
        "change",
    ];
    let mut sheet = Sheet::new(2, &header(diff, &columns));
    for row in rows.iter().take(page.rows) {
        let mut line = vec![
            elide(&row.label, 60),
            row.kind.name().to_owned(),
            times(row),
        ];
        line.extend(last(
            diff,
            cells(row.telling().map(|telling| telling.0)),
            row,
        ));
        sheet.add_row(line);
    }
    sheet.print(rows.len(), page)
}
