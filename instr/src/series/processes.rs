//! What `/proc` says of the program's processes: memory, faults, input and output, and on which nodes their memory is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use instr_trace::kernel::series::{Definition, Module, Nature, Scope, Unit};

use super::machine::{nodes, ns_a_tick, text_of};
use super::out::{Out, Source};
use super::{Roots, Whose};

/// Processes that are followed at one time.
const MOST: usize = 4096;

/// The processes of the program.
pub(super) struct Tree {
    proc: PathBuf,
    whose: Whose,
    known: BTreeSet<u32>,
    /// Processes below the first one that were there before, and when they began: they are not the program's.
    others: BTreeMap<u32, u64>,
}

/// What `/proc/PID/stat` has, from the field behind the name on.
struct Stat {
    fields: Vec<u64>,
}

impl Stat {
    /// A field by its number in proc(5).
    fn field(&self, number: usize) -> u64 {
        self.fields.get(number - 4).copied().unwrap_or(0)
    }
}

/// The names in a folder that are numbers.
pub(super) fn numbers(folder: PathBuf) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

impl Tree {
    fn new(roots: &Roots) -> Self {
        let mut tree = Self {
            proc: roots.proc(),
            whose: roots.whose,
            known: BTreeSet::new(),
            others: BTreeMap::new(),
        };
        if let Whose::Running(pid) = roots.whose {
            tree.known.insert(pid);
            let mut there = tree.look();
            there.remove(&pid);
            let began = |(pid, stat): (u32, Stat)| (pid, stat.field(22));
            tree.others = there.into_iter().map(began).collect();
            tree.known = BTreeSet::from([pid]);
        }
        tree
    }

    /// The launcher, which is no process of the program.
    fn launcher(&self) -> Option<u32> {
        match self.whose {
            Whose::Descendants(pid) => Some(pid),
            Whose::Running(_) => None,
        }
    }

    fn stat(&self, pid: u32) -> Option<Stat> {
        let text = text_of(&self.proc.join(format!("{pid}/stat"))).ok()?;
        // The name may hold blanks and brackets.
        let (_, rest) = text.rsplit_once(')')?;
        let words = rest.split_ascii_whitespace();
        // The first is a letter; what is negative does not matter here.
        let fields = words
            .skip(1)
            .map(|word| word.parse().unwrap_or(0))
            .collect();
        Some(Stat { fields })
    }

    /// Children by the kernel's own list; `None`: it has none.
    fn children(&self, pid: u32) -> Option<Vec<u32>> {
        let tasks = self.proc.join(format!("{pid}/task"));
        let mut found = Vec::new();
        let mut has_list = false;
        for task in numbers(tasks.clone()) {
            let Ok(text) = text_of(&tasks.join(format!("{task}/children"))) else {
                continue;
            };
            has_list = true;
            found.extend(
                text.split_ascii_whitespace()
                    .filter_map(|word| word.parse::<u32>().ok()),
            );
        }
        has_list.then_some(found)
    }

    /// All processes with their state. Those whose parents have ended are known from before.
    fn look(&mut self) -> BTreeMap<u32, Stat> {
        let mut open: Vec<u32> = self.known.iter().copied().collect();
        match self.children(self.whose.first()) {
            Some(children) => open.extend(children),
            None => open.extend(self.scanned()),
        }
        let mut found = BTreeMap::new();
        while let Some(pid) = open.pop() {
            if Some(pid) == self.launcher() || found.contains_key(&pid) || found.len() >= MOST {
                continue;
            }
            let Some(stat) = self.stat(pid) else {
                continue;
            };
            if self.others.get(&pid) == Some(&stat.field(22)) {
                continue;
            }
            found.insert(pid, stat);
            open.extend(self.children(pid).unwrap_or_default());
        }
        self.known = found.keys().copied().collect();
        found
    }

    /// Descendants by the parents of all processes there are.
    fn scanned(&self) -> Vec<u32> {
        let all = numbers(self.proc.clone());
        let parents: BTreeMap<u32, u64> = all
            .filter_map(|pid| Some((pid, self.stat(pid)?.field(4))))
            .collect();
        let is_ours = |pid: &u32| {
            let mut at = u64::from(*pid);
            for _ in 0..64 {
                at = match u32::try_from(at).ok().and_then(|pid| parents.get(&pid)) {
                    Some(parent) if *parent == u64::from(self.whose.first()) => return true,
                    Some(parent) => *parent,
                    None => return false,
                };
            }
            false
        };
        parents.keys().copied().filter(is_ours).collect()
    }
}

