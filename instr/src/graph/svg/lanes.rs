//! A picture of groups of tasks: levels from top to bottom, several in a row where they are many, and a lane for each function.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::groups::{Body, Cell, Group, Groups, Link};
use super::page::{
    Colours, Heading, LABEL_WIDTH, LINE, MARGIN, MAX_WIDTH, escaped, escaped_lines, write_text,
};
use crate::graph::model::Analysis;
use crate::summary::units::{count, counted, elide, shorten, time};

/// Rows of the whole picture; more levels share them.
const MAX_ROWS: usize = 48;
/// Parallel constructs that are drawn: those with the most work.
const MAX_BODIES: usize = 24;
/// Functions with a lane of their own; all others share one more.
const MAX_LANES: usize = 7;
/// More dependences that pass over a row are not drawn.
const MAX_LONG: usize = 40;
const OTHERS: &str = "other functions";

const LEFT: usize = 118;
const LANE: usize = 236;
/// Between boxes of one row.
const GAP: usize = 48;
const BOX_HEIGHT: usize = 38;
const ROW: usize = 78;

/// Row and lane.
type Place = (usize, usize);

/// One parallel construct as it is drawn.
struct Chart<'a> {
    body: &'a Body,
    /// Levels of a row.
    step: usize,
    /// Names of lanes from left to right.
    lanes: Vec<&'a str>,
    boxes: BTreeMap<Place, Group>,
    links: BTreeMap<(Place, Place), Link>,
    /// Width of a lane, and upper edge of the first row.
    lane_width: usize,
    top: usize,
}

/// The picture, ready to be written.
pub(super) struct Picture<'a> {
    charts: Vec<Chart<'a>>,
    /// Work of the box with the most, ns.
    most: u64,
    /// Tasks of constructs that are not drawn.
    left_out: u64,
    /// Dependences that pass over a row and are not drawn.
    long: u64,
    lost: u64,
}

impl<'a> Picture<'a> {
    pub(super) fn new(groups: &'a Groups) -> Self {
        let work = |body: &Body| -> u64 {
            let works = body.groups.values().map(|group| group.work);
            works.fold(0, u64::saturating_add)
        };
        let mut order: Vec<usize> = (0..groups.bodies.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(work(&groups.bodies[*at])));
        let left_out = order.split_off(order.len().min(MAX_BODIES));
        let tasks = |at: &usize| -> u64 {
            let groups = groups.bodies[*at].groups.values();
            groups.map(|group| group.tasks).sum()
        };
        let left_out = left_out.iter().map(tasks).sum();
        order.sort_unstable();
        let rows = (MAX_ROWS / order.len().max(1)).max(2);
        let charts: Vec<Chart> = order
            .iter()
            .map(|at| Chart::new(&groups.bodies[*at], &groups.labels, rows))
            .collect();
        let boxes = charts.iter().flat_map(|chart| chart.boxes.values());
        let most = boxes.map(|group| group.work).max().unwrap_or(0);
        let long = charts.iter().map(Chart::hidden).sum();
        Self {
            charts,
            most,
            left_out,
            long,
            lost: groups.lost,
        }
    }

    /// What the picture joins and leaves out.
    pub(super) fn note(&self) -> String {
        let boxes = self.charts.iter().map(|chart| chart.boxes.len() as u64);
        let tasks = self.charts.iter().flat_map(|chart| chart.boxes.values());
        let tasks: u64 = tasks.map(|group| group.tasks).sum();
        let step = self.charts.iter().map(|chart| chart.step).max();
        let levels = match step.unwrap_or(1) {
            1 => "level".to_owned(),
            most => format!("up to {} levels", count(most as u64)),
        };
        let mut notes = vec![format!(
            "{} drawn as {}, one for each function and {levels}",
            counted(tasks, "task"),
            counted(boxes.sum(), "box").replace("boxs", "boxes"),
        )];
        if self.left_out > 0 {
            let tasks = counted(self.left_out, "task");
            notes.push(format!("{tasks} of further parallel regions not drawn"));
        }
        if self.long > 0 {
            let edges = counted(self.long, "dependence");
            notes.push(format!("{edges} over several rows not drawn"));
        }
        if self.lost > 0 {
            notes.push(format!("{} not drawn", counted(self.lost, "dependence")));
        }
        notes.join("; ")
    }

