//! What each thread did when: in each column the shares of its states, user code at the bottom, so that no state is hidden by another.

use anyhow::Result;
use instr_trace::{Names, Session};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::picture::{FAINT, INK, PALETTE, Picture, failed, legend, mm, name, number, unit};
use crate::cli::PlotOptions;
use crate::console::Console;
use crate::report::timeline::part::{View, rows};
use crate::report::timeline::{STATE_NAMES, STATES};
use crate::timeline::select;

/// Columns of a millimetre, and cells of a picture: rows and columns multiplied.
const COLUMNS_OF_MM: f64 = 6.0;
const MOST_CELLS: usize = 60_000;
/// Most threads.
const MOST_ROWS: usize = 256;
/// Heights that a share can have.
const STEPS: u64 = 24;
/// Characters of a name.
const NAME: usize = 24;
/// The order from the bottom, and the colours of states.
const ORDER: [usize; STATES] = [0, 2, 4, 1, 3];

fn colour(state: usize) -> RGBColor {
    match state {
        0 => PALETTE[0],
        1 => PALETTE[1],
        2 => PALETTE[3],
        3 => FAINT,
        _ => PALETTE[6],
    }
}

/// Draws the threads that were asked for.
pub(super) fn draw(
    session: &Session,
    names: &[Box<dyn Names + '_>],
    options: &PlotOptions,
    size: (f64, f64),
    console: &mut Console<'_>,
) -> Result<Picture> {
    let chosen = select::threads(session, &options.part.threads)?;
    let shown = |track: usize| chosen.as_ref().is_none_or(|chosen| chosen[track]);
    let all = (0..rows(session).len())
        .filter(|track| shown(*track))
        .count();
    if all == 0 {
        return Err(super::lacks(
            "threads",
            "run a program that instr-cc built, or with instr run",
        ));
    }
    if all > MOST_ROWS {
        let drawn = format!("the first {MOST_ROWS} of {all} threads are drawn; --thread chooses");
        console.warn(&drawn);
    }
    let columns = ((size.0 * COLUMNS_OF_MM) as usize)
        .min(MOST_CELLS / all.min(MOST_ROWS))
        .max(20);
    let mut left = MOST_ROWS;
    let first: Vec<bool> = (0..rows(session).len())
        .map(|track| {
            let take = shown(track) && left > 0;
            left -= usize::from(take);
            take
        })
        .collect();
    let view = super::part(
        session,
        names,
        options,
        columns,
        &|track, _| first[track],
        console,
    )?;
    Picture::draw(size, |area, measures| {
        let used: Vec<usize> = ORDER
            .into_iter()
            .filter(|state| appears(&view, *state))
            .collect();
        let mut entries: Vec<_> = used
            .iter()
            .map(|state| (colour(*state), label(*state).to_owned()))
            .collect();
        let window = view.window;
        let seen = |row: usize| {
            view.rows[row]
                .losses
                .iter()
                .filter(|loss| window.columns_of(loss.begin, loss.end).is_some())
        };
        if (0..view.rows.len()).any(|row| seen(row).next().is_some()) {
            entries.push((PALETTE[5], "events missing".to_owned()));
        }
        let area = legend(area, measures, &entries)?;
        let several = session.traces().len() > 1;
        let labels: Vec<String> = view
            .rows
            .iter()
            .map(|row| match several {
                true => format!(
                    "{} {}",
                    session.traces()[row.process].metadata().pid,
                    row.name
                ),
                false => row.name.clone(),
            })
            .map(|text| name(&text, NAME))
            .collect();
        let widest = labels
            .iter()
            .map(|text| measures.width(&area, text))
            .max()
            .unwrap_or(0);
        let (unit, ns) = unit(window.to);
        let (from, to, count) = (
            window.from as f64 / ns,
            window.to as f64 / ns,
            view.rows.len() as f64,
        );
        let mut chart = ChartBuilder::on(&area)
            .margin_left(mm(1.5))
            .margin_right(mm(5.0))
            .x_label_area_size(measures.line * 5 / 2)
            .y_label_area_size(widest + mm(3.0))
            .build_cartesian_2d(from..to, count..0.0)
            .map_err(failed)?;
        chart
            .configure_mesh()
            .disable_mesh()
            .disable_y_axis()
            .x_labels((size.0 / 16.0) as usize)
            .x_label_formatter(&number)
            .x_desc(format!("time [{unit}]"))
            .axis_style(INK.stroke_width(3))
            .label_style(measures.text(HPos::Center))
            .axis_desc_style(measures.text(HPos::Center))
            .draw()
            .map_err(failed)?;
        let plot = chart.plotting_area();
        let gap = if view.rows.len() > 64 { 0.0 } else { 0.14 };
        for (row, text) in labels.iter().enumerate() {
            for (state, first, last, low, high) in boxes(&view, row) {
                let x = |column: usize| {
                    let time = window
                        .from
                        .saturating_add(column as u64 * window.width())
                        .min(window.to);
                    time as f64 / ns
                };
                let y = |share: u64| {
                    row as f64 + 1.0 - gap / 2.0 - share as f64 / STEPS as f64 * (1.0 - gap)
                };
                let points = [(x(first), y(high)), (x(last + 1), y(low))];
                plot.draw(&Rectangle::new(points, colour(state).filled()))
                    .map_err(failed)?;
            }
            for loss in seen(row) {
                let (begin, end) = (
                    loss.begin.max(window.from) as f64 / ns,
                    loss.end.min(window.to) as f64 / ns,
                );
                let end = end.max(begin + (to - from) / 400.0).min(to);
                let points = [
                    (begin, row as f64 + gap / 2.0),
                    (end, row as f64 + 1.0 - gap / 2.0),
                ];
                plot.draw(&Rectangle::new(points, PALETTE[5].filled()))
                    .map_err(failed)?;
            }
            // Of many threads, as many names as there is room for.
            let height = plot.dim_in_pixel().1 as usize / labels.len().max(1);
            let every = (measures.line as usize).div_ceil(height.max(1));
            if row.is_multiple_of(every) {
                let (x, y) = plot.map_coordinate(&(from, row as f64 + 0.5));
                let (left, top) = area.get_base_pixel();
                area.draw(&Text::new(
                    text.clone(),
                    (x - left - mm(1.5), y - top),
                    measures.text(HPos::Right),
                ))
                .map_err(failed)?;
            }
        }
        Ok(())
    })
}

fn label(state: usize) -> &'static str {
    if state == 0 {
        "user code"
    } else {
        STATE_NAMES[state]
    }
}

