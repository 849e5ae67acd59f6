//! A sweep: curves over threads with intervals and laws, and the map of efficiencies by threads and input.

use std::path::Path;

use anyhow::Result;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::picture::{
    Area, FAINT, INK, Measures, PALETTE, Picture, failed, legend, mm, name, number,
};
use crate::cli::{PlotKind, PlotOptions};
use crate::console::{Console, WrongUsage};
use crate::summary::units::percent;
use crate::sweep::{Curve, Drawing, Quantity, drawing};

/// Characters of a name.
const NAME: usize = 40;
/// Columns of a map whose cells have room for a number.
const MOST_COLUMNS: usize = 24;
/// From dark blue over grey to yellow, as on the page: told apart by their lightness alone (after Nuñez et al. 2018).
const STOPS: [(f64, f64, f64); 5] = [
    (0.0, 34.0, 78.0),
    (59.0, 73.0, 108.0),
    (112.0, 113.0, 115.0),
    (165.0, 156.0, 116.0),
    (254.0, 232.0, 56.0),
];

/// Whether the kind is of sweeps alone.
pub(super) fn is_of_sweeps(kind: PlotKind) -> bool {
    matches!(kind, PlotKind::Time | PlotKind::Speedup | PlotKind::Map)
}

/// Draws the sweep in `dir`.
pub(super) fn draw(
    dir: &Path,
    options: &PlotOptions,
    size: (f64, f64),
    console: &mut Console<'_>,
) -> Result<Picture> {
    let quantity = match options.kind {
        PlotKind::Time => Quantity::Time,
        PlotKind::Speedup => Quantity::Speedup,
        PlotKind::Efficiency | PlotKind::Map => Quantity::Efficiency,
        _ => {
            let why = "this is a sweep: its kinds are time, speedup, efficiency and map";
            return Err(WrongUsage(why.to_owned()).into());
        }
    };
    let part = &options.part;
    if part.from.is_some() || part.to.is_some() || !part.threads.is_empty() {
        let why = "a sweep has no time line: it takes --region, not --from, --to or --thread";
        return Err(WrongUsage(why.to_owned()).into());
    }
    let mut drawing = drawing(dir, part.region.as_deref(), quantity)?;
    let most = match options.kind {
        PlotKind::Map => MOST_COLUMNS,
        _ => PALETTE.len(),
    };
    if drawing.curves.len() > most {
        console.warn(&format!(
            "the first {most} of {} series are drawn",
            drawing.curves.len()
        ));
        drawing.curves.truncate(most);
    }
    match options.kind {
        PlotKind::Map => map(&drawing, size),
        _ => curves(&drawing, quantity, size),
    }
}

/// All numbers of threads, ascending.
fn counts(curves: &[Curve]) -> Vec<f64> {
    let dots = curves.iter().flat_map(|curve| &curve.dots);
    let mut counts: Vec<f64> = dots.map(|dot| dot.threads).collect();
    counts.sort_by(f64::total_cmp);
    counts.dedup();
    counts
}

