//! Where time went, by stacks: of samples where a process was sampled, else the own time of each span. What is kept grows with the number of
//! different stacks, not with the trace.

use hashbrown::HashMap;
use instr_trace::Trace;
use instr_trace::event::SamplingClock;
use instr_trace::model::{At, Begin, End, Mark, Sample, Since, Sink, Span, State, replay};
use instr_trace::samples::Chain;

use crate::describe::Category;
use crate::error::Error;
use crate::format::{Input, Progress};
use crate::frames::{Frame, Frames};
use crate::nesting::{Nesting, Step, is_frame};
use crate::replays::{self, Steps};

/// Different stacks of a process that are told apart.
const MOST_NODES: usize = 1 << 19;
/// Frames of a stack that are told apart.
const DEEPEST: u32 = 1 << 10;

/// What one stack has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Node {
    /// The stack without the innermost frame, by its place; that of a thread's root is its own.
    pub(crate) parent: u32,
    /// The innermost frame; of no meaning for a thread's root.
    pub(crate) frame: u32,
    depth: u32,
    /// Spans that began, or samples.
    pub(crate) count: u64,
    /// ns without those of longer stacks.
    pub(crate) ns: u64,
}

/// How a process was sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sampling {
    /// What ended periods.
    pub(crate) clock: SamplingClock,
    /// Their length, ns.
    pub(crate) period_ns: u64,
}

/// The profile of one process.
pub(crate) struct Profile {
    /// The first nodes are the roots of its threads; parents come before their children.
    pub(crate) nodes: Vec<Node>,
    pub(crate) frames: Vec<Frame>,
    /// Names of the threads.
    pub(crate) threads: Vec<String>,
    /// Nothing: own times of spans.
    pub(crate) sampling: Option<Sampling>,
    /// Spans or samples whose innermost frames are left out, because there are too many different stacks.
    pub(crate) shortened: u64,
}

impl Profile {
    /// Whether a stack is a thread's without any frame.
    pub(crate) fn is_root(&self, node: usize) -> bool {
        node < self.threads.len()
    }

    /// The frames of a stack, innermost first.
    pub(crate) fn stack(&self, node: usize) -> impl Iterator<Item = u32> + '_ {
        let mut at = node;
        std::iter::from_fn(move || {
            let node = self.nodes.get(at).filter(|_| !self.is_root(at))?;
            at = node.parent as usize;
            Some(node.frame)
        })
    }

    /// The thread of a stack, by its position.
    pub(crate) fn thread(&self, node: usize) -> usize {
        let mut at = node;
        while !self.is_root(at) {
            at = self.nodes[at].parent as usize;
        }
        at
    }
}

/// Gives the profile of each process to `each`.
pub(crate) fn of_processes(
    input: &Input<'_>,
    progress: &mut Progress<'_>,
    mut each: impl FnMut(usize, Profile) -> Result<(), Error>,
) -> Result<(), Error> {
    replays::processes(input, progress, |process, trace, steps| {
        let mut collector = Collector::new(trace, Frames::new(input.names(process)), steps);
        replay(trace, &mut collector)?;
        each(process, collector.finish(trace))
    })
}

/// Stacks that begin alike.
#[derive(Debug)]
struct Trie {
    nodes: Vec<Node>,
    shortened: u64,
    children: HashMap<(u32, u32), u32>,
}

impl Trie {
    fn new(threads: usize) -> Self {
        let root = |parent| Node {
            parent,
            ..Node::default()
        };
        Self {
            nodes: (0..threads as u32).map(root).collect(),
            shortened: 0,
            children: HashMap::new(),
        }
    }

    /// The stack with one more frame.
    fn child(&mut self, parent: u32, frame: u32) -> u32 {
        if let Some(known) = self.children.get(&(parent, frame)) {
            return *known;
        }
        let depth = self.nodes[parent as usize].depth + 1;
        if depth > DEEPEST || self.nodes.len() >= MOST_NODES {
            self.shortened += 1;
            return parent;
        }
        let place = self.nodes.len() as u32;
        self.nodes.push(Node {
            parent,
            frame,
            depth,
            ..Node::default()
        });
        self.children.insert((parent, frame), place);
        place
    }

    fn add(&mut self, node: u32, count: u64, ns: u64) {
        let node = &mut self.nodes[node as usize];
        node.count += count;
        node.ns = node.ns.saturating_add(ns);
    }
}

/// One thread.
#[derive(Clone, Debug, Default)]
struct Thread {
    /// The stacks from the outermost frame to the innermost one, by their places.
    path: Vec<u32>,
    /// Up to when its time is counted; `None`: it has not begun, or is over.
    since: Option<u64>,
    idle: bool,
    period_ns: u64,
}

