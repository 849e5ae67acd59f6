//! Who does what of a region when it has another number of threads.
//!
//! | recorded | with P threads |
//! |---|---|
//! | what each thread does by itself | thread t does what the recorded thread t mod T did |
//! | a static loop, or what follows the question for a thread's number | the recorded threads' parts in a row, cut into P |
//! | a dynamic loop | the recorded chunks, or chunks of another size |
//! | a guided loop | chunks as libgomp would make them |
//! | `single` | the first thread that comes |
//! | `masked`, and tasks that a thread creates by itself | once, on thread t mod P |

use super::divide::{divide, guided};
use super::model::{Gap, Meeting, Part, Piece, Region, Sharing, Step, Steps};

/// What a plan depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Threads, at least 1.
    pub threads: usize,
    /// Iterations of a chunk, in place of what was recorded.
    pub chunk: Option<u64>,
    /// What each thread does by itself is divided among the threads, not repeated by each.
    pub divided: bool,
    /// What a recorded thread did of sections is one section, where their begins are not known.
    pub whole: bool,
}

/// What happens between two meetings.
#[derive(Debug, Default)]
pub(super) struct GapPlan {
    /// For whoever comes first, second …
    pub claims: Vec<Steps>,
    /// For one thread each.
    pub fixed: Vec<(usize, Steps)>,
    /// For each thread that has none of these.
    pub plain: Vec<Steps>,
    /// For each thread in any case.
    pub divided: Vec<Steps>,
}

/// What a meeting is.
#[derive(Debug)]
pub(super) enum MeetingPlan {
    Barrier,
    /// The pieces of each thread.
    Static(Vec<Vec<Steps>>),
    /// Pieces for whoever comes.
    Queue(Vec<Steps>),
}

/// A region laid out for a number of threads. Its ranges are those of its own steps.
#[derive(Debug, Default)]
pub struct Plan {
    pub(super) threads: usize,
    pub(super) steps: Vec<Step>,
    pub(super) gaps: Vec<GapPlan>,
    pub(super) meetings: Vec<MeetingPlan>,
}

impl Plan {
    /// Lays out `region`.
    #[must_use]
    pub fn new(region: &Region, shape: Shape) -> Self {
        let threads = match region.fixed {
            true => region.team,
            false => shape.threads,
        };
        let mut plan = Self {
            threads: threads.max(1),
            ..Self::default()
        };
        for gap in &region.gaps {
            let gap = plan.gap(region, gap, shape.divided);
            plan.gaps.push(gap);
        }
        for meeting in &region.meetings {
            let meeting = match meeting {
                Meeting::Barrier => MeetingPlan::Barrier,
                Meeting::Share {
                    sharing, pieces, ..
                } => plan.share(region, *sharing, pieces, shape),
            };
            plan.meetings.push(meeting);
        }
        plan
    }

    pub(super) fn at(&self, steps: &Steps) -> &[Step] {
        &self.steps[steps.start as usize..steps.end as usize]
    }

    fn add(&mut self, steps: impl IntoIterator<Item = Step>) -> Steps {
        let begin = self.steps.len() as u32;
        self.steps.extend(steps);
        begin..self.steps.len() as u32
    }

