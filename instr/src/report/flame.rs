//! Chains of calls as a flame graph: a box for each function in each chain, as wide as its share, above the function that called it.

use instr_analysis::samples::Path;

use crate::summary::units::percent;

/// Pixels from a row to the next one.
const ROW: usize = 19;
/// Boxes narrower than this part of the picture are left out.
const LEAST: f64 = 0.001;
/// Calls of a chain that are drawn, the outermost first.
const DEEPEST: usize = 64;

/// A box. Places and widths are percent of the picture.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Frame {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) from: f64,
    pub(super) width: f64,
    /// Calls below it.
    pub(super) depth: usize,
    /// One of a few colours, the same for all boxes of a name.
    pub(super) colour: usize,
}

/// The boxes of a flame graph.
#[derive(Debug, Default)]
pub(super) struct Flame {
    pub(super) frames: Vec<Frame>,
    /// Rows of boxes.
    pub(super) rows: usize,
    /// The share of all samples that the chains have.
    pub(super) covered: f64,
}

impl Flame {
    /// Pixels of all rows.
    pub(super) fn height(&self) -> usize {
        self.rows * ROW
    }

    /// The first pixel of a row: callees stand above their callers.
    pub(super) fn top(&self, depth: &usize) -> usize {
        (self.rows - 1 - depth) * ROW
    }

    /// The share of the samples, for people.
    pub(super) fn shown(&self) -> String {
        percent(self.covered)
    }
}

/// Chains that begin with the same calls.
#[derive(Debug, Default)]
struct Node<'p> {
    name: &'p str,
    share: f64,
    callees: Vec<Node<'p>>,
}

impl<'p> Node<'p> {
    fn add(&mut self, mut calls: impl Iterator<Item = &'p str>, share: f64) {
        self.share += share;
        let Some(name) = calls.next() else {
            return;
        };
        let known = self.callees.iter().position(|callee| callee.name == name);
        let at = known.unwrap_or_else(|| {
            self.callees.push(Node {
                name,
                ..Node::default()
            });
            self.callees.len() - 1
        });
        self.callees[at].add(calls, share);
    }

    /// The boxes of the calls from here on, in alphabetical order from left to right.
    fn draw(&mut self, from: f64, depth: usize, flame: &mut Flame) {
        self.callees.sort_by_key(|callee| callee.name);
        let whole = flame.covered.max(f64::MIN_POSITIVE);
        let mut from = from;
        for callee in &mut self.callees {
            let width = callee.share / whole;
            if width >= LEAST {
                flame.rows = flame.rows.max(depth + 1);
                flame.frames.push(Frame {
                    name: callee.name.to_owned(),
                    title: format!("{}: {}", callee.name, percent(callee.share)),
                    from: from * 100.0,
                    width: width * 100.0,
                    depth,
                    colour: crc32fast::hash(callee.name.as_bytes()) as usize % 6,
                });
                callee.draw(from, depth + 1, flame);
            }
            from += width;
        }
    }
}

/// The flame graph of the most frequent chains.
pub(super) fn of(paths: &[Path]) -> Flame {
    let mut root = Node::default();
    for path in paths {
        let calls = path.functions.iter().rev().take(DEEPEST);
        root.add(calls.map(String::as_str), path.share);
    }
    let mut flame = Flame {
        covered: root.share,
        ..Flame::default()
    };
    root.draw(0.0, 0, &mut flame);
    flame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_as_wide_as_the_chains_that_have_them() {
        let path = |functions: &[&str], share: f64| Path {
            functions: functions.iter().map(|&name| name.to_owned()).collect(),
            share,
            ..Path::default()
        };
        // Innermost first.
        let flame = of(&[
            path(&["leaf", "f", "main"], 0.4),
            path(&["f", "main"], 0.1),
            path(&["g", "main"], 0.25),
            path(&["start"], 0.05),
        ]);
        assert!((flame.covered - 0.8).abs() < 1e-12);
        let boxes: Vec<_> = flame
            .frames
            .iter()
            .map(|frame| {
                let rounded = |percent: f64| (percent * 100.0).round() / 100.0;
                let (from, width) = (rounded(frame.from), rounded(frame.width));
                (frame.name.as_str(), frame.depth, from, width)
            })
            .collect();
        assert_eq!(
            boxes,
            [
                ("main", 0, 0.0, 93.75),
                ("f", 1, 0.0, 62.5),
                ("leaf", 2, 0.0, 50.0),
                ("g", 1, 62.5, 31.25),
                ("start", 0, 93.75, 6.25),
            ]
        );
        assert_eq!(flame.frames[0].title, "main: 75.0%");
        assert_eq!(flame.rows, 3);
        assert_eq!(of(&[]).rows, 0);
    }
}
