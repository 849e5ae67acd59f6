//! Processors over time as a picture: a lane for each processor, a colour for each group (applications, programs, parallel sections, threads); below
//! it how many processors are in use.

use std::io::Write;

use anyhow::Result;
use instr_trace::kernel::Part;

use super::grid::{Grid, cell, length};
use super::groups::{Groups, Kind};
use crate::report::timeline::part::Window;
use crate::summary::units::{elide, time};

/// Width of the lanes, and most columns.
const WIDTH: usize = 1000;
const LEFT: usize = 60;
const LANE: usize = 22;
const LOAD: usize = 80;
/// Colours, the most busy one first; the last one for all others.
const COLOURS: [&str; 9] = [
    "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#ee8866", "#44bb99",
    "#999999",
];
/// Of what is outside of parallel regions, and of applications that are not told apart.
const SEQUENTIAL: &str = "#222222";
const OTHERS: &str = "#dddddd";
/// Names of a colour that the legend has.
const NAMED: usize = 4;

/// Colours of groups, and the legend: a colour with its names.
fn colours(grid: &Grid, groups: &Groups) -> (Vec<&'static str>, Vec<(&'static str, String)>) {
    let mut order: Vec<usize> = (0..groups.names.len()).collect();
    order.sort_by_key(|group| std::cmp::Reverse(grid.time[*group]));
    let mut colours = vec![COLOURS[COLOURS.len() - 1]; order.len()];
    let mut legend: Vec<(&str, Vec<String>)> = Vec::new();
    let mut rank = 0;
    for group in order {
        colours[group] = match groups.kinds[group] {
            Kind::Sequential => SEQUENTIAL,
            Kind::Others => OTHERS,
            Kind::Usual => {
                rank += 1;
                COLOURS[(rank - 1).min(COLOURS.len() - 1)]
            }
        };
        let name = escaped(&groups.names[group]);
        match legend
            .iter_mut()
            .find(|(colour, _)| *colour == colours[group])
        {
            Some((_, names)) if names.len() < NAMED => names.push(name),
            Some(_) => {}
            None => legend.push((colours[group], vec![name])),
        }
    }
    let joined = |(colour, names): (&'static str, Vec<String>)| (colour, names.join(", "));
    (colours, legend.into_iter().map(joined).collect())
}

/// Draws the picture.
pub(super) fn write(parts: &[&Part], groups: &mut Groups, out: &mut dyn Write) -> Result<()> {
    let window = Window {
        from: 0,
        to: length(parts).max(1),
        columns: WIDTH,
    };
    let grid = Grid::read(parts, groups, window)?;
    picture(&grid, groups, out)
}

fn picture(grid: &Grid, groups: &Groups, out: &mut dyn Write) -> Result<()> {
    let (colours, legend) = colours(grid, groups);
    let window = grid.window;
    let lanes = grid.rows.len() * LANE;
    let (width, height) = (LEFT + WIDTH + 20, lanes + LOAD + 60 + legend.len() * 16);
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
    )?;
    let length = window.to as f64;
    for (at, (number, cells)) in grid.rows.iter().enumerate() {
        let top = 10 + at * LANE;
        writeln!(out, "<text x=\"4\" y=\"{}\">CPU {number}</text>", top + 14)?;
        for (column, shares) in cells.iter().enumerate() {
            let (busy, Some(group)) = cell(shares) else {
                continue;
            };
            let from = column as u64 * window.width();
            let wide = window.width().min(window.to.saturating_sub(from)).max(1);
            // The height of a bar is the busy share of its column.
            let high = ((busy as f64 / wide as f64).min(1.0) * (LANE - 4) as f64).max(0.5);
            writeln!(
                out,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{high:.1}\" fill=\"{}\"/>",
                LEFT as f64 + from as f64 / length * WIDTH as f64,
                (top + LANE - 4) as f64 - high,
                wide as f64 / length * WIDTH as f64,
                colours[group]
            )?;
        }
    }
    load(grid, 20 + lanes, out)?;
    let bottom = lanes + LOAD + 36;
    writeln!(out, "<text x=\"{LEFT}\" y=\"{bottom}\">0</text>")?;
    writeln!(
        out,
        "<text x=\"{}\" y=\"{bottom}\" text-anchor=\"end\">{}</text>",
        LEFT + WIDTH,
        time(window.to)
    )?;
    for (at, (fill, names)) in legend.iter().enumerate() {
        let y = bottom + 12 + at * 16;
        writeln!(
            out,
            "<rect x=\"{LEFT}\" y=\"{y}\" width=\"10\" height=\"10\" fill=\"{fill}\"/><text x=\"{}\" y=\"{}\">{names}</text>",
            LEFT + 16,
            y + 9,
        )?;
    }
    writeln!(out, "</svg>")?;
    Ok(())
}

/// Processors in use over time.
fn load(found: &Grid, top: usize, out: &mut dyn Write) -> Result<()> {
    let most = found.rows.len().max(1) as f64;
    let width = WIDTH as f64 / found.in_use.len().max(1) as f64;
    writeln!(out, "<text x=\"4\" y=\"{}\">in use</text>", top + LOAD / 2)?;
    for (at, used) in found.in_use.iter().enumerate() {
        let high = (used / most).min(1.0) * LOAD as f64;
        writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{high:.1}\" fill=\"#bbbbbb\"/>",
            LEFT as f64 + at as f64 * width,
            (top + LOAD) as f64 - high
        )?;
    }
    Ok(())
}

/// A name as text of XML, which has no control characters.
fn escaped(name: &str) -> String {
    let name = elide(name, 40);
    name.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
