//! All regions of a run, run again for all numbers of threads and all that may change.
//!
//! Each case is one run of every region: the recorded one, the one that is asked for, the same with other assumptions, from which the error
//! follows, and those in which one thing is faster.

use std::collections::{BTreeMap, BTreeSet};

use super::collect::{Receiver, Survey, Why};
use super::costs::{COSTS, Cost, Costs, Measure, UNKNOWN_NS, UNKNOWN_START_NS};
use super::model::{Lock, Region, Spot, Spots};
use super::plan::{Plan, Shape};
use super::sampling::{Moments, Sampling};
use super::simulate::{Case, Cause, Library, Outcome, simulate};
use super::totals::Totals;
use instr_trace::model::Code;

/// Most pieces of one loop that `chunk` may make.
pub const MAX_PIECES: u64 = 1 << 22;
/// Steps of all simulations together, about: beyond, there are fewer of them.
const EFFORT: u64 = 300_000_000;
/// Steps of all simulations of regions that have their like, about: beyond, some stand for others.
const EFFORT_ALIKE: u64 = 30_000_000;
/// Most threads that a run is tried with to find its limit, and most threads of all its regions together; twice the threads that were asked for in any case.
const LIMIT: u64 = 1024;
const LIMIT_EFFORT: u64 = 1_000_000;
/// What may become faster is tried if it has at least this share of the work.
const SMALL: f64 = 0.002;
/// Loops of a region that are told apart: of more, which are likely to be the same ones again and again, all are one.
const LOOPS: u32 = 8;
/// Work of which nobody knows whether it is divided is a source of error from this share on.
const UNDETERMINED: f64 = 0.002;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Numbers of threads, ascending.
    pub threads: Vec<usize>,
    /// By what the time of spots is multiplied: 0.5 is twice as fast.
    pub faster: Vec<(Spot, f64)>,
    /// A lock that is left out.
    pub without: Option<Lock>,
    /// Iterations of a chunk.
    pub chunk: Option<u64>,
    /// Whose rules tasks follow.
    pub library: Library,
    /// How much longer work takes with twice as many threads, from other traces: 0.1 is a tenth.
    pub inflation: f64,
    /// What the run-time library's work costs with several threads: [`super::costs::with_several`].
    pub several: [Measure; COSTS.len()],
}

impl Question {
    /// Whether something is to be otherwise than recorded, beside threads.
    #[must_use]
    pub fn changes(&self) -> bool {
        !self.faster.is_empty() || self.without.is_some() || self.chunk.is_some()
    }
}

/// What threads lose their time to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// One thread works outside of regions.
    Serial,
    /// A region that is not modelled.
    Unmodelled,
    /// One thread creates the tasks.
    Creation(Code),
    /// Tasks wait for each other, or the last ones are long.
    Dependences(Code),
    /// `single` and `masked` blocks.
    Single(Code),
    /// The loop's pieces are of different length.
    Imbalance(Spot),
    /// The loop has fewer pieces than threads.
    FewPieces(Spot),
    /// What threads of a region do by themselves is of different length.
    Own(Code),
    /// A lock is held by others.
    Lock(Lock),
    /// The queue of tasks is used by others.
    Queue,
    /// The run-time library works.
    Overhead(Cost),
}

/// Times of all threads of a case, ns.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// From the begin of the run to its end.
    pub elapsed: u64,
    /// User code.
    pub work: u64,
    /// What is lost.
    pub losses: BTreeMap<Loss, u64>,
}

