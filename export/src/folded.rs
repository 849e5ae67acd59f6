//! Folded stacks: a line for each different stack, `outermost;…;innermost ns`, as flamegraph.pl, inferno, speedscope and others read them.
//!
//! The stacks are kept as a tree of names. A line is put together when it is written: as texts of their own, many deep stacks would take far more memory.

use std::io::Write;

use hashbrown::HashMap;

use crate::error::Error;
use crate::format::{Input, Progress, Stats};
use crate::profile::{self, Profile};

/// Writes the stacks of all processes, each below its program, in order of their texts. Threads are put together.
pub(crate) fn write(
    input: &Input<'_>,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
) -> Result<Stats, Error> {
    let mut tree = Tree::default();
    let mut stats = Stats::default();
    profile::of_processes(input, progress, |process, profile| {
        tree.add(&frame(&input.title(process)), &profile);
        stats.events += profile.nodes.iter().map(|node| node.count).sum::<u64>();
        stats.shortened += profile.shortened;
        stats.no_period |= profile.no_period;
        Ok(())
    })?;
    tree.write(out).map_err(Error::Output)?;
    Ok(stats)
}

/// A stack: the one without its innermost frame, that frame's name, and the time of this very stack.
struct Node {
    parent: Option<u32>,
    name: u32,
    ns: u64,
}

