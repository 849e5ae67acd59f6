//! How often regions and tasks took how long: a panel for each of those with most time, durations on a logarithmic axis.

use anyhow::Result;
use instr_trace::{Names, Session};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::picture::{FAINT, INK, PALETTE, Picture, failed, mm, name, number};
use crate::cli::PlotOptions;
use crate::console::Console;
use crate::report::timeline::model::Histogram;
use crate::report::timeline::part::View;
use crate::summary::units::{counted, time};
use crate::timeline::select;

/// Panels of a picture, and the height that one needs, mm.
const MOST: usize = 6;
const HIGH: f64 = 20.0;

/// Draws what ended in the part of the time, on the threads that were asked for.
pub(super) fn draw(
    session: &Session,
    names: &[Box<dyn Names + '_>],
    options: &PlotOptions,
    size: (f64, f64),
    console: &mut Console<'_>,
) -> Result<Picture> {
    let chosen = select::threads(session, &options.part.threads)?;
    let view = super::part(session, names, options, 1, &|_, _| false, console)?;
    let classes = |histogram: &Histogram| -> Vec<u64> {
        let mut sums = vec![0u64; histogram.begins_ns.len()];
        let rows = histogram.rows.iter();
        let rows = rows.filter(|row| chosen.as_ref().is_none_or(|chosen| chosen[row.track]));
        for row in rows {
            sums.iter_mut()
                .zip(&row.classes)
                .for_each(|(sum, more)| *sum += u64::from(*more));
        }
        sums
    };
    let all: Vec<(&Histogram, Vec<u64>)> = view
        .histograms
        .iter()
        .map(|histogram| (histogram, classes(histogram)))
        .filter(|(_, classes)| classes.iter().any(|count| *count > 0))
        .collect();
    if all.is_empty() {
        let help = "parallel regions and tasks of OpenMP have durations: build the program with instr-cc, or run it by instr run";
        return Err(super::lacks("region or task that ended in this time", help));
    }
    let room = ((size.1 / HIGH) as usize).clamp(1, MOST);
    if all.len() > room {
        let text = format!(
            "the {room} with most time of {} regions and tasks are drawn; a higher --size has room for more, up to {MOST}",
            all.len()
        );
        console.note(&text);
    }
    let shown = &all[..all.len().min(room)];
    let begins = shown
        .iter()
        .flat_map(|(histogram, _)| histogram.begins_ns.first());
    let first = begins.min().copied().unwrap_or(1);
    let last = shown
        .iter()
        .flat_map(|(histogram, _)| histogram.begins_ns.last())
        .max()
        .copied()
        .unwrap_or(1);
    let (from, to) = (log(first), log(last) + class());
    // Without a whole decade in it, any number will do.
    let decades = from.ceil() <= to;
    let label = |log: &f64| match decades {
        true => decade(*log),
        false => time(10f64.powf(*log).round() as u64),
    };
    Picture::draw(size, |area, measures| {
        let (_, height) = area.dim_in_pixel();
        let axis = measures.line * 5 / 2;
        let each = (height as i32 - axis - mm(2.0)) / shown.len() as i32;
        let mut rest = area.split_vertically(mm(1.0)).1;
        for (at, (histogram, classes)) in shown.iter().enumerate() {
            let is_last = at + 1 == shown.len();
            let (panel, below) = rest.split_vertically(if is_last { each + axis } else { each });
            rest = below;
            let most = classes.iter().copied().max().unwrap_or(1) as f64;
            let mut chart = ChartBuilder::on(&panel)
                .margin_left(mm(1.5))
                .margin_right(mm(6.0))
                .margin_top(measures.line)
                .x_label_area_size(if is_last { axis } else { mm(1.0) })
                .y_label_area_size(measures.line * 4)
                .build_cartesian_2d(from..to, 0.0..most * 1.05)
                .map_err(failed)?;
            let mut mesh = chart.configure_mesh();
            mesh.light_line_style(TRANSPARENT)
                .bold_line_style(FAINT.stroke_width(2))
                .x_labels(if is_last { (size.0 / 16.0) as usize } else { 0 })
                .y_labels(3)
                .disable_x_mesh()
                .y_label_formatter(&whole)
                .axis_style(INK.stroke_width(3))
                .label_style(measures.text(HPos::Center))
                .axis_desc_style(measures.text(HPos::Center));
            if is_last {
                mesh.x_desc("duration").x_label_formatter(&label);
            }
            mesh.draw().map_err(failed)?;
            let plot = chart.plotting_area();
            for (begin, count) in histogram
                .begins_ns
                .iter()
                .zip(classes)
                .filter(|(_, count)| **count > 0)
            {
                let left = log(*begin);
                let points = [(left, 0.0), ((left + class()).min(to), *count as f64)];
                let drawn = Rectangle::new(points, PALETTE[0].filled());
                plot.draw(&drawn).map_err(failed)?;
            }
            let text = heading(&view, histogram, classes);
            let title = Text::new(
                text,
                (measures.line * 4 + mm(1.5), measures.line / 2),
                measures.text(HPos::Left),
            );
            panel.draw(&title).map_err(failed)?;
        }
        Ok(())
    })
}

fn log(ns: u64) -> f64 {
    (ns.max(1) as f64).log10()
}

/// How long a class is: four are a doubling.
fn class() -> f64 {
    2f64.log10() / 4.0
}

/// Executions are whole numbers.
fn whole(count: &f64) -> String {
    match count.fract() == 0.0 {
        true => number(count),
        false => String::new(),
    }
}

/// `1 ms` at a whole decade, nothing between two of them.
fn decade(log: f64) -> String {
    if (log - log.round()).abs() > 1e-6 {
        return String::new();
    }
    let units = ["ns", "µs", "ms", "s"];
    let exponent = log.round().clamp(0.0, 19.0) as usize;
    let unit = (exponent / 3).min(3);
    format!(
        "{} {}",
        10u64.pow((exponent - 3 * unit) as u32),
        units[unit]
    )
}

fn heading(view: &View, histogram: &Histogram, classes: &[u64]) -> String {
    let label = &view.codes[usize::from(histogram.code)].label;
    let all: u64 = classes.iter().sum();
    format!("{}: {}", name(label, 60), counted(all, "execution"))
}