impl Account {
    fn add(
        &mut self,
        region: &Region,
        spots: &[Spot],
        merged: &BTreeSet<Code>,
        outcome: &Outcome,
        all: usize,
    ) {
        self.elapsed += outcome.elapsed;
        self.work += outcome.losses.work;
        let lost = &outcome.losses;
        for (cause, ns) in &lost.idle {
            let spot = |meeting: &u32| match region.meetings.get(*meeting as usize) {
                Some(super::model::Meeting::Share { spot, .. }) => {
                    merge(spots[*spot as usize], merged)
                }
                _ => Spot::Region(region.code),
            };
            let loss = match cause {
                Cause::Creation => Loss::Creation(region.code),
                Cause::Dependences => Loss::Dependences(region.code),
                Cause::Single => Loss::Single(region.code),
                Cause::Imbalance(meeting) => Loss::Imbalance(spot(meeting)),
                Cause::FewPieces(meeting) => Loss::FewPieces(spot(meeting)),
                Cause::Own => Loss::Own(region.code),
            };
            self.lose(loss, *ns);
        }
        for (lock, ns) in region.locks.iter().zip(&lost.locks) {
            self.lose(Loss::Lock(*lock), *ns);
        }
        for (cost, ns) in COSTS.iter().zip(&lost.overhead) {
            self.lose(Loss::Overhead(*cost), *ns);
        }
        self.lose(Loss::Queue, lost.queue);
        // A region that always has fewer threads.
        let others = all.saturating_sub(outcome.threads) as u64;
        self.lose(Loss::Own(region.code), others * outcome.elapsed);
    }

    fn lose(&mut self, loss: Loss, ns: u64) {
        if ns > 0 {
            *self.losses.entry(loss).or_default() += ns;
        }
    }

    /// A time in which one thread works, and the others do not.
    fn alone(&mut self, loss: Loss, ns: u64, threads: usize) {
        self.elapsed += ns;
        self.work += ns;
        self.lose(loss, ns * (threads as u64).saturating_sub(1));
    }

    /// The largest loss.
    #[must_use]
    pub fn largest(&self) -> Option<(Loss, u64)> {
        let all = self.losses.iter().map(|(loss, ns)| (*loss, *ns));
        all.reduce(|a, b| if b.1 > a.1 { b } else { a })
    }
}

/// A prediction for a number of threads.
#[derive(Clone, Debug)]
pub struct Point {
    /// How many.
    pub threads: usize,
    /// The run.
    pub account: Account,
    /// Bounds of its time, ns.
    pub low: u64,
    /// See `low`.
    pub high: u64,
    /// Its time without what is asked to change, ns.
    pub unchanged: u64,
}

/// Something that may become faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lever {
    /// User code of a spot.
    Spot(Spot),
    /// A lock.
    Lock(Lock),
    /// Creating tasks and beginning them.
    Tasks,
}

/// What it helps.
#[derive(Clone, Copy, Debug)]
pub struct Gain {
    /// What.
    pub lever: Lever,
    /// The time of the run when it takes half as long; of a lock: when it is not there, ns.
    pub half: u64,
    /// When it takes no time, ns.
    pub gone: u64,
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// Threads of the recorded regions, and the recorded time, ns.
    pub team: usize,
    /// See `team`.
    pub elapsed: u64,
    /// The same run, simulated, ns.
    pub simulated: u64,
    /// With one thread, with what is asked to change, ns: what speedups are relative to.
    pub alone: u64,
    /// By number of threads.
    pub points: Vec<Point>,
    /// With so many threads that more do not help.
    pub limit: Point,
    /// The most helpful first, with the most threads that were asked for.
    pub gains: Vec<Gain>,
    /// Regions whose order of locks and waits cannot be kept, and their recorded time, ns.
    pub stuck: (u64, u64),
    /// Costs that the trace does not show.
    pub unknown_costs: Vec<Cost>,
    /// Regions, and those of them that were run again and stand for the others.
    pub sampled: (u64, u64),
}

#[derive(Clone, Debug)]
enum Role {
    Recorded,
    Alone,
    /// Of a point.
    Asked(usize),
    Unchanged(usize),
    Slow(usize),
    Divided(usize),
    Drawn(usize),
    Half(usize),
    Gone(usize),
}

#[derive(Clone, Debug)]
struct Run {
    role: Role,
    shape: Shape,
    case: Case,
    /// Threads that exist.
    started: usize,
    /// Of the regions that are run again, by group.
    groups: Vec<(Account, Moments)>,
    /// Of the whole run, and the variance of its time for regions that were not run again, ns².
    account: Account,
    variance: f64,
}

