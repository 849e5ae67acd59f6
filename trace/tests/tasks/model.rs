//! What a program means, without any trace: `docs/graph.md` applied to it by hand.

use std::collections::{BTreeMap, BTreeSet};

pub(crate) const IN: u32 = 1;
pub(crate) const OUT: u32 = 2;
pub(crate) const MUTEX: u32 = 4;
pub(crate) const INOUTSET: u32 = 5;
pub(crate) const ALL: u32 = 6;

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Work(u64),
    /// Creates the task of this index.
    Create(usize),
    Taskwait,
    Group,
    EndGroup,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Task {
    pub(crate) steps: Vec<Step>,
    pub(crate) deps: Vec<(u64, u32)>,
    pub(crate) undeferred: bool,
    /// The library runs it at once though nothing asks for that.
    pub(crate) at_once: bool,
    /// A `taskwait` with dependences: no steps.
    pub(crate) wait: bool,
    pub(crate) parent: usize,
}

/// Task 0 is the implicit task that creates the others.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) tasks: Vec<Task>,
    edges: BTreeSet<(usize, usize)>,
    predecessors: Vec<Vec<usize>>,
}

impl Program {
    pub(crate) fn new(mut tasks: Vec<Task>) -> Self {
        let mut edges = BTreeSet::new();
        for parent in 0..tasks.len() {
            let created = |step: &Step| match step {
                Step::Create(child) => Some(*child),
                _ => None,
            };
            let children: Vec<usize> = tasks[parent].steps.iter().filter_map(created).collect();
            children
                .iter()
                .for_each(|child| tasks[*child].parent = parent);
            edges.extend(siblings(&tasks, &children));
        }
        let mut predecessors = vec![Vec::new(); tasks.len()];
        edges
            .iter()
            .for_each(|(from, to)| predecessors[*to].push(*from));
        Self {
            tasks,
            edges,
            predecessors,
        }
    }

    pub(crate) fn edges(&self) -> &BTreeSet<(usize, usize)> {
        &self.edges
    }

    /// Two siblings with `mutexinoutset` on one address.
    pub(crate) fn excludes(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.tasks[a], &self.tasks[b]);
        let mutex = |task: &Task| -> BTreeSet<u64> {
            let addresses = task.deps.iter().map(|(at, _)| *at);
            addresses
                .filter(|at| entry(&task.deps, *at) == Some(MUTEX))
                .collect()
        };
        a.parent == b.parent && !mutex(a).is_disjoint(&mutex(b))
    }
}

fn entry(deps: &[(u64, u32)], address: u64) -> Option<u32> {
    if deps.iter().any(|(_, kind)| *kind == ALL) {
        return Some(OUT);
    }
    let own = deps.iter().filter(|(at, _)| *at == address);
    let kinds: BTreeSet<u32> = own.map(|(_, kind)| *kind).collect();
    match kinds.len() {
        0 | 1 => kinds.first().copied(),
        _ => Some(OUT),
    }
}

/// Runs of one kind, address by address; each follows the one before.
fn siblings(tasks: &[Task], children: &[usize]) -> BTreeSet<(usize, usize)> {
    let named = children
        .iter()
        .flat_map(|child| &tasks[*child].deps)
        .map(|(at, _)| *at);
    let addresses: BTreeSet<u64> = named.chain([u64::MAX]).collect();
    let mut edges = BTreeSet::new();
    for address in addresses {
        let mut runs: Vec<(u32, Vec<usize>)> = Vec::new();
        for child in children {
            let Some(kind) = entry(&tasks[*child].deps, address) else {
                continue;
            };
            match runs.last_mut() {
                Some((last, members)) if *last == kind && kind != OUT => members.push(*child),
                _ => runs.push((kind, vec![*child])),
            }
        }
        for pair in runs.windows(2) {
            for from in &pair[0].1 {
                edges.extend(pair[1].1.iter().map(|to| (*from, *to)));
            }
        }
    }
    edges
}

pub(crate) fn predecessors(program: &Program, task: usize) -> &[usize] {
    &program.predecessors[task]
}

/// A path value: time and tasks.
type Value = (u64, u64);

fn max(a: Value, b: Value) -> Value {
    (a.0.max(b.0), a.1.max(b.1))
}

/// What the program's fork-join graph amounts to, given each step's work.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) level: BTreeMap<usize, u64>,
    ends: BTreeMap<usize, Value>,
    pub(crate) span: u64,
    pub(crate) hops: u64,
    pub(crate) chain: u64,
    pub(crate) chain_hops: u64,
}

/// `work(task, step)` is the user code of `task` before its step number `step` (the last: before its end).
pub(crate) fn model(program: &Program, work: &dyn Fn(usize, usize) -> u64) -> Model {
    let mut model = Model::default();
    let mut groups = Vec::new();
    let end = run(program, work, 0, (0, 0), &mut groups, &mut model);
    let all = model.ends.values().fold(end, |a, b| max(a, *b));
    (model.span, model.hops) = all;
    let mut chains: BTreeMap<usize, Value> = BTreeMap::new();
    // Later siblings have larger indices than earlier ones.
    for task in 1..program.tasks.len() {
        let before = predecessors(program, task).iter();
        let before = before.map(|before| chains[before]).fold((0, 0), max);
        let own: u64 = (0..=program.tasks[task].steps.len())
            .map(|step| work(task, step))
            .sum();
        chains.insert(task, (before.0 + own, before.1 + 1));
    }
    (model.chain, model.chain_hops) = chains.values().fold((0, 0), |a, b| max(a, *b));
    model
}

fn run(
    program: &Program,
    work: &dyn Fn(usize, usize) -> u64,
    task: usize,
    start: Value,
    groups: &mut Vec<Value>,
    model: &mut Model,
) -> Value {
    let mut now = start;
    let mut children: Vec<usize> = Vec::new();
    for (at, step) in program.tasks[task].steps.iter().enumerate() {
        now.0 += work(task, at);
        match step {
            Step::Work(_) => {}
            Step::Create(child) => {
                let before = predecessors(program, *child).iter();
                let begin = before.map(|before| model.ends[before]).fold(now, max);
                model.level.insert(*child, begin.1);
                let end = run(program, work, *child, (begin.0, begin.1 + 1), groups, model);
                model.ends.insert(*child, end);
                groups
                    .iter_mut()
                    .for_each(|group| *group = max(*group, end));
                children.push(*child);
                if program.tasks[*child].undeferred || program.tasks[*child].wait {
                    now = max(now, end);
                }
            }
            Step::Taskwait => {
                now = children
                    .iter()
                    .map(|child| model.ends[child])
                    .fold(now, max)
            }
            Step::Group => groups.push((0, 0)),
            Step::EndGroup => now = max(now, groups.pop().unwrap()),
        }
    }
    now.0 += work(task, program.tasks[task].steps.len());
    now
}
