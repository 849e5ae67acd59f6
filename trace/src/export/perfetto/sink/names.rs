//! Names of slices.

use crate::model::{At, Code, Span, Work};
use crate::names::{CodeRole, code_label};
use crate::words::{mutex_name, sync_name, target_name};

use super::super::packets::{Category, Note};
use super::Process;

impl Process<'_, '_> {
    pub(super) fn label(&mut self, code: Code, word: &'static str, role: CodeRole) -> u64 {
        if let Some(iid) = self.labels.get(&(code, word)) {
            return *iid;
        }
        let label = match code.address {
            0 => "unknown".to_owned(),
            _ => code_label(self.names, code, role),
        };
        let iid = self.packets.name(&format!("{word}{label}"));
        self.labels.insert((code, word), iid);
        iid
    }

    pub(super) fn text(&mut self, position: usize, address: u64) -> u64 {
        match self.texts.get(&(position, address)) {
            Some(text) => self.packets.name(text),
            None => self.packets.name(&format!("{address:#x}")),
        }
    }

    /// Category, name and number of a slice.
    pub(super) fn describe(&mut self, at: At, span: &Span) -> (Category, u64, Option<Note>) {
        use CodeRole::{Parallel, Task};
        let mut task = |task| Some(Note::Task(self.flows.number(task)));
        let (category, text, note) = match *span {
            Span::Parallel { code, .. } => {
                return (Category::Parallel, self.label(code, "", Parallel), None);
            }
            Span::Implicit { code, .. } => {
                let name = self.label(code, "implicit task: ", Parallel);
                return (Category::Implicit, name, None);
            }
            Span::Task { code, task: id, .. } => {
                let note = task(id);
                return (Category::Task, self.label(code, "", Task), note);
            }
            Span::Create { code, task: id, .. } => {
                let note = task(id);
                return (Category::Create, self.label(code, "create: ", Task), note);
            }
            Span::Taskloop { code, .. } => {
                let name = self.label(code, "taskloop: ", Task);
                return (Category::Taskloop, name, None);
            }
            Span::User { name } => {
                return (Category::Region, self.text(at.position, name), None);
            }
            Span::Call { name } => return (Category::Call, self.text(at.position, name), None),
            Span::WaitDepend { task: id, .. } => (Category::Block, "taskwait depend", task(id)),
            Span::Taskgroup => (Category::Taskgroup, "taskgroup", None),
            Span::Work(Work::Loop { .. } | Work::Combined) => (Category::Work, "loop", None),
            Span::Work(Work::Sections) => (Category::Work, "sections", None),
            Span::Work(Work::Scope) => (Category::Work, "scope", None),
            Span::Asking { .. } => (Category::Schedule, "next chunk", None),
            Span::Single => (Category::Block, "single", None),
            Span::Masked => (Category::Block, "masked", None),
            Span::Sync(kind) => (Category::Wait, sync_name(kind), None),
            Span::Closing { .. } => (Category::Wait, "closing barrier", None),
            Span::Acquire { kind, object } => {
                let note = Some(Note::Object(object));
                (Category::LockWait, mutex_name(kind), note)
            }
            Span::Hold { kind, object } => {
                let note = Some(Note::Object(object));
                (Category::LockHeld, mutex_name(kind), note)
            }
            Span::Target(target) => (Category::Target, target_name(target.kind), None),
            Span::Flush => (Category::Flush, "flush", None),
        };
        (category, self.packets.name(text), note)
    }
}
