//! Graph scripts: what a program creates, as a tree of operations, and the text form the driver (`tests/random_graphs/driver.c`) reads.

use std::fmt::Write;

/// What a depend clause asks for, numbered as in traces (`docs/trace-format.md`, "depend kind").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `in`
    In = 1,
    /// `out`, `inout`
    Out = 2,
    /// `mutexinoutset`
    Mutex = 4,
    /// `inoutset`
    InoutSet = 5,
    /// `out: omp_all_memory`
    All = 6,
}

/// How an entry is handed to the run-time library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// An address among those of its kind.
    Direct,
    /// An `omp_depend_t` object.
    Object,
    /// An `omp_depend_t` object that says `inout` (3) where others say `out` (2).
    ObjectInout,
}

/// One entry of a depend clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depend {
    /// Its kind.
    pub kind: Kind,
    /// Number of the storage location; means nothing for [`Kind::All`].
    pub address: u32,
    /// How it is passed.
    pub form: Form,
}

/// What a task gets as its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// A null pointer and no bytes; the driver has as many bodies of this kind as there are slots.
    Null {
        /// Which of the bodies; each at most once a graph.
        slot: u32,
    },
    /// A block copied bit by bit.
    Plain,
    /// A block built by a copy function.
    Copied,
    /// A block that wants to start at a multiple of 64.
    Aligned,
}

/// Number of task bodies without data that the driver has.
pub const NULL_SLOTS: u32 = 32;

/// A task construct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Unique in a script file.
    pub id: u32,
    /// Its depend entries, in clause order.
    pub depends: Vec<Depend>,
    /// `if(0)`
    pub undeferred: bool,
    /// `final(1)`
    pub final_: bool,
    /// `untied`
    pub untied: bool,
    /// `mergeable`
    pub mergeable: bool,
    /// `priority(n)`
    pub priority: Option<u32>,
    /// `detach`; the body fulfils the event itself.
    pub detach: bool,
    /// The long form of the dependence array even when the short one would do.
    pub long_form: bool,
    /// Its data.
    pub data: Data,
    /// What its body does.
    pub body: Vec<Op>,
}

/// One step of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Computes for so many iterations.
    Work(u32),
    /// Creates a task.
    Task(Task),
    /// `taskwait`
    Taskwait,
    /// `taskwait depend(…)`
    TaskwaitDepend {
        /// Numbered with the tasks.
        id: u32,
        /// Its entries.
        depends: Vec<Depend>,
        /// `nowait`
        nowait: bool,
    },
    /// `taskgroup`
    Taskgroup(Vec<Op>),
    /// `taskyield`
    Yield,
}

/// A program: what each thread of a team (or the initial thread alone) does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// Its number, for messages.
    pub number: u32,
    /// Outside any parallel region: one root, everything undeferred.
    pub serial: bool,
    /// What thread i of the team does; at most as many as threads.
    pub roots: Vec<Vec<Op>>,
}

/// One child of a task or root, in the order of creation: a task, or a `taskwait depend`.
#[derive(Debug, Clone, Copy)]
pub struct Child<'a> {
    /// Its number.
    pub id: u32,
    /// Its entries.
    pub depends: &'a [Depend],
    /// The task; none for a `taskwait depend`.
    pub task: Option<&'a Task>,
}

/// The children that the operations of one body create, in order.
#[must_use]
pub fn children(body: &[Op]) -> Vec<Child<'_>> {
    let mut found = Vec::new();
    for op in body {
        match op {
            Op::Task(task) => found.push(Child {
                id: task.id,
                depends: &task.depends,
                task: Some(task),
            }),
            Op::TaskwaitDepend { id, depends, .. } => found.push(Child {
                id: *id,
                depends,
                task: None,
            }),
            Op::Taskgroup(inner) => found.extend(children(inner)),
            Op::Work(_) | Op::Taskwait | Op::Yield => {}
        }
    }
    found
}

impl Graph {
    /// Calls `visit` for every family: the parent (none: an implicit task) and its children in the order of their creation.
    pub fn families<'a>(&'a self, mut visit: impl FnMut(Option<u32>, &[Child<'a>])) {
        let mut bodies: Vec<(Option<u32>, &[Op])> = self
            .roots
            .iter()
            .map(|root| (None, root.as_slice()))
            .collect();
        while let Some((parent, body)) = bodies.pop() {
            let family = children(body);
            visit(parent, &family);
            for task in family.iter().filter_map(|child| child.task) {
                bodies.push((Some(task.id), &task.body));
            }
        }
    }

    /// Whether an entry of this kind is somewhere in the graph.
    #[must_use]
    pub fn uses(&self, kind: Kind) -> bool {
        let mut found = false;
        self.families(|_, family| {
            found |= family
                .iter()
                .flat_map(|child| child.depends)
                .any(|depend| depend.kind == kind);
        });
        found
    }
}

/// The script of `graphs` as the driver reads it.
#[must_use]
pub fn text(graphs: &[Graph]) -> String {
    let mut text = format!("instr-graphs {}\n", graphs.len());
    for graph in graphs {
        let mode = if graph.serial { 's' } else { 'p' };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "G {} {mode} {}", graph.number, graph.roots.len());
        for root in &graph.roots {
            write_body(&mut text, root);
        }
    }
    text
}

fn write_body(text: &mut String, body: &[Op]) {
    for op in body {
        let _ = match op {
            Op::Work(iterations) => writeln!(text, "b {iterations}"),
            Op::Yield => writeln!(text, "y"),
            Op::Taskwait => writeln!(text, "w"),
            Op::TaskwaitDepend {
                id,
                depends,
                nowait,
            } => {
                let _ = write!(text, "D {id} {}", u32::from(*nowait));
                write_depends(text, depends);
                writeln!(text)
            }
            Op::Taskgroup(inner) => {
                let _ = writeln!(text, "g");
                write_body(text, inner);
                Ok(())
            }
            Op::Task(task) => {
                write_task(text, task);
                Ok(())
            }
        };
    }
    text.push_str("e\n");
}

fn write_task(text: &mut String, task: &Task) {
    let flags = [
        task.undeferred,
        task.final_,
        task.untied,
        task.mergeable,
        task.priority.is_some(),
        task.long_form,
        task.detach,
    ];
    let bits: u32 = (0..)
        .zip(flags)
        .map(|(bit, set)| u32::from(set) << bit)
        .sum();
    let (data, slot) = match task.data {
        Data::Null { slot } => (0, slot),
        Data::Plain => (1, 0),
        Data::Copied => (2, 0),
        Data::Aligned => (3, 0),
    };
    let priority = task.priority.unwrap_or(0);
    let _ = write!(text, "t {} {bits} {priority} {data} {slot}", task.id);
    write_depends(text, &task.depends);
    text.push('\n');
    write_body(text, &task.body);
}

fn write_depends(text: &mut String, depends: &[Depend]) {
    let _ = write!(text, " {}", depends.len());
    for depend in depends {
        let form = match depend.form {
            Form::Direct => 0,
            Form::Object => 1,
            Form::ObjectInout => 2,
        };
        let _ = write!(text, " {} {} {form}", depend.kind as u32, depend.address);
    }
}
