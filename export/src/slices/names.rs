//! Names of slices.

use std::hash::{Hash, Hasher};

use instr_trace::model::{At, Code, Span};
use instr_trace::names::{CodeRole, code_label};
use instr_trace::words::function_label;

use super::Slices;
use super::writer::{Label, Note, SliceWriter};
use crate::describe::{Of, Text, describe};

/// A word of this program, known by its place in memory: that is looked up faster than its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word(&'static str);

impl PartialEq for Word {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Word {}

impl Hash for Word {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.0.as_ptr().addr());
    }
}

impl<W: SliceWriter> Slices<'_, W> {
    /// The number of a word.
    #[inline]
    pub(super) fn word(&mut self, word: &'static str) -> u64 {
        let writer = &mut *self.writer;
        let entry = self.words.entry(Word(word));
        *entry.or_insert_with(|| writer.name(word))
    }

    #[inline]
    pub(super) fn label(&mut self, code: Code, word: &'static str, role: CodeRole) -> u64 {
        if let Some(number) = self.labels.get(&(code, Word(word))) {
            return *number;
        }
        let label = match code.address {
            0 => "unknown".to_owned(),
            _ => code_label(self.names, code, role),
        };
        let number = self.writer.name(&format!("{word}{label}"));
        self.labels.insert((code, Word(word)), number);
        number
    }

    /// What a slice is.
    pub(super) fn describe(&mut self, at: At, span: &Span) -> Label {
        let (category, text, of) = describe(span);
        let note = match of {
            Of::Nothing => None,
            Of::Task(task) => Some(Note::Task(self.flows.number(task))),
            Of::Lock(object) => Some(Note::Object(object)),
        };
        let name = match text {
            Text::Code(word, code, role) => self.label(code, word, role),
            Text::Own(address) => match self.texts.get(&(at.position, address)) {
                Some(text) => self.writer.name(text),
                None => self.writer.name(&format!("{address:#x}")),
            },
            Text::Function(address) => match self.texts.get(&(at.position, address)) {
                Some(text) => self.writer.name(&function_label(text)),
                None => self.writer.name(&format!("{address:#x}")),
            },
            Text::Word(word) => self.word(word),
        };
        Label {
            category,
            name,
            note,
        }
    }
}
