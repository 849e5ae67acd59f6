//! What `instr plot` draws of a sweep: curves over threads with their intervals and laws, and the map of efficiencies.

use std::path::Path;

use anyhow::{Result, bail, ensure};

use super::figures::{self, Figure, Series, Subject};
use super::record::Record;
use crate::quote::shown;

/// Points of a law's curve.
const STEPS: u32 = 48;

/// What is drawn over threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Of a run, s.
    Time,
    /// Against the fewest threads.
    Speedup,
    /// Speedup by threads, a share.
    Efficiency,
}

/// A measured point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dot {
    /// Threads.
    pub(crate) threads: f64,
    /// The median.
    pub(crate) value: f64,
    /// Its interval of 95 %; of what relates two medians, the widest that both intervals allow.
    pub(crate) low: f64,
    /// Its upper end.
    pub(crate) high: f64,
}

/// A series.
#[derive(Debug)]
pub(crate) struct Curve {
    /// What its points have in common.
    pub(crate) name: String,
    /// By threads.
    pub(crate) dots: Vec<Dot>,
    /// Threads and value of the law that fits; empty: none does.
    pub(crate) law: Vec<(f64, f64)>,
}

/// Of the program or a region.
#[derive(Debug)]
pub(crate) struct Drawing {
    /// The program's command, or the region's name.
    pub(crate) subject: String,
    /// All series with points.
    pub(crate) curves: Vec<Curve>,
}

/// The curves of a sweep; `region`: a part of the name of the region that is drawn in place of the program.
///
/// # Errors
///
/// A folder that cannot be read, has no run that counts, or no such region.
pub(crate) fn drawing(dir: &Path, region: Option<&str>, quantity: Quantity) -> Result<Drawing> {
    let record = Record::open(dir)?;
    let figures = figures::of(&record, &[]);
    ensure!(figures.runs > 0, "{} has no run that counts", shown(dir));
    let mut subjects = figures.subjects.iter();
    let subject = match region {
        None => subjects.next(),
        // The outermost one: those inside of it have its name too.
        Some(part) => subjects
            .skip(1)
            .filter(|subject| subject.path.last().is_some_and(|name| name.contains(part)))
            .min_by_key(|subject| subject.path.len()),
    };
    let Some(subject) = subject else {
        bail!(
            "{} has no region with `{}` in its name: {}",
            shown(dir),
            region.unwrap_or_default(),
            match figures.subjects.len() {
                0 | 1 => "none was measured (--measure regions)".to_owned(),
                _ => format!("`instr sweep {}` lists them", shown(dir)),
            }
        )
    };
    Ok(Drawing {
        subject: name(subject, &figures.command),
        curves: subject
            .series
            .iter()
            .filter(|series| !series.points.is_empty())
            // What has no run on the fewest threads has no speedup.
            .filter(|series| quantity == Quantity::Time || series.points[0].speedup.is_some())
            .map(|series| curve(series, quantity))
            .collect(),
    })
}

fn name(subject: &Subject, command: &[String]) -> String {
    match subject.path.is_empty() {
        true => command.join(" "),
        false => subject.path.join(" / "),
    }
}

fn curve(series: &Series, quantity: Quantity) -> Curve {
    let first = &series.points[0];
    let law = series.law.as_ref().map(|law| &law.fitted);
    let last = series.points.last().unwrap_or(first);
    let (from, to) = (
        f64::from(first.point.threads),
        f64::from(last.point.threads),
    );
    let at = |step: u32| from * (to / from).powf(f64::from(step) / f64::from(STEPS));
    let of_law = |law: &instr_analysis::scaling::law::Fitted| {
        let points = (0..=STEPS).map(at);
        let points = points.map(|p| (p, related(quantity, first, p, law.expect(p), 1.0)));
        points.collect()
    };
    Curve {
        name: series.name.clone(),
        dots: series
            .points
            .iter()
            .map(|figure| dot(quantity, first, figure))
            .collect(),
        law: law.map(of_law).unwrap_or_default(),
    }
}

fn dot(quantity: Quantity, first: &Figure, figure: &Figure) -> Dot {
    let threads = f64::from(figure.point.threads);
    let time = figure.seconds;
    let of = |seconds: f64, share: f64| related(quantity, first, threads, seconds, share);
    let value = of(time.value, 1.0);
    let reference = first.seconds;
    let (low, high) = match quantity {
        Quantity::Time => (time.low, time.high),
        // It is related to itself.
        _ if figure.point == first.point => (value, value),
        _ => (
            of(time.high, reference.low / reference.value),
            of(time.low, reference.high / reference.value),
        ),
    };
    Dot {
        threads,
        value,
        low,
        high,
    }
}

/// A time on so many threads as a quantity; the first point's time is taken as this share of its median.
fn related(quantity: Quantity, first: &Figure, threads: f64, seconds: f64, share: f64) -> f64 {
    let speedup = f64::from(first.point.threads) * first.seconds.value * share / seconds;
    match quantity {
        Quantity::Time => seconds,
        Quantity::Speedup => speedup,
        Quantity::Efficiency => speedup / threads,
    }
}
