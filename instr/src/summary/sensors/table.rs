//! For people.

use std::io::{self, Write};

use super::super::model::Summary;
use super::super::units::{count, elide, percent, time};
use super::model::Power;
use crate::page::Page;
use crate::sheet::Sheet;

const LABEL_WIDTH: usize = 64;

/// Sensors, energy and power; nothing without any.
///
/// # Errors
///
/// Those of the page.
pub fn write(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let mut table = Sheet::new(
        1,
        &["sensor", "unit", "samples", "min", "mean", "max", "total"],
    );
    for sensor in summary.sensors.iter().take(page.rows) {
        let total = sensor.total.map(|total| {
            let unit = sensor.total_unit.as_deref().unwrap_or_default();
            format!("{} {unit}", number(total)).trim_end().to_owned()
        });
        let mut row = vec![
            elide(&sensor.name, LABEL_WIDTH),
            elide(&sensor.unit, 8),
            count(sensor.samples),
        ];
        row.extend(
            [sensor.min, sensor.mean, sensor.max].map(|value| value.map_or("-".to_owned(), number)),
        );
        row.push(total.unwrap_or_default());
        table.add_row(row);
    }
    table.print(summary.sensors.len(), page)?;
    energy(summary, page)?;
    if let Some(power) = &summary.power {
        let how = match &power.target {
            Some(target) => format!(
                "model of {target}: from the number of busy cores, by {}",
                power.busy_from.unwrap_or_default()
            ),
            None => power.source.to_owned(),
        };
        writeln!(
            page,
            "\npower: {} W on average, {} J ({how})",
            number(power.average_mw / 1e3),
            number(power.joules)
        )?;
        threads(power, page)?;
    }
    Ok(())
}

/// The threads' parts.
fn threads(power: &Power, page: &mut Page<'_>) -> io::Result<()> {
    if power.threads.len() < 2 {
        return Ok(());
    }
    let head = format!("thread (estimate, by {})", power.shared_by);
    let mut table = Sheet::new(1, &[&head, "joules", "share"]);
    for thread in power.threads.iter().take(page.rows) {
        let share = if power.joules > 0.0 {
            thread.joules / power.joules
        } else {
            0.0
        };
        table.add_row([
            thread.index.to_string(),
            number(thread.joules),
            percent(share),
        ]);
    }
    table.print(power.threads.len(), page)
}

fn energy(summary: &Summary, page: &mut Page<'_>) -> io::Result<()> {
    let mut table = Sheet::new(2, &["energy of", "part", "joules", "+/-", "covered"]);
    for zone in summary.energy.iter().take(page.rows) {
        let added = if zone.in_total { "" } else { " (not added)" };
        table.add_row([
            elide(&zone.zone, LABEL_WIDTH),
            format!("{}{added}", zone.part),
            number(zone.joules),
            number(zone.error_joules),
            time(zone.covered_ns),
        ]);
    }
    table.print(summary.energy.len(), page)?;
    let mut table = Sheet::new(
        1,
        &["energy while open", "joules", "+/-", "open", "covered"],
    );
    for region in summary.energy_regions.iter().take(page.rows) {
        table.add_row([
            elide(&region.name, LABEL_WIDTH),
            number(region.joules),
            region.error_joules.map_or("model".to_owned(), number),
            time(region.open_ns),
            time(region.covered_ns),
        ]);
    }
    table.print(summary.energy_regions.len(), page)
}

/// Four significant digits.
fn number(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if value == 0.0 => "0".to_owned(),
        _ if !(1e-3..1e7).contains(&size) => format!("{value:.3e}"),
        _ => {
            let digits = 3 - (size.log10().floor() as i32).clamp(-3, 3);
            format!("{value:.*}", digits.max(0) as usize)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_four_digits() {
        for (value, text) in [
            (0.0, "0"),
            (53.25, "53.25"),
            (944.5, "944.5"),
            (1045.28, "1045"),
            (0.01234, "0.01234"),
            (123_456.0, "123456"),
            (2.5e9, "2.500e9"),
            (-4.0, "-4.000"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
