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
    /// It was sampled, but the events that have the length of periods are missing: times are numbers of periods.
    pub(crate) no_period: bool,
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

    /// The stack with one more frame; nothing where that is told apart no more.
    fn child(&mut self, parent: u32, frame: u32) -> Option<u32> {
        if let Some(known) = self.children.get(&(parent, frame)) {
            return Some(*known);
        }
        let depth = self.nodes[parent as usize].depth + 1;
        if depth > DEEPEST || self.nodes.len() >= MOST_NODES {
            return None;
        }
        let place = self.nodes.len() as u32;
        self.nodes.push(Node {
            parent,
            frame,
            depth,
            ..Node::default()
        });
        self.children.insert((parent, frame), place);
        Some(place)
    }

    /// Makes times of numbers of periods, which are as long as this on each thread.
    fn multiply(&mut self, mut periods: Vec<u64>) {
        let roots = periods.len();
        for (place, node) in self.nodes.iter_mut().enumerate() {
            if place >= roots {
                periods.push(periods[node.parent as usize]);
            }
            node.ns = node.ns.saturating_mul(periods[place]);
        }
    }

    fn add(&mut self, node: u32, count: u64, ns: u64) {
        let node = &mut self.nodes[node as usize];
        node.count += count;
        node.ns = node.ns.saturating_add(ns);
    }
}

/// A stack of a thread: the node of it, or of the longest one that begins like it.
#[derive(Clone, Copy, Debug)]
struct Place {
    node: u32,
    is_whole: bool,
}

/// One thread.
#[derive(Clone, Debug, Default)]
struct Thread {
    /// The stacks from the outermost frame to the innermost one.
    path: Vec<Place>,
    /// Up to when its time is counted; `None`: it has not begun, or is over.
    since: Option<u64>,
    idle: bool,
    /// 0: not known.
    period_ns: u64,
}

/// The sink of one process.
struct Collector<'n, 's> {
    frames: Frames<'n>,
    nesting: Nesting<u32>,
    spans: Trie,
    /// Times are numbers of periods.
    samples: Trie,
    threads: Vec<Thread>,
    chain: Chain,
    /// There are samples, or would be.
    is_sampled: bool,
    /// Of the last thread that has it.
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
            is_sampled: false,
            sampling: None,
            steps,
        }
    }

    fn finish(mut self, trace: &Trace) -> Profile {
        // Where the begin of a thread's trace is missing, its periods are as long as those of the others.
        let assumed = Sampling {
            clock: SamplingClock::Other(0),
            period_ns: 1,
        };
        let known = self.sampling;
        let sampling = self.is_sampled.then_some(known.unwrap_or(assumed));
        let trie = match sampling {
            Some(sampling) => {
                let period = |thread: &Thread| match thread.period_ns {
                    0 => sampling.period_ns,
                    own => own,
                };
                let of_threads = self.threads.iter().map(period).collect();
                self.samples.multiply(of_threads);
                self.samples
            }
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
            sampling,
            no_period: self.is_sampled && known.is_none(),
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
            Some(place) => place.node,
            None if thread.idle => {
                let idle = self.frames.word(Category::State, "idle");
                let root = at.position as u32;
                self.spans.child(root, idle).unwrap_or(root)
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
                    let parent = path.last().copied().unwrap_or(Place {
                        node: position as u32,
                        is_whole: true,
                    });
                    // Below a stack that is cut nothing is looked up: it would be another stack's.
                    let child = match parent.is_whole {
                        true => self.spans.child(parent.node, frame),
                        false => None,
                    };
                    path.push(Place {
                        node: child.unwrap_or(parent.node),
                        is_whole: child.is_some(),
                    });
                }
            }
        }
    }

    fn taken(&mut self, at: At, periods: u32) {
        let mut node = at.position as u32;
        let mut is_whole = true;
        let callers = self.chain.callers().iter().rev();
        // A return address is behind the call. What is no code was no frame.
        let callers = callers.map(|address| (address.wrapping_sub(1), false));
        for (address, is_innermost) in callers.chain([(self.chain.pc(), true)]) {
            let frame = match self.frames.sampled(address) {
                Some(frame) => frame,
                None if is_innermost => self.frames.unknown(),
                None => continue,
            };
            let Some(child) = self.samples.child(node, frame) else {
                is_whole = false;
                break;
            };
            node = child;
        }
        self.samples.shortened += u64::from(!is_whole);
        self.samples.add(node, 1, periods.into());
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
            && let Some(place) = self.threads[at.position].path.last()
        {
            self.spans.shortened += u64::from(!place.is_whole);
            self.spans.add(place.node, 1, 0);
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
                self.is_sampled = true;
                self.sampling = Some(Sampling { clock, period_ns });
                self.threads[at.position].period_ns = period_ns;
            }
            Sample::Taken { frames, periods } => {
                self.is_sampled = true;
                self.steps.step(at.time);
                self.chain.read(self.frames.names(), &frames);
                self.taken(at, periods);
            }
            _ => {}
        }
    }
}