impl Run {
    /// All regions have been given.
    fn add_up(&mut self, sampling: &Sampling) {
        for (number, (account, moments)) in std::mem::take(&mut self.groups).iter().enumerate() {
            let for_all = |ns: u64| sampling.for_all(number, ns);
            self.account.elapsed += for_all(account.elapsed);
            self.account.work += for_all(account.work);
            for (loss, ns) in &account.losses {
                self.account.lose(*loss, for_all(*ns));
            }
            self.variance += moments.variance(sampling.group(number));
        }
    }
}

/// Takes the regions of a run.
#[derive(Debug)]
pub struct Forecaster<'s> {
    survey: &'s Survey,
    question: &'s Question,
    runs: Vec<Run>,
    levers: Vec<Lever>,
    threads: Vec<usize>,
    /// Regions whose loops are one.
    merged: BTreeSet<Code>,
    unknown_costs: Vec<Cost>,
    stuck: (u64, u64),
    sampling: Sampling,
    /// The largest team so far; `usize::MAX`: as many as are asked for.
    widest: usize,
}

/// The spot that stands for it: all loops of a region, number 0, if they are not told apart.
fn merge(spot: Spot, merged: &BTreeSet<Code>) -> Spot {
    match spot {
        Spot::Loop(code, _) if merged.contains(&code) => Spot::Loop(code, 0),
        _ => spot,
    }
}

impl<'s> Forecaster<'s> {
    /// For a run of which `survey`, `spots` and `totals` are known from a first pass.
    #[must_use]
    pub fn new(survey: &'s Survey, spots: &Spots, totals: &Totals, question: &'s Question) -> Self {
        let unknown_costs = unknown_costs(survey, totals, question);
        let widest = question.threads.last().copied().unwrap_or(1) as u64;
        // Each thread of each region is some work, whatever it does.
        let limit = (LIMIT_EFFORT / survey.regions.max(1))
            .min(LIMIT)
            .max(2 * widest);
        let mut threads = question.threads.clone();
        threads.push(limit as usize);
        let merged = totals.spots.keys().filter_map(|spot| match spot {
            Spot::Loop(code, number) if *number > LOOPS => Some(*code),
            _ => None,
        });
        let merged: BTreeSet<Code> = merged.collect();
        let mut this = Self {
            survey,
            question,
            runs: Vec::new(),
            levers: levers(totals, survey, question, &merged),
            threads,
            merged,
            unknown_costs,
            stuck: (0, 0),
            sampling: Sampling::new(totals, f64::INFINITY),
            widest: 0,
        };
        this.plan_runs(spots, totals);
        this.sampling = Sampling::new(totals, this.regions_to_run(totals));
        this
    }

