//! The efficiencies of a run as bars: parallel efficiency, POP's additive tree, TALP's factors.

use anyhow::Result;
use instr_trace::Session;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::picture::{FAINT, INK, PALETTE, Picture, failed, mm, name};
use crate::cli::PlotOptions;
use crate::console::Console;
use crate::summary;
use crate::summary::load::model::Efficiency;
use crate::summary::model::Summary;
use crate::summary::units::percent;

/// Name, value, and how deep it lies in its tree.
type Bar = (&'static str, f64, usize);

fn bars(of: &Efficiency) -> Vec<Bar> {
    let (additive, talp) = (&of.additive, &of.talp);
    vec![
        ("parallel efficiency", of.parallel_efficiency, 0),
        ("OpenMP regions", additive.openmp_region_efficiency, 1),
        ("load balance", additive.load_balance, 2),
        ("scheduling", additive.scheduling, 2),
        ("team size", additive.team_size, 2),
        ("serial regions", additive.serial_region_efficiency, 1),
        ("TALP: serialization", talp.serialization, 0),
        ("TALP: load balance", talp.load_balance, 0),
        ("TALP: scheduling", talp.scheduling, 0),
    ]
}

/// Draws the efficiencies of the first process that has some.
pub(super) fn draw(
    session: &Session,
    options: &PlotOptions,
    size: (f64, f64),
    console: &mut Console<'_>,
) -> Result<Picture> {
    let summaries = summary::of_session(
        session,
        summary::Wanted::default(),
        &options.symbols,
        console,
    )?;
    let mut all: Vec<&Summary> = Vec::new();
    let mut pending: Vec<&Summary> = summaries.iter().rev().collect();
    while let Some(next) = pending.pop() {
        pending.extend(next.children.iter().rev());
        if next.efficiency.is_some() {
            all.push(next);
        }
    }
    let Some((first, efficiency)) = all
        .first()
        .and_then(|first| Some((*first, first.efficiency.as_ref()?)))
    else {
        let help = "only programs with parallel regions of OpenMP have efficiencies; build it with instr-cc, or run it by instr run";
        return Err(super::lacks("efficiencies", help));
    };
    if all.len() > 1 {
        console.note(&format!(
            "the efficiencies of {} are drawn, the first of {} processes; name the trace of another one to see its own",
            first.program,
            all.len()
        ));
    }
    let bars = bars(efficiency);
    Picture::draw(size, |area, measures| {
        let indent = |depth: usize| mm(3.0) * depth as i32;
        let widest = bars
            .iter()
            .map(|(text, _, depth)| measures.width(area, text) + indent(*depth))
            .max()
            .unwrap_or(0);
        let mut chart = ChartBuilder::on(area)
            .margin_right(mm(6.0))
            .margin_top(mm(2.0))
            .x_label_area_size(measures.line * 5 / 2)
            .y_label_area_size(widest + mm(5.0))
            .build_cartesian_2d(0.0..100.0, bars.len() as f64..0.0)
            .map_err(failed)?;
        let program = name(&first.program, 40);
        chart
            .configure_mesh()
            .disable_y_mesh()
            .disable_y_axis()
            .light_line_style(TRANSPARENT)
            .bold_line_style(FAINT.stroke_width(2))
            .x_labels(6)
            .x_label_formatter(&|value| format!("{value:.0}"))
            .x_desc(format!(
                "efficiency of {program} on {} threads [%]",
                efficiency.threads
            ))
            .axis_style(INK.stroke_width(3))
            .label_style(measures.text(HPos::Center))
            .axis_desc_style(measures.text(HPos::Center))
            .draw()
            .map_err(failed)?;
        let plot = chart.plotting_area();
        for (row, (text, value, depth)) in bars.iter().enumerate() {
            let (top, value) = (row as f64, if value.is_finite() { *value } else { 0.0 });
            let long = (value * 100.0).clamp(0.0, 100.0);
            let colour = PALETTE[if text.starts_with("TALP") {
                4
            } else {
                [0, 2, 3][*depth]
            }];
            plot.draw(&Rectangle::new(
                [(0.0, top + 0.18), (long, top + 0.82)],
                colour.filled(),
            ))
            .map_err(failed)?;
            let (x, y) = plot.map_coordinate(&(0.0, top + 0.5));
            let place = (mm(2.0) + indent(*depth), y);
            area.draw(&Text::new(*text, place, measures.text(HPos::Left)))
                .map_err(failed)?;
            let share = percent(value);
            let width = measures.width(area, &share);
            let end = plot.map_coordinate(&(long, top + 0.5)).0;
            // Inside of the bar where there is room, else behind it.
            let inside = end - x > width + mm(2.0);
            let (at, ink) = match inside {
                true if colour == PALETTE[0] => (end - mm(1.0), WHITE),
                true => (end - mm(1.0), INK),
                false => (end + mm(1.0), INK),
            };
            let place = if inside { HPos::Right } else { HPos::Left };
            let style = measures.text(place).color(&ink);
            area.draw(&Text::new(share, (at, y), style))
                .map_err(failed)?;
        }
        Ok(())
    })
}
