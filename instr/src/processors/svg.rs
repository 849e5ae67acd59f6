//! Processors over time as a picture: a lane for each processor, a colour for each application, or for each program where there is one application; below
//! it how many processors are in use.

use std::collections::HashMap;
use std::io::Write;

use anyhow::Result;
use instr_analysis::processors::Allocation;
use instr_trace::kernel::Part;

use crate::summary::units::{elide, time};

/// Width of the lanes, and so many columns of a point each.
const WIDTH: usize = 1000;
const LEFT: usize = 60;
const LANE: usize = 22;
const LOAD: usize = 80;
/// Colours, the most busy one first; the last one for all others.
const COLOURS: [&str; 9] = [
    "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#ee8866", "#44bb99",
    "#999999",
];

/// Time of each colour's key in each column of each lane.
type Columns = HashMap<(u32, usize), Vec<(usize, u64)>>;

/// Who is drawn in one colour.
#[derive(Default)]
struct Keys {
    numbers: HashMap<String, usize>,
    names: Vec<String>,
    busy: Vec<u64>,
}

impl Keys {
    fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len();
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        self.busy.push(0);
        number
    }

    /// Colour by key.
    fn colours(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by_key(|key| std::cmp::Reverse(self.busy[*key]));
        let mut colours = vec![COLOURS.len() - 1; order.len()];
        for (rank, key) in order.into_iter().enumerate() {
            colours[key] = rank.min(COLOURS.len() - 1);
        }
        colours
    }
}

/// Draws the picture.
pub(super) fn write(parts: &[&Part], out: &mut dyn Write) -> Result<()> {
    let length = length(parts).max(1);
    let mut keys = Keys::default();
    let mut columns = Columns::new();
    let several = parts.len() > 1;
    let found = super::slices(parts, &mut |slice| {
        let name = match slice.application {
            None => "other programs",
            Some(at) if several => parts[at].info().program.as_str(),
            Some(_) => slice.process_name,
        };
        let key = keys.number(name);
        let ns = slice.end_ns.saturating_sub(slice.begin_ns);
        keys.busy[key] = keys.busy[key].saturating_add(ns);
        let column = |ns: u64| (u128::from(ns) * WIDTH as u128 / u128::from(length)) as usize;
        let border = |at: usize| (u128::from(length) * at as u128 / WIDTH as u128) as u64;
        for at in column(slice.begin_ns)..=column(slice.end_ns).min(WIDTH - 1) {
            let begin = slice.begin_ns.max(border(at));
            let ns = slice.end_ns.min(border(at + 1)).saturating_sub(begin);
            let shares = columns.entry((slice.processor, at)).or_default();
            match shares.iter_mut().find(|(other, _)| *other == key) {
                Some((_, sum)) => *sum = sum.saturating_add(ns),
                None => shares.push((key, ns)),
            }
        }
        Ok(())
    })?;
    picture(&found, &keys, &columns, length, out)
}

fn length(parts: &[&Part]) -> u64 {
    let infos = parts.iter().map(|part| part.info());
    let begin = infos.clone().map(|info| info.start_monotonic_ns).min();
    let end = infos.map(|info| info.end_monotonic_ns).max();
    end.unwrap_or(0).saturating_sub(begin.unwrap_or(0))
}

fn picture(
    found: &Allocation,
    keys: &Keys,
    columns: &Columns,
    length: u64,
    out: &mut dyn Write,
) -> Result<()> {
    let colours = keys.colours();
    let lanes = found.processors.len() * LANE;
    let legend = keys.names.len().min(COLOURS.len());
    let (width, height) = (LEFT + WIDTH + 20, lanes + LOAD + 60 + legend * 16);
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
    )?;
    for (at, lane) in found.processors.iter().enumerate() {
        let top = 10 + at * LANE;
        writeln!(
            out,
            "<text x=\"4\" y=\"{}\">CPU {}</text>",
            top + 14,
            lane.processor
        )?;
        for column in 0..WIDTH {
            let Some(shares) = columns.get(&(lane.processor, column)) else {
                continue;
            };
            let Some((key, _)) = shares.iter().max_by_key(|(_, ns)| *ns) else {
                continue;
            };
            let busy = shares
                .iter()
                .fold(0, |sum: u64, (_, ns)| sum.saturating_add(*ns));
            let share = busy as f64 * WIDTH as f64 / length as f64;
            // The height of a bar is the busy share of its column.
            let high = (share.min(1.0) * (LANE - 4) as f64).max(0.5);
            writeln!(
                out,
                "<rect x=\"{}\" y=\"{:.1}\" width=\"1\" height=\"{high:.1}\" fill=\"{}\"/>",
                LEFT + column,
                (top + LANE - 4) as f64 - high,
                COLOURS[colours[*key]]
            )?;
        }
    }
    load(found, 20 + lanes, out)?;
    let bottom = lanes + LOAD + 36;
    writeln!(out, "<text x=\"{LEFT}\" y=\"{bottom}\">0</text>")?;
    writeln!(
        out,
        "<text x=\"{}\" y=\"{bottom}\" text-anchor=\"end\">{}</text>",
        LEFT + WIDTH,
        time(length)
    )?;
    for (colour, fill) in COLOURS.iter().enumerate().take(legend) {
        let named = (0..keys.names.len()).filter(|key| colours[*key] == colour);
        let named: Vec<_> = named.take(4).map(|key| escaped(&keys.names[key])).collect();
        let y = bottom + 12 + colour * 16;
        writeln!(
            out,
            "<rect x=\"{LEFT}\" y=\"{y}\" width=\"10\" height=\"10\" fill=\"{fill}\"/><text x=\"{}\" y=\"{}\">{}</text>",
            LEFT + 16,
            y + 9,
            named.join(", ")
        )?;
    }
    writeln!(out, "</svg>")?;
    Ok(())
}

/// Processors in use over time.
fn load(found: &Allocation, top: usize, out: &mut dyn Write) -> Result<()> {
    let most = found.processors.len().max(1) as f64;
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
