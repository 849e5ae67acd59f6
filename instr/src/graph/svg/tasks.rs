//! A picture with a box for each task: levels from left to right, or from top to bottom where that is narrower.

use std::io::{self, Write};

use hashbrown::HashMap;
use instr_trace::TaskId;

use super::page::{
    Colours, Heading, LABEL_WIDTH, LINE, MARGIN, MAX_WIDTH, escaped, escaped_lines, write_text,
};
use crate::graph::model::{Analysis, Node, name};
use crate::summary::units::{count, counted, elide, shorten, time};

/// Levels behind these are not drawn: no viewer shows as large a picture.
const MAX_LEVELS: usize = 1_000;
/// More tasks are not drawn.
const MAX_TASKS: usize = 100_000;
const BOX: (usize, usize) = (112, 22);
/// From level to level and from task to task, from left to right and from top to bottom.
const ACROSS: (usize, usize) = (160, 28);
const DOWN: (usize, usize) = (124, 48);
/// Room of the texts at a level that is a row.
const LEFT: usize = 118;

/// Which way levels go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// From left to right.
    Across,
    /// From top to bottom.
    Down,
}

/// Where tasks go: a place for each level of each region, regions in the order they come.
#[derive(Debug, Default)]
struct Levels {
    region: Option<String>,
    /// First place of the running region, and the first behind it.
    base: usize,
    next: usize,
    /// First place and name of each region that is drawn.
    regions: Vec<(usize, String)>,
    /// Level and number of tasks of each place.
    heads: Vec<(usize, usize)>,
    left_out: u64,
}

impl Levels {
    /// The place of the next node; [`None`] when it is too far away.
    fn of(&mut self, node: &Node) -> Option<usize> {
        if self.next == 0 || node.region != self.region {
            self.region.clone_from(&node.region);
            self.base = self.next;
            if self.base < MAX_LEVELS {
                let name = node.region.clone().unwrap_or_default();
                self.regions.push((self.base, name));
            }
        }
        let level = node.level.unwrap_or(0) as usize;
        let place = self.base.saturating_add(level);
        self.next = self.next.max(place.saturating_add(1));
        if place >= MAX_LEVELS {
            self.left_out += 1;
            return None;
        }
        for new in self.heads.len()..=place {
            self.heads.push((new - self.base, 0));
        }
        self.heads[place].1 += 1;
        Some(place)
    }
}

/// Tasks and dependences, and where they go.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    levels: Levels,
    nodes: Vec<(usize, Node)>,
    edges: Vec<(TaskId, TaskId)>,
    edges_left_out: u64,
    tasks_left_out: u64,
}

impl Tasks {
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn add(&mut self, node: &Node) {
        if self.nodes.len() >= MAX_TASKS {
            self.tasks_left_out += 1;
            return;
        }
        if let Some(place) = self.levels.of(node) {
            self.nodes.push((place, node.clone()));
        }
    }

    /// Adds a dependence, unless there are `most` already.
    pub(super) fn edge(&mut self, from: TaskId, to: TaskId, most: usize) {
        match self.edges.len() < most {
            true => self.edges.push((from, to)),
            false => self.edges_left_out += 1,
        }
    }

    /// The way by which the picture is no wider than a screen, if one is.
    pub(super) fn fitting(&self) -> Option<Way> {
        let widest = self.levels.heads.iter().map(|(_, tasks)| *tasks).max();
        let across = 2 * MARGIN + self.levels.heads.len() * ACROSS.0;
        let down = 2 * MARGIN + LEFT + widest.unwrap_or(0) * DOWN.0;
        match (across <= MAX_WIDTH, down <= MAX_WIDTH) {
            _ if self.levels.left_out > 0 || self.edges_left_out > 0 => None,
            (true, _) => Some(Way::Across),
            (_, true) => Some(Way::Down),
            (false, false) => None,
        }
    }

    /// What is not in the picture; empty when all is.
    pub(super) fn left_out(&self) -> String {
        let mut notes = Vec::new();
        if self.edges_left_out > 0 {
            let edges = counted(self.edges_left_out, "dependence");
            notes.push(format!("{edges} not drawn"));
        }
        if self.tasks_left_out > 0 {
            notes.push(format!(
                "{} behind the first {} not drawn",
                counted(self.tasks_left_out, "task"),
                count(MAX_TASKS as u64)
            ));
        }
        if self.levels.left_out > 0 {
            notes.push(format!(
                "{} not drawn, in levels and regions behind the first {}",
                counted(self.levels.left_out, "task"),
                count(MAX_LEVELS as u64)
            ));
        }
        notes.join("; ")
    }

