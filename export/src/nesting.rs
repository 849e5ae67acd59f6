//! What is open on each thread, as a stack: for formats whose spans nest whatever they are.
//!
//! Spans of OpenMP's constructs nest as they are. The program's own regions and calls need not nest with them: when one ends below others, these
//! are closed and open again. Taskgroups may cross those that a task leaves open, too. Held locks are no part of a stack.

use instr_trace::model::{At, Span};

/// Spans of OpenMP among which one that ends is looked for, from the innermost one on: deeper it is in damaged traces only. A task can be suspended below any number of calls.
const LOOK_BACK: usize = 64;
/// All spans among which it is looked for.
const FARTHEST: usize = 1 << 12;

/// What happens to a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<F> {
    /// A frame lies on top from now on.
    Open(F),
    /// The frame on top goes.
    Close(F),
}

#[derive(Clone, Copy, Debug)]
struct Open<F> {
    body: u32,
    span: Span,
    frame: F,
}

/// The stacks of the threads of a process.
#[derive(Debug)]
pub(crate) struct Nesting<F> {
    threads: Vec<Vec<Open<F>>>,
    steps: Vec<Step<F>>,
}

/// Whether spans of this kind are frames.
pub(crate) fn is_frame(span: &Span) -> bool {
    !matches!(span, Span::Hold { .. })
}

/// Whether it need not nest with the others.
fn is_loose(span: &Span) -> bool {
    is_of_thread(span) || matches!(span, Span::Taskgroup)
}

/// Whether it is of its thread, whatever body that runs.
fn is_of_thread(span: &Span) -> bool {
    matches!(
        span,
        Span::User { .. } | Span::Call { .. } | Span::Function { .. }
    )
}

impl<F: Copy> Nesting<F> {
    /// For so many threads.
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            threads: vec![Vec::new(); threads],
            steps: Vec::new(),
        }
    }

    /// A span begins, if it is a frame.
    pub(crate) fn begin(&mut self, at: At, span: &Span, frame: F) {
        self.threads[at.position].push(Open {
            body: at.body,
            span: *span,
            frame,
        });
    }

    /// A span ends: what happens to the stack of its thread. Nothing if it is not open.
    pub(crate) fn end(&mut self, at: At, span: &Span) -> &[Step<F>] {
        self.steps.clear();
        let stack = &mut self.threads[at.position];
        let loose = is_loose(span);
        let of_thread = is_of_thread(span);
        let is = |open: &Open<F>| open.span == *span && (of_thread || open.body == at.body);
        let mut others = 0;
        let found = stack.iter().rev().take(FARTHEST).position(|open| {
            others += usize::from(!is_of_thread(&open.span));
            others > LOOK_BACK || is(open)
        });
        let found = found.map(|from_top| stack.len() - 1 - from_top);
        if let Some(found) = found.filter(|at| is(&stack[*at])) {
            let above = stack.split_off(found);
            let close = above.iter().rev().map(|open| Step::Close(open.frame));
            self.steps.extend(close);
            // What OpenMP's constructs hold ends with them.
            let stays = |open: &&Open<F>| loose || is_loose(&open.span);
            for open in above[1..].iter().filter(stays) {
                self.steps.push(Step::Open(open.frame));
                stack.push(*open);
            }
        }
        &self.steps
    }

    /// A thread ends, and all that is open on it.
    pub(crate) fn end_thread(&mut self, position: usize) -> &[Step<F>] {
        self.steps.clear();
        let stack = std::mem::take(&mut self.threads[position]);
        let close = stack.iter().rev().map(|open| Step::Close(open.frame));
        self.steps.extend(close);
        &self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::Step::{Close, Open};
    use super::*;

    const AT: At = At {
        time: 0,
        position: 0,
        body: 0,
    };

    fn user(name: u64) -> Span {
        Span::User { name }
    }

    #[test]
    fn regions_that_cross_constructs_are_opened_again() {
        let mut nesting = Nesting::new(1);
        nesting.begin(AT, &user(1), 'a');
        nesting.begin(AT, &Span::Single, 's');
        nesting.begin(AT, &user(2), 'b');
        assert_eq!(
            nesting.end(AT, &user(1)),
            [Close('b'), Close('s'), Close('a'), Open('s'), Open('b')]
        );
        assert_eq!(
            nesting.end(AT, &Span::Single),
            [Close('b'), Close('s'), Open('b')]
        );
        assert_eq!(nesting.end(AT, &Span::Single), []);
        assert_eq!(nesting.end_thread(0), [Close('b')]);
        assert_eq!(nesting.end_thread(0), []);
    }

    /// A task leaves its thread in the middle of a recursion, whose calls are the thread's.
    #[test]
    fn a_task_ends_below_many_calls() {
        let mut nesting = Nesting::new(1);
        nesting.begin(AT, &Span::Masked, 'm');
        for _ in 0..1000 {
            nesting.begin(AT, &user(1), 'c');
        }
        let steps = nesting.end(AT, &Span::Masked);
        assert_eq!((steps.len(), steps[1000]), (2001, Close('m')));
        assert_eq!(nesting.end_thread(0).len(), 1000);
        // In a damaged trace, constructs that are open for ever do not take more and more time.
        nesting.begin(AT, &Span::Masked, 'm');
        for _ in 0..=LOOK_BACK {
            nesting.begin(AT, &Span::Single, 's');
        }
        assert_eq!(nesting.end(AT, &Span::Masked), []);
    }

    #[test]
    fn a_construct_ends_with_the_one_around_it() {
        let mut nesting = Nesting::new(1);
        let inner = At { body: 7, ..AT };
        nesting.begin(AT, &Span::Masked, 'm');
        nesting.begin(inner, &Span::Single, 's');
        assert_eq!(nesting.end(AT, &Span::Single), [], "of another body");
        assert_eq!(nesting.end(AT, &Span::Masked), [Close('s'), Close('m')]);
        assert_eq!(nesting.end_thread(0), []);
    }
}
