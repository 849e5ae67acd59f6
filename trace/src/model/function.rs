//! Functions that a language's runtime tells of: a stack a thread.

use hashbrown::HashMap;

use crate::event::Payload;

use super::MAX_DEPTH;
use super::sink::{At, Sink};
use super::span::{Begin, End, Since, Span};

/// What is open on a thread, outermost first.
#[derive(Debug, Default)]
pub(super) struct Functions {
    open: Vec<Open>,
    /// How many of each are open, by the address of their text: an end of one that is not costs no search.
    count: HashMap<u64, u32>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    name: u64,
    begin: u64,
    resumed: bool,
}

impl Open {
    fn since(self) -> Since {
        Since {
            here: self.begin,
            first: (!self.resumed).then_some(self.begin),
        }
    }
}

impl Functions {
    pub(super) fn event<S: Sink>(&mut self, at: At, payload: &Payload<'_>, sink: &mut S) {
        match *payload {
            Payload::FunctionBegin { function } => self.begin(at, function, false, sink),
            Payload::FunctionResume { function } => self.begin(at, function, true, sink),
            Payload::FunctionEnd { function } | Payload::FunctionUnwind { function } => {
                self.end(at, function, End::Told, sink);
            }
            Payload::FunctionSuspend { function } => {
                self.end(at, function, End::Suspended, sink);
            }
            _ => {}
        }
    }

    fn begin<S: Sink>(&mut self, at: At, name: u64, resumed: bool, sink: &mut S) {
        if self.open.len() >= MAX_DEPTH {
            return;
        }
        let begin = at.time;
        self.open.push(Open {
            name,
            begin,
            resumed,
        });
        *self.count.entry(name).or_default() += 1;
        let how = match resumed {
            true => Begin::Resumed,
            false => Begin::Told,
        };
        sink.begin(at, &Span::Function { name }, how);
    }

    fn end<S: Sink>(&mut self, at: At, name: u64, how: End, sink: &mut S) {
        if self.count.get(&name).copied().unwrap_or(0) == 0 {
            return;
        }
        while let Some(open) = self.pop() {
            let found = open.name == name;
            let how = if found { how } else { End::Implied };
            let span = Span::Function { name: open.name };
            sink.end(at, &span, how, open.since());
            if found {
                return;
            }
        }
    }

    fn pop(&mut self) -> Option<Open> {
        let open = self.open.pop()?;
        if let Some(count) = self.count.get_mut(&open.name) {
            *count -= 1;
        }
        Some(open)
    }

    /// Ends all: by a gap, with the thread, or where recording is switched off.
    pub(super) fn cut<S: Sink>(&mut self, at: At, sink: &mut S) {
        while let Some(open) = self.open.pop() {
            let span = Span::Function { name: open.name };
            sink.end(at, &span, End::Cut, open.since());
        }
        self.count.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a sink gets: `b` and `e` with the function and how.
    #[derive(Default)]
    struct Told(Vec<(char, u64, String)>);

    impl Sink for Told {
        fn begin(&mut self, _at: At, span: &Span, how: Begin) {
            if let Span::Function { name } = span {
                self.0.push(('b', *name, format!("{how:?}")));
            }
        }
        fn end(&mut self, _at: At, span: &Span, how: End, _since: Since) {
            if let Span::Function { name } = span {
                self.0.push(('e', *name, format!("{how:?}")));
            }
        }
    }

    fn told(payloads: &[Payload<'_>]) -> Vec<(char, u64, String)> {
        let mut functions = Functions::default();
        let mut sink = Told::default();
        for (time, payload) in (0..).zip(payloads) {
            let at = At {
                time,
                position: 0,
                body: 0,
            };
            functions.event(at, payload, &mut sink);
        }
        sink.0
    }

    #[test]
    fn an_end_ends_what_lies_on_top_and_nothing_where_it_is_not_open() {
        let all = told(&[
            Payload::FunctionBegin { function: 1 },
            Payload::FunctionBegin { function: 2 },
            Payload::FunctionBegin { function: 3 },
            Payload::FunctionEnd { function: 9 },
            Payload::FunctionUnwind { function: 2 },
            Payload::FunctionEnd { function: 3 },
            Payload::FunctionEnd { function: 1 },
        ]);
        let expected = [
            ('b', 1, "Told"),
            ('b', 2, "Told"),
            ('b', 3, "Told"),
            ('e', 3, "Implied"),
            ('e', 2, "Told"),
            ('e', 1, "Told"),
        ];
        let expected = expected.map(|(what, name, how)| (what, name, how.to_owned()));
        assert_eq!(all, expected);
    }

    #[test]
    fn a_generator_leaves_and_goes_on() {
        let all = told(&[
            Payload::FunctionBegin { function: 1 },
            Payload::FunctionSuspend { function: 1 },
            Payload::FunctionResume { function: 1 },
            Payload::FunctionEnd { function: 1 },
        ]);
        let expected = [
            ('b', 1, "Told"),
            ('e', 1, "Suspended"),
            ('b', 1, "Resumed"),
            ('e', 1, "Told"),
        ];
        let expected = expected.map(|(what, name, how)| (what, name, how.to_owned()));
        assert_eq!(all, expected);
    }
}
