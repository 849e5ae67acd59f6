//! The whole program: times, laws, weak scaling, energy.

use std::io::{self, Write as _};

use super::super::figures::{Figure, Figures, Series, Subject};
use super::{joules, seconds};
use crate::page::Page;
use crate::sheet::Sheet;
use crate::summary::units::{count, counted, percent};

/// Shades of the heat map, from no efficiency to a whole one.
const SHADES: [char; 6] = [' ', '░', '▒', '▓', '█', '█'];
const ASCII: [char; 6] = ['.', '-', '+', '*', '#', '#'];
/// Columns of an input of the heat map.
const CELL: usize = 9;

pub(super) fn times(program: &Subject, fewest: u32, page: &mut Page<'_>) -> io::Result<()> {
    let named = program.series.iter().any(|series| !series.name.is_empty());
    let header = [
        "input",
        "threads",
        "time",
        "±",
        "runs",
        "speedup",
        "efficiency",
        "serial",
        "processors",
        "memory",
    ];
    let mut sheet = Sheet::new(
        usize::from(named),
        if named { &header } else { &header[1..] },
    );
    for series in &program.series {
        for (at, figure) in series.points.iter().enumerate() {
            let name = named.then(|| {
                if at == 0 {
                    series.name.clone()
                } else {
                    String::new()
                }
            });
            sheet.add_row(name.into_iter().chain(row(figure)));
        }
    }
    sheet.print_first(page.rows.max(200), page)?;
    let lacks = |series: &&Series| series.points.iter().all(|figure| figure.speedup.is_none());
    if program.series.iter().any(|series| lacks(&series)) {
        let threads = counted(u64::from(fewest), "thread");
        let text = match program.series.iter().all(|series| series.points.len() < 2) {
            true => "No speedup: each input was run on one number of threads.".to_owned(),
            false => {
                format!("No speedup where there is no run on {threads}, the fewest of the sweep.")
            }
        };
        page.paragraph("", &text)?;
    }
    for figure in program.series.iter().flat_map(|series| &series.points) {
        for (repeat, value) in &figure.outliers {
            page.paragraph(
                "",
                &format!(
                    "outlier: run {} of {} took {}, the median is {}; it counts",
                    repeat + 1,
                    figure.point.name(),
                    seconds(*value),
                    seconds(figure.seconds.value)
                ),
            )?;
        }
    }
    Ok(())
}

fn row(figure: &Figure) -> Vec<String> {
    let share = |value: Option<f64>| value.map_or_else(String::new, percent);
    let busy = figure
        .processor_seconds
        .map(|used| used / figure.seconds.value);
    vec![
        figure.point.threads.to_string(),
        seconds(figure.seconds.value),
        if figure.runs > 1 {
            percent(figure.seconds.relative())
        } else {
            String::new()
        },
        count(figure.runs as u64),
        figure
            .speedup
            .map_or_else(String::new, |speedup| format!("{speedup:.2}")),
        share(figure.efficiency),
        share(figure.serial_fraction),
        busy.map_or_else(String::new, |busy| format!("{busy:.2}")),
        figure
            .resident_bytes
            .map_or_else(String::new, crate::summary::units::size),
    ]
}

/// Efficiency by threads (down) and series (across): what PaScal Viewer shows.
pub(super) fn heat_map(subject: &Subject, page: &mut Page<'_>) -> io::Result<()> {
    if subject.series.len() < 2 || subject.series.iter().all(|series| series.points.len() < 2) {
        return Ok(());
    }
    let fitting = ((page.width.saturating_sub(10)) / CELL).max(1);
    let shown = &subject.series[..subject.series.len().min(fitting)];
    writeln!(page, "\nefficiency by threads and input")?;
    let name = |series: &Series| crate::summary::units::elide(&series.name, CELL - 1);
    let names: String = shown
        .iter()
        .map(|series| format!("{:>CELL$}", name(series)))
        .collect();
    writeln!(page, "{:>8} {names}", "threads")?;
    let mut counts: Vec<u32> = shown
        .iter()
        .flat_map(|series| &series.points)
        .map(|it| it.point.threads)
        .collect();
    counts.sort_unstable();
    counts.dedup();
    for threads in counts.iter().rev() {
        let cell = |series: &Series| {
            let found = series
                .points
                .iter()
                .find(|it| it.point.threads == *threads)
                .and_then(|it| it.efficiency);
            let Some(efficiency) = found else {
                return format!("{:>CELL$}", "");
            };
            let shades = if page.ascii { ASCII } else { SHADES };
            let shade = shades[((efficiency.clamp(0.0, 1.0)) * 5.0) as usize];
            format!(
                " {:>5} {shade}{shade}",
                percent(efficiency).replace(".0%", "%")
            )
        };
        let cells: String = shown
            .iter()
            .map(|series| format!("{:>CELL$}", cell(series)))
            .collect();
        writeln!(page, "{threads:>8} {cells}")?;
    }
    match subject.series.len() - shown.len() {
        0 => Ok(()),
        left => page.paragraph("", &format!("(no room for {left} more)")),
    }
}

