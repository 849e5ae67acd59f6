//! The task graph as a picture: levels from left to right, regions one behind the other.

use std::collections::BTreeMap;
use std::io::{self, Write};

use hashbrown::HashMap;
use instr_trace::TaskId;

use super::GraphSink;
use super::model::{Analysis, Node, name};
use crate::summary::units::{count, counted, elide, shorten, time};

/// More tasks are drawn by level and function.
const MAX_TASKS: usize = 2_000;
/// More dependences are not drawn.
const MAX_EDGES: usize = 20_000;
/// More boxes for level and function are not drawn.
const MAX_GROUPS: usize = 5_000;
/// Levels further right are not drawn: no viewer shows as wide a picture.
const MAX_COLUMNS: usize = 1_000;
/// Functions that the legend names.
const LEGEND_ROWS: usize = 24;
const LABEL_WIDTH: usize = 96;
const BOX: (usize, usize) = (112, 22);
const STEP: (usize, usize) = (160, 28);
const MARGIN: usize = 12;
const LINE: usize = 18;

/// Fill colours by function, in order of appearance: twelve that are easy to tell apart, light enough for black text, none like the
/// red of the critical path.
const COLOURS: [&str; 12] = [
    "#8dd3c7", "#ffffb3", "#bebada", "#80b1d3", "#fdb462", "#b3de69", "#fccde5", "#d9d9d9",
    "#bc80bd", "#ccebc5", "#e5c494", "#ffed6f",
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

    /// All labels, in order of appearance, with their colours.
    fn legend(&self) -> Vec<(&str, &'static str)> {
        let mut labels: Vec<(&str, usize)> = self
            .known
            .iter()
            .map(|(label, at)| (label.as_str(), *at))
            .collect();
        labels.sort_unstable_by_key(|(_, at)| *at);
        let colour = |(label, at): (_, usize)| (label, COLOURS[at % COLOURS.len()]);
        labels.into_iter().map(colour).collect()
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

/// Where tasks go: a column for each level of each region, regions in the order they come.
#[derive(Debug, Default)]
struct Columns {
    region: Option<String>,
    /// First column of the running region, and the first behind it.
    base: usize,
    next: usize,
    /// First column and name of each region that is drawn.
    regions: Vec<(usize, String)>,
    /// Level and number of tasks of each column.
    heads: Vec<(usize, u64)>,
    left_out: u64,
}

impl Columns {
    /// The column of the next node; [`None`] when it is too far right.
    fn of(&mut self, node: &Node) -> Option<usize> {
        if self.next == 0 || node.region != self.region {
            self.region.clone_from(&node.region);
            self.base = self.next;
            if self.base < MAX_COLUMNS {
                let name = node.region.clone().unwrap_or_default();
                self.regions.push((self.base, name));
            }
        }
        let level = node.level.unwrap_or(0) as usize;
        let column = self.base.saturating_add(level);
        self.next = self.next.max(column.saturating_add(1));
        if column >= MAX_COLUMNS {
            self.left_out += 1;
            return None;
        }
        for new in self.heads.len()..=column {
            self.heads.push((new - self.base, 0));
        }
        self.heads[column].1 += 1;
        Some(column)
    }
}

/// Keeps the tasks while they are few, and their groups.
pub struct SvgSink<'a> {
    program: String,
    out: &'a mut dyn Write,
    columns: Columns,
    nodes: Vec<(usize, Node)>,
    too_many: bool,
    edges: Vec<(TaskId, TaskId)>,
    edges_left_out: u64,
    /// By column and label.
    groups: BTreeMap<(usize, String), Group>,
    groups_left_out: u64,
    colours: Colours,
}

impl<'a> SvgSink<'a> {
    /// A picture titled `program`; it is written at the end.
    pub fn new(program: &str, out: &'a mut dyn Write) -> Self {
        Self {
            program: program.to_owned(),
            out,
            columns: Columns::default(),
            nodes: Vec::new(),
            too_many: false,
            edges: Vec::new(),
            edges_left_out: 0,
            groups: BTreeMap::new(),
            groups_left_out: 0,
            colours: Colours::default(),
        }
    }

    fn add_to_group(&mut self, column: usize, node: &Node) {
        let key = (column, node.label.clone());
        if self.groups.len() >= MAX_GROUPS && !self.groups.contains_key(&key) {
            self.groups_left_out += 1;
            return;
        }
        let group = self.groups.entry(key).or_default();
        group.tasks += 1;
        group.critical += u64::from(node.critical);
        group.work = group.work.saturating_add(node.work_ns);
    }

    fn boxes(&mut self) -> Vec<Shape> {
        let colours = &mut self.colours;
        if self.too_many {
            let shape = |((column, label), group): (&(usize, String), &Group)| Shape {
                column: *column,
                colour: colours.of(label),
                id: None,
                text: format!(
                    "{} × {}",
                    count(group.tasks),
                    time(group.work / group.tasks)
                ),
                title: format!(
                    "{}\n{}, {} critical\nwork {}",
                    shorten(label, LABEL_WIDTH),
                    counted(group.tasks, "task"),
                    count(group.critical),
                    time(group.work)
                ),
                class: if group.critical > 0 { "critical" } else { "" },
            };
            return self.groups.iter().map(shape).collect();
        }
        let shape = |(column, node): &(usize, Node)| Shape {
            column: *column,
            colour: colours.of(&node.label),
            id: Some(node.id),
            text: match node.begin_ns {
                Some(_) => format!("{} · {}", name(node.id), time(node.work_ns)),
                None => format!("{} · not run", name(node.id)),
            },
            title: title(node),
            class: match (node.critical, node.begin_ns) {
                (true, _) => "critical",
                (_, None) => "not-run",
                _ => "",
            },
        };
        self.nodes.iter().map(shape).collect()
    }

    /// What is not in the picture.
    fn note(&self) -> String {
        let mut notes = Vec::new();
        if self.too_many {
            notes.push(format!(
                "more than {} tasks: one box for each function and level (tasks × mean work), without dependences",
                count(MAX_TASKS as u64)
            ));
        } else if self.edges_left_out > 0 {
            notes.push(format!(
                "{} not drawn",
                counted(self.edges_left_out, "dependence")
            ));
        }
        if self.columns.left_out > 0 {
            notes.push(format!(
                "{} not drawn, in levels and regions behind the first {}",
                counted(self.columns.left_out, "task"),
                count(MAX_COLUMNS as u64)
            ));
        }
        if self.too_many && self.groups_left_out > 0 {
            notes.push(format!(
                "{} of further functions not drawn",
                counted(self.groups_left_out, "task")
            ));
        }
        notes.join("; ")
    }
}

/// A rectangle.
struct Shape {
    column: usize,
    colour: &'static str,
    id: Option<TaskId>,
    text: String,
    title: String,
    class: &'static str,
}

fn title(node: &Node) -> String {
    let times = |value: Option<u64>| value.map_or_else(|| "unknown".to_owned(), time);
    format!(
        "{} {}\nwork {}, slack {}\ndependency wait {}, ready wait {}{}",
        name(node.id),
        shorten(&node.label, LABEL_WIDTH),
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
        let Some(column) = self.columns.of(node) else {
            return Ok(());
        };
        self.add_to_group(column, node);
        if self.too_many {
            return Ok(());
        }
        if self.nodes.len() < MAX_TASKS {
            self.nodes.push((column, node.clone()));
        } else {
            self.too_many = true;
            (self.nodes, self.edges) = (Vec::new(), Vec::new());
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

    fn finish(mut self: Box<Self>, analysis: &Analysis) -> io::Result<Option<String>> {
        let shapes = self.boxes();
        let note = self.note();
        let top = Header::height(&self.colours);
        let mut rows = vec![0; self.columns.heads.len()];
        let mut places: HashMap<TaskId, (usize, usize)> = HashMap::new();
        let mut corners = Vec::new();
        for shape in &shapes {
            let row = &mut rows[shape.column];
            let corner = (MARGIN + shape.column * STEP.0, top + *row * STEP.1);
            *row += 1;
            corners.push(corner);
            places.extend(shape.id.map(|id| (id, corner)));
        }
        // Letters are about half as wide as they are high.
        let text = 2 * MARGIN + 13 * analysis.headline.chars().count() / 2;
        let size = (
            (2 * MARGIN + rows.len() * STEP.0).max(text),
            top + rows.iter().max().unwrap_or(&0) * STEP.1 + MARGIN,
        );
        let header = Header {
            program: &self.program,
            analysis,
            note: &note,
            colours: &self.colours,
            columns: &self.columns,
        };
        header.write(size, self.out)?;
        for (from, to) in &self.edges {
            if let (Some(from), Some(to)) = (places.get(from), places.get(to)) {
                curve(self.out, *from, *to)?;
            }
        }
        for (shape, corner) in shapes.iter().zip(&corners) {
            draw(self.out, shape, *corner)?;
        }
        writeln!(self.out, "</svg>")?;
        Ok((!note.is_empty()).then(|| {
            format!("the picture is not complete: {note}\n  help: --format graphml and json hold all tasks and dependences")
        }))
    }
}

/// What stands above the boxes.
struct Header<'a> {
    program: &'a str,
    analysis: &'a Analysis,
    note: &'a str,
    colours: &'a Colours,
    columns: &'a Columns,
}

impl Header<'_> {
    /// Where the boxes begin.
    fn height(colours: &Colours) -> usize {
        let legend = colours.known.len().min(LEGEND_ROWS + 1);
        MARGIN + (7 + legend) * LINE
    }

    fn write(&self, size: (usize, usize), out: &mut dyn Write) -> io::Result<()> {
        let (width, height) = size;
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">"
        )?;
        writeln!(
            out,
            "<style>text {{ font: 11px sans-serif }} .head {{ font-weight: bold }} .small {{ fill: #666 }} \
             path {{ fill: none; stroke: #888; stroke-opacity: 0.7 }} g rect {{ stroke: #555 }} \
             .critical {{ stroke: #d00000; stroke-width: 2.5 }} .not-run {{ stroke-dasharray: 4 }}</style>"
        )?;
        writeln!(out, "<title>{}</title>", escaped(self.program))?;
        writeln!(
            out,
            "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"
        )?;
        let mut y = MARGIN;
        let mut line = |x: usize, class: &str, text: &str, out: &mut dyn Write| {
            y += LINE;
            let text = escaped(text);
            writeln!(
                out,
                "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{text}</text>"
            )
            .map(|()| y)
        };
        line(MARGIN, "head", &elide(self.program, LABEL_WIDTH), out)?;
        line(MARGIN, "plain", &self.analysis.headline, out)?;
        line(MARGIN, "small", self.note, out)?;
        let legend = self.colours.legend();
        for (label, colour) in legend.iter().take(LEGEND_ROWS) {
            let y = line(MARGIN + 18, "plain", &shorten(label, LABEL_WIDTH), out)?;
            writeln!(
                out,
                "<circle cx=\"{}\" cy=\"{}\" r=\"6\" fill=\"{colour}\" stroke=\"#555\"/>",
                MARGIN + 6,
                y - 4
            )?;
        }
        if let Some(more) = legend.len().checked_sub(LEGEND_ROWS + 1) {
            let more = format!("and {}", counted(more as u64 + 1, "more function"));
            line(MARGIN + 18, "small", &more, out)?;
        }
        line(MARGIN, "small", "red border: critical path", out)?;
        self.heads(Self::height(self.colours), out)
    }

    /// Names of regions, numbers of levels; `top` is where the boxes begin.
    fn heads(&self, top: usize, out: &mut dyn Write) -> io::Result<()> {
        let labels: HashMap<&str, &str> = self
            .analysis
            .regions
            .iter()
            .filter_map(|region| Some((region.id.as_deref()?, region.label.as_str())))
            .collect();
        let (regions, heads) = (&self.columns.regions, &self.columns.heads);
        for (at, (column, region)) in regions.iter().enumerate() {
            let next = regions.get(at + 1).map_or(heads.len(), |(next, _)| *next);
            let room = next.saturating_sub(*column).max(1) * STEP.0 / 7;
            let text = match labels.get(region.as_str()) {
                Some(label) => format!("{region} {label}"),
                None => "outside of parallel regions".to_owned(),
            };
            let (x, y) = (MARGIN + column * STEP.0, top - 3 * LINE / 2);
            let text = escaped(&shorten(&text, room));
            writeln!(
                out,
                "<text x=\"{x}\" y=\"{y}\" class=\"head\">{text}</text>"
            )?;
        }
        for (column, (level, tasks)) in heads.iter().enumerate() {
            let (x, y) = (MARGIN + column * STEP.0, top - LINE / 2);
            let tasks = counted(*tasks, "task");
            writeln!(
                out,
                "<text x=\"{x}\" y=\"{y}\" class=\"small\">level {level}: {tasks}</text>"
            )?;
        }
        Ok(())
    }
}

/// A dependence, from box to box.
fn curve(out: &mut dyn Write, from: (usize, usize), to: (usize, usize)) -> io::Result<()> {
    let (x, y) = (from.0 + BOX.0, from.1 + BOX.1 / 2);
    let (end, at) = (to.0, to.1 + BOX.1 / 2);
    writeln!(
        out,
        "<path d=\"M{x} {y} C{} {y} {} {at} {end} {at}\"/>",
        x + 30,
        end.saturating_sub(30),
    )
}

fn draw(out: &mut dyn Write, shape: &Shape, corner: (usize, usize)) -> io::Result<()> {
    let class = match shape.class {
        "" => String::new(),
        class => format!(" class=\"{class}\""),
    };
    let (x, y) = corner;
    writeln!(
        out,
        "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{}\"{class}/>\
         <text x=\"{}\" y=\"{}\">{}</text></g>",
        escaped_lines(&shape.title),
        BOX.0,
        BOX.1,
        shape.colour,
        x + 6,
        y + 15,
        escaped(&elide(&shape.text, 20)),
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