    /// Writes the picture; `note` comes from [`Picture::note`].
    pub(super) fn write(
        mut self,
        program: &str,
        analysis: &Analysis,
        note: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut colours = Colours::default();
        let mut totals: BTreeMap<&str, Group> = BTreeMap::new();
        for chart in &self.charts {
            chart.lanes.iter().for_each(|lane| _ = colours.of(lane));
            for ((_, lane), group) in &chart.boxes {
                totals.entry(chart.lanes[*lane]).or_default().add(*group);
            }
        }
        let detail = |label: &str| {
            let group = totals.get(label).copied().unwrap_or_default();
            let (tasks, work) = (counted(group.tasks, "task"), time(group.work));
            format!(": {tasks}, work {work}, mean {}", time(group.mean()))
        };
        let note = format!("{note} (--all-tasks draws every task)");
        let sentences = [("plain", analysis.headline.as_str()), ("small", &note)];
        let marks = [
            "a box: the tasks of a function in these levels, their work and its mean; its bar: work, against the box with the most; \
             a line: dependences, and how many; red: on the critical path",
        ];
        let heading = Heading::new(program, &sentences, &colours, detail, &marks);
        let mut y = heading.height();
        for chart in &mut self.charts {
            y += 2 * LINE;
            chart.top = y;
            y += chart.rows() * ROW;
        }
        let widths = self.charts.iter().map(Chart::width);
        let width = widths.max().unwrap_or(0).max(heading.width());
        heading.write(program, (width.min(MAX_WIDTH), y + MARGIN), out)?;
        for chart in &self.charts {
            chart.write(&mut colours, self.most, out)?;
        }
        writeln!(out, "</svg>")
    }
}

impl<'a> Chart<'a> {
    fn new(body: &'a Body, labels: &'a [String], rows: usize) -> Self {
        let lanes = lanes(body);
        let units = (body.levels.saturating_sub(1).checked_shr(body.shift)).unwrap_or(0) as usize;
        let step = (units + 1).div_ceil(rows);
        let lane_of = |label: u16| {
            let lane = lanes.iter().position(|known| *known == Some(label));
            lane.unwrap_or(lanes.len() - 1)
        };
        let place = |(level, label): Cell| (level as usize / step, lane_of(label));
        let mut boxes: BTreeMap<Place, Group> = BTreeMap::new();
        for (cell, group) in &body.groups {
            boxes.entry(place(*cell)).or_default().add(*group);
        }
        let mut links: BTreeMap<(Place, Place), Link> = BTreeMap::new();
        for ((from, to), link) in &body.links {
            let ends = (place(*from), place(*to));
            links.entry(ends).or_default().add(*link);
        }
        let name = |lane: &Option<u16>| match lane {
            Some(label) => labels[usize::from(*label)].as_str(),
            None => OTHERS,
        };
        let room = MAX_WIDTH - 2 * MARGIN - LEFT;
        Self {
            body,
            step: step << body.shift.min(31),
            lane_width: LANE.min(room / lanes.len().max(1)),
            lanes: lanes.iter().map(name).collect(),
            boxes,
            links,
            top: 0,
        }
    }

    fn rows(&self) -> usize {
        self.boxes
            .last_key_value()
            .map_or(0, |((row, _), _)| row + 1)
    }

    fn width(&self) -> usize {
        2 * MARGIN + LEFT + self.lanes.len() * self.lane_width
    }

    /// Dependences that pass over rows, where those are too many to be drawn.
    fn hidden(&self) -> u64 {
        let long = self.links.iter().filter(|(ends, _)| is_long(ends));
        match long.clone().count() > MAX_LONG {
            true => long.map(|(_, link)| link.count).sum(),
            false => 0,
        }
    }

    /// Upper left corner and size of a box.
    fn rectangle(&self, (row, lane): Place) -> (usize, usize, usize) {
        let x = MARGIN + LEFT + lane * self.lane_width;
        (x, self.top + row * ROW, self.lane_width - GAP)
    }

    fn write(&self, colours: &mut Colours, most: u64, out: &mut dyn Write) -> io::Result<()> {
        let tasks = self.boxes.values().map(|group| group.tasks).sum();
        let mut text = shorten(&self.body.label, LABEL_WIDTH);
        let times = self.body.executions;
        let times = match times {
            1 => String::new(),
            times => format!(", executed {} times", count(times)),
        };
        text.push_str(&format!(": {}{times}", counted(tasks, "task")));
        write_text(out, (MARGIN, self.top - LINE), "head", &text)?;
        for row in 0..self.rows() {
            self.row_head(row, out)?;
        }
        let hides = self.hidden() > 0;
        for (ends, link) in &self.links {
            if ends.0 != ends.1 && !(hides && is_long(ends)) {
                self.link(*ends, *link, out)?;
            }
        }
        for (place, group) in &self.boxes {
            let inside = self.links.get(&(*place, *place));
            let colour = colours.of(self.lanes[place.1]);
            self.group(*place, group, inside, (colour, most), out)?;
        }
        Ok(())
    }

