//! The task graph for Graphviz.

use std::collections::BTreeMap;
use std::io::{self, Write};

use instr_trace::TaskId;

use super::{GraphSink, Node};
use crate::summary::units::time;

/// Fill colours by function, in order of appearance: twelve that are easy to tell apart and dark enough for nobody.
const COLOURS: [&str; 12] = [
    "#8dd3c7", "#ffffb3", "#bebada", "#fb8072", "#80b1d3", "#fdb462", "#b3de69", "#fccde5",
    "#d9d9d9", "#bc80bd", "#ccebc5", "#ffed6f",
];

/// Writes statements as they come; nothing is kept but the colours.
pub struct DotSink<'a> {
    out: &'a mut dyn Write,
    colours: BTreeMap<String, usize>,
}

impl<'a> DotSink<'a> {
    /// Begins a graph called `name`.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn new(name: &str, out: &'a mut dyn Write) -> io::Result<Self> {
        writeln!(out, "digraph {} {{", quoted(name))?;
        writeln!(
            out,
            "  node [shape=box, style=filled, fontname=\"sans-serif\"];"
        )?;
        Ok(Self {
            out,
            colours: BTreeMap::new(),
        })
    }
}

impl GraphSink for DotSink<'_> {
    fn node(&mut self, node: &Node) -> io::Result<()> {
        let next = self.colours.len();
        let colour = *self.colours.entry(node.place.label.clone()).or_insert(next);
        let colour = COLOURS[colour % COLOURS.len()];
        let (id, times) = (
            name(node.id),
            node.own_ns.map_or_else(|| "not executed".to_owned(), time),
        );
        let label = quoted(&format!("{}\n{id} · {times}", node.place.label));
        writeln!(
            self.out,
            "  \"{id}\" [label={label}, fillcolor=\"{colour}\"];"
        )
    }

    fn edge(&mut self, from: TaskId, to: TaskId) -> io::Result<()> {
        writeln!(self.out, "  \"{}\" -> \"{}\";", name(from), name(to))
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        writeln!(self.out, "}}")
    }
}

/// `THREAD.SEQ`.
pub(super) fn name(task: TaskId) -> String {
    format!("{}.{}", task.thread, task.seq)
}

/// A double-quoted string of the DOT language: quotes and backslashes escaped, control characters made harmless.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            other if other.is_control() => quoted.push('?'),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_in_names_do_not_end_the_string() {
        assert_eq!(quoted("a\"b\\c\nd\u{1}"), r#""a\"b\\c\nd?""#);
    }
}
