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

use crate::current::{CurrentTask, Parent};
use crate::event::{Dep, DependKind, Deps, Event, Payload, TaskId};

/// Entries of chained `task_depend` events kept for one thread; more are taken for damage and dropped.
const MAX_PENDING: usize = 1 << 20;

/// The sets of one address.
#[derive(Debug, Default)]
struct Sets {
    kind: Option<DependKind>,
    previous: Vec<TaskId>,
    current: Vec<TaskId>,
}

/// How many sets each task is in, when somebody wants to know.
#[derive(Debug, Default)]
struct Members {
    counts: Option<HashMap<TaskId, u32>>,
    released: Vec<TaskId>,
}

impl Members {
    fn add(&mut self, task: TaskId) {
        if let Some(counts) = &mut self.counts {
            *counts.entry(task).or_insert(0) += 1;
        }
    }

    fn remove(&mut self, tasks: &[TaskId]) {
        let Some(counts) = &mut self.counts else {
            return;
        };
        for task in tasks {
            if let Some(count) = counts.get_mut(task) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(task);
                    self.released.push(*task);
                }
            }
        }
    }
}

impl Sets {
    /// Adds an entry; what `task` depends on goes to `predecessors`.
    fn add(
        &mut self,
        task: TaskId,
        kind: DependKind,
        predecessors: &mut Vec<TaskId>,
        members: &mut Members,
    ) {
        if self.kind != Some(kind) || kind == DependKind::Out {
            members.remove(&self.previous);
            std::mem::swap(&mut self.previous, &mut self.current);
            self.current.clear();
            self.kind = Some(kind);
        }
        predecessors.extend_from_slice(&self.previous);
        self.current.push(task);
        members.add(task);
    }
}

/// What is known of the children of one task.
#[derive(Debug, Default)]
struct Children {
    addresses: HashMap<u64, Sets>,
    /// The last `omp_all_memory` task: the current set of every address without sets.
    all: Option<TaskId>,
}

/// Streaming dependency bookkeeping.
///
/// Either feed it raw events in time order with [`DependGraph::event`], or call the three operations yourself. Edges are
/// given as (predecessor, successor), each pair once, when the successor is created; those of one successor ascend.
#[derive(Debug, Default)]
pub struct DependGraph {
    parents: HashMap<Parent, Children>,
    pending: HashMap<u32, (u32, Vec<Dep>)>,
    current: HashMap<u32, CurrentTask>,
    entries: Vec<Dep>,
    predecessors: Vec<TaskId>,
    members: Members,
}

