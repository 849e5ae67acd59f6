//! What every picture has: the page, its heading, the colours of functions and their legend.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::summary::units::{counted, elide, shorten};

/// No picture is wider than a screen, unless every task was asked for.
pub(super) const MAX_WIDTH: usize = 1_600;
/// Functions that the legend names.
const LEGEND_ROWS: usize = 24;
pub(super) const LABEL_WIDTH: usize = 96;
pub(super) const MARGIN: usize = 12;
pub(super) const LINE: usize = 18;

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

pub(super) fn escaped_lines(text: &str) -> String {
    text.split('\n').map(escaped).collect::<Vec<_>>().join("\n")
}

/// Room that a text takes: letters are about half as wide as they are high.
pub(super) fn width_of(text: &str) -> usize {
    13 * text.chars().count() / 2
}

/// What stands above the boxes.
#[derive(Debug)]
pub(super) struct Heading {
    /// Class, colour of a mark in front, text.
    lines: Vec<(&'static str, Option<&'static str>, String)>,
}

impl Heading {
    /// With the program's name, sentences about the picture, a line for each function, and what the marks mean.
    pub(super) fn new(
        program: &str,
        sentences: &[(&'static str, &str)],
        colours: &Colours,
        detail: impl Fn(&str) -> String,
        marks: &[&str],
    ) -> Self {
        let mut lines = vec![("head", None, elide(program, LABEL_WIDTH))];
        let columns = 2 * (MAX_WIDTH - 2 * MARGIN) / 13;
        for (class, sentence) in sentences.iter().filter(|(_, text)| !text.is_empty()) {
            let rows = wrapped(sentence, columns).into_iter();
            lines.extend(rows.map(|row| (*class, None, row)));
        }
        let legend = colours.legend();
        for (label, colour) in legend.iter().take(LEGEND_ROWS) {
            let text = shorten(label, LABEL_WIDTH) + &detail(label);
            lines.push(("plain", Some(*colour), text));
        }
        if let Some(more) = legend.len().checked_sub(LEGEND_ROWS + 1) {
            let more = format!("and {}", counted(more as u64 + 1, "more function"));
            lines.push(("small", None, more));
        }
        let marks = marks.iter().flat_map(|mark| wrapped(mark, columns));
        lines.extend(marks.map(|mark| ("small", None, mark)));
        Self { lines }
    }

    /// Where what is below may begin.
    pub(super) fn height(&self) -> usize {
        2 * MARGIN + self.lines.len() * LINE
    }

    /// The widest line, with margins.
    pub(super) fn width(&self) -> usize {
        let widths = self
            .lines
            .iter()
            .map(|(_, mark, text)| width_of(text) + mark.map_or(0, |_| LINE));
        2 * MARGIN + widths.max().unwrap_or(0)
    }

    /// Begins the page, and writes the heading.
    pub(super) fn write(
        &self,
        program: &str,
        size: (usize, usize),
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (width, height) = size;
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">"
        )?;
        writeln!(
            out,
            "<style>text {{ font: 11px sans-serif }} .head {{ font-weight: bold }} .small {{ fill: #666 }} .middle {{ text-anchor: middle }} \
             path {{ fill: none; stroke: #888; stroke-opacity: 0.7 }} path.critical {{ stroke: #d00000; stroke-opacity: 1 }} \
             g rect {{ stroke: #555 }} rect.bar {{ stroke: none; fill: #000; fill-opacity: 0.35 }} \
             rect.critical {{ stroke: #d00000; stroke-width: 2.5 }} .not-run {{ stroke-dasharray: 4 }}</style>"
        )?;
        writeln!(out, "<title>{}</title>", escaped(program))?;
        writeln!(
            out,
            "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"
        )?;
        for (at, (class, mark, text)) in self.lines.iter().enumerate() {
            let (x, y) = (MARGIN, MARGIN + (at + 1) * LINE);
            let indent = mark.map_or(0, |_| LINE);
            if let Some(colour) = mark {
                let (x, y) = (x + 6, y - 4);
                writeln!(
                    out,
                    "<circle cx=\"{x}\" cy=\"{y}\" r=\"6\" fill=\"{colour}\" stroke=\"#555\"/>"
                )?;
            }
            write_text(out, (x + indent, y), class, text)?;
        }
        Ok(())
    }
}

/// A line of text; its left end is at `at`, its middle in the class `middle`.
pub(super) fn write_text(
    out: &mut dyn Write,
    at: (usize, usize),
    class: &str,
    text: &str,
) -> io::Result<()> {
    let (x, y) = at;
    let text = escaped(text);
    writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{text}</text>"
    )
}

/// Lines of at most `columns` characters, broken at blanks where there are some.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let length = line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && length > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&elide(word, columns));
    }
    lines.push(line);
    lines
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

    #[test]
    fn long_sentences_have_several_lines() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensible", 8), ["incom..."]);
        assert_eq!(wrapped("", 8), [""]);
    }
}
