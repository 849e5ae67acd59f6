//! Which program, application, parallel section or thread ran on which processor when, series below it, and how many processors were in use.

use anyhow::Result;
use instr_trace::kernel::Part;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::picture::{
    Area, FAINT, INK, Measures, PALETTE, Picture, failed, legend, mm, name, number, unit,
};
use super::series::Panels;
use crate::cli::{By, PlotOptions};
use crate::console::Console;
use crate::find;
use crate::processors::grid::{Grid, cell, length};
use crate::processors::groups::{Groups, Kind, Wanted};
use crate::processors::open;
use crate::report::timeline::part::Window;
use crate::timeline::select;

const COLUMNS_OF_MM: f64 = 6.0;
const MOST_CELLS: usize = 60_000;
/// Groups with colours of their own.
const COLOURS: usize = PALETTE.len() - 1;
const NAME: usize = 24;
/// Heights that a share can have.
const STEPS: f64 = 48.0;

/// Draws all processors.
pub(super) fn draw(
    options: &PlotOptions,
    size: (f64, f64),
    console: &mut Console<'_>,
) -> Result<Picture> {
    let parts = open(&options.traces)?;
    let parts: Vec<&Part> = parts.iter().collect();
    let processors = parts.iter().flat_map(|part| part.processors()).count();
    if processors == 0 || length(&parts) == 0 {
        let help = "instr run says why context switches could not be recorded; instr processors shows what was counted";
        return Err(super::lacks("record of who ran on which processor", help));
    }
    let (from, to) = select::between(&options.part, length(&parts))?;
    if from as f64 >= to as f64 {
        return Err(super::lacks(
            "processors in this time",
            "choose a longer time",
        ));
    }
    let columns = ((size.0 * COLUMNS_OF_MM) as usize)
        .min(MOST_CELLS / processors.min(MOST_CELLS))
        .max(20);
    let window = Window { from, to, columns };
    let traces = find::traces(&options.traces)?;
    let wanted = Wanted {
        by: options.by.unwrap_or(By::Program),
        application: options.application.as_deref(),
        traces: &traces,
        symbols: &options.symbols,
    };
    let mut groups = Groups::of(&wanted, &parts)?;
    let grid = Grid::read(&parts, &mut groups, window)?;
    let begins = parts.iter().map(|part| part.info().start_monotonic_ns);
    let panels = match options.series.as_slice() {
        [] => None,
        wanted => Some(Panels::read(
            &traces,
            wanted,
            window,
            begins.min().unwrap_or(0),
        )?),
    };
    if let Some(left_out) = panels
        .as_ref()
        .map(|panels| panels.left_out)
        .filter(|left| *left > 0)
    {
        console.warn(&format!("{left_out} more series found no room"));
    }
    let (colours, entries) = colours(&grid, &groups);
    Picture::draw(size, |area, measures| {
        let area = legend(area, measures, &entries)?;
        let (_, ns) = unit(to);
        let labels: Vec<String> = grid
            .rows
            .keys()
            .map(|number| format!("CPU {number}"))
            .collect();
        let widest = labels
            .iter()
            .map(|text| measures.width(&area, text))
            .max()
            .unwrap_or(0);
        let left = match &panels {
            Some(_) => (widest + mm(3.0)).max(measures.line * 4),
            None => widest + mm(3.0),
        };
        let height = area.dim_in_pixel().1 as i32;
        // Of ten parts, the lanes have six, or where there are series, four and their number less.
        let count = panels.as_ref().map_or(0, Panels::count) as i32;
        let (lanes, below) = area.split_vertically(height * (6 - count.min(3)) / 10);
        let used = draw_lanes(&grid, &lanes, measures, (left, ns), &colours, &labels)?;
        let load = match &panels {
            Some(panels) => {
                let height = below.dim_in_pixel().1 as i32;
                let (series, load) = below.split_vertically(height * 3 / 5);
                panels.draw(&series, measures, left, ns)?;
                load
            }
            None => below,
        };
        draw_load(&grid, &load, measures, (left, size.0), &used)
    })
}

/// Colours of groups, and what the legend says.
fn colours(grid: &Grid, groups: &Groups) -> (Vec<RGBColor>, Vec<(RGBColor, String)>) {
    let mut order: Vec<usize> = (0..groups.names.len()).collect();
    order.sort_by_key(|group| std::cmp::Reverse(grid.time[*group]));
    let mut colours = vec![PALETTE[COLOURS]; order.len()];
    let mut entries = Vec::new();
    let (mut rank, mut others) = (0, 0);
    for group in order {
        let colour = match groups.kinds[group] {
            Kind::Sequential => INK,
            Kind::Others => FAINT,
            Kind::Usual if rank < COLOURS => {
                rank += 1;
                PALETTE[rank - 1]
            }
            Kind::Usual => {
                others += 1;
                continue;
            }
        };
        colours[group] = colour;
        entries.push((colour, name(&groups.names[group], NAME)));
    }
    if others > 0 {
        entries.push((PALETTE[COLOURS], format!("{others} others")));
    }
    (colours, entries)
}