impl DependGraph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty graph that tells which tasks can be predecessors of tasks to come: see [`DependGraph::is_live`].
    pub fn with_releases() -> Self {
        Self {
            members: Members {
                counts: Some(HashMap::new()),
                released: Vec::new(),
            },
            ..Self::default()
        }
    }

    /// Whether `task` may still become a predecessor. Only of a graph made by [`DependGraph::with_releases`].
    pub fn is_live(&self, task: TaskId) -> bool {
        self.members
            .counts
            .as_ref()
            .is_some_and(|counts| counts.contains_key(&task))
    }

    /// The tasks that ceased to be live since the last call. Only of a graph made by [`DependGraph::with_releases`].
    pub fn released(&mut self) -> impl Iterator<Item = TaskId> + '_ {
        self.members.released.drain(..)
    }

    /// Takes any event into account; keeps track of each thread's current task itself. All events of a thread must come in
    /// order; threads may be interleaved in any way, but for the children of an untied task, which several threads may create.
    pub fn event(&mut self, event: &Event<'_>, mut edge: impl FnMut(TaskId, TaskId)) {
        let thread = event.thread;
        match event.payload {
            Payload::TaskDepend { seq, deps } => self.more_depends(thread, seq, deps),
            Payload::TaskCreate { seq, deps, .. } | Payload::TaskwaitDepend { seq, deps, .. } => {
                let parent = self.parent(thread);
                self.create(parent, TaskId { thread, seq }, deps, &mut edge);
            }
            Payload::TaskBegin { .. }
            | Payload::TaskEnd
            | Payload::TaskSuspend
            | Payload::TaskResume { .. }
            | Payload::ImplicitBegin { .. }
            | Payload::ImplicitEnd
            | Payload::ParallelEnd { .. }
            | Payload::ThreadEnd
            | Payload::Lost { .. } => {
                let (parents, members) = (&mut self.parents, &mut self.members);
                let current = self.current.entry(thread).or_default();
                current.event(thread, &event.payload, |parent| {
                    remove(parents, parent, members)
                });
            }
            _ => {}
        }
    }

    fn parent(&self, thread: u32) -> Parent {
        self.current
            .get(&thread)
            .map_or(Parent::Initial { thread }, |current| current.parent(thread))
    }

    /// Further entries of the task that `thread` creates next as number `seq` (a `task_depend` event), or of its `taskwait`.
    pub fn more_depends(&mut self, thread: u32, seq: u32, deps: Deps<'_>) {
        let (of, entries) = self.pending.entry(thread).or_default();
        if *of != seq {
            entries.clear();
            *of = seq;
        }
        let room = MAX_PENDING - entries.len();
        entries.extend(deps.take(room));
    }

    /// `parent` creates `task`. Calls `edge` for each (predecessor, `task`).
    pub fn create(
        &mut self,
        parent: Parent,
        task: TaskId,
        deps: Deps<'_>,
        mut edge: impl FnMut(TaskId, TaskId),
    ) {
        self.entries.clear();
        if let Some((seq, entries)) = self.pending.get_mut(&task.thread)
            && !entries.is_empty()
        {
            if *seq == task.seq {
                self.entries.append(entries);
            }
            entries.clear();
        }
        self.entries.extend(deps);
        if self.entries.is_empty() {
            return;
        }
        normalize(&mut self.entries);
        self.predecessors.clear();
        let children = self.parents.entry(parent).or_default();
        if self.entries[0].kind == DependKind::AllMemory {
            children.add_all_memory(task, &mut self.predecessors, &mut self.members);
        } else {
            children.add(
                task,
                &self.entries,
                &mut self.predecessors,
                &mut self.members,
            );
        }
        self.predecessors.sort_unstable();
        self.predecessors.dedup();
        for &predecessor in &self.predecessors {
            edge(predecessor, task);
        }
    }

    /// The entries of the task created last: one for each address, by address; a single one when it is `omp_all_memory`.
    pub fn entries(&self) -> &[Dep] {
        &self.entries
    }

    /// `task` ended: it creates no more children.
    pub fn end(&mut self, task: Parent) {
        remove(&mut self.parents, task, &mut self.members);
    }
}

impl Children {
    fn add(
        &mut self,
        task: TaskId,
        entries: &[Dep],
        predecessors: &mut Vec<TaskId>,
        members: &mut Members,
    ) {
        for dep in entries {
            let all = self.all;
            let sets = self.addresses.entry(dep.address).or_insert_with(|| {
                all.inspect(|task| members.add(*task));
                Sets {
                    kind: all.map(|_| DependKind::Out),
                    previous: Vec::new(),
                    current: all.into_iter().collect(),
                }
            });
            sets.add(task, dep.kind, predecessors, members);
        }
    }

    fn add_all_memory(
        &mut self,
        task: TaskId,
        predecessors: &mut Vec<TaskId>,
        members: &mut Members,
    ) {
        predecessors.extend(self.all);
        predecessors.extend(self.addresses.values().flat_map(|sets| &sets.current));
        self.forget(members);
        self.all = Some(task);
        members.add(task);
    }

    fn forget(&mut self, members: &mut Members) {
        for (_, sets) in self.addresses.drain() {
            members.remove(&sets.previous);
            members.remove(&sets.current);
        }
        members.remove(self.all.take().as_slice());
    }
}

fn remove(parents: &mut HashMap<Parent, Children>, parent: Parent, members: &mut Members) {
    if let Some(mut children) = parents.remove(&parent) {
        children.forget(members);
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