/// The stacks of all processes.
#[derive(Default)]
struct Tree {
    /// Parents come before their children.
    nodes: Vec<Node>,
    children: HashMap<(Option<u32>, u32), u32>,
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Tree {
    fn name(&mut self, name: String) -> u32 {
        if let Some(known) = self.numbers.get(&name) {
            return *known;
        }
        let number = self.names.len() as u32;
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    fn node(&mut self, parent: Option<u32>, name: u32) -> u32 {
        let new = self.nodes.len() as u32;
        let node = *self.children.entry((parent, name)).or_insert(new);
        if node == new {
            self.nodes.push(Node {
                parent,
                name,
                ns: 0,
            });
        }
        node
    }

    /// Adds the stacks of a process below a frame of this name.
    fn add(&mut self, root: &str, profile: &Profile) {
        let root = self.name(root.to_owned());
        let root = self.node(None, root);
        let frames = profile.frames.iter();
        let frames: Vec<u32> = frames.map(|of| self.name(frame(&of.name))).collect();
        // Where the stacks of the profile are here: parents come before their children.
        let mut places: Vec<u32> = Vec::with_capacity(profile.nodes.len());
        for (place, node) in profile.nodes.iter().enumerate() {
            let here = match profile.is_root(place) {
                true => root,
                false => self.node(
                    Some(places[node.parent as usize]),
                    frames[node.frame as usize],
                ),
            };
            places.push(here);
            let ns = &mut self.nodes[here as usize].ns;
            *ns = ns.saturating_add(node.ns);
        }
    }

    /// Writes the lines in order of their texts.
    fn write(self, out: &mut dyn Write) -> std::io::Result<()> {
        let ranks = ranks(&self.names);
        let Self { nodes, names, .. } = self;
        let mut by_parent: Vec<u32> = (0..nodes.len() as u32).collect();
        by_parent.sort_by_key(|node| nodes[*node as usize].parent);
        let mut walk = Walk {
            nodes,
            names,
            ranks,
            by_parent,
            todo: Vec::new(),
        };
        walk.write(out)
    }
}

/// The order of names where they end a line, and where a frame stands behind them. As names have no semicolon, lines are in order when at each frame they are
/// in this one.
fn ranks(names: &[String]) -> Vec<[u32; 2]> {
    let ways = |name| [(name, false), (name, true)];
    let mut order: Vec<(u32, bool)> = (0..names.len() as u32).flat_map(ways).collect();
    let text = |(name, longer): &(u32, bool)| {
        let separator = longer.then_some(b';');
        names[*name as usize].bytes().chain(separator)
    };
    order.sort_by(|a, b| text(a).cmp(text(b)));
    let mut ranks = vec![[0; 2]; names.len()];
    for (rank, (name, longer)) in (0..).zip(order) {
        ranks[name as usize][usize::from(longer)] = rank;
    }
    ranks
}

/// What is to be done: behind so many bytes of the line before, write the line of a stack, or those of all longer ones.
#[derive(Clone, Copy)]
struct Step {
    node: u32,
    before: usize,
    longer: bool,
}

/// The way through the tree.
struct Walk {
    nodes: Vec<Node>,
    names: Vec<String>,
    ranks: Vec<[u32; 2]>,
    by_parent: Vec<u32>,
    /// The next step last.
    todo: Vec<Step>,
}

impl Walk {
    fn children(&self, parent: Option<u32>) -> &[u32] {
        let of = |node: &u32| self.nodes[*node as usize].parent;
        let from = self.by_parent.partition_point(|node| of(node) < parent);
        let count = self.by_parent[from..].partition_point(|node| of(node) == parent);
        &self.by_parent[from..from + count]
    }

    fn write(&mut self, out: &mut dyn Write) -> std::io::Result<()> {
        let mut line = String::new();
        self.go_below(None, 0);
        while let Some(step) = self.todo.pop() {
            let Node { name, ns, .. } = self.nodes[step.node as usize];
            line.truncate(step.before);
            line.push_str(&self.names[name as usize]);
            if step.longer {
                line.push(';');
                self.go_below(Some(step.node), line.len());
            } else {
                writeln!(out, "{line} {ns}")?;
            }
        }
        Ok(())
    }

    fn go_below(&mut self, parent: Option<u32>, before: usize) {
        let mut steps = Vec::new();
        for node in self.children(parent).iter().copied() {
            let Node { name, ns, .. } = self.nodes[node as usize];
            let ways = [ns > 0, !self.children(Some(node)).is_empty()];
            for (longer, rank) in [false, true].into_iter().zip(self.ranks[name as usize]) {
                if ways[usize::from(longer)] {
                    let step = Step {
                        node,
                        before,
                        longer,
                    };
                    steps.push((rank, step));
                }
            }
        }
        steps.sort_unstable_by_key(|(rank, _)| std::cmp::Reverse(*rank));
        self.todo.extend(steps.into_iter().map(|(_, step)| step));
    }
}

/// A name without what ends a frame or a line.
fn frame(name: &str) -> String {
    let plain = |c: char| match c {
        ';' => ':',
        c if c.is_control() => ' ',
        c => c,
    };
    match name.trim() {
        "" => "(no name)".to_owned(),
        name => name.chars().map(plain).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_name_is_one_frame_of_one_line() {
        assert_eq!(frame("a;b\nc d "), "a:b c d");
        assert_eq!(frame(" "), "(no name)");
    }

    /// Names that begin alike, and go on with what stands before and behind a semicolon.
    const NAMES: [&str; 8] = ["a", "a b", "a!", "a<b>", "ab", "a b c", "\u{e9}", "b"];

    #[test]
    fn lines_come_in_order_of_their_texts() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..50 {
            let mut tree = Tree::default();
            let mut expected: BTreeMap<String, u64> = BTreeMap::new();
            for _ in 0..random.usize(..60) {
                let stack: Vec<&str> = (0..random.usize(1..5))
                    .map(|_| NAMES[random.usize(..NAMES.len())])
                    .collect();
                let ns = random.u64(..3);
                let mut node = None;
                for name in &stack {
                    let name = tree.name((*name).to_owned());
                    node = Some(tree.node(node, name));
                }
                if let Some(node) = node {
                    tree.nodes[node as usize].ns += ns;
                }
                *expected.entry(stack.join(";")).or_default() += ns;
            }
            let mut lines = Vec::new();
            tree.write(&mut lines).unwrap();
            let expected: String = expected
                .iter()
                .filter(|(_, ns)| **ns > 0)
                .map(|(stack, ns)| format!("{stack} {ns}\n"))
                .collect();
            assert_eq!(String::from_utf8(lines).unwrap(), expected);
        }
    }
}