fn appears(view: &View, state: usize) -> bool {
    (0..view.rows.len())
        .any(|row| (0..view.window.used()).any(|column| view.states(row, column)[state] > 0))
}

/// State, first and last column, and lower and upper height of each box of a row. Equal neighbours are one.
fn boxes(view: &View, row: usize) -> Vec<(usize, usize, usize, u64, u64)> {
    let mut all = Vec::new();
    let mut open: [Option<(usize, u64, u64)>; STATES] = [None; STATES];
    for column in 0..=view.window.used() {
        let heights = match column < view.window.used() {
            true => heights(&view.states(row, column)),
            false => [(0, 0); STATES],
        };
        for (state, (low, high)) in heights.into_iter().enumerate() {
            let same = open[state].is_some_and(|(_, l, h)| (l, h) == (low, high));
            if same {
                continue;
            }
            if let Some((first, low, high)) = open[state].take() {
                all.push((state, first, column - 1, low, high));
            }
            open[state] = (low < high).then_some((column, low, high));
        }
    }
    all
}

/// By state: where its share of a cell begins and ends. All of them fill it: rounding makes no gaps.
fn heights(states: &[u64; STATES]) -> [(u64, u64); STATES] {
    let whole: u128 = states.iter().map(|ns| u128::from(*ns)).sum();
    let mut heights = [(0, 0); STATES];
    if whole == 0 {
        return heights;
    }
    let mut below: u128 = 0;
    let round = |ns: u128| ((ns * u128::from(STEPS) + whole / 2) / whole) as u64;
    for state in ORDER {
        let low = round(below);
        below += u128::from(states[state]);
        heights[state] = (low, round(below));
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_fill_their_column() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..1000 {
            let states: [u64; STATES] =
                std::array::from_fn(|_| random.u64(..) >> random.u32(4..64));
            let mut all: Vec<_> = heights(&states)
                .into_iter()
                .filter(|(low, high)| low < high)
                .collect();
            all.sort_unstable();
            let whole: f64 = states.iter().map(|ns| *ns as f64).sum();
            if whole > 0.0 {
                assert_eq!((all[0].0, all[all.len() - 1].1), (0, STEPS));
            }
            assert!(all.windows(2).all(|pair| pair[0].1 == pair[1].0), "{all:?}");
            for (state, (low, high)) in heights(&states)
                .into_iter()
                .enumerate()
                .filter(|_| whole > 0.0)
            {
                let wanted = states[state] as f64 / whole * STEPS as f64;
                assert!(((high - low) as f64 - wanted).abs() <= 1.0, "{states:?}");
            }
        }
    }
}
