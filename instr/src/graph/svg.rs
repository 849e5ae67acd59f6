//! The task graph as a picture: levels from left to right, regions one behind the other.

use std::collections::BTreeMap;
use std::io::{self, Write};

use hashbrown::HashMap;
use instr_trace::TaskId;

use super::GraphSink;
use super::model::{Analysis, Node, name};
use crate::summary::units::{counted, elide, time};

/// More tasks are drawn by level and function.
const MAX_TASKS: usize = 2_000;
/// More dependences are not drawn.
const MAX_EDGES: usize = 20_000;
/// More boxes are not drawn at all: their number is told.
const MAX_BOXES: usize = 20_000;
const BOX: (usize, usize) = (130, 34);
const STEP: (usize, usize) = (190, 46);
const TOP: usize = 60;

/// Fill colours by function, in order of appearance: twelve that are easy to tell apart and light enough for black text.
const COLOURS: [&str; 12] = [
    "#8dd3c7", "#ffffb3", "#bebada", "#fb8072", "#80b1d3", "#fdb462", "#b3de69", "#fccde5",
    "#d9d9d9", "#bc80bd", "#ccebc5", "#ffed6f",
];

/// One colour for each label.
#[derive(Debug, Default)]
pub struct Colours {
    known: BTreeMap<String, usize>,
}

impl Colours {
    /// The colour of `label`.
    pub fn of(&mut self, label: &str) -> &'static str {
        let at = match self.known.get(label) {
            Some(at) => *at,
            None => {
                let next = self.known.len();
                self.known.insert(label.to_owned(), next);
                next
            }
        };
        COLOURS[at % COLOURS.len()]
    }
}

/// Text for XML, in elements and attributes; characters that XML does not know become `?`.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('?'),
            other if other.is_control() => escaped.push('?'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// All tasks of one function in one level.
#[derive(Debug, Default)]
struct Group {
    tasks: u64,
    critical: u64,
    work: u64,
}

/// Keeps the tasks while they are few, and their groups.
pub struct SvgSink<'a> {
    program: String,
    out: &'a mut dyn Write,
    nodes: Vec<Node>,
    too_many: bool,
    edges: Vec<(TaskId, TaskId)>,
    edges_left_out: u64,
    /// By column and label.
    groups: BTreeMap<(usize, String), Group>,
    groups_left_out: u64,
    region: Option<String>,
    /// First column of the running region, and the first behind it.
    base: usize,
    next: usize,
}

impl<'a> SvgSink<'a> {
    /// A picture titled `program`; it is written at the end.
    pub fn new(program: &str, out: &'a mut dyn Write) -> Self {
        Self {
            program: program.to_owned(),
            out,
            nodes: Vec::new(),
            too_many: false,
            edges: Vec::new(),
            edges_left_out: 0,
            groups: BTreeMap::new(),
            groups_left_out: 0,
            region: None,
            base: 0,
            next: 0,
        }
    }

    fn column(&mut self, node: &Node) -> usize {
        if node.region != self.region {
            self.region.clone_from(&node.region);
            self.base = self.next;
        }
        let column = self.base + node.level.unwrap_or(0) as usize;
        self.next = self.next.max(column + 1);
        column
    }

    fn boxes(&self, columns: &[usize]) -> Vec<Shape> {
        if self.too_many {
            let shape = |((column, label), group): (&(usize, String), &Group)| Shape {
                column: *column,
                label: label.clone(),
                id: None,
                text: format!("{} × {}", group.tasks, label),
                title: format!(
                    "{label}\n{}, {} critical\nwork {}",
                    counted(group.tasks, "task"),
                    group.critical,
                    time(group.work)
                ),
                critical: group.critical > 0,
            };
            return self.groups.iter().map(shape).collect();
        }
        let shape = |(node, column): (&Node, &usize)| Shape {
            column: *column,
            label: node.label.clone(),
            id: Some(node.id),
            text: format!("{} {}", name(node.id), node.label),
            title: title(node),
            critical: node.critical,
        };
        self.nodes.iter().zip(columns).map(shape).collect()
    }
}

/// A rectangle.
struct Shape {
    column: usize,
    label: String,
    id: Option<TaskId>,
    text: String,
    title: String,
    critical: bool,
}

fn title(node: &Node) -> String {
    let times = |value: Option<u64>| value.map_or_else(|| "unknown".to_owned(), time);
    format!(
        "{} {}\nwork {}, slack {}\ndependency wait {}, ready wait {}{}",
        name(node.id),
        node.label,
        time(node.work_ns),
        times(node.slack_ns),
        times(node.dependency_wait_ns),
        times(node.ready_wait_ns),
        if node.critical {
            "\non the critical path"
        } else {
            ""
        }
    )
}

