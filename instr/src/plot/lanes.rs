//! Values over time: power of zones, bytes of the heap.

use anyhow::Result;
use instr_trace::{Names, Session};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::picture::{FAINT, INK, PALETTE, Picture, failed, legend, mm, name, number, unit};
use crate::cli::{PlotKind, PlotOptions};
use crate::console::Console;
use crate::report::timeline::lanes::Lane;

/// Larger values are those of a damaged trace.
const LARGEST: f64 = 1e30;
/// Lines of a picture.
const MOST: usize = PALETTE.len();
const NAME: usize = 28;

/// Draws the lanes of a kind.
pub(super) fn draw(
    session: &Session,
    names: &[Box<dyn Names + '_>],
    options: &PlotOptions,
    size: (f64, f64),
    console: &mut Console<'_>,
) -> Result<Picture> {
    let power = options.kind == PlotKind::Power;
    let view = super::part(session, names, options, 1, &|_, _| false, console)?;
    let is_wanted = |lane: &&Lane| match power {
        true => lane.unit == "W",
        false => lane.unit == "B" && lane.name == "heap in use",
    };
    let all: Vec<&Lane> = view
        .lanes
        .iter()
        .filter(is_wanted)
        .filter(|lane| is_drawable(lane))
        .collect();
    if all.is_empty() {
        return Err(match power {
            true => super::lacks(
                "power in this time",
                "record meters of energy or power: INSTR_SENSORS=all INSTR_SENSORS_PERIOD=10ms; instr doctor says which sensors this machine has",
            ),
            false => super::lacks(
                "heap in this time",
                "build the program with instr-cc --instr-memory, or run it with INSTR_MEMORY=1 instr run: that records its heap",
            ),
        });
    }
    if all.len() > MOST {
        console.warn(&format!(
            "the first {MOST} of {} lines are drawn",
            all.len()
        ));
    }
    let shown = &all[..all.len().min(MOST)];
    let most = shown.iter().map(|lane| lane.range().1).fold(0.0, f64::max);
    let least = shown.iter().map(|lane| lane.range().0).fold(0.0, f64::min);
    let (what, scale) = if power {
        ("power [W]".to_owned(), 1.0)
    } else {
        bytes(most)
    };
    let several = session.traces().len() > 1;
    let entries: Vec<_> = shown
        .iter()
        .enumerate()
        .map(|(at, lane)| {
            let text = match several {
                true => format!(
                    "{} {}",
                    session.traces()[lane.process].metadata().pid,
                    lane.name
                ),
                false => lane.name.clone(),
            };
            (PALETTE[at], name(&text, NAME))
        })
        .collect();
    Picture::draw(size, |area, measures| {
        let area = legend(area, measures, &entries)?;
        let window = view.window;
        let (unit, ns) = unit(window.to);
        let (from, to) = (window.from as f64 / ns, window.to as f64 / ns);
        let top = if most > least {
            most + (most - least) * 0.05
        } else {
            least + 1.0
        };
        let mut chart = ChartBuilder::on(&area)
            .margin_left(mm(1.5))
            .margin_right(mm(6.0))
            .margin_top(mm(2.0))
            .x_label_area_size(measures.line * 5 / 2)
            .y_label_area_size(measures.line * 4)
            .build_cartesian_2d(from..to, least / scale..top / scale)
            .map_err(failed)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(FAINT.stroke_width(2))
            .x_labels((size.0 / 16.0) as usize)
            .y_labels((size.1 / 12.0) as usize)
            .x_label_formatter(&number)
            .y_label_formatter(&number)
            .x_desc(format!("time [{unit}]"))
            .y_desc(what)
            .axis_style(INK.stroke_width(3))
            .label_style(measures.text(HPos::Center))
            .axis_desc_style(measures.text(HPos::Center))
            .draw()
            .map_err(failed)?;
        for (at, lane) in shown.iter().enumerate() {
            let style = PALETTE[at].stroke_width(if at == 0 { 6 } else { 5 });
            let points = points(lane, window.from, window.to, ns, scale);
            // A colour is not the only carrier: lines differ in their dashes, too.
            let (dash, pause) = match at {
                0 => (1, 0),
                _ => (mm(0.6) * at as i32, mm(0.5)),
            };
            match pause {
                0 => chart
                    .draw_series(LineSeries::new(points, style))
                    .map_err(failed)?,
                _ => chart
                    .draw_series(DashedLineSeries::new(points, dash, pause, style))
                    .map_err(failed)?,
            };
        }
        Ok(())
    })
}

/// Whether it has values that an axis can have.
fn is_drawable(lane: &Lane) -> bool {
    let (least, most) = lane.range();
    least.abs() < LARGEST && most.abs() < LARGEST
}

/// What holds until the next value is drawn as steps, with all that it was in an interval; readings are joined.
fn points(lane: &Lane, from: u64, to: u64, ns: f64, scale: f64) -> Vec<(f64, f64)> {
    let time = |at: usize| {
        from.saturating_add((at as u64).saturating_mul(lane.width()))
            .min(to) as f64
            / ns
    };
    let step = |(at, least, most): (usize, f64, f64)| match lane.is_step() {
        true => vec![
            (time(at), least / scale),
            (time(at), most / scale),
            (time(at + 1), most / scale),
        ],
        false => vec![(
            (time(at) + time(at + 1)) / 2.0,
            (least + most) / 2.0 / scale,
        )],
    };
    let mut all: Vec<(f64, f64)> = lane.values().flat_map(step).collect();
    all.dedup();
    all
}

/// The unit of bytes up to `most`.
fn bytes(most: f64) -> (String, f64) {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut scale, mut unit) = (1.0, 0);
    while most / scale >= 2048.0 && unit + 1 < units.len() {
        (scale, unit) = (scale * 1024.0, unit + 1);
    }
    (format!("heap in use [{}]", units[unit]), scale)
}
