//! The task graph for Graphviz.

use std::io::{self, Write};

use instr_trace::TaskId;

use super::GraphSink;
use super::model::{Analysis, Node, name};
use super::svg::Colours;
use crate::summary::units::{counted, shorten, time};

/// Of more tasks `dot` makes no picture within minutes.
const MAX_TASKS: u64 = 3_000;
const LABEL_WIDTH: usize = 64;

/// Writes statements as they come; nothing is kept but the colours.
pub struct DotSink<'a> {
    out: &'a mut dyn Write,
    colours: Colours,
    tasks: u64,
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
            colours: Colours::default(),
            tasks: 0,
        })
    }
}

impl GraphSink for DotSink<'_> {
    fn node(&mut self, node: &Node) -> io::Result<()> {
        self.tasks += 1;
        let colour = self.colours.of(&node.label);
        let (id, times) = (
            name(node.id),
            node.begin_ns
                .map_or_else(|| "not executed".to_owned(), |_| time(node.work_ns)),
        );
        let label = quoted(&format!(
            "{}\n{id} · {times}",
            shorten(&node.label, LABEL_WIDTH)
        ));
        let mut tooltip = node.label.clone();
        if let Some(level) = node.level {
            tooltip.push_str(&format!("\nlevel {level}"));
        }
        if let Some(slack) = node.slack_ns {
            tooltip.push_str(&format!(", slack {}", time(slack)));
        }
        let critical = if node.critical {
            ", color=\"#d00000\", penwidth=3"
        } else {
            ""
        };
        writeln!(
            self.out,
            "  \"{id}\" [label={label}, fillcolor=\"{colour}\", tooltip={}{critical}];",
            quoted(&tooltip)
        )
    }

    fn edge(&mut self, from: TaskId, to: TaskId) -> io::Result<()> {
        writeln!(self.out, "  \"{}\" -> \"{}\";", name(from), name(to))
    }

    fn finish(self: Box<Self>, analysis: &Analysis) -> io::Result<Option<String>> {
        writeln!(self.out, "  label={};", quoted(&analysis.headline))?;
        writeln!(self.out, "}}")?;
        let many = || {
            format!(
                "{} are more than `dot` draws in sensible time\n  help: --format svg draws groups of them; --format graphml is \
                 for viewers of large graphs",
                counted(self.tasks, "task")
            )
        };
        Ok((self.tasks > MAX_TASKS).then(many))
    }
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
