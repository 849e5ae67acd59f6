//! What spans are called: one wording for all formats.

use instr_trace::TaskId;
use instr_trace::model::{Code, Span, Work};
use instr_trace::names::CodeRole;
use instr_trace::words::{mutex_name, sync_name, target_name};

/// What each slice and instant is: the categories, in order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Category {
    State,
    Parallel,
    Implicit,
    Task,
    Create,
    Taskloop,
    Work,
    Wait,
    LockWait,
    LockHeld,
    Taskgroup,
    Block,
    Schedule,
    Target,
    Flush,
    Region,
    Call,
    Function,
    UserEvent,
    Cancel,
    Dependence,
}

/// Their names.
pub(crate) const CATEGORIES: [&str; 21] = [
    "state",
    "parallel",
    "implicit task",
    "task",
    "task creation",
    "taskloop",
    "work-sharing",
    "wait",
    "lock wait",
    "lock held",
    "taskgroup",
    "block",
    "schedule",
    "target",
    "flush",
    "region",
    "call",
    "function",
    "user event",
    "cancellation",
    "dependence",
];

impl Category {
    /// The name.
    pub(crate) fn name(self) -> &'static str {
        CATEGORIES[self as usize]
    }
}

/// What the name of a span is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Text {
    /// A word, and the label of code.
    Code(&'static str, Code, CodeRole),
    /// The program's own text at this address.
    Own(u64),
    /// A function of a language, by the address of its text.
    Function(u64),
    /// A word.
    Word(&'static str),
}

/// A number with a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// Nothing.
    Nothing,
    /// A task.
    Task(TaskId),
    /// A lock.
    Lock(u64),
}

/// What a span is, what it is called, and what it is of.
pub(crate) fn describe(span: &Span) -> (Category, Text, Of) {
    use CodeRole::{Parallel, Task};
    let word = |category, word| (category, Text::Word(word), Of::Nothing);
    match *span {
        Span::Parallel { code, .. } => (
            Category::Parallel,
            Text::Code("", code, Parallel),
            Of::Nothing,
        ),
        Span::Implicit { code, .. } => {
            let text = Text::Code("implicit task: ", code, Parallel);
            (Category::Implicit, text, Of::Nothing)
        }
        Span::Task { code, task, .. } => {
            (Category::Task, Text::Code("", code, Task), Of::Task(task))
        }
        Span::Create { code, task, .. } => {
            let text = Text::Code("create: ", code, Task);
            (Category::Create, text, Of::Task(task))
        }
        Span::Taskloop { code, .. } => {
            let text = Text::Code("taskloop: ", code, Task);
            (Category::Taskloop, text, Of::Nothing)
        }
        Span::User { name } => (Category::Region, Text::Own(name), Of::Nothing),
        Span::Call { name } => (Category::Call, Text::Own(name), Of::Nothing),
        Span::Function { name } => (Category::Function, Text::Function(name), Of::Nothing),
        Span::WaitDepend { task, .. } => (
            Category::Block,
            Text::Word("taskwait depend"),
            Of::Task(task),
        ),
        Span::Taskgroup => word(Category::Taskgroup, "taskgroup"),
        Span::Work(Work::Loop { .. } | Work::Combined) => word(Category::Work, "loop"),
        Span::Work(Work::Sections) => word(Category::Work, "sections"),
        Span::Work(Work::Scope) => word(Category::Work, "scope"),
        Span::Asking { .. } => word(Category::Schedule, "next chunk"),
        Span::Single => word(Category::Block, "single"),
        Span::Masked => word(Category::Block, "masked"),
        Span::Sync(kind) => word(Category::Wait, sync_name(kind)),
        Span::Closing { .. } => word(Category::Wait, "closing barrier"),
        Span::Acquire { kind, object } => (
            Category::LockWait,
            Text::Word(mutex_name(kind)),
            Of::Lock(object),
        ),
        Span::Hold { kind, object } => (
            Category::LockHeld,
            Text::Word(mutex_name(kind)),
            Of::Lock(object),
        ),
        Span::Target(target) => word(Category::Target, target_name(target.kind)),
        Span::Flush => word(Category::Flush, "flush"),
        _ => word(Category::Block, "unknown"),
    }
}
