//! Dependency edges between explicit tasks, from the recorded `depend` lists.
//!
//! Only siblings (same generating task) with the same start address are ordered. For each (parent, address) two sets are
//! kept: the *current* one, of entries that do not order each other (one `out`; or any number of `in`, of
//! `mutexinoutset`, of `inoutset`), and the *previous* one, which every member of the current set directly follows. The edges
//! are the unique pairs in which, for some address, the first belongs to the set that the second follows, whatever the run-time
//! library did: predecessors that had already finished count, and mutual exclusion is no order. An edge that others imply
//! stays; an order that goes through a third task is no edge. `omp_all_memory` is an `out` entry for every address, named or not:
//! it leaves all addresses in the state "current set = this task". A `taskwait` with a `depend` clause is a task like others;
//! `taskwait`, `taskgroup` and barriers change nothing. `docs/graph.md` has the rules in full.
//!
//! What is kept of a generating task goes when it ends. So memory is bounded by the live part of the graph: two sets for each
//! address that the children of a running task have named. A set of `in` entries grows until the next write, which has an edge from each.

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::event::{Dep, DependKind, Deps, TaskId};
use crate::model::{At, Begin, End, Mark, Since, Sink, Span};
use crate::task_map::{self, TaskMap};

/// Entries of a `depend` list that comes in parts; more are taken for damage and dropped.
const MAX_PENDING: usize = 1 << 20;
/// A table of addresses, and sets, larger than this are not kept for the next task.
const MAX_KEPT: usize = 1 << 6;
/// Empty sets that are kept.
const MAX_SPARE: usize = 1 << 10;

/// A task in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    /// The task.
    pub task: TaskId,
    /// A small number, the task's own as long as it [can be a predecessor](Graph::is_live).
    pub at: u32,
}

/// The sets of one address.
#[derive(Debug, Default)]
struct Sets {
    kind: Option<DependKind>,
    previous: SmallVec<[Node; 1]>,
    current: SmallVec<[Node; 1]>,
}

/// How many sets each task is in.
#[derive(Debug, Default)]
struct Members {
    counts: Vec<u32>,
    released: Vec<u32>,
}

impl Members {
    fn add(&mut self, node: Node) {
        let at = node.at as usize;
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += 1;
    }

    fn remove(&mut self, nodes: &[Node]) {
        for node in nodes {
            let count = &mut self.counts[node.at as usize];
            *count -= 1;
            if *count == 0 {
                self.released.push(node.at);
            }
        }
    }
}

impl Sets {
    /// Adds an entry; what `node` depends on goes to `predecessors`.
    fn add(
        &mut self,
        node: Node,
        kind: DependKind,
        predecessors: &mut Vec<Node>,
        excluded: &mut Vec<Node>,
        members: &mut Members,
    ) {
        if self.kind != Some(kind) || kind == DependKind::Out {
            members.remove(&self.previous);
            std::mem::swap(&mut self.previous, &mut self.current);
            self.current.clear();
            self.kind = Some(kind);
        }
        predecessors.extend_from_slice(&self.previous);
        if kind == DependKind::MutexInOutSet {
            excluded.extend(self.current.last());
        }
        self.current.push(node);
        members.add(node);
    }
}

/// What is known of the children of one task.
#[derive(Debug, Default)]
struct Children {
    addresses: HashMap<u64, Sets>,
    /// The last `omp_all_memory` task: the current set of every address without sets.
    all: Option<Node>,
}

/// What is known of a `depend` list whose task is not created.
#[derive(Debug)]
struct Pending {
    task: TaskId,
    entries: Vec<Dep>,
}

/// Streaming dependency bookkeeping: tells what a task depends on when it is created.
#[derive(Debug, Default)]
pub struct Graph {
    /// By the number of the generating body.
    bodies: Vec<Children>,
    /// By position of the thread.
    pending: Vec<Pending>,
    entries: Vec<Dep>,
    predecessors: Vec<Node>,
    excluded: Vec<Node>,
    members: Members,
    spare: Vec<Sets>,
}