/// The sink of one process.
struct Collector<'n, 's> {
    frames: Frames<'n>,
    nesting: Nesting<u32>,
    spans: Trie,
    samples: Trie,
    threads: Vec<Thread>,
    chain: Chain,
    sampling: Option<Sampling>,
    steps: Steps<'s>,
}

impl<'n, 's> Collector<'n, 's> {
    fn new(trace: &Trace, frames: Frames<'n>, steps: Steps<'s>) -> Self {
        let threads = trace.threads().len();
        Self {
            frames,
            nesting: Nesting::new(threads),
            spans: Trie::new(threads),
            samples: Trie::new(threads),
            threads: vec![Thread::default(); threads],
            chain: Chain::default(),
            sampling: None,
            steps,
        }
    }

    fn finish(self, trace: &Trace) -> Profile {
        let trie = match self.sampling {
            Some(_) => self.samples,
            None => self.spans,
        };
        Profile {
            nodes: trie.nodes,
            shortened: trie.shortened,
            frames: self.frames.into_all(),
            threads: trace
                .threads()
                .iter()
                .map(|info| info.name.clone())
                .collect(),
            sampling: self.sampling,
        }
    }

    /// Counts a thread's time up to now.
    fn advance(&mut self, at: At) {
        let thread = &mut self.threads[at.position];
        let Some(since) = thread.since else { return };
        let ns = at.time.saturating_sub(since);
        thread.since = Some(at.time.max(since));
        if ns == 0 {
            return;
        }
        let node = match thread.path.last() {
            Some(node) => *node,
            None if thread.idle => {
                let idle = self.frames.word(Category::State, "idle");
                self.spans.child(at.position as u32, idle)
            }
            None => at.position as u32,
        };
        self.spans.add(node, 0, ns);
    }

    fn apply(&mut self, position: usize, steps: &[Step<u32>]) {
        for step in steps {
            let path = &mut self.threads[position].path;
            match *step {
                Step::Close(_) => _ = path.pop(),
                Step::Open(frame) => {
                    let parent = path.last().copied().unwrap_or(position as u32);
                    path.push(self.spans.child(parent, frame));
                }
            }
        }
    }

    fn taken(&mut self, at: At, periods: u32) {
        let mut node = at.position as u32;
        for &address in self.chain.callers().iter().rev() {
            // A return address is behind the call. What is no code was no frame.
            if let Some(frame) = self.frames.sampled(address.wrapping_sub(1)) {
                node = self.samples.child(node, frame);
            }
        }
        let innermost = self.frames.sampled(self.chain.pc());
        let frame = match innermost {
            Some(frame) => frame,
            None => self.frames.unknown(),
        };
        let node = self.samples.child(node, frame);
        let ns = u64::from(periods).saturating_mul(self.threads[at.position].period_ns);
        self.samples.add(node, 1, ns);
    }
}

impl Sink for Collector<'_, '_> {
    const SAMPLES: bool = true;

    fn thread_begin(&mut self, at: At) {
        self.threads[at.position].since = Some(at.time);
    }

    fn thread_end(&mut self, at: At) {
        self.advance(at);
        self.nesting.end_thread(at.position);
        self.threads[at.position].path.clear();
        self.threads[at.position].since = None;
    }

    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        self.steps.step(at.time);
        if !is_frame(span) {
            return;
        }
        self.advance(at);
        let frame = self.frames.of(at, span);
        self.nesting.begin(at, span, frame);
        self.apply(at.position, &[Step::Open(frame)]);
        if how != Begin::Resumed
            && let Some(node) = self.threads[at.position].path.last()
        {
            self.spans.add(*node, 1, 0);
        }
    }

    fn end(&mut self, at: At, span: &Span, _how: End, _since: Since) {
        if !is_frame(span) {
            return;
        }
        self.advance(at);
        let steps = self.nesting.end(at, span).to_vec();
        self.apply(at.position, &steps);
    }

    fn state(&mut self, at: At, state: State) {
        self.advance(at);
        self.threads[at.position].idle = state == State::Idle;
    }

    fn mark(&mut self, at: At, mark: Mark<'_>) {
        if let Mark::Text { address, text } = mark {
            self.frames.text(at.position, address, text);
        }
    }

    fn sample(&mut self, at: At, sample: &Sample<'_>) {
        match *sample {
            Sample::Begins { clock, period_ns } => {
                self.sampling = Some(Sampling { clock, period_ns });
                self.threads[at.position].period_ns = period_ns;
            }
            Sample::Taken { frames, periods } => {
                self.steps.step(at.time);
                self.chain.read(self.frames.names(), &frames);
                self.taken(at, periods);
            }
            _ => {}
        }
    }
}