    fn gap(&mut self, region: &Region, gap: &Gap, all_divided: bool) -> GapPlan {
        let mut plan = GapPlan::default();
        let mut plain: Vec<Vec<Step>> = Vec::new();
        // What others would do of a thread's own code that alone has a single block.
        let mut spare: Vec<Vec<Step>> = Vec::new();
        let mut divided: Vec<(Vec<Step>, u64)> = Vec::new();
        for (number, parts) in gap.iter().enumerate() {
            let mut own = Vec::new();
            let mut special = Vec::new();
            let mut cut = Vec::new();
            let (mut claimed, mut fixed) = (false, false);
            for part in parts {
                match part {
                    Part::Own(steps) => {
                        let steps = region.at(steps);
                        let creates = steps.iter().any(is_creation);
                        fixed |= creates;
                        match all_divided && !creates {
                            true => cut.extend_from_slice(steps),
                            false => {
                                own.extend(
                                    steps.iter().filter(|step| !creates || !is_of_tasks(step)),
                                );
                                special.extend_from_slice(steps);
                            }
                        }
                    }
                    Part::Divided(steps) => cut.extend_from_slice(region.at(steps)),
                    Part::Once(steps) => {
                        claimed = true;
                        special.extend_from_slice(region.at(steps));
                    }
                    Part::Masked(steps) => {
                        fixed = true;
                        special.extend_from_slice(region.at(steps));
                    }
                }
            }
            divided.push((cut, self.threads as u64));
            if fixed {
                let steps = self.add(special);
                plan.fixed.push((number % self.threads, steps));
            } else if claimed {
                let steps = self.add(special);
                plan.claims.push(steps);
                spare.push(own);
            } else {
                plain.push(own);
            }
        }
        let templates = if plain.is_empty() { spare } else { plain };
        for steps in templates {
            let steps = self.add(steps);
            plan.plain.push(steps);
        }
        if divided.iter().any(|(steps, _)| !steps.is_empty()) {
            let sizes = std::iter::repeat_n(divided.len() as u64, self.threads);
            let sources = divided
                .iter()
                .map(|(steps, units)| (steps.as_slice(), *units));
            let mut ranges = Vec::new();
            divide(sources, sizes, |piece| {
                ranges.push(self.add(piece.iter().copied()))
            });
            plan.divided = ranges;
        }
        plan
    }

    fn share(
        &mut self,
        region: &Region,
        sharing: Sharing,
        pieces: &[Piece],
        shape: Shape,
    ) -> MeetingPlan {
        let threads = self.threads as u64;
        let iterations = pieces
            .iter()
            .map(|piece| piece.iterations)
            .fold(0, u64::saturating_add);
        let chunks =
            |size: u64| std::iter::repeat_n(size.max(1), iterations.div_ceil(size.max(1)) as usize);
        let mut cut = |sizes: &mut dyn Iterator<Item = u64>| {
            let sources = pieces
                .iter()
                .map(|piece| (region.at(&piece.steps), piece.iterations));
            let mut ranges = Vec::new();
            divide(sources, sizes, |piece| {
                ranges.push(self.add(piece.iter().copied()))
            });
            ranges
        };
        let chunk = shape.chunk;
        let sharing = match (sharing, shape.whole) {
            (Sharing::Unseen, true) => Sharing::Sections,
            (sharing, _) => sharing,
        };
        match (sharing, chunk) {
            (Sharing::Blocks | Sharing::Unseen, _) | (Sharing::Static(None), None) => {
                let (each, more) = (iterations / threads, iterations % threads);
                let mut sizes = (0..threads).map(|thread| each + u64::from(thread < more));
                let ranges = cut(&mut sizes);
                MeetingPlan::Static(in_turn(ranges, self.threads))
            }
            (Sharing::Static(size), chunk) => {
                let size = chunk.or(size).unwrap_or(1);
                let ranges = cut(&mut chunks(size));
                MeetingPlan::Static(in_turn(ranges, self.threads))
            }
            (Sharing::Guided(least), chunk) => {
                let mut sizes = guided(iterations, threads, chunk.unwrap_or(least));
                MeetingPlan::Queue(cut(&mut sizes))
            }
            (Sharing::Dynamic, Some(size)) => MeetingPlan::Queue(cut(&mut chunks(size))),
            (Sharing::Dynamic | Sharing::Sections, _) => {
                let ranges = pieces
                    .iter()
                    .map(|piece| self.add(region.at(&piece.steps).iter().copied()));
                MeetingPlan::Queue(ranges.collect())
            }
        }
    }
}

fn in_turn(ranges: Vec<Steps>, threads: usize) -> Vec<Vec<Steps>> {
    let mut of = vec![Vec::new(); threads];
    for (number, steps) in ranges.into_iter().enumerate() {
        of[number % threads].push(steps);
    }
    of
}

pub(super) fn is_creation(step: &Step) -> bool {
    matches!(step, Step::Create(_) | Step::Pieces(_))
}

fn is_of_tasks(step: &Step) -> bool {
    is_creation(step) || matches!(step, Step::Taskwait | Step::GroupBegin | Step::GroupEnd)
}
