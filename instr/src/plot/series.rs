//! Series that `instr run --config` read, below processors: a panel for each, on the same axis of time.

use std::path::PathBuf;

use anyhow::Result;
use instr_analysis::series::each;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::picture::{Area, FAINT, INK, Measures, PALETTE, failed, mm, name, number};
use crate::report::timeline::part::Window;
use crate::report::timeline::series::{scaled, unit};

/// Panels of a picture, and lines of a panel.
const MOST_PANELS: usize = 4;
const MOST_LINES: usize = PALETTE.len();
const NAME: usize = 32;

/// The least and the greatest value of a line in each column of time; `None`: there is none.
type Line = Vec<Option<(f64, f64)>>;

/// All lines of what is measured in one unit.
struct Panel {
    label: String,
    lines: Vec<Line>,
    left_out: usize,
}

/// What is drawn below the processors.
pub(super) struct Panels {
    window: Window,
    panels: Vec<Panel>,
    /// Panels that found no room.
    pub(super) left_out: usize,
}

impl Panels {
    /// The series that have one of these texts in `MODULE/NAME`. `begin`: `CLOCK_MONOTONIC` at time 0 of the window.
    ///
    /// # Errors
    ///
    /// Streams that cannot be read, and a text that no series has.
    pub(super) fn read(
        traces: &[PathBuf],
        wanted: &[String],
        window: Window,
        begin: u64,
    ) -> Result<Self> {
        let mut all = Self {
            window,
            panels: Vec::new(),
            left_out: 0,
        };
        let mut found = vec![false; wanted.len()];
        let mut known: Vec<String> = Vec::new();
        for trace in traces {
            // Of each series: its panel and line; `None`: it is not wanted.
            let mut places: Vec<Option<Option<(usize, usize)>>> = Vec::new();
            each(trace, &mut |series, definition, shown| {
                if places.len() <= series {
                    places.resize(series + 1, None);
                }
                let place = *places[series].get_or_insert_with(|| {
                    let full = format!("{}/{}", definition.module.word(), definition.name);
                    let mut is_wanted = false;
                    for (text, found) in wanted.iter().zip(&mut found) {
                        let fits = full.contains(text.as_str());
                        *found |= fits;
                        is_wanted |= fits;
                    }
                    if !is_wanted {
                        if known.len() < MOST_PANELS * 4 && !known.contains(&full) {
                            known.push(full);
                        }
                        return None;
                    }
                    let unit = unit(definition, shown.growth);
                    let label = match unit {
                        "" => full,
                        unit => format!("{full} [{unit}]"),
                    };
                    all.open(label)
                });
                if let Some((panel, line)) = place {
                    let from = shown.from.saturating_sub(begin);
                    let read = shown.read.saturating_sub(begin).max(from + 1);
                    all.add(panel, line, (from, read), scaled(definition, shown));
                }
            })?;
        }
        if let Some(at) = found.iter().position(|found| !found) {
            let what = format!("series with {} in its name", name(&wanted[at], NAME));
            let help = match known.as_slice() {
                [] => "instr run --config reads them (docs/series.md); instr summary --series lists them".to_owned(),
                known => format!("there are {}", name(&known.join(", "), 400)),
            };
            return Err(super::lacks(&what, &help));
        }
        Ok(all)
    }

    /// A line of the panel with this label, if there is room.
    fn open(&mut self, label: String) -> Option<(usize, usize)> {
        let known = self.panels.iter().position(|panel| panel.label == label);
        let panel = match known {
            Some(panel) => panel,
            None if self.panels.len() == MOST_PANELS => {
                self.left_out += 1;
                return None;
            }
            None => {
                self.panels.push(Panel {
                    label,
                    lines: Vec::new(),
                    left_out: 0,
                });
                self.panels.len() - 1
            }
        };
        let of = &mut self.panels[panel];
        if of.lines.len() == MOST_LINES {
            of.left_out += 1;
            return None;
        }
        of.lines.push(vec![None; self.window.used()]);
        Some((panel, of.lines.len() - 1))
    }

    fn add(&mut self, panel: usize, line: usize, (from, to): (u64, u64), value: f64) {
        let cells = &mut self.panels[panel].lines[line];
        for column in self.window.columns_of(from, to).into_iter().flatten() {
            let cell = &mut cells[column];
            *cell = Some(match *cell {
                Some((least, most)) => (least.min(value), most.max(value)),
                None => (value, value),
            });
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.panels.len()
    }

    /// Draws them below each other. `left`: room for labels of the axes; `ns`: those of the axis's unit.
    pub(super) fn draw(
        &self,
        area: &Area<'_>,
        measures: Measures,
        left: i32,
        ns: f64,
    ) -> Result<()> {
        let window = self.window;
        let (begin, end) = (window.from as f64 / ns, window.to as f64 / ns);
        let areas = area.split_evenly((self.panels.len(), 1));
        for (panel, area) in self.panels.iter().zip(&areas) {
            let values = panel.lines.iter().flatten().flatten();
            let (least, most) = values.fold((0.0f64, 0.0f64), |(least, most), cell| {
                (least.min(cell.0), most.max(cell.1))
            });
            let most = if most > least {
                most + (most - least) * 0.08
            } else {
                least + 1.0
            };
            let more = match panel.left_out {
                0 => String::new(),
                count => format!(", {count} lines left out"),
            };
            area.draw(&Text::new(
                format!("{}{more}", name(&panel.label, 80)),
                (left + mm(1.5), measures.line / 2),
                measures.text(HPos::Left),
            ))
            .map_err(failed)?;
            let area = area.split_vertically(measures.line).1;
            let mut chart = ChartBuilder::on(&area)
                .margin_left(mm(1.5))
                .margin_right(mm(6.0))
                .margin_bottom(mm(1.0))
                .y_label_area_size(left)
                .build_cartesian_2d(begin..end, least..most)
                .map_err(failed)?;
            chart
                .configure_mesh()
                .disable_x_mesh()
                .disable_x_axis()
                .light_line_style(TRANSPARENT)
                .bold_line_style(FAINT.stroke_width(2))
                .y_labels(3)
                .y_label_formatter(&number)
                .axis_style(INK.stroke_width(3))
                .label_style(measures.text(HPos::Center))
                .draw()
                .map_err(failed)?;
            for (at, line) in panel.lines.iter().enumerate() {
                let x = |column: usize| {
                    let time = column as u64 * window.width();
                    window.from.saturating_add(time).min(window.to) as f64 / ns
                };
                let cells = line
                    .iter()
                    .enumerate()
                    .filter_map(|(column, cell)| Some((column, (*cell)?)));
                let points: Vec<(f64, f64)> = cells
                    .flat_map(|(column, (least, most))| {
                        [(x(column), least), (x(column), most), (x(column + 1), most)]
                    })
                    .collect();
                let style = PALETTE[at % PALETTE.len()].stroke_width(4);
                chart
                    .draw_series(LineSeries::new(points, style))
                    .map_err(failed)?;
            }
        }
        Ok(())
    }
}
