//! A body while it runs: the steps that it has done.

use super::super::costs::Off;
use super::super::model::{NO_PROCESSOR, Part, Piece, Region, Sharing, SpotId, Step};

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// That of a member of the team, by its place in [`super::open::Open`].
    Implicit(usize),
    /// An explicit task.
    Task(u32),
    /// Of a nested region.
    Ignored,
}

/// What a member met together with the others.
#[derive(Clone, Debug)]
pub(super) enum Met {
    Barrier,
    Share {
        /// As the event tells; `None`: it has none.
        sharing: Option<Sharing>,
        /// By the first iteration.
        pieces: Vec<(i64, Piece)>,
    },
}

/// A loop or sections that a member is in.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub(super) sharing: Option<Sharing>,
    pub(super) incr: i64,
    pub(super) pieces: Vec<(i64, Piece)>,
    /// The chunk that runs.
    pub(super) chunk: Option<(i64, i64)>,
    /// Its steps, once it has ended, which the region does not have yet.
    pub(super) done: Vec<(i64, u64, Vec<Step>)>,
}

#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) kind: Kind,
    /// User code since the last step, and waiting for a processor in it, ns.
    pub(super) work: u64,
    pub(super) waited: u64,
    spots: Vec<SpotId>,
    pub(super) steps: Vec<Step>,
    /// The task that it creates, since when, and how long its thread had had no processor then.
    pub(super) create: Option<(u32, u64, Off)>,
    /// Since when it asks for a chunk, and how long its thread had had no processor then.
    pub(super) asks: Option<(u64, Off)>,
    pub(super) held: Vec<u32>,
    pub(super) is_final: bool,
    /// Of a member: the gap it is in, and all before it with what it met.
    pub(super) parts: Vec<Part>,
    pub(super) gaps: Vec<Vec<Part>>,
    pub(super) met: Vec<Met>,
    pub(super) share: Option<Share>,
    /// What follows in this gap is divided among the threads.
    pub(super) divided: bool,
}

impl Body {
    pub(super) fn new(kind: Kind, spot: SpotId) -> Self {
        Self {
            kind,
            work: 0,
            waited: 0,
            spots: vec![spot],
            steps: Vec::new(),
            create: None,
            asks: None,
            held: Vec::new(),
            is_final: false,
            parts: Vec::new(),
            gaps: Vec::new(),
            met: Vec::new(),
            share: None,
            divided: false,
        }
    }

    pub(super) fn ignored() -> Self {
        Self::new(Kind::Ignored, 0)
    }

    pub(super) fn is_implicit(&self) -> bool {
        matches!(self.kind, Kind::Implicit(_))
    }

    /// User code so far becomes a step.
    pub(super) fn flush(&mut self) {
        let (ns, waited) = (
            std::mem::take(&mut self.work),
            std::mem::take(&mut self.waited),
        );
        let spot = self.spots.last().copied().unwrap_or_default();
        self.add(spot, ns);
        self.add(NO_PROCESSOR, waited);
    }

    fn add(&mut self, spot: SpotId, ns: u64) {
        if ns == 0 || self.kind == Kind::Ignored {
            return;
        }
        if let Some(Step::Work {
            spot: last,
            ns: sum,
        }) = self.steps.last_mut()
            && *last == spot
        {
            *sum += ns;
            return;
        }
        self.steps.push(Step::Work { spot, ns });
    }

    pub(super) fn push(&mut self, step: Step) {
        self.flush();
        if self.kind != Kind::Ignored {
            self.steps.push(step);
        }
    }

    /// What follows is in this spot.
    pub(super) fn enter(&mut self, spot: SpotId) {
        self.flush();
        self.spots.push(spot);
    }

    pub(super) fn leave(&mut self) {
        self.flush();
        if self.spots.len() > 1 {
            self.spots.pop();
        }
    }

    /// The lock that it asked for last was refused.
    pub(super) fn refused(&mut self, lock: u32) {
        self.flush();
        if let Some(at) = self
            .steps
            .iter()
            .rposition(|step| *step == Step::Acquire(lock))
        {
            self.steps.remove(at);
        }
        if let Some(at) = self.held.iter().rposition(|held| *held == lock) {
            self.held.remove(at);
        }
    }

    pub(super) fn gives(&mut self, lock: u32) {
        if let Some(at) = self.held.iter().rposition(|held| *held == lock) {
            self.held.remove(at);
            self.push(Step::Release(lock));
        }
    }

    /// Locks that another body gives back are given back here: who has them is not followed across bodies.
    pub(super) fn gives_all(&mut self) {
        while let Some(lock) = self.held.pop() {
            self.push(Step::Release(lock));
        }
    }

    /// A chunk begins.
    pub(super) fn chunk(&mut self, begin: i64, end: i64) {
        self.chunk_ends();
        self.flush();
        if let Some(share) = &mut self.share {
            share.chunk = Some((begin, end));
        }
    }

    /// The chunk that runs ends.
    pub(super) fn chunk_ends(&mut self) {
        self.flush();
        let Some(share) = &mut self.share else { return };
        let Some((begin, end)) = share.chunk.take() else {
            return;
        };
        let iterations = end.wrapping_sub(begin).unsigned_abs();
        let iterations = iterations.div_ceil(share.incr.unsigned_abs().max(1)).max(1);
        let steps = std::mem::take(&mut self.steps);
        share.done.push((begin, iterations, steps));
    }

    /// Steps since the last part become one.
    pub(super) fn part(
        &mut self,
        region: &mut Region,
        of: impl FnOnce(std::ops::Range<u32>) -> Part,
    ) {
        self.flush();
        if !self.steps.is_empty() {
            let steps = region.add_steps(&self.steps);
            self.steps.clear();
            self.parts.push(of(steps));
        }
    }
}