    /// The levels of a row, and how many tasks they have.
    fn row_head(&self, row: usize, out: &mut dyn Write) -> io::Result<()> {
        let boxes = self.boxes.range((row, 0)..(row + 1, 0));
        let tasks: u64 = boxes.map(|(_, group)| group.tasks).sum();
        let (first, behind) = (row * self.step, (row + 1) * self.step);
        let last = behind.min(self.body.levels as usize).saturating_sub(1);
        let levels = match last > first {
            true => format!("levels {} to {}", count(first as u64), count(last as u64)),
            false => format!("level {}", count(first as u64)),
        };
        let y = self.top + row * ROW + 15;
        write_text(out, (MARGIN, y), "plain", &levels)?;
        write_text(out, (MARGIN, y + 16), "small", &counted(tasks, "task"))
    }

    fn group(
        &self,
        place: Place,
        group: &Group,
        inside: Option<&Link>,
        (colour, most): (&str, u64),
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (x, y, width) = self.rectangle(place);
        let class = match group.critical {
            0 => "",
            _ => " class=\"critical\"",
        };
        let letters = (width - 12) / 6;
        let (tasks, work) = (counted(group.tasks, "task"), time(group.work));
        let bar = (width as f64 * group.work as f64 / most.max(1) as f64).round();
        let mut title = format!(
            "{}\n{tasks}, {} on the critical path\nwork {work}, mean {}",
            shorten(self.lanes[place.1], LABEL_WIDTH),
            count(group.critical),
            time(group.mean()),
        );
        if let Some(link) = inside {
            title.push_str(&format!(
                "\n{} among them",
                counted(link.count, "dependence")
            ));
        }
        if group.not_run > 0 {
            title.push_str(&format!("\n{} did not run", counted(group.not_run, "task")));
        }
        writeln!(
            out,
            "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BOX_HEIGHT}\" rx=\"4\" fill=\"{colour}\"{class}/>\
             <rect class=\"bar\" x=\"{x}\" y=\"{}\" width=\"{bar}\" height=\"4\"/>\
             <text x=\"{}\" y=\"{}\">{}</text><text x=\"{}\" y=\"{}\">{}</text></g>",
            escaped_lines(&title),
            y + BOX_HEIGHT - 4,
            x + 6,
            y + 14,
            escaped(&elide(&format!("{tasks}, {work}"), letters)),
            x + 6,
            y + 28,
            escaped(&elide(&format!("mean {}", time(group.mean())), letters)),
        )
    }

    /// Dependences between two boxes: a line, wider for more of them, and their number in its middle.
    fn link(&self, (from, to): (Place, Place), link: Link, out: &mut dyn Write) -> io::Result<()> {
        let (a, b) = (self.rectangle(from), self.rectangle(to));
        let width = 1.0 + (link.count as f64).log10();
        let class = match link.critical {
            0 => "",
            _ => " class=\"critical\"",
        };
        let middle = |rectangle: (usize, usize, usize)| rectangle.0 + rectangle.2 / 2;
        let (path, label) = if from.0 != to.0 {
            // Lines to the same lane and to others leave and arrive apart from each other.
            let shift = |lane: usize| 24 * lane.min(9) as i64;
            let begin = middle(a) as i64 + shift(to.1) - shift(from.1);
            let end = middle(b) as i64 + (shift(from.1) - shift(to.1)) / 2;
            let (top, bottom) = ((a.1 + BOX_HEIGHT) as i64, b.1 as i64);
            let half = (bottom - top).max(16) / 2;
            (
                format!(
                    "M{begin} {top} C{begin} {} {end} {} {end} {bottom}",
                    top + half,
                    bottom - half
                ),
                ((begin + 2 * end) / 3, (top + 2 * bottom) / 3 + 3),
            )
        } else if from.1.abs_diff(to.1) == 1 {
            // Side by side.
            let y = (a.1 + BOX_HEIGHT / 2) as i64;
            let (begin, end) = match from.1 < to.1 {
                true => (a.0 + a.2, b.0),
                false => (a.0, b.0 + b.2),
            };
            let middle = (begin as i64 + end as i64) / 2;
            (format!("M{begin} {y} L{end} {y}"), (middle, y - 4))
        } else {
            // Below what is between them.
            let y = (a.1 + BOX_HEIGHT) as i64;
            let (begin, end) = (middle(a) as i64, middle(b) as i64);
            let low = y + 22;
            (
                format!("M{begin} {y} C{begin} {low} {end} {low} {end} {y}"),
                ((begin + end) / 2, y + 14),
            )
        };
        writeln!(
            out,
            "<path d=\"{path}\" stroke-width=\"{width:.1}\"{class}><title>{}</title></path>",
            escaped_lines(&format!(
                "{} → {}\n{}, {} on the critical path",
                shorten(self.lanes[from.1], LABEL_WIDTH),
                shorten(self.lanes[to.1], LABEL_WIDTH),
                counted(link.count, "dependence"),
                count(link.critical)
            )),
        )?;
        let place = |at: i64| usize::try_from(at).unwrap_or(0);
        let at = (place(label.0), place(label.1));
        write_text(out, at, "small middle", &count(link.count))
    }
}