pub(super) fn laws(subject: &Subject, page: &mut Page<'_>) -> io::Result<()> {
    let mut sheet = Sheet::new(3, &["law", "input", "parameter", "value", "from", "to"]);
    for series in &subject.series {
        let Some(law) = &series.law else { continue };
        for parameter in &law.parameters {
            let number = |value: f64| match parameter.name {
                "time on one thread" => seconds(value),
                _ => format!("{value:.4}"),
            };
            let estimate = parameter.estimate;
            let name = format!("{:?}", law.law);
            sheet.add_row([
                name,
                series.name.clone(),
                parameter.name.to_owned(),
                number(estimate.value),
                number(estimate.low),
                number(estimate.high),
            ]);
        }
    }
    sheet.print_first(page.rows.max(60), page)?;
    let mut reasons: Vec<&String> = subject
        .series
        .iter()
        .filter_map(|series| series.refused.as_ref())
        .collect();
    reasons.dedup();
    for series in &subject.series {
        if let Some((law, misses)) = series
            .law
            .as_ref()
            .and_then(|law| Some((law, law.misses.as_ref()?)))
        {
            let of = match series.name.as_str() {
                "" => String::new(),
                name => format!(" of {name}"),
            };
            let text = format!(
                "{:?}{of} does not fit: {misses}. Nothing is predicted by it.",
                law.law
            );
            page.paragraph("", &text)?;
        }
    }
    if let Some(reason) = reasons.first() {
        writeln!(page)?;
        page.paragraph("", &format!("No law was fitted: {reason}."))?;
    }
    if let Some(model) = &subject.model {
        writeln!(page)?;
        page.paragraph(
            "",
            &format!(
                "time in s = {} (n: size, p: threads); it misses points by {}",
                model.text,
                percent(model.error)
            ),
        )?;
    }
    predictions(subject, page)
}

fn predictions(subject: &Subject, page: &mut Page<'_>) -> io::Result<()> {
    let mut sheet = Sheet::new(1, &["input", "threads", "predicted", "from", "to"]);
    let mut refused = Vec::new();
    for series in &subject.series {
        for prediction in series.law.iter().flat_map(|law| &law.predictions) {
            match (&prediction.seconds, &prediction.refused) {
                (Some(it), _) => sheet.add_row([
                    series.name.clone(),
                    prediction.threads.to_string(),
                    seconds(it.value),
                    seconds(it.low),
                    seconds(it.high),
                ]),
                (None, reason) => refused.push(format!(
                    "{} threads: no prediction: {}",
                    prediction.threads,
                    reason.clone().unwrap_or_default()
                )),
            }
        }
    }
    sheet.print_first(page.rows.max(60), page)?;
    refused.dedup();
    refused.iter().try_for_each(|text| page.paragraph("", text))
}

pub(super) fn weak(subject: &Subject, page: &mut Page<'_>) -> io::Result<()> {
    let mut sheet = Sheet::new(
        1,
        &[
            "weak scaling: input",
            "threads",
            "work",
            "time",
            "efficiency",
        ],
    );
    for it in &subject.weak {
        sheet.add_row([
            it.series.clone(),
            it.threads.to_string(),
            format!("{:.2}", it.work * f64::from(it.threads)),
            seconds(it.seconds),
            percent(it.efficiency),
        ]);
    }
    sheet.print_first(page.rows, page)?;
    if let Some(it) = &subject.gustafson {
        page.paragraph(
            "",
            &format!(
                "Gustafson's serial fraction: {:.4} ({:.4} to {:.4})",
                it.value, it.low, it.high
            ),
        )?;
    }
    Ok(())
}

/// Energy, power and their product with time by point, and which points are worth it.
pub(super) fn energy(figures: &Figures, page: &mut Page<'_>) -> io::Result<()> {
    let columns = [
        "energy: input",
        "threads",
        "energy",
        "±",
        "power",
        "energy · time",
        "best",
    ];
    let mut sheet = Sheet::new(1, &columns);
    for series in figures.subjects.iter().take(1).flat_map(|it| &it.series) {
        for figure in &series.points {
            let Some(energy) = &figure.energy else {
                continue;
            };
            let is_best = figures
                .pareto
                .iter()
                .any(|it| it.series == series.name && it.threads == figure.point.threads);
            sheet.add_row([
                series.name.clone(),
                figure.point.threads.to_string(),
                joules(energy.joules.value),
                match figure.runs {
                    1 => String::new(),
                    _ => percent(energy.joules.relative()),
                },
                format!("{:.1} W", energy.watts),
                format!("{:.4} J s", energy.energy_delay),
                if is_best { "*" } else { "" }.to_owned(),
            ]);
        }
    }
    sheet.print_first(page.rows.max(60), page)?;
    if figures.pareto.is_empty() {
        return Ok(());
    }
    let mut text = "*: no other point of the input takes less time and less energy.".to_owned();
    if figures.energy_is_modelled {
        text += " Energy is by the power model of the chip, not measured.";
    }
    page.paragraph("", &text)
}