/// The series of processes, by process, when that began, and name.
#[derive(Default)]
struct Known {
    series: BTreeMap<(u32, u64, &'static str, u32), u32>,
    /// The process that ran already. What it had used before is not the program's.
    running: Option<u32>,
    before: BTreeMap<u32, u64>,
}

impl Known {
    fn of(roots: &Roots) -> Self {
        let running = match roots.whose {
            Whose::Running(pid) => Some(pid),
            Whose::Descendants(_) => None,
        };
        Self {
            running,
            ..Self::default()
        }
    }

    fn put(
        &mut self,
        out: &mut Out,
        (pid, began): (u32, u64),
        (name, of): (&'static str, u32),
        value: u64,
        definition: impl FnOnce() -> Definition,
    ) {
        let is_before = self.running == Some(pid);
        let before = &mut self.before;
        let series = self.series.entry((pid, began, name, of));
        let series = *series.or_insert_with(|| {
            let definition = definition();
            let is_total = definition.nature == Nature::Total;
            let series = out.define(definition);
            if is_before && is_total {
                before.insert(series, value);
            }
            series
        });
        let before = before.get(&series).copied().unwrap_or(0);
        out.value(series, value.saturating_sub(before));
    }

    fn keep(&mut self, stats: &BTreeMap<u32, Stat>) {
        self.series.retain(|(pid, began, ..), _| {
            stats.get(pid).is_some_and(|stat| stat.field(22) == *began)
        });
    }
}

/// Memory, faults, times, input and output of each process.
pub(super) struct Process {
    tree: Tree,
    known: Known,
    page: u64,
    ns_a_tick: u64,
}

impl Process {
    pub(super) fn open(roots: &Roots, out: &mut Out) -> Option<Self> {
        if let Err(why) = text_of(&roots.proc().join("stat")) {
            out.refuse(Module::Process, &why);
            return None;
        }
        Some(Self {
            tree: Tree::new(roots),
            known: Known::of(roots),
            page: rustix::param::page_size() as u64,
            ns_a_tick: ns_a_tick(),
        })
    }
}

impl Source for Process {
    fn read(&mut self, out: &mut Out) {
        let stats = self.tree.look();
        self.known.keep(&stats);
        for (pid, stat) in &stats {
            let id = (*pid, stat.field(22));
            let ticks = |field| stat.field(field).saturating_mul(self.ns_a_tick);
            let mut rows = vec![
                (
                    "resident memory",
                    Nature::Level,
                    Unit::Bytes,
                    stat.field(24).saturating_mul(self.page),
                ),
                ("minor faults", Nature::Total, Unit::Count, stat.field(10)),
                ("major faults", Nature::Total, Unit::Count, stat.field(12)),
                ("user time", Nature::Total, Unit::Ns, ticks(14)),
                ("system time", Nature::Total, Unit::Ns, ticks(15)),
            ];
            match text_of(&self.tree.proc.join(format!("{pid}/io"))) {
                Ok(text) => {
                    let value = |name: &str| {
                        let line = text.lines().find_map(|line| line.strip_prefix(name));
                        line.and_then(|value| value.trim().parse().ok())
                            .unwrap_or(0)
                    };
                    for (name, key) in [
                        ("read by calls", "rchar:"),
                        ("written by calls", "wchar:"),
                        ("read from storage", "read_bytes:"),
                        ("written to storage", "write_bytes:"),
                    ] {
                        rows.push((name, Nature::Total, Unit::Bytes, value(key)));
                    }
                }
                Err(why) if why.contains("may not be read") => {
                    out.refuse(
                        Module::Process,
                        "input and output of processes of another user",
                    );
                }
                Err(_) => {} // it has just ended
            }
            for (name, nature, unit, value) in rows {
                let definition = || Definition {
                    module: Module::Process,
                    scope: Scope::Process,
                    pid: *pid,
                    number: 0,
                    nature,
                    unit,
                    name: name.to_owned(),
                };
                self.known.put(out, id, (name, 0), value, definition);
            }
        }
    }

