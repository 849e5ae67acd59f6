//! Frames of stacks: what spans and sampled addresses are called, and where they stand in the source. Each is there once.

use hashbrown::HashMap;
use instr_trace::model::{At, Code, Span};
use instr_trace::names::{Names, code_label, sampled_function};
use instr_trace::words::{function_label, function_parts};

use crate::describe::{Category, Text, describe};

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// What is shown.
    pub(crate) name: String,
    /// What a span is; `None`: a function of a sample.
    pub(crate) category: Option<Category>,
    /// A span of this kind.
    pub(crate) span: Option<Span>,
    /// Run-time address of its code; 0: it has none.
    pub(crate) address: u64,
    /// Source file.
    pub(crate) file: Option<String>,
    /// Line in it, from 1.
    pub(crate) line: Option<u32>,
}

/// The frames of a process.
pub(crate) struct Frames<'n> {
    names: &'n dyn Names,
    all: Vec<Frame>,
    spans: HashMap<(Category, Text), u32>,
    own: HashMap<(Category, String), u32>,
    sampled: HashMap<u64, Option<u32>>,
    /// Texts by thread and address.
    texts: HashMap<(usize, u64), String>,
}

impl<'n> Frames<'n> {
    /// Of a process with these names.
    pub(crate) fn new(names: &'n dyn Names) -> Self {
        Self {
            names,
            all: Vec::new(),
            spans: HashMap::new(),
            own: HashMap::new(),
            sampled: HashMap::new(),
            texts: HashMap::new(),
        }
    }

    /// Where names come from.
    pub(crate) fn names(&self) -> &'n dyn Names {
        self.names
    }

    /// All of them, by number.
    pub(crate) fn into_all(self) -> Vec<Frame> {
        self.all
    }

    /// All of them, by number.
    pub(crate) fn all(&self) -> &[Frame] {
        &self.all
    }

    /// The text that stands at an address, as a thread gives it.
    pub(crate) fn text(&mut self, position: usize, address: u64, text: &[u8]) {
        let text = String::from_utf8_lossy(text).into_owned();
        self.texts.insert((position, address), text);
    }

    /// A text that was given, or its address.
    pub(crate) fn own_text(&self, position: usize, address: u64) -> String {
        let known = self.texts.get(&(position, address));
        known.map_or_else(|| format!("{address:#x}"), Clone::clone)
    }

    /// The frame of a span.
    pub(crate) fn of(&mut self, at: At, span: &Span) -> u32 {
        let (category, text, _) = describe(span);
        if let Text::Own(address) = text {
            let name = self.own_text(at.position, address);
            return self.own(category, name, Some(*span));
        }
        if let Text::Function(address) = text {
            let own = self.own_text(at.position, address);
            let number = self.own(category, function_label(&own), Some(*span));
            if let Some((file, line)) = function_parts(&own).1.and_then(|at| at.rsplit_once(':'))
                && let Some(frame) = self.all.get_mut(number as usize)
                && frame.file.is_none()
            {
                (frame.file, frame.line) = (Some(file.to_owned()), line.parse().ok());
            }
            return number;
        }
        if let Some(known) = self.spans.get(&(category, text)) {
            return *known;
        }
        let mut frame = Frame {
            name: String::new(),
            category: Some(category),
            span: Some(*span),
            address: 0,
            file: None,
            line: None,
        };
        match text {
            Text::Code(word, code, role) => {
                let label = match code.address {
                    0 => "unknown".to_owned(),
                    _ => code_label(self.names, code, role),
                };
                frame.name = format!("{word}{label}");
                self.place(&mut frame, code);
            }
            Text::Word(word) => frame.name = word.to_owned(),
            Text::Own(_) | Text::Function(_) => {}
        }
        let number = self.add(frame);
        self.spans.insert((category, text), number);
        number
    }

    /// A frame by its name alone.
    pub(crate) fn word(&mut self, category: Category, name: &str) -> u32 {
        self.own(category, name.to_owned(), None)
    }

    /// The frame of the function at an address of a sample; `None`: nothing is known of it.
    pub(crate) fn sampled(&mut self, address: u64) -> Option<u32> {
        if let Some(known) = self.sampled.get(&address) {
            return *known;
        }
        let number = sampled_function(self.names, address).map(|name| {
            let mut frame = Frame {
                name,
                category: None,
                span: None,
                address: 0,
                file: None,
                line: None,
            };
            self.place(&mut frame, Code::new(address, false));
            self.add(frame)
        });
        self.sampled.insert(address, number);
        number
    }

    /// A sample at an address of which nothing is known.
    pub(crate) fn unknown(&mut self) -> u32 {
        self.own(Category::Call, "(unknown)".to_owned(), None)
    }

    fn own(&mut self, category: Category, name: String, span: Option<Span>) -> u32 {
        if let Some(known) = self.own.get(&(category, name.clone())) {
            return *known;
        }
        let number = self.add(Frame {
            name: name.clone(),
            category: Some(category),
            span,
            address: 0,
            file: None,
            line: None,
        });
        self.own.insert((category, name), number);
        number
    }

    fn place(&self, frame: &mut Frame, code: Code) {
        frame.address = code.address;
        let at = code.address.wrapping_sub(u64::from(code.site));
        if let Some(name) = self.names.resolve(at).filter(|_| code.address != 0) {
            frame.file = name.file;
            frame.line = name.line.filter(|line| *line > 0);
        }
    }

    fn add(&mut self, frame: Frame) -> u32 {
        self.all.push(frame);
        (self.all.len() - 1) as u32
    }
}