    fn plan_runs(&mut self, spots: &Spots, totals: &Totals) {
        let question = self.question;
        let recorded = vec![1.0; spots.all().len()];
        // A prediction is for a machine with a processor for each thread.
        let waits = |spot: &Spot| if *spot == Spot::NoProcessor { 0.0 } else { 1.0 };
        let one: Vec<f64> = spots.all().iter().map(waits).collect();
        let mut asked = one.clone();
        for (spot, factor) in &question.faster {
            if let Some(at) = spots.all().iter().position(|known| known == spot) {
                asked[at] *= factor;
            }
        }
        let case = |factors: &[f64], measures: &[Measure]| Case {
            library: question.library,
            costs: means(measures),
            factors: factors.to_vec(),
            without: None,
            one_by_one: false,
            made: 0,
        };
        let with = |case: Case| Case {
            without: question.without,
            ..case
        };
        let shape = |threads: usize, chunk| Shape {
            threads,
            chunk,
            divided: false,
        };
        let chunk = question.chunk;
        let as_it_was = case(&recorded, &self.survey.recorded_costs);
        self.push(Role::Recorded, shape(self.survey.team, None), as_it_was);
        self.push(
            Role::Alone,
            shape(1, chunk),
            with(case(&self.inflated(&asked, 1), self.measures(1))),
        );
        let undetermined = totals.undetermined as f64 > UNDETERMINED * totals.work() as f64;
        let points = self.threads.len() as u64;
        let threads: u64 = self.threads.iter().map(|threads| *threads as u64).sum();
        let own = totals.steps + totals.tasks + 1;
        let size = own + self.survey.regions * 4 * threads / points;
        let fixed = points * 3 + 2 * self.levers.len() as u64;
        let draws = (EFFORT / size).saturating_sub(fixed) / points;
        let draws = draws.clamp(3, 12) as usize;
        if fixed * size > EFFORT {
            self.levers.truncate(4);
        }
        let mut random = fastrand::Rng::with_seed(7);
        let drawn: Vec<(Vec<f64>, [f64; COSTS.len()])> = (0..draws)
            .map(|_| draw(spots, totals, &asked, &mut random))
            .collect();
        for point in 0..self.threads.len() {
            let threads = self.threads[point];
            let measures = *self.measures(threads);
            let case = |factors: &[f64]| case(factors, &measures);
            let inflated = self.inflated(&asked, threads);
            let own = shape(threads, chunk);
            self.push(Role::Asked(point), own, with(case(&inflated)));
            if question.changes() {
                let factors = self.inflated(&one, threads);
                self.push(Role::Unchanged(point), shape(threads, None), case(&factors));
            }
            let slow = Case {
                one_by_one: true,
                costs: self.slow(&measures),
                ..with(case(&inflated))
            };
            self.push(Role::Slow(point), own, slow);
            if undetermined {
                let shape = Shape {
                    divided: true,
                    ..own
                };
                self.push(Role::Divided(point), shape, with(case(&inflated)));
            }
            for (factors, errors) in &drawn {
                let case = Case {
                    costs: drawn_costs(&measures, errors),
                    ..with(case(&self.inflated(factors, threads)))
                };
                self.push(Role::Drawn(point), own, case);
            }
        }
        let point = question.threads.len().saturating_sub(1);
        let threads = self.threads[point];
        let factors = self.inflated(&asked, threads);
        let measures = *self.measures(threads);
        for number in 0..self.levers.len() {
            let own = shape(threads, chunk);
            let pulled = |share: f64| {
                let mut case = with(case(&factors, &measures));
                match self.levers[number] {
                    Lever::Spot(spot) => {
                        for (known, factor) in spots.all().iter().zip(&mut case.factors) {
                            if merge(*known, &self.merged) == spot {
                                *factor *= share;
                            }
                        }
                    }
                    Lever::Lock(lock) => case.without = Some(lock),
                    Lever::Tasks => {
                        for cost in [Cost::Create, Cost::Dispatch] {
                            case.costs.0[cost as usize] *= share;
                        }
                    }
                }
                case
            };
            let (half, gone) = (pulled(0.5), pulled(0.0));
            self.push(Role::Half(number), own, half);
            if !matches!(self.levers[number], Lever::Lock(_)) {
                self.push(Role::Gone(number), own, gone);
            }
        }
    }

    fn push(&mut self, role: Role, shape: Shape, case: Case) {
        self.runs.push(Run {
            role,
            shape,
            case,
            started: 1,
            groups: Vec::new(),
            account: Account::default(),
            variance: 0.0,
        });
    }

    /// How many regions of those that there are can be run again in a short time.
    fn regions_to_run(&self, totals: &Totals) -> f64 {
        let threads: usize = self.runs.iter().map(|run| run.shape.threads).sum();
        let runs = self.runs.len() as u64;
        let regions = self.survey.regions.max(1);
        let own = (totals.steps + totals.tasks) / regions * runs;
        EFFORT_ALIKE as f64 / (own + 4 * threads as u64 + 1) as f64
    }

