//! The task graph as [GraphML](http://graphml.graphdrawing.org/): yEd, Gephi, networkx and many others read it.

use std::io::{self, Write};

use instr_trace::TaskId;

use super::GraphSink;
use super::model::{Analysis, Node, name};
use super::svg::escaped;

/// Name and type of every attribute of a node, in the order of [`values`].
const KEYS: [(&str, &str); 23] = [
    ("label", "string"),
    ("number", "long"),
    ("kind", "string"),
    ("function", "string"),
    ("file", "string"),
    ("line", "long"),
    ("parent", "string"),
    ("region", "string"),
    ("thread", "long"),
    ("created_ns", "long"),
    ("ready_ns", "long"),
    ("begin_ns", "long"),
    ("end_ns", "long"),
    ("complete_ns", "long"),
    ("duration_ns", "long"),
    ("work_ns", "long"),
    ("dependency_wait_ns", "long"),
    ("ready_wait_ns", "long"),
    ("level", "long"),
    ("slack_ns", "long"),
    ("critical", "boolean"),
    ("undeferred", "boolean"),
    ("cancelled", "boolean"),
];

/// Writes elements as they come; nothing is kept.
pub struct GraphmlSink<'a> {
    out: &'a mut dyn Write,
    edges: u64,
}

impl<'a> GraphmlSink<'a> {
    /// Begins the graph of `program`.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn new(program: &str, out: &'a mut dyn Write) -> io::Result<Self> {
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(
            out,
            "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">"
        )?;
        for (name, kind) in KEYS {
            writeln!(
                out,
                "  <key id=\"{name}\" for=\"node\" attr.name=\"{name}\" attr.type=\"{kind}\"/>"
            )?;
        }
        writeln!(
            out,
            "  <key id=\"dependence\" for=\"edge\" attr.name=\"kind\" attr.type=\"string\"/>"
        )?;
        writeln!(
            out,
            "  <key id=\"headline\" for=\"graph\" attr.name=\"headline\" attr.type=\"string\"/>"
        )?;
        writeln!(
            out,
            "  <key id=\"program\" for=\"graph\" attr.name=\"program\" attr.type=\"string\"/>"
        )?;
        writeln!(out, "  <graph id=\"tasks\" edgedefault=\"directed\">")?;
        writeln!(out, "    <data key=\"program\">{}</data>", escaped(program))?;
        Ok(Self { out, edges: 0 })
    }
}

fn values(node: &Node) -> [Option<String>; KEYS.len()] {
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    [
        Some(escaped(&node.label)),
        number(Some(node.number)),
        Some(node.kind.to_owned()),
        node.function.as_deref().map(escaped),
        node.file.as_deref().map(escaped),
        number(node.line.map(u64::from)),
        node.parent.map(name),
        node.region.clone(),
        number(node.thread.map(u64::from)),
        number(node.created_ns),
        number(node.ready_ns),
        number(node.begin_ns),
        number(node.end_ns),
        number(node.complete_ns),
        number(node.duration_ns),
        number(Some(node.work_ns)),
        number(node.dependency_wait_ns),
        number(node.ready_wait_ns),
        number(node.level.map(u64::from)),
        number(node.slack_ns),
        Some(node.critical.to_string()),
        Some(node.undeferred.to_string()),
        Some(node.cancelled.to_string()),
    ]
}

impl GraphSink for GraphmlSink<'_> {
    fn node(&mut self, node: &Node) -> io::Result<()> {
        write!(self.out, "    <node id=\"{}\">", name(node.id))?;
        for ((key, _), value) in KEYS.iter().zip(values(node)) {
            if let Some(value) = value {
                write!(self.out, "<data key=\"{key}\">{value}</data>")?;
            }
        }
        writeln!(self.out, "</node>")
    }

    fn edge(&mut self, from: TaskId, to: TaskId) -> io::Result<()> {
        self.edges += 1;
        writeln!(
            self.out,
            "    <edge id=\"e{}\" source=\"{}\" target=\"{}\"><data key=\"dependence\">depend</data></edge>",
            self.edges,
            name(from),
            name(to)
        )
    }

    fn finish(self: Box<Self>, analysis: &Analysis) -> io::Result<Option<String>> {
        writeln!(
            self.out,
            "    <data key=\"headline\">{}</data>",
            escaped(&analysis.headline)
        )?;
        writeln!(self.out, "  </graph>\n</graphml>")?;
        Ok(None)
    }
}
