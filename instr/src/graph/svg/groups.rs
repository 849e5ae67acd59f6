//! Tasks by region body, level and function, and the dependences between these groups: what is drawn of a graph with too many tasks.
//!
//! All executions of one parallel construct are one body. Memory does not grow with the number of tasks but for those of the region that
//! runs: where a body has too many levels, two and two of them become one.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use instr_trace::TaskId;

use crate::graph::model::{Node, Region};

/// More functions than these share a name.
const MAX_LABELS: usize = 1_000;
const OTHER_LABELS: &str = "other functions";
/// More parallel constructs than these share a body.
const MAX_BODIES: usize = 200;
const OTHER_BODIES: &str = "other parallel regions";
/// Groups, and pairs of groups with dependences, of one body, before levels are joined.
const MAX_GROUPS: usize = 8_192;
const MAX_LINKS: usize = 65_536;
/// Dependences of running regions that are kept.
const MAX_WAITING: usize = 16_000_000;

/// A level, in units of the body, and a function.
pub(super) type Cell = (u32, u16);

/// All tasks of one function in one level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) tasks: u64,
    pub(super) critical: u64,
    pub(super) work: u64,
    /// Tasks that never began.
    pub(super) not_run: u64,
}

impl Group {
    pub(super) fn add(&mut self, other: Self) {
        self.tasks += other.tasks;
        self.critical += other.critical;
        self.work = self.work.saturating_add(other.work);
        self.not_run += other.not_run;
    }

    /// Mean work of a task, ns.
    pub(super) fn mean(&self) -> u64 {
        self.work / self.tasks.max(1)
    }
}

/// Dependences from one group to another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) count: u64,
    /// Those between two tasks of the critical path.
    pub(super) critical: u64,
}

impl Link {
    pub(super) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.critical += other.critical;
    }
}

/// All executions of one parallel construct.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) label: String,
    pub(super) executions: u64,
    /// Levels in a unit of [`Cell`] are 2 to this power.
    pub(super) shift: u32,
    /// Levels there are.
    pub(super) levels: u32,
    pub(super) groups: BTreeMap<Cell, Group>,
    pub(super) links: BTreeMap<(Cell, Cell), Link>,
}

impl Body {
    fn join_levels(&mut self) {
        let too_many = |body: &Self| body.groups.len() > MAX_GROUPS || body.links.len() > MAX_LINKS;
        while too_many(self) && self.shift < 32 {
            self.shift += 1;
            let half = |(level, label): Cell| (level / 2, label);
            for (cell, group) in std::mem::take(&mut self.groups) {
                self.groups.entry(half(cell)).or_default().add(group);
            }
            for ((from, to), link) in std::mem::take(&mut self.links) {
                let key = (half(from), half(to));
                self.links.entry(key).or_default().add(link);
            }
        }
    }
}

/// A task of the running region.
#[derive(Debug, Clone, Copy)]
struct Task {
    level: u32,
    label: u16,
    critical: bool,
}

/// What was grouped, and what waits for its region's end.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) bodies: Vec<Body>,
    /// Names of functions by their number.
    pub(super) labels: Vec<String>,
    /// Dependences that are in no body: one of their tasks is unknown, or there were too many.
    pub(super) lost: u64,
    known_labels: HashMap<String, u16>,
    known_bodies: HashMap<String, usize>,
    tasks: HashMap<TaskId, Task>,
    groups: HashMap<Cell, Group>,
    /// By the task that waits.
    predecessors: HashMap<TaskId, Vec<TaskId>>,
    waiting: usize,
}

impl Groups {
    /// Adds a task of the region that ends next.
    pub(super) fn node(&mut self, node: &Node) {
        let task = Task {
            level: node.level.unwrap_or(0),
            label: self.label(&node.label),
            critical: node.critical,
        };
        self.tasks.insert(node.id, task);
        self.groups
            .entry((task.level, task.label))
            .or_default()
            .add(Group {
                tasks: 1,
                critical: u64::from(node.critical),
                work: node.work_ns,
                not_run: u64::from(node.begin_ns.is_none()),
            });
    }

    /// Adds a dependence of tasks whose region has not ended.
    pub(super) fn edge(&mut self, from: TaskId, to: TaskId) {
        if self.waiting >= MAX_WAITING {
            self.lost += 1;
            return;
        }
        self.waiting += 1;
        self.predecessors.entry(to).or_default().push(from);
    }

    /// All tasks of a region have been given; none: of no region.
    pub(super) fn region(&mut self, region: Option<&Region>) {
        if self.tasks.is_empty() {
            return;
        }
        let label = region.map_or("outside of parallel regions", |region| &region.label);
        let body = self.body(label);
        let body = &mut self.bodies[body];
        body.executions += 1;
        for ((level, label), group) in self.groups.drain() {
            body.levels = body.levels.max(level.saturating_add(1));
            let cell = (level.checked_shr(body.shift).unwrap_or(0), label);
            body.groups.entry(cell).or_default().add(group);
        }
        for (to, task) in &self.tasks {
            for from in self.predecessors.remove(to).unwrap_or_default() {
                self.waiting -= 1;
                let Some(before) = self.tasks.get(&from) else {
                    self.lost += 1;
                    continue;
                };
                let cell =
                    |task: &Task| (task.level.checked_shr(body.shift).unwrap_or(0), task.label);
                let link = body.links.entry((cell(before), cell(task))).or_default();
                link.add(Link {
                    count: 1,
                    critical: u64::from(before.critical && task.critical),
                });
            }
            if body.links.len() > 2 * MAX_LINKS {
                body.join_levels();
            }
        }
        body.join_levels();
        self.tasks.clear();
    }

    /// All dependences of tasks that never came are lost.
    pub(super) fn finish(&mut self) {
        self.region(None);
        self.lost += self.waiting as u64;
        self.predecessors.clear();
        self.waiting = 0;
    }

    fn label(&mut self, label: &str) -> u16 {
        if let Some(number) = self.known_labels.get(label) {
            return *number;
        }
        let label = match self.labels.len() < MAX_LABELS {
            true => label,
            false => OTHER_LABELS,
        };
        let next = self.labels.len();
        // There are at most MAX_LABELS and one.
        let next = u16::try_from(next).unwrap_or(u16::MAX);
        let number = *self.known_labels.entry_ref(label).or_insert(next);
        if number == next {
            self.labels.push(label.to_owned());
        }
        number
    }

    fn body(&mut self, label: &str) -> usize {
        if let Some(at) = self.known_bodies.get(label) {
            return *at;
        }
        let label = match self.bodies.len() < MAX_BODIES {
            true => label,
            false => OTHER_BODIES,
        };
        let next = self.bodies.len();
        let at = *self.known_bodies.entry_ref(label).or_insert(next);
        if at == next {
            self.bodies.push(Body {
                label: label.to_owned(),
                ..Body::default()
            });
        }
        at
    }
}