    /// Work takes longer with more threads than recorded, and less with fewer.
    fn inflated(&self, factors: &[f64], threads: usize) -> Vec<f64> {
        let by = self.inflation(threads);
        factors.iter().map(|factor| factor * by).collect()
    }

    fn inflation(&self, threads: usize) -> f64 {
        let doublings = (threads as f64 / self.survey.team.max(1) as f64).log2();
        (1.0 + self.question.inflation).max(0.1).powf(doublings)
    }

    /// Costs with so many threads.
    fn measures(&self, threads: usize) -> &[Measure; COSTS.len()] {
        match threads {
            1 if self.survey.team <= 1 => &self.survey.costs,
            _ => &self.question.several,
        }
    }

    /// What is not known costs as much as the dearest that is, beside starting threads, and no less than it does elsewhere.
    fn slow(&self, measures: &[Measure]) -> Costs {
        let known = COSTS.iter().zip(measures);
        let known = known.filter(|(cost, _)| **cost != Cost::Start);
        let dearest = known
            .map(|(_, measure)| measure.p95_ns)
            .fold(UNKNOWN_NS, f64::max);
        let mut costs = means(measures);
        for cost in &self.unknown_costs {
            costs.0[*cost as usize] = match cost {
                Cost::Start => dearest.max(UNKNOWN_START_NS),
                _ => dearest,
            };
        }
        costs
    }

    /// The answer, when all regions have been given.
    #[must_use]
    pub fn finish(mut self) -> Forecast {
        let whole = self.survey.gaps.iter().filter(|(why, ..)| why.is_region());
        let whole: u64 = whole.map(|(.., ns)| ns).sum();
        let serial = self.survey.elapsed.saturating_sub(self.survey.in_regions);
        let faster = self.question.faster.iter();
        let faster = faster
            .filter(|(spot, _)| *spot == Spot::Serial)
            .map(|(_, factor)| factor);
        let factor: f64 = faster.product();
        for run in &mut self.runs {
            run.add_up(&self.sampling);
            let mut share = match run.role {
                Role::Recorded | Role::Unchanged(_) => 1.0,
                _ => factor,
            };
            match run.role {
                Role::Half(lever) if self.levers[lever] == Lever::Spot(Spot::Serial) => {
                    share *= 0.5
                }
                Role::Gone(lever) if self.levers[lever] == Lever::Spot(Spot::Serial) => share = 0.0,
                _ => {}
            }
            let threads = run.shape.threads;
            let waited = match run.role {
                Role::Recorded => 0,
                _ => self.survey.ready_outside,
            };
            let serial = serial.saturating_sub(waited);
            let serial = (serial as f64 * share).round() as u64;
            run.account.alone(Loss::Serial, serial, threads);
            run.account.alone(Loss::Unmodelled, whole, threads);
        }
        self.answer()
    }

    fn answer(self) -> Forecast {
        let time = |wanted: &dyn Fn(&Role) -> bool| {
            let mut runs = self.runs.iter();
            runs.find(|run| wanted(&run.role))
                .map(|run| run.account.elapsed)
        };
        let simulated = time(&|role| matches!(role, Role::Recorded)).unwrap_or(0);
        let residual = simulated as f64 / self.survey.elapsed.max(1) as f64 - 1.0;
        let mut points: Vec<Point> = (0..self.threads.len())
            .map(|point| self.point(point, residual))
            .collect();
        let mut limit = points.remove(self.question.threads.len());
        for point in &points {
            if point.account.elapsed < limit.account.elapsed {
                limit = point.clone();
            }
        }
        let mut gains: Vec<Gain> = (0..self.levers.len())
            .map(|number| {
                let half = time(&|role| matches!(role, Role::Half(own) if *own == number));
                let gone = time(&|role| matches!(role, Role::Gone(own) if *own == number));
                Gain {
                    lever: self.levers[number],
                    half: half.unwrap_or(0),
                    gone: gone.or(half).unwrap_or(0),
                }
            })
            .collect();
        gains.sort_by_key(|gain| (gain.half, gain.gone, gain.lever));
        Forecast {
            team: self.survey.team,
            elapsed: self.survey.elapsed,
            simulated,
            alone: time(&|role| matches!(role, Role::Alone)).unwrap_or(0),
            points,
            limit,
            gains,
            stuck: self.stuck,
            unknown_costs: self.unknown_costs.clone(),
            sampled: self.sampling.counts(),
        }
    }