    fn finish(&mut self, _out: &mut Out) {} // processes that live on are not the program's any more
}

/// On which nodes the memory of each process is.
pub(super) struct Numa {
    tree: Tree,
    known: Known,
    nodes: BTreeMap<u32, u32>,
}

/// Bytes by node, of a `numa_maps`.
fn by_node(text: &str) -> BTreeMap<u32, u64> {
    let mut bytes: BTreeMap<u32, u64> = BTreeMap::new();
    for line in text.lines() {
        let words = || line.split_ascii_whitespace();
        let size = words().find_map(|word| word.strip_prefix("kernelpagesize_kB="));
        let size = size
            .and_then(|size| size.parse::<u64>().ok())
            .unwrap_or(4)
            .saturating_mul(1024);
        for word in words() {
            let pair = word.strip_prefix('N').and_then(|rest| rest.split_once('='));
            let Some((node, pages)) = pair else { continue };
            if let (Ok(node), Ok(pages)) = (node.parse(), pages.parse::<u64>()) {
                let sum = bytes.entry(node).or_default();
                *sum = sum.saturating_add(pages.saturating_mul(size));
            }
        }
    }
    bytes
}

impl Numa {
    pub(super) fn open(roots: &Roots, out: &mut Out) -> Option<Self> {
        let nodes = nodes(roots);
        let own = roots
            .proc()
            .join(format!("{}/numa_maps", roots.whose.first()));
        if let Err(why) = text_of(&own) {
            out.refuse(Module::Numa, &why);
            return None;
        }
        if nodes.is_empty() {
            let why = "the kernel shows no nodes of memory: shares of the own node are not known";
            out.refuse(Module::Numa, why);
        }
        Some(Self {
            tree: Tree::new(roots),
            known: Known::of(roots),
            nodes,
        })
    }
}

impl Source for Numa {
    fn read(&mut self, out: &mut Out) {
        let stats = self.tree.look();
        self.known.keep(&stats);
        for (pid, stat) in &stats {
            let id = (*pid, stat.field(22));
            let text = match text_of(&self.tree.proc.join(format!("{pid}/numa_maps"))) {
                Ok(text) => text,
                Err(why) => {
                    if why.contains("may not be read") {
                        out.refuse(Module::Numa, "memory of processes of another user");
                    }
                    continue;
                }
            };
            let bytes = by_node(&text);
            for (node, bytes) in &bytes {
                let definition = || Definition {
                    module: Module::Numa,
                    scope: Scope::Process,
                    pid: *pid,
                    number: 0,
                    nature: Nature::Level,
                    unit: Unit::Bytes,
                    name: format!("memory on node {node}"),
                };
                self.known
                    .put(out, id, ("memory", *node), *bytes, definition);
            }
            let own = u32::try_from(stat.field(39)).ok();
            let own = own.and_then(|processor| self.nodes.get(&processor));
            let all: u64 = bytes
                .values()
                .fold(0, |sum, bytes| sum.saturating_add(*bytes));
            let Some(own) = own.filter(|_| all > 0) else {
                continue;
            };
            let local = bytes.get(own).copied().unwrap_or(0);
            let share = u128::from(local) * 1_000_000 / u128::from(all);
            let definition = || Definition {
                module: Module::Numa,
                scope: Scope::Process,
                pid: *pid,
                number: 0,
                nature: Nature::Level,
                unit: Unit::Ppm,
                name: "memory on the own node".to_owned(),
            };
            let share = u64::try_from(share).unwrap_or(0);
            self.known.put(out, id, ("share", 0), share, definition);
        }
    }

    fn finish(&mut self, _out: &mut Out) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_process_are_summed_by_node() {
        let text = "00400000 default file=/bin/x mapped=3 N0=2 N1=1 kernelpagesize_kB=4\n\
                    7f000000 default anon=2 dirty=2 N1=2 kernelpagesize_kB=2048\nffff default\n7f1 default N0=x N=4 Nx=1\n";
        let expected = [(0, 2 * 4096), (1, 4096 + 2 * 2048 * 1024)];
        assert_eq!(by_node(text), BTreeMap::from(expected));
    }
}
