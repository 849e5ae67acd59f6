//! Which program ran on which processor when, and how many processors were in use.

use anyhow::Result;
use instr_trace::kernel::Part;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::picture::{FAINT, INK, PALETTE, Picture, failed, legend, mm, name, number, unit};
use crate::cli::PlotOptions;
use crate::processors::open;
use crate::report::timeline::part::Window;
use crate::timeline::processors::{Grid, cell, length};
use crate::timeline::select;

const COLUMNS_OF_MM: f64 = 6.0;
const MOST_CELLS: usize = 60_000;
/// Programs with colours of their own.
const COLOURS: usize = PALETTE.len() - 1;
const NAME: usize = 24;
/// Heights that a share can have.
const STEPS: f64 = 48.0;

/// Draws all processors.
pub(super) fn draw(options: &PlotOptions, size: (f64, f64)) -> Result<Picture> {
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
    let grid = Grid::read(&parts, Window { from, to, columns })?;
    let ranks = grid.ranks();
    let colour = |program: usize| PALETTE[ranks[program].min(COLOURS)];
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|program| ranks[*program]);
    let mut entries: Vec<_> = order
        .iter()
        .take(COLOURS)
        .map(|program| (colour(*program), name(&grid.programs[*program], NAME)))
        .collect();
    if order.len() > COLOURS {
        entries.push((
            PALETTE[COLOURS],
            format!("{} others", order.len() - COLOURS),
        ));
    }
    Picture::draw(size, |area, measures| {
        let area = legend(area, measures, &entries)?;
        let (unit, ns) = unit(to);
        let (begin, end, count) = (from as f64 / ns, to as f64 / ns, grid.rows.len() as f64);
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
        let height = area.dim_in_pixel().1 as i32;
        let (lanes, load) = area.split_vertically(height * 6 / 10);
        let mut chart = ChartBuilder::on(&lanes)
            .margin_left(mm(1.5))
            .margin_right(mm(6.0))
            .margin_bottom(mm(2.0))
            .y_label_area_size(widest + mm(3.0))
            .build_cartesian_2d(begin..end, count..0.0)
            .map_err(failed)?;
        chart
            .configure_mesh()
            .disable_mesh()
            .disable_axes()
            .draw()
            .map_err(failed)?;
        let plot = chart.plotting_area();
        let x = |column: usize| {
            from.saturating_add(column as u64 * grid.window.width())
                .min(to) as f64
                / ns
        };
        let mut used = vec![0.0; grid.window.used()];
        for (row, cells) in grid.rows.values().enumerate() {
            let top = row as f64;
            plot.draw(&Rectangle::new(
                [(begin, top + 0.1), (end, top + 0.9)],
                FAINT.mix(0.35).filled(),
            ))
            .map_err(failed)?;
            let heights = |column: usize| {
                let (busy, program) = cell(&cells[column]);
                let width = (x(column + 1) - x(column)) * ns;
                (
                    ((busy as f64 / width.max(1.0)).min(1.0) * STEPS).round() / STEPS,
                    program,
                )
            };
            let mut column = 0;
            while column < cells.len() {
                let first = column;
                let (share, program) = heights(first);
                // Equal neighbours are one box.
                while column < cells.len() && heights(column) == (share, program) {
                    used[column] += share;
                    column += 1;
                }
                if let Some(program) = program {
                    let points = [(x(first), top + 0.9 - 0.8 * share), (x(column), top + 0.9)];
                    plot.draw(&Rectangle::new(points, colour(program).filled()))
                        .map_err(failed)?;
                }
            }
            let (at_x, at_y) = plot.map_coordinate(&(begin, top + 0.5));
            let (left, base) = area.get_base_pixel();
            let room = plot.dim_in_pixel().1 as usize / labels.len().max(1);
            if row.is_multiple_of((measures.line as usize).div_ceil(room.max(1))) {
                let label = Text::new(
                    labels[row].clone(),
                    (at_x - left - mm(1.5), at_y - base),
                    measures.text(HPos::Right),
                );
                area.draw(&label).map_err(failed)?;
            }
        }
        let mut chart = ChartBuilder::on(&load)
            .margin_left(mm(1.5))
            .margin_right(mm(6.0))
            .margin_top(mm(2.0))
            .x_label_area_size(measures.line * 5 / 2)
            .y_label_area_size(widest + mm(3.0))
            .build_cartesian_2d(begin..end, 0.0..count)
            .map_err(failed)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(FAINT.stroke_width(2))
            .x_labels((size.0 / 16.0) as usize)
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
    })
}