    /// Writes the picture.
    pub(super) fn write(
        &self,
        program: &str,
        analysis: &Analysis,
        way: Way,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut colours = Colours::default();
        let fills: Vec<&str> = self
            .nodes
            .iter()
            .map(|(_, node)| colours.of(&node.label))
            .collect();
        let sentences = [
            ("plain", analysis.headline.as_str()),
            ("small", &self.left_out()),
        ];
        let marks = [
            "a box: a task and its work; a line: a dependence; red: on the critical path; dashed: not run",
        ];
        let heading = Heading::new(program, &sentences, &colours, |_| String::new(), &marks);
        let corners = self.corners(way, heading.height());
        let far = |pick: fn(&(usize, usize)) -> usize| corners.iter().map(pick).max().unwrap_or(0);
        let size = (
            (far(|corner| corner.0) + BOX.0 + MARGIN).max(heading.width()),
            far(|corner| corner.1).max(heading.height()) + BOX.1 + MARGIN,
        );
        heading.write(program, size, out)?;
        self.heads(analysis, way, heading.height(), out)?;
        let nodes = self.nodes.iter().map(|(_, node)| node.id);
        let places: HashMap<TaskId, (usize, usize)> = nodes.zip(corners.iter().copied()).collect();
        for (from, to) in &self.edges {
            if let (Some(from), Some(to)) = (places.get(from), places.get(to)) {
                curve(out, *from, *to, way)?;
            }
        }
        for (((_, node), corner), fill) in self.nodes.iter().zip(&corners).zip(fills) {
            draw(out, node, fill, *corner)?;
        }
        writeln!(out, "</svg>")
    }

    /// The upper left corner of each box.
    fn corners(&self, way: Way, top: usize) -> Vec<(usize, usize)> {
        let mut filled = vec![0; self.levels.heads.len()];
        let mut corners = Vec::with_capacity(self.nodes.len());
        for (place, _) in &self.nodes {
            let at = filled[*place];
            filled[*place] += 1;
            corners.push(match way {
                Way::Across => (MARGIN + place * ACROSS.0, top + 2 * LINE + at * ACROSS.1),
                Way::Down => (MARGIN + LEFT + at * DOWN.0, top + LINE + place * DOWN.1),
            });
        }
        corners
    }

    /// Names of regions, numbers of levels; `top` is where they begin.
    fn heads(
        &self,
        analysis: &Analysis,
        way: Way,
        top: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let labels: HashMap<&str, &str> = analysis
            .regions
            .iter()
            .filter_map(|region| Some((region.id.as_deref()?, region.label.as_str())))
            .collect();
        let (regions, heads) = (&self.levels.regions, &self.levels.heads);
        for (at, (place, region)) in regions.iter().enumerate() {
            let next = regions.get(at + 1).map_or(heads.len(), |(next, _)| *next);
            let text = match labels.get(region.as_str()) {
                Some(label) => format!("{region} {label}"),
                None => "outside of parallel regions".to_owned(),
            };
            let (at, room) = match way {
                Way::Across => (
                    (MARGIN + place * ACROSS.0, top + LINE / 2),
                    next.saturating_sub(*place).max(1) * ACROSS.0 / 7,
                ),
                Way::Down => ((MARGIN, top + place * DOWN.1 + LINE / 2), LABEL_WIDTH),
            };
            write_text(out, at, "head", &shorten(&text, room))?;
        }
        for (place, (level, tasks)) in heads.iter().enumerate() {
            let at = match way {
                Way::Across => (MARGIN + place * ACROSS.0, top + 3 * LINE / 2),
                Way::Down => (MARGIN, top + place * DOWN.1 + LINE + 15),
            };
            let tasks = counted(*tasks as u64, "task");
            write_text(out, at, "small", &format!("level {level}: {tasks}"))?;
        }
        Ok(())
    }
}

fn title(node: &Node) -> String {
    let times = |value: Option<u64>| value.map_or_else(|| "unknown".to_owned(), time);
    let critical = match node.critical {
        true => "\non the critical path",
        false => "",
    };
    format!(
        "{} {}\nwork {}, slack {}\ndependency wait {}, ready wait {}{critical}",
        name(node.id),
        shorten(&node.label, LABEL_WIDTH),
        time(node.work_ns),
        times(node.slack_ns),
        times(node.dependency_wait_ns),
        times(node.ready_wait_ns),
    )
}

/// A dependence, from box to box.
fn curve(
    out: &mut dyn Write,
    from: (usize, usize),
    to: (usize, usize),
    way: Way,
) -> io::Result<()> {
    let (begin, end, bend) = match way {
        Way::Across => (
            (from.0 + BOX.0, from.1 + BOX.1 / 2),
            (to.0, to.1 + BOX.1 / 2),
            (30, 0),
        ),
        Way::Down => (
            (from.0 + BOX.0 / 2, from.1 + BOX.1),
            (to.0 + BOX.0 / 2, to.1),
            (0, 14),
        ),
    };
    writeln!(
        out,
        "<path d=\"M{} {} C{} {} {} {} {} {}\"/>",
        begin.0,
        begin.1,
        begin.0 + bend.0,
        begin.1 + bend.1,
        end.0.saturating_sub(bend.0),
        end.1.saturating_sub(bend.1),
        end.0,
        end.1,
    )
}

fn draw(out: &mut dyn Write, node: &Node, fill: &str, (x, y): (usize, usize)) -> io::Result<()> {
    let class = match (node.critical, node.begin_ns) {
        (true, _) => " class=\"critical\"",
        (_, None) => " class=\"not-run\"",
        _ => "",
    };
    let text = match node.begin_ns {
        Some(_) => format!("{} · {}", name(node.id), time(node.work_ns)),
        None => format!("{} · not run", name(node.id)),
    };
    writeln!(
        out,
        "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{fill}\"{class}/>\
         <text x=\"{}\" y=\"{}\">{}</text></g>",
        escaped_lines(&title(node)),
        BOX.0,
        BOX.1,
        x + 6,
        y + 15,
        escaped(&elide(&text, 20)),
    )
}