impl GraphSink for SvgSink<'_> {
    fn node(&mut self, node: &Node) -> io::Result<()> {
        let column = self.column(node);
        let key = (column, node.label.clone());
        if self.groups.len() >= MAX_BOXES && !self.groups.contains_key(&key) {
            self.groups_left_out += 1;
        } else {
            let group = self.groups.entry(key).or_default();
            group.tasks += 1;
            group.critical += u64::from(node.critical);
            group.work += node.work_ns;
        }
        if self.nodes.len() < MAX_TASKS {
            self.nodes.push(node.clone());
        } else {
            self.too_many = true;
            self.nodes.clear();
            self.edges = Vec::new();
        }
        Ok(())
    }

    fn edge(&mut self, from: TaskId, to: TaskId) -> io::Result<()> {
        if !self.too_many && self.edges.len() < MAX_EDGES {
            self.edges.push((from, to));
        } else {
            self.edges_left_out += 1;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, analysis: &Analysis) -> io::Result<()> {
        (self.region, self.base, self.next) = (None, 0, 0);
        let nodes = std::mem::take(&mut self.nodes);
        let columns: Vec<usize> = nodes.iter().map(|node| self.column(node)).collect();
        self.nodes = nodes;
        let shapes = self.boxes(&columns);
        let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
        let mut places: HashMap<TaskId, (usize, usize)> = HashMap::new();
        let mut corners = Vec::new();
        for shape in &shapes {
            let row = rows.entry(shape.column).or_default();
            let corner = (10 + shape.column * STEP.0, TOP + *row * STEP.1);
            *row += 1;
            corners.push(corner);
            places.extend(shape.id.map(|id| (id, corner)));
        }
        let columns = rows.keys().last().map_or(0, |last| last + 1);
        let size = (
            (20 + columns * STEP.0).max(600),
            TOP + rows.values().max().copied().unwrap_or(0) * STEP.1 + 10,
        );
        let mut note = String::new();
        if self.too_many {
            note = format!(
                "More than {MAX_TASKS} tasks: one box for each function and level, without dependences."
            );
        } else if self.edges_left_out > 0 {
            note = format!("{} not shown.", counted(self.edges_left_out, "dependence"));
        }
        if self.too_many && self.groups_left_out > 0 {
            note.push_str(&format!(
                " {} not shown.",
                counted(self.groups_left_out, "task")
            ));
        }
        let Self {
            program,
            out,
            edges,
            ..
        } = *self;
        begin(out, size, &program, &analysis.headline, &note)?;
        for (from, to) in &edges {
            if let (Some(from), Some(to)) = (places.get(from), places.get(to)) {
                let (x, y) = (from.0 + BOX.0, from.1 + BOX.1 / 2);
                let end = (to.0, to.1 + BOX.1 / 2);
                writeln!(
                    out,
                    "<path d=\"M{x} {y} C{} {y} {} {} {} {}\"/>",
                    x + 30,
                    end.0.saturating_sub(30),
                    end.1,
                    end.0,
                    end.1
                )?;
            }
        }
        let mut colours = Colours::default();
        for (shape, corner) in shapes.iter().zip(&corners) {
            draw(out, shape, *corner, colours.of(&shape.label))?;
        }
        writeln!(out, "</svg>")
    }
}

fn begin(
    out: &mut dyn Write,
    size: (usize, usize),
    program: &str,
    headline: &str,
    note: &str,
) -> io::Result<()> {
    let (width, height) = size;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">"
    )?;
    writeln!(
        out,
        "<style>text {{ font: 11px sans-serif }} path {{ fill: none; stroke: #777 }} rect {{ stroke: #333 }} \
         .critical {{ stroke: #d00000; stroke-width: 3 }}</style>"
    )?;
    writeln!(out, "<title>{}</title>", escaped(program))?;
    writeln!(
        out,
        "<text x=\"10\" y=\"20\">{}: {}</text>",
        escaped(program),
        escaped(headline)
    )?;
    writeln!(out, "<text x=\"10\" y=\"40\">{}</text>", escaped(note))
}

fn draw(
    out: &mut dyn Write,
    shape: &Shape,
    corner: (usize, usize),
    colour: &str,
) -> io::Result<()> {
    let class = if shape.critical {
        " class=\"critical\""
    } else {
        ""
    };
    let (x, y) = corner;
    writeln!(
        out,
        "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{colour}\"{class}/>\
         <text x=\"{}\" y=\"{}\">{}</text></g>",
        escaped_lines(&shape.title),
        BOX.0,
        BOX.1,
        x + 6,
        y + 21,
        escaped(&elide(&shape.text, 19)),
    )
}

fn escaped_lines(text: &str) -> String {
    text.split('\n').map(escaped).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_element() {
        assert_eq!(
            escaped("a<b>&\"'\u{1}\u{ffff}é"),
            "a&lt;b&gt;&amp;&quot;&apos;??é"
        );
    }
}