fn curves(drawing: &Drawing, quantity: Quantity, size: (f64, f64)) -> Result<Picture> {
    let threads = counts(&drawing.curves);
    let (first, last) = (threads[0], threads[threads.len() - 1]);
    let (what, scale) = match quantity {
        Quantity::Time => match highest(&drawing.curves) {
            short if short < 1e-3 => ("time [µs]", 1e6),
            short if short < 1.0 => ("time [ms]", 1e3),
            _ => ("time [s]", 1.0),
        },
        Quantity::Speedup => ("speedup", 1.0),
        Quantity::Efficiency => ("efficiency [%]", 100.0),
    };
    let ideal = |p: f64| match quantity {
        Quantity::Time => None,
        Quantity::Speedup => Some(p),
        Quantity::Efficiency => Some(1.0),
    };
    let top = highest(&drawing.curves).max(ideal(last).unwrap_or(0.0)) * scale * 1.05;
    let mut entries: Vec<(RGBColor, String)> = Vec::new();
    for (at, curve) in drawing.curves.iter().enumerate() {
        let text = match curve.name.is_empty() {
            true => name(&drawing.subject, NAME),
            false => name(&curve.name, NAME),
        };
        entries.push((PALETTE[at], text));
    }
    if drawing.curves.iter().any(|curve| !curve.law.is_empty()) {
        entries.push((INK, "thin: the law that fits".to_owned()));
    }
    if ideal(1.0).is_some() {
        entries.push((FAINT, "ideal".to_owned()));
    }
    // Threads double from mark to mark.
    let (left, right) = (first.log2(), last.log2());
    let margin = ((right - left) * 0.04).max(0.1);
    Picture::draw(size, |whole, measures| {
        let area = legend(whole, measures, &entries)?;
        let mut chart = ChartBuilder::on(&area)
            .margin_left(mm(1.5))
            .margin_right(mm(6.0))
            .margin_top(mm(2.0))
            .x_label_area_size(measures.line * 5 / 2)
            .y_label_area_size(measures.line * 4)
            .build_cartesian_2d(left - margin..right + margin, 0.0..top)
            .map_err(failed)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(FAINT.stroke_width(2))
            .x_labels(0)
            .y_labels((size.1 / 12.0) as usize)
            .y_label_formatter(&number)
            .x_desc(axis(drawing))
            .y_desc(what)
            .axis_style(INK.stroke_width(3))
            .label_style(measures.text(HPos::Center))
            .axis_desc_style(measures.text(HPos::Center))
            .draw()
            .map_err(failed)?;
        let plot = chart.plotting_area();
        marks(whole, measures, &threads, |p| {
            plot.map_coordinate(&(p.log2(), 0.0))
        })?;
        let steps = (0..=48).map(|step| first * (last / first).powf(f64::from(step) / 48.0));
        let line: Vec<(f64, f64)> = steps
            .filter_map(|p| Some((p.log2(), ideal(p)? * scale)))
            .collect();
        plot.draw(&PathElement::new(line, FAINT.stroke_width(4)))
            .map_err(failed)?;
        for (at, curve) in drawing.curves.iter().enumerate() {
            one(plot, curve, (at, scale))?;
        }
        Ok(())
    })
}

type Plane = plotters::coord::cartesian::Cartesian2d<
    plotters::coord::types::RangedCoordf64,
    plotters::coord::types::RangedCoordf64,
>;

/// Dots with their intervals, and the law; without a law, lines between the dots.
fn one(
    plot: &DrawingArea<SVGBackend<'_>, Plane>,
    curve: &Curve,
    (at, scale): (usize, f64),
) -> Result<()> {
    let colour = PALETTE[at];
    let place = |(p, value): (f64, f64)| (p.log2(), value * scale);
    let dots = curve.dots.iter().map(|dot| (dot.threads, dot.value));
    let (line, width) = match curve.law.is_empty() {
        true => (dots.map(place).collect::<Vec<_>>(), 5),
        false => (curve.law.iter().copied().map(place).collect(), 3),
    };
    // A colour is not the only carrier: lines differ in their dashes, too.
    let style = colour.stroke_width(width);
    match at {
        0 => plot.draw(&PathElement::new(line, style)),
        _ => plot.draw(&DashedPathElement::new(
            line,
            mm(0.6) * at as i32,
            mm(0.5),
            style,
        )),
    }
    .map_err(failed)?;
    for dot in &curve.dots {
        let (x, y) = place((dot.threads, dot.value));
        if dot.high > dot.low {
            let ends = vec![(x, dot.low * scale), (x, dot.high * scale)];
            plot.draw(&PathElement::new(ends.clone(), colour.stroke_width(5)))
                .map_err(failed)?;
            for end in ends {
                let cap = EmptyElement::at(end)
                    + PathElement::new([(-mm(0.8), 0), (mm(0.8), 0)], colour.stroke_width(5));
                plot.draw(&cap).map_err(failed)?;
            }
        }
        plot.draw(&Circle::new((x, y), mm(0.8), colour.filled()))
            .map_err(failed)?;
    }
    Ok(())
}

fn highest(curves: &[Curve]) -> f64 {
    let dots = curves.iter().flat_map(|curve| &curve.dots);
    let laws = curves.iter().flat_map(|curve| &curve.law);
    let highs = dots.map(|dot| dot.high.max(dot.value));
    highs
        .chain(laws.map(|(_, value)| *value))
        .fold(0.0, f64::max)
}