impl Graph {
    /// Whether the task with this number may still become a predecessor.
    #[inline]
    pub fn is_live(&self, at: u32) -> bool {
        self.members
            .counts
            .get(at as usize)
            .is_some_and(|count| *count > 0)
    }

    /// Numbers of tasks that ceased to be live; each is given once.
    #[inline]
    pub fn released(&mut self) -> Option<u32> {
        self.members.released.pop()
    }

    /// Entries of the task, or `taskwait`, that the thread creates next.
    pub fn depend(&mut self, position: usize, task: TaskId, entries: Deps<'_>) {
        if position >= self.pending.len() {
            let empty = || Pending {
                task,
                entries: Vec::new(),
            };
            self.pending.resize_with(position + 1, empty);
        }
        let pending = &mut self.pending[position];
        if pending.task != task {
            pending.task = task;
            pending.entries.clear();
        }
        let room = MAX_PENDING - pending.entries.len();
        pending.entries.extend(entries.take(room));
    }

    /// Whether the thread has given entries for this task, which it creates next.
    #[inline]
    pub fn expects(&self, position: usize, task: TaskId) -> bool {
        let pending = self.pending.get(position);
        pending.is_some_and(|pending| !pending.entries.is_empty() && pending.task == task)
    }

    /// The body `at.body` creates a task. Its predecessors, ascending.
    #[inline]
    pub fn create(&mut self, at: At, node: Node) -> &[Node] {
        self.entries.clear();
        self.predecessors.clear();
        self.excluded.clear();
        if let Some(pending) = self.pending.get_mut(at.position)
            && !pending.entries.is_empty()
        {
            if pending.task == node.task {
                std::mem::swap(&mut self.entries, &mut pending.entries);
            }
            pending.entries.clear();
        }
        if !self.entries.is_empty() {
            self.order(at.body as usize, node);
        }
        &self.predecessors
    }

    fn order(&mut self, body: usize, node: Node) {
        normalize(&mut self.entries);
        if body >= self.bodies.len() {
            self.bodies.resize_with(body + 1, Children::default);
        }
        let children = &mut self.bodies[body];
        if self.entries[0].kind == DependKind::AllMemory {
            self.predecessors.extend(children.all);
            let sets = children.addresses.values();
            self.predecessors
                .extend(sets.flat_map(|sets| &sets.current));
            self.end(body as u32);
            self.bodies[body].all = Some(node);
            self.members.add(node);
        } else {
            for dep in &self.entries {
                let sets = children.addresses.entry(dep.address).or_insert_with(|| {
                    let mut sets = self.spare.pop().unwrap_or_default();
                    sets.kind = children.all.map(|_| DependKind::Out);
                    sets.current.extend(children.all);
                    children.all.inspect(|all| self.members.add(*all));
                    sets
                });
                let (before, excluded) = (&mut self.predecessors, &mut self.excluded);
                sets.add(node, dep.kind, before, excluded, &mut self.members);
            }
        }
        if self.predecessors.len() > 1 {
            self.predecessors.sort_unstable();
            self.predecessors.dedup();
        }
    }

    /// The entries of the task created last: one for each address, by address; a single one when it is `omp_all_memory`.
    #[inline]
    pub fn entries(&self) -> &[Dep] {
        &self.entries
    }

    /// Of each `mutexinoutset` that the task created last is in, the member created before it: it runs at another time. That is no order, but
    /// all members are among these, one after the other.
    #[inline]
    pub fn excluded(&self) -> &[Node] {
        &self.excluded
    }

