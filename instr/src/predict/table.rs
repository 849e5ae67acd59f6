//! A prediction for people.

use std::io::{self, Write};

use super::model::{Gain, Point, Prediction};
use crate::page::Page;
use crate::sheet::Sheet;
use crate::summary::units::{brief, count, counted, elide, percent, time};

const LABEL_WIDTH: usize = 48;
/// Gains below this are not listed.
const WORTH_LISTING: f64 = 0.001;
/// Names in sentences.
const MAX_NAME: usize = 70;
/// Less is not worth a sentence.
const WORTH_SAYING: f64 = 0.01;

/// Writes the answer, the curve, what would help, and what the error is made of.
///
/// # Errors
///
/// Those of the page.
pub(super) fn write(prediction: &Prediction, page: &mut Page<'_>) -> io::Result<()> {
    let recorded = counted(prediction.recorded_threads, "thread");
    writeln!(
        page,
        "{} · recorded with {recorded}, {} · predicted",
        elide(&prediction.program, LABEL_WIDTH),
        time(prediction.recorded_ns)
    )?;
    for change in &prediction.changes {
        page.paragraph("  if  ", &elide(change, 2 * MAX_NAME))?;
    }
    writeln!(page)?;
    for sentence in sentences(prediction) {
        page.paragraph("", &sentence)?;
    }
    points(prediction, page)?;
    gains(prediction, page)?;
    details(prediction, page)
}

/// The curve and what would help, for a page that draws the rest itself.
///
/// # Errors
///
/// Those of the page.
pub(crate) fn in_report(prediction: &Prediction, page: &mut Page<'_>) -> io::Result<()> {
    for sentence in sentences(prediction) {
        page.paragraph("", &sentence)?;
    }
    points(prediction, page)?;
    gains(prediction, page)?;
    error(prediction, page)
}

fn details(prediction: &Prediction, page: &mut Page<'_>) -> io::Result<()> {
    costs(prediction, page)?;
    error(prediction, page)
}

/// The answer, the limit, and what would help most.
fn sentences(prediction: &Prediction) -> Vec<String> {
    let Some(last) = prediction.points.last() else {
        return Vec::new();
    };
    let best = prediction
        .gains
        .first()
        .filter(|best| best.saved > WORTH_SAYING);
    let mut all = vec![answer(last), limit(&prediction.limit, last)];
    all.extend(best.map(|best| help(best, last)));
    all
}

fn between(point: &Point) -> String {
    format!("{} to {}", time(point.low_ns), time(point.high_ns))
}

fn answer(point: &Point) -> String {
    format!(
        "With {} it takes {} ({}), and is {:.1} times as fast as with one.",
        counted(point.threads, "thread"),
        time(point.time_ns),
        between(point),
        point.speedup
    )
}

fn limit(limit: &Point, last: &Point) -> String {
    let cause = match &limit.loss {
        Some(loss) => {
            let place = brief(&limit.loss_place, MAX_NAME);
            let place = if place.is_empty() {
                place
            } else {
                format!(", {place}")
            };
            let share = percent(limit.loss_share);
            format!(" {share} of its threads' time would go to this: {loss}{place}.")
        }
        None => String::new(),
    };
    if limit.threads <= last.threads {
        return format!(
            "Of the numbers tried it is fastest with {}.{cause}",
            counted(limit.threads, "thread")
        );
    }
    format!(
        "The limit is {:.1} times as fast, with {} or less.{cause}",
        limit.speedup,
        counted(limit.threads, "thread")
    )
}

fn help(gain: &Gain, last: &Point) -> String {
    let how = match gain.kind {
        "lock" => "without it",
        _ => "if it took half the time",
    };
    format!(
        "What would help most with {}: {}; {how}, the program would take {} less.",
        counted(last.threads, "thread"),
        brief(&gain.what, MAX_NAME),
        percent(gain.saved)
    )
}

fn points(prediction: &Prediction, page: &mut Page<'_>) -> io::Result<()> {
    let changed = !prediction.changes.is_empty();
    let measured = prediction
        .points
        .iter()
        .any(|point| !point.measured_ns.is_empty());
    let mut header = vec!["threads", "time", "from", "to"];
    header.extend(changed.then_some("unchanged"));
    header.extend(measured.then_some("measured"));
    header.extend(["speedup", "largest loss"]);
    let mut table = Sheet::new(0, &header).with_bars();
    for point in &prediction.points {
        let mut row = vec![
            count(point.threads),
            time(point.time_ns),
            time(point.low_ns),
            time(point.high_ns),
        ];
        row.extend(changed.then(|| time(point.unchanged_ns)));
        let times = point.measured_ns.iter().map(|ns| time(*ns));
        row.extend(measured.then(|| times.collect::<Vec<_>>().join(", ")));
        let loss = point.loss.filter(|_| point.loss_share >= 0.0005);
        row.extend([
            format!("{:.2}", point.speedup),
            loss.map_or(String::new(), |loss| {
                format!("{:>5} {loss}", percent(point.loss_share))
            }),
        ]);
        table.add_row(row);
    }
    table.print_all(page)
}

fn gains(prediction: &Prediction, page: &mut Page<'_>) -> io::Result<()> {
    let before = prediction.points.last().map_or(0, |point| point.time_ns);
    let mut table = Sheet::of_places(1, &["what would help", "half the time", "saves", "no time"]);
    let gone = |gain: &Gain| 1.0 - gain.gone_ns as f64 / before.max(1) as f64;
    let all = prediction.gains.iter();
    for gain in all.filter(|gain| gain.saved.max(gone(gain)) >= WORTH_LISTING) {
        let half = match gain.kind {
            "lock" => "-".to_owned(),
            _ => time(gain.half_ns),
        };
        let saved = percent(gain.saved.max(0.0));
        table.add_row([gain.what.clone(), half, saved, time(gain.gone_ns)]);
    }
    table.print_all(page)
}

fn costs(prediction: &Prediction, page: &mut Page<'_>) -> io::Result<()> {
    let mut table = Sheet::new(
        1,
        &[
            "measured in this trace",
            "times",
            "median",
            "mean",
            "95 %",
            "with several threads",
        ],
    );
    for cost in &prediction.costs {
        let ns = |value: f64| time(value.round() as u64);
        let own = |value: f64| match cost.count {
            0 => String::new(),
            _ => ns(value),
        };
        table.add_row([
            cost.what.to_owned(),
            count(cost.count),
            own(cost.median_ns),
            own(cost.mean_ns),
            own(cost.p95_ns),
            cost.several_ns.map_or_else(String::new, ns),
        ]);
    }
    table.print_all(page)
}

fn error(prediction: &Prediction, page: &mut Page<'_>) -> io::Result<()> {
    let (simulated, recorded) = (prediction.simulated_ns, prediction.recorded_ns.max(1));
    let off = simulated as f64 / recorded as f64 - 1.0;
    let word = if off < 0.0 { "less" } else { "more" };
    writeln!(page)?;
    page.paragraph(
        "error  ",
        &format!(
            "Simulated as it was recorded, the run takes {}: {} {word} than measured. The error has that in it, the spread of costs and durations, \
             and that threads may have to use the queue of tasks one by one.",
            time(simulated),
            percent(off.abs())
        ),
    )?;
    for note in &prediction.notes {
        page.paragraph("  note  ", note)?;
    }
    for part in &prediction.unmodelled {
        let size = match part.ns {
            0 => count(part.count),
            ns => format!("{}, {}", count(part.count), time(ns)),
        };
        page.paragraph("  not modelled  ", &format!("{} ({size})", part.what))?;
    }
    Ok(())
}