fn axis(drawing: &Drawing) -> String {
    format!("threads of {}", name(&drawing.subject, NAME))
}

/// Numbers of threads below an axis, as many as have room.
fn marks(
    area: &Area<'_>,
    measures: Measures,
    threads: &[f64],
    at: impl Fn(f64) -> (i32, i32),
) -> Result<()> {
    let mut free = i32::MIN;
    for p in threads {
        let (x, y) = at(*p);
        let text = number(p);
        let half = measures.width(area, &text) / 2 + mm(0.5);
        if x - half < free {
            continue;
        }
        free = x + half;
        let place = (x, y + measures.line * 7 / 10);
        area.draw(&Text::new(text, place, measures.text(HPos::Center)))
            .map_err(failed)?;
    }
    Ok(())
}

/// Efficiencies: threads up, series to the right.
fn map(drawing: &Drawing, size: (f64, f64)) -> Result<Picture> {
    let threads = counts(&drawing.curves);
    let (columns, rows) = (drawing.curves.len(), threads.len());
    Picture::draw(size, |area, measures| {
        let title = format!("efficiency of {} [%]", name(&drawing.subject, NAME));
        let (width, height) = area.dim_in_pixel();
        let labels: Vec<String> = threads.iter().map(number).collect();
        let widest = labels.iter().map(|text| measures.width(area, text)).max();
        let left = mm(2.0) + measures.width(area, "threads").max(widest.unwrap_or(0)) + mm(1.5);
        let top = mm(1.0) + measures.line * 3 / 2;
        let bottom = height as i32 - measures.line * 2;
        let right = width as i32 - mm(2.0);
        let put = |text: &str, at: (i32, i32), style: TextStyle<'static>| {
            area.draw(&Text::new(text.to_owned(), at, style))
                .map_err(failed)
        };
        put(
            &title,
            ((left + right) / 2, mm(1.0) + measures.line / 2),
            measures.text(HPos::Center),
        )?;
        put(
            "threads",
            (mm(2.0), mm(1.0) + measures.line / 2),
            measures.text(HPos::Left),
        )?;
        let x = |column: usize| left + (right - left) * column as i32 / columns as i32;
        let y = |row: usize| bottom - (bottom - top) * row as i32 / rows as i32;
        for (row, label) in labels.iter().enumerate() {
            let middle = (y(row) + y(row + 1)) / 2;
            put(label, (left - mm(1.5), middle), measures.text(HPos::Right))?;
        }
        for (column, curve) in drawing.curves.iter().enumerate() {
            let middle = (x(column) + x(column + 1)) / 2;
            let room = ((x(column + 1) - x(column)) / (measures.line / 2)).max(3) as usize;
            let label = name(&curve.name, room);
            put(
                &label,
                (middle, bottom + measures.line),
                measures.text(HPos::Center),
            )?;
            for dot in &curve.dots {
                let Some(row) = threads.iter().position(|p| *p == dot.threads) else {
                    continue;
                };
                let corners = [(x(column), y(row + 1)), (x(column + 1), y(row))];
                area.draw(&Rectangle::new(corners, shade(dot.value).filled()))
                    .map_err(failed)?;
                let text = percent(dot.value)
                    .trim_end_matches('%')
                    .trim_end()
                    .to_owned();
                let ink = if dot.value > 0.6 { &INK } else { &WHITE };
                let fits = measures.width(area, &text) < x(column + 1) - x(column) - mm(0.5)
                    && measures.line < y(row) - y(row + 1);
                if fits {
                    let style = measures.text(HPos::Center).color(ink);
                    put(&text, (middle, (y(row) + y(row + 1)) / 2), style)?;
                }
            }
        }
        Ok(())
    })
}

/// The colour of an efficiency.
fn shade(share: f64) -> RGBColor {
    let place = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let at = (place as usize).min(STOPS.len() - 2);
    let mix = |low: f64, high: f64| (low + (high - low) * (place - at as f64)).round() as u8;
    let (low, high) = (STOPS[at], STOPS[at + 1]);
    RGBColor(mix(low.0, high.0), mix(low.1, high.1), mix(low.2, high.2))
}