    fn point(&self, point: usize, residual: f64) -> Point {
        let mut account = Account::default();
        let mut unchanged = None;
        let (mut low, mut high) = (u64::MAX, 0);
        let mut drawn: Vec<f64> = Vec::new();
        let mut variance = 0.0;
        for run in &self.runs {
            let elapsed = run.account.elapsed;
            match run.role {
                Role::Asked(own) if own == point => {
                    account = run.account.clone();
                    variance = run.variance;
                }
                Role::Unchanged(own) if own == point => unchanged = Some(elapsed),
                Role::Slow(own) | Role::Divided(own) if own == point => {}
                Role::Drawn(own) if own == point => {
                    drawn.push(elapsed as f64);
                    continue;
                }
                _ => continue,
            }
            if !matches!(run.role, Role::Unchanged(_)) {
                (low, high) = (low.min(elapsed), high.max(elapsed));
            }
        }
        let threads = self.threads[point];
        let time = account.elapsed as f64;
        let count = drawn.len().max(1) as f64;
        let mean = drawn.iter().sum::<f64>() / count;
        let spread = drawn
            .iter()
            .map(|drawn| (drawn - mean).powi(2))
            .sum::<f64>();
        let spread = (spread / (count - 1.0).max(1.0)).sqrt();
        let inflation = (self.inflation(threads) - 1.0) / 2.0 * time;
        let missed = residual * time;
        let squares = 4.0 * (spread * spread + variance) + missed * missed + inflation * inflation;
        let error = squares.sqrt();
        Point {
            threads,
            low: (low as f64 - error).max(0.0).round() as u64,
            high: (high as f64 + error).round() as u64,
            unchanged: unchanged.unwrap_or(account.elapsed),
            account,
        }
    }
}

impl Receiver for Forecaster<'_> {
    fn region(&mut self, region: Region, spots: &Spots) {
        let wide = if region.fixed {
            region.team
        } else {
            usize::MAX
        };
        let makes_threads = wide > self.widest;
        self.widest = self.widest.max(wide);
        let Some(group) = self.sampling.choose(&region, makes_threads) else {
            return;
        };
        let mut plans: Vec<(Shape, Plan)> = Vec::new();
        let mut stuck = false;
        for run in &mut self.runs {
            if run.groups.len() <= group {
                run.groups.resize_with(group + 1, Default::default);
            }
            let (account, moments) = &mut run.groups[group];
            let mut shape = run.shape;
            if matches!(run.role, Role::Recorded) {
                shape.threads = region.team;
            }
            let known = plans.iter().position(|(known, _)| *known == shape);
            let known = known.unwrap_or_else(|| {
                // Cases of one number of threads follow each other.
                plans.clear();
                plans.push((shape, Plan::new(&region, shape)));
                0
            });
            let plan = &plans[known].1;
            run.case.made = plan.threads.saturating_sub(run.started);
            run.started += run.case.made;
            match simulate(&region, plan, &run.case) {
                Ok(outcome) => {
                    let (all, merged) = (spots.all(), &self.merged);
                    account.add(&region, all, merged, &outcome, shape.threads);
                    moments.add(region.elapsed, outcome.elapsed);
                }
                Err(_) => {
                    stuck = true;
                    account.alone(Loss::Unmodelled, region.elapsed, shape.threads);
                    moments.add(region.elapsed, region.elapsed);
                }
            }
        }
        if stuck {
            self.stuck.0 += 1;
            self.stuck.1 += region.elapsed;
        }
    }
}