/// A lane for each processor; gives the processors in use in each column.
fn draw_lanes(
    grid: &Grid,
    area: &Area<'_>,
    measures: Measures,
    (left, ns): (i32, f64),
    colours: &[RGBColor],
    labels: &[String],
) -> Result<Vec<f64>> {
    let window = grid.window;
    let (begin, end) = (window.from as f64 / ns, window.to as f64 / ns);
    let mut chart = ChartBuilder::on(area)
        .margin_left(mm(1.5))
        .margin_right(mm(6.0))
        .margin_bottom(mm(2.0))
        .y_label_area_size(left)
        .build_cartesian_2d(begin..end, grid.rows.len() as f64..0.0)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .disable_axes()
        .draw()
        .map_err(failed)?;
    let plot = chart.plotting_area();
    let x = |column: usize| moment(window, column) / ns;
    let mut used = vec![0.0; window.used()];
    for (row, cells) in grid.rows.values().enumerate() {
        let top = row as f64;
        plot.draw(&Rectangle::new(
            [(begin, top + 0.1), (end, top + 0.9)],
            FAINT.mix(0.35).filled(),
        ))
        .map_err(failed)?;
        let heights = |column: usize| {
            let (busy, group) = cell(&cells[column]);
            let width = (x(column + 1) - x(column)) * ns;
            (
                ((busy as f64 / width.max(1.0)).min(1.0) * STEPS).round() / STEPS,
                group,
            )
        };
        let mut column = 0;
        while column < cells.len() {
            let first = column;
            let (share, group) = heights(first);
            // Equal neighbours are one box.
            while column < cells.len() && heights(column) == (share, group) {
                used[column] += share;
                column += 1;
            }
            if let Some(group) = group {
                let points = [(x(first), top + 0.9 - 0.8 * share), (x(column), top + 0.9)];
                plot.draw(&Rectangle::new(points, colours[group].filled()))
                    .map_err(failed)?;
            }
        }
        let (at_x, at_y) = plot.map_coordinate(&(begin, top + 0.5));
        let (base_x, base_y) = area.get_base_pixel();
        let room = plot.dim_in_pixel().1 as usize / labels.len().max(1);
        if row.is_multiple_of((measures.line as usize).div_ceil(room.max(1))) {
            let label = Text::new(
                labels[row].clone(),
                (at_x - base_x - mm(1.5), at_y - base_y),
                measures.text(HPos::Right),
            );
            area.draw(&label).map_err(failed)?;
        }
    }
    Ok(used)
}

/// When a column begins, ns.
fn moment(window: Window, column: usize) -> f64 {
    let time = (column as u64).saturating_mul(window.width());
    window.from.saturating_add(time).min(window.to) as f64
}

/// Processors in use over time, with the axis of time.
fn draw_load(
    grid: &Grid,
    area: &Area<'_>,
    measures: Measures,
    (left, width): (i32, f64),
    used: &[f64],
) -> Result<()> {
    let window = grid.window;
    let (unit, ns) = unit(window.to);
    let (begin, end) = (window.from as f64 / ns, window.to as f64 / ns);
    let x = |column: usize| moment(window, column) / ns;
    let mut chart = ChartBuilder::on(area)
        .margin_left(mm(1.5))
        .margin_right(mm(6.0))
        .margin_top(mm(2.0))
        .x_label_area_size(measures.line * 5 / 2)
        .y_label_area_size(left)
        .build_cartesian_2d(begin..end, 0.0..grid.rows.len() as f64)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(FAINT.stroke_width(2))
        .x_labels((width / 16.0) as usize)
        .y_labels(4)
        .x_label_formatter(&number)
        .y_label_formatter(&number)
        .x_desc(format!("time [{unit}]"))
        .y_desc("in use")
        .axis_style(INK.stroke_width(3))
        .label_style(measures.text(HPos::Center))
        .axis_desc_style(measures.text(HPos::Center))
        .draw()
        .map_err(failed)?;
    let steps = used
        .iter()
        .enumerate()
        .flat_map(|(column, used)| [(x(column), *used), (x(column + 1), *used)]);
    chart
        .draw_series(
            AreaSeries::new(steps, 0.0, PALETTE[4].mix(0.8))
                .border_style(PALETTE[0].stroke_width(2)),
        )
        .map_err(failed)?;
    Ok(())
}