    /// The body creates no more tasks.
    #[inline]
    pub fn end(&mut self, body: u32) {
        let Some(children) = self.bodies.get_mut(body as usize) else {
            return;
        };
        if let Some(all) = children.all.take() {
            self.members.remove(&[all]);
        }
        if children.addresses.is_empty() {
            return;
        }
        let keep = children.addresses.capacity() <= MAX_KEPT;
        for (_, mut sets) in children.addresses.drain() {
            self.members.remove(&sets.previous);
            self.members.remove(&sets.current);
            let capacity = sets.previous.capacity() + sets.current.capacity();
            if self.spare.len() < MAX_SPARE && capacity <= MAX_KEPT {
                sets.previous.clear();
                sets.current.clear();
                self.spare.push(sets);
            }
        }
        if !keep {
            // The next task may have few children: emptying takes as long as the table is large.
            children.addresses = HashMap::new();
        }
    }
}

/// The edges of a trace, as a [`Sink`] of [`crate::model::Interpreter`]: calls `edge` with (predecessor, successor), each pair once, when the
/// successor is created; those of one successor ascend.
#[derive(Debug)]
pub struct Edges<F> {
    graph: Graph,
    tasks: TaskMap<Nothing>,
    edge: F,
}

#[derive(Debug, Default)]
struct Nothing;

impl task_map::Value for Nothing {
    fn clear(&mut self) {}
}

impl<F: FnMut(TaskId, TaskId)> Edges<F> {
    /// Edges go to `edge`.
    pub fn new(edge: F) -> Self {
        Self {
            graph: Graph::default(),
            tasks: TaskMap::default(),
            edge,
        }
    }

    /// How many tasks may still become predecessors: what is kept.
    pub fn live(&self) -> usize {
        self.tasks.iter().count()
    }

    fn create(&mut self, at: At, task: TaskId) {
        let place = self.tasks.insert(task).place;
        for predecessor in self.graph.create(at, Node { task, at: place }) {
            (self.edge)(predecessor.task, task);
        }
        if !self.graph.is_live(place) {
            self.forget(place);
        }
        self.forget_released();
    }

    fn forget(&mut self, place: u32) {
        if let Some(key) = self.tasks.at(place) {
            self.tasks.remove(key);
        }
    }

    fn forget_released(&mut self) {
        while let Some(place) = self.graph.released() {
            self.forget(place);
        }
    }
}

impl<F: FnMut(TaskId, TaskId)> Sink for Edges<F> {
    const TASK_CODES: bool = false;

    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        match *span {
            Span::Create { task, .. } | Span::WaitDepend { task, .. } if how == Begin::Told => {
                self.create(at, task);
            }
            _ => {}
        }
    }

    fn end(&mut self, at: At, span: &Span, how: End, _since: Since) {
        if span.is_body() && how.is_final() {
            self.graph.end(at.body);
            self.forget_released();
        }
    }

    fn mark(&mut self, at: At, mark: Mark<'_>) {
        if let Mark::Depend { task, entries } = mark {
            self.graph.depend(at.position, task, entries);
        }
    }
}

/// Unknown kinds order like `out`.
fn known(dep: Dep) -> Dep {
    match dep.kind {
        DependKind::Other(_) => Dep {
            kind: DependKind::Out,
            ..dep
        },
        _ => dep,
    }
}

/// One entry an address; `omp_all_memory` alone when it is among them. Two kinds for one address order like `out`: the task follows
/// what either follows, and what follows either follows it (libomp's rule too).
fn normalize(entries: &mut Vec<Dep>) {
    for dep in entries.iter_mut() {
        *dep = known(*dep);
    }
    let all = |dep: &&Dep| dep.kind == DependKind::AllMemory;
    if let Some(all) = entries.iter().find(all).copied() {
        *entries = vec![all];
    }
    if entries.len() > 1 {
        entries.sort_unstable_by_key(|dep| dep.address);
        entries.dedup_by(|later, first| {
            let same = later.address == first.address;
            if same && later.kind != first.kind {
                first.kind = DependKind::Out;
            }
            same
        });
    }
}