/// Costs that a run with more threads has and no trace shows.
fn unknown_costs(survey: &Survey, totals: &Totals, question: &Question) -> Vec<Cost> {
    let measured = |cost: &Cost| question.several[*cost as usize].count > 0;
    let mut all = vec![Cost::Start];
    if question.threads.last() > Some(&2) {
        all.push(Cost::Make);
    }
    if survey.regions > 1 {
        all.push(Cost::Fork);
    }
    if totals.tasks > 0 {
        all.push(Cost::Wake);
    }
    if !totals.locks.is_empty() {
        all.push(Cost::HandOver);
    }
    all.retain(|cost| !measured(cost));
    all
}

fn means(measures: &[Measure]) -> Costs {
    let mut costs = Costs::default();
    for (cost, measure) in costs.0.iter_mut().zip(measures) {
        *cost = measure.mean_ns;
    }
    costs
}

/// Means of work as another run might have had them, and by how many standard errors each cost is off there.
fn draw(
    spots: &Spots,
    totals: &Totals,
    asked: &[f64],
    random: &mut fastrand::Rng,
) -> (Vec<f64>, [f64; COSTS.len()]) {
    let mut factors = asked.to_vec();
    for (spot, factor) in spots.all().iter().zip(&mut factors) {
        let error = totals.spots.get(spot).and_then(|total| total.error());
        *factor *= (1.0 + error.unwrap_or(0.0) * normal(random)).max(0.0);
    }
    (factors, std::array::from_fn(|_| normal(random)))
}

fn drawn_costs(measures: &[Measure], errors: &[f64]) -> Costs {
    let mut costs = means(measures);
    for (((cost, kind), measure), error) in costs.0.iter_mut().zip(COSTS).zip(measures).zip(errors)
    {
        // A run starts its threads once; of other costs it has a mean.
        let spread = match kind {
            Cost::Start | Cost::Make => measure.spread_ns(),
            _ => measure.error_ns(),
        };
        *cost = (*cost + spread * error).max(0.0);
    }
    costs
}

/// What may be worth to be made faster, the largest first.
fn levers(
    totals: &Totals,
    survey: &Survey,
    question: &Question,
    merged: &BTreeSet<Code>,
) -> Vec<Lever> {
    let serial = survey.elapsed.saturating_sub(survey.in_regions);
    let all = (totals.work() + serial) as f64;
    let mut spots: BTreeMap<Lever, u64> = BTreeMap::new();
    for (spot, total) in &totals.spots {
        *spots.entry(Lever::Spot(merge(*spot, merged))).or_default() += total.ns;
    }
    let locks = totals
        .locks
        .iter()
        .map(|(lock, ns)| (Lever::Lock(*lock), *ns));
    let locks = locks.filter(|(lever, _)| question.without.map(Lever::Lock) != Some(*lever));
    let tasks = [Cost::Create, Cost::Dispatch].map(|cost| {
        let measure = survey.costs[cost as usize];
        (measure.mean_ns * totals.tasks as f64) as u64
    });
    let mut levers: Vec<(Lever, u64)> = spots.into_iter().chain(locks).collect();
    levers.push((Lever::Spot(Spot::Serial), serial));
    levers.push((Lever::Tasks, tasks.iter().sum()));
    levers.retain(|(_, ns)| *ns as f64 > SMALL * all);
    levers.sort_by_key(|(lever, ns)| (std::cmp::Reverse(*ns), *lever));
    levers.truncate(10);
    levers.into_iter().map(|(lever, _)| lever).collect()
}

/// A number of the standard normal distribution, nearly: the sum of twelve uniform ones.
fn normal(random: &mut fastrand::Rng) -> f64 {
    (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
}

/// Reasons by what they concern.
#[must_use]
pub fn unmodelled(survey: &Survey, forecast: &Forecast) -> Vec<(Why, u64, u64)> {
    let mut all = survey.gaps.clone();
    let (count, ns) = forecast.stuck;
    if count > 0 {
        all.push((Why::Stuck, count, ns));
    }
    all
}
