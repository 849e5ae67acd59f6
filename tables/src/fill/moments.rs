//! Marks to rows of `events`, and what OpenMP allocators give and get back to rows of `memory`.

use instr_trace::TaskId;
use instr_trace::model::{At, Code, Mark};
use instr_trace::names::CodeRole;
use instr_trace::words::cancel_name;

use crate::tables::{events, memory};
use crate::texts::Text;

use super::spans::Rows;
use super::words::{self, int};

/// What a row says beside when and where.
#[derive(Default)]
struct Moment {
    kind: &'static str,
    name: Option<Text>,
    number: Option<u32>,
    value: Option<i64>,
    value_end: Option<i64>,
    task: Option<TaskId>,
    object: Option<u64>,
}

impl Moment {
    fn of(kind: &'static str) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }
}

impl<const ALL: bool> Rows<'_, '_, ALL> {
    #[inline]
    pub(super) fn moment(&mut self, at: At, mark: Mark<'_>) {
        match mark {
            Mark::Alloc { address, bytes, .. } => {
                self.allocator(at, "omp_alloc", address, Some(bytes))
            }
            Mark::Free { address, .. } => self.allocator(at, "omp_free", address, None),
            _ if self.wants.events => self.event(at, mark),
            _ => {}
        }
    }

    fn event(&mut self, at: At, mark: Mark<'_>) {
        let Some(moment) = self.describe_mark(at, mark) else {
            return;
        };
        let row = events::Row {
            process: self.process,
            thread: self.threads[at.position].index,
            time_ns: self.time(at.time),
            kind: self.word(moment.kind),
            name: moment.name,
            number: moment.number.map(i64::from),
            value: moment.value,
            value_end: moment.value_end,
            task: moment.task.map(words::task),
            object: moment.object.map(int),
        };
        self.out.add(row);
    }

    /// Marks that are shown elsewhere are left out.
    fn describe_mark(&mut self, at: At, mark: Mark<'_>) -> Option<Moment> {
        Some(match mark {
            Mark::User { kind, value } => Moment {
                number: Some(kind),
                value: Some(int(value)),
                ..Moment::of("user event")
            },
            Mark::Counter { name, value } => Moment {
                name: Some(self.named(at.position, name)),
                value: Some(value),
                ..Moment::of("counter")
            },
            Mark::Chunk { begin, end } => Moment {
                value: Some(begin),
                value_end: Some(end),
                ..Moment::of("chunk")
            },
            Mark::Section { number } => Moment {
                number: Some(number),
                ..Moment::of("section")
            },
            Mark::StaticLoop { site } => Moment {
                name: Some(self.label(Code::new(site, true), CodeRole::Loop)),
                ..Moment::of("static loop")
            },
            Mark::Post => Moment::of("post"),
            Mark::Await => Moment::of("await"),
            Mark::Cancel { kind, flags } => Moment {
                name: Some(self.word(cancel_name(kind))),
                number: Some(flags),
                ..Moment::of("cancel")
            },
            Mark::Tracing(true) => Moment::of("tracing on"),
            Mark::Tracing(false) => Moment::of("tracing off"),
            Mark::Detach { task, handle } => Moment {
                task: Some(task),
                object: Some(handle),
                ..Moment::of("detach")
            },
            Mark::Fulfill { task, handle } => Moment {
                task,
                object: Some(handle),
                ..Moment::of("fulfill")
            },
            Mark::Piece { task, code, .. } => Moment {
                name: Some(self.label(code, CodeRole::Task)),
                task: Some(task),
                ..Moment::of("taskloop piece")
            },
            Mark::CreateThread { seq, function, .. } => Moment {
                name: Some(self.label(function.into(), CodeRole::Function)),
                number: Some(seq),
                ..Moment::of("create thread")
            },
            Mark::CreatedThread { error } => Moment {
                value: Some(error.into()),
                ..Moment::of("thread created")
            },
            Mark::StartThread {
                creator,
                seq,
                function,
                handle,
            } => Moment {
                name: Some(self.label(function.into(), CodeRole::Function)),
                number: Some(seq),
                value: Some(creator.into()),
                object: Some(handle),
                ..Moment::of("thread starts")
            },
            _ => return None,
        })
    }

    fn label(&mut self, code: Code, role: CodeRole) -> Text {
        self.places.code(code, role, &mut self.out.texts).name
    }

    fn allocator(&mut self, at: At, call: &'static str, address: u64, bytes: Option<u64>) {
        if !self.wants.memory {
            return;
        }
        let row = memory::Row {
            process: self.process,
            thread: self.threads[at.position].index,
            time_ns: self.time(at.time),
            call: self.word(call),
            address: Some(int(address)),
            bytes: bytes.map(int),
            freed_bytes: None,
            refused: bytes.is_some() && address == 0,
            blocks_in_use: None,
            bytes_in_use: None,
            function: None,
            file: None,
            line: None,
        };
        self.out.add(row);
    }
}