/// Whether a row lies between two places, or the line goes up.
fn is_long((from, to): &(Place, Place)) -> bool {
    !(from.0..=from.0 + 1).contains(&to.0)
}

/// The functions with a lane, in the order of their first levels; [`None`] is that of all others.
fn lanes(body: &Body) -> Vec<Option<u16>> {
    let mut works: BTreeMap<u16, (u32, u64)> = BTreeMap::new();
    for ((level, label), group) in &body.groups {
        let (first, work) = works.entry(*label).or_insert((*level, 0));
        *first = (*first).min(*level);
        *work = work.saturating_add(group.work);
    }
    let mut labels: Vec<(u16, (u32, u64))> = works.into_iter().collect();
    labels.sort_by_key(|(label, (_, work))| (std::cmp::Reverse(*work), *label));
    let others = labels.len() > MAX_LANES + 1;
    if others {
        labels.truncate(MAX_LANES);
    }
    labels.sort_by_key(|(label, (first, work))| (*first, std::cmp::Reverse(*work), *label));
    let lanes = labels.into_iter().map(|(label, _)| Some(label));
    lanes.chain(others.then_some(None)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::model::Node;
    use instr_trace::TaskId;

    fn node(seq: u32, level: u32, label: usize) -> Node {
        Node {
            id: TaskId { thread: 0, seq },
            number: seq.into(),
            kind: "task",
            function: None,
            file: None,
            line: None,
            label: format!("function {label}"),
            parent: None,
            region: None,
            thread: None,
            created_ns: None,
            ready_ns: None,
            begin_ns: Some(0),
            end_ns: None,
            complete_ns: None,
            duration_ns: None,
            work_ns: u64::from(seq) + 1,
            dependency_wait_ns: None,
            ready_wait_ns: None,
            level: Some(level),
            slack_ns: None,
            critical: seq.is_multiple_of(7),
            undeferred: false,
            cancelled: false,
        }
    }

    /// Whatever is joined: tasks, work and dependences are as many as there were.
    #[test]
    fn nothing_is_lost_or_counted_twice() {
        for (tasks, levels, functions) in [
            (1, 1, 1),
            (5_000, 118, 4),
            (3_000, 2_999, 40),
            (40_000, 39_000, 1_500),
        ] {
            let mut groups = Groups::default();
            let mut seed = 1_u64;
            let mut random = |below: u32| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 33) as u32 % below
            };
            let mut edges = 0;
            for seq in 0..tasks {
                let label = random(functions) as usize;
                groups.node(&node(seq, seq % levels, label));
                for _ in 0..2 {
                    groups.edge(
                        TaskId {
                            thread: 0,
                            seq: random(seq + 1),
                        },
                        TaskId { thread: 0, seq },
                    );
                    edges += 1;
                }
            }
            groups.edge(TaskId { thread: 9, seq: 9 }, TaskId { thread: 0, seq: 0 });
            groups.edge(TaskId { thread: 0, seq: 0 }, TaskId { thread: 9, seq: 9 });
            groups.finish();
            assert_eq!(groups.lost, 2);
            let picture = Picture::new(&groups);
            let [chart] = picture.charts.as_slice() else {
                panic!("one region")
            };
            let boxes = || chart.boxes.values();
            assert_eq!(boxes().map(|b| b.tasks).sum::<u64>(), u64::from(tasks));
            let work = u64::from(tasks) * (u64::from(tasks) + 1) / 2;
            assert_eq!(boxes().map(|b| b.work).sum::<u64>(), work);
            let critical = u64::from(tasks).div_ceil(7);
            assert_eq!(boxes().map(|b| b.critical).sum::<u64>(), critical);
            assert_eq!(chart.links.values().map(|l| l.count).sum::<u64>(), edges);
            assert!(chart.rows() <= MAX_ROWS && chart.width() <= MAX_WIDTH);
            assert!(chart.lanes.len() <= MAX_LANES + 1);
            // The rows hold all levels, and no row more than it says.
            assert!(chart.rows() * chart.step >= levels as usize);
            assert!(groups.bodies[0].links.len() <= 65_536);
        }
    }
}
