//! The region that runs: its tasks, and what its threads met.

use hashbrown::HashMap;
use instr_trace::event::{ScheduleKind, schedule_flags, task_flags};
use instr_trace::model::{Code, NO_NUMBER, Work};
use instr_trace::{RegionId, TaskId};

use super::super::model::{Lock, Meeting, Part, Piece, Region, Sharing, Spot, SpotId, Spots, Task};
use super::body::{Body, Kind, Met, Share};
use super::{MAX_STEPS, MAX_TASKS, Why};

/// Iterations of a thread's part of a loop, where they are not known.
const UNKNOWN: u64 = 1 << 20;
/// Meetings of a region that are kept: more are damage, or a program that runs for days.
const MAX_MEETINGS: usize = 1 << 22;

#[derive(Debug)]
pub(super) struct Open {
    pub(super) id: RegionId,
    pub(super) code: Code,
    pub(super) begin: u64,
    region: Region,
    /// Spot and flags of each task.
    pub(super) spots: Vec<SpotId>,
    flags: Vec<u32>,
    numbers: HashMap<TaskId, u32>,
    edges: Vec<(u32, u32)>,
    taskloops: HashMap<TaskId, (u32, u32)>,
    locks: HashMap<Lock, u32>,
    /// Number in the team, gaps and meetings of each member that has ended; nothing of the others.
    members: Vec<(u32, Option<Ended>)>,
    /// Begins and members of the regions inside.
    pub(super) nested: HashMap<RegionId, (u64, u32)>,
    pub(super) ordered: bool,
    pub(super) detached: bool,
    pub(super) read_locks: bool,
    /// Tasks are undeferred, maybe only since the team has one thread.
    pub(super) undeferred: bool,
    /// Sections whose begins, and loops whose chunks, are not known.
    unseen: (bool, bool),
    meetings: usize,
    failed: Option<Why>,
}

type Ended = (Vec<Vec<Part>>, Vec<Met>);

impl Open {
    pub(super) fn new(id: RegionId, code: Code, begin: u64, is_teams: bool) -> Self {
        Self {
            id,
            code,
            begin,
            region: Region {
                code,
                ..Region::default()
            },
            spots: Vec::new(),
            flags: Vec::new(),
            numbers: HashMap::new(),
            edges: Vec::new(),
            taskloops: HashMap::new(),
            locks: HashMap::new(),
            members: Vec::new(),
            nested: HashMap::new(),
            ordered: false,
            detached: false,
            read_locks: false,
            undeferred: false,
            unseen: (false, false),
            meetings: 0,
            failed: is_teams.then_some(Why::Teams),
        }
    }

    /// The region cannot be modelled. What it has is given back.
    pub(super) fn fail(&mut self, why: Why) {
        if self.failed.is_none() {
            self.failed = Some(why);
            self.region = Region::default();
            (self.spots, self.flags) = (Vec::new(), Vec::new());
            (self.numbers, self.edges) = (HashMap::new(), Vec::new());
        }
    }

    pub(super) fn members(&self) -> usize {
        self.members.len()
    }

    /// A thread joins the team.
    pub(super) fn member(&mut self, number: u32) -> usize {
        if number == NO_NUMBER {
            self.fail(Why::Cut);
        }
        self.members.push((number, None));
        self.members.len() - 1
    }

    pub(super) fn number(&self, task: TaskId) -> Option<u32> {
        self.numbers.get(&task).copied()
    }

    pub(super) fn is_final(&self, task: u32) -> bool {
        let flags = self.flags.get(task as usize).copied().unwrap_or_default();
        flags & task_flags::FINAL != 0
    }

    /// A new task; none when there are too many.
    pub(super) fn create(
        &mut self,
        task: TaskId,
        spot: SpotId,
        flags: u32,
        undeferred: bool,
    ) -> Option<u32> {
        if self.failed.is_some() {
            return None;
        }
        if self.region.tasks.len() >= MAX_TASKS {
            self.fail(Why::TooLarge);
            return None;
        }
        let number = self.region.tasks.len() as u32;
        self.region.tasks.push(Task {
            undeferred,
            ..Task::default()
        });
        self.spots.push(spot);
        self.flags.push(flags);
        self.numbers.insert(task, number);
        self.detached |= flags & (task_flags::DETACH | task_flags::TARGET) != 0;
        Some(number)
    }

    /// Takes new edges, and gives them by number.
    pub(super) fn edges(&mut self, found: &mut Vec<(TaskId, TaskId)>) -> &[(u32, u32)] {
        let known = self.edges.len();
        for (from, to) in found.drain(..) {
            if let (Some(from), Some(to)) = (self.number(from), self.number(to))
                && from < to
            {
                self.edges.push((from, to));
            }
        }
        if self.edges.len() > MAX_STEPS {
            self.fail(Why::TooLarge);
        }
        self.edges.get(known..).unwrap_or_default()
    }

    pub(super) fn taskloop(&mut self, task: TaskId, flags: u32) -> u32 {
        let number = self.region.taskloops.len() as u32;
        self.region.taskloops.push(Vec::new());
        self.taskloops.insert(task, (number, flags));
        number
    }

    /// A piece of a taskloop.
    pub(super) fn piece(&mut self, taskloop: TaskId, task: TaskId, spot: SpotId) {
        let Some((number, flags)) = self.taskloops.get(&taskloop).copied() else {
            return self.fail(Why::Cut);
        };
        let undeferred = flags & task_flags::IF_FALSE != 0;
        if let Some(task) = self.create(task, spot, flags, undeferred)
            && let Some(pieces) = self.region.taskloops.get_mut(number as usize)
        {
            pieces.push(task);
        }
    }

    pub(super) fn lock(&mut self, lock: Lock) -> u32 {
        let region = &mut self.region;
        *self.locks.entry(lock).or_insert_with(|| {
            region.locks.push(lock);
            (region.locks.len() - 1) as u32
        })
    }

    /// What the body did by itself so far is a part.
    pub(super) fn own(&mut self, body: &mut Body) {
        if body.is_implicit() && body.share.is_none() {
            match body.divided {
                true => body.part(&mut self.region, Part::Divided),
                false => body.part(&mut self.region, Part::Own),
            }
        }
    }

    pub(super) fn once(&mut self, body: &mut Body) {
        if body.is_implicit() && body.share.is_none() {
            body.part(&mut self.region, Part::Once);
        }
    }

    pub(super) fn masked(&mut self, body: &mut Body) {
        if body.is_implicit() && body.share.is_none() {
            body.part(&mut self.region, Part::Masked);
        }
    }

    /// The thread asks for its number: it divides what follows.
    pub(super) fn static_loop(&mut self, body: &mut Body) {
        self.own(body);
        body.divided = body.is_implicit();
    }

    fn meet(&mut self, body: &mut Body, met: Met) {
        self.meetings += 1;
        if self.meetings > MAX_MEETINGS {
            self.fail(Why::TooLarge);
        }
        body.gaps.push(std::mem::take(&mut body.parts));
        body.met.push(met);
        body.divided = false;
    }

    /// The body comes to a barrier; its number.
    pub(super) fn barrier(&mut self, body: &mut Body) -> u32 {
        self.own(body);
        self.meet(body, Met::Barrier);
        self.last_barrier(body)
    }

    /// The number of the barrier that the body is in.
    pub(super) fn last_barrier(&self, body: &Body) -> u32 {
        (body.met.len() as u32).wrapping_sub(1)
    }

    /// The body comes to a loop, or sections.
    pub(super) fn share(&mut self, body: &mut Body, work: Work) -> Spot {
        self.own(body);
        let (sharing, incr) = match work {
            Work::Loop { schedule, incr } => {
                let order = schedule_flags::ORDERED | schedule_flags::DOACROSS;
                self.ordered |= schedule.has(order);
                let sharing = match schedule.kind() {
                    ScheduleKind::Static => Some(Sharing::Static(None)),
                    ScheduleKind::Dynamic => Some(Sharing::Dynamic),
                    ScheduleKind::Guided => Some(Sharing::Guided(1)),
                    _ => None,
                };
                (sharing, incr)
            }
            Work::Sections => (Some(Sharing::Sections), 1),
            _ => (None, 1),
        };
        if body.is_implicit() && body.share.is_none() {
            body.share = Some(Share {
                sharing,
                incr,
                pieces: Vec::new(),
                chunk: None,
                done: Vec::new(),
            });
        }
        let shares = body
            .met
            .iter()
            .filter(|met| matches!(met, Met::Share { .. }));
        Spot::Loop(self.code, shares.count() as u32 + 1)
    }

    /// It leaves it.
    pub(super) fn share_ends(&mut self, body: &mut Body) {
        body.chunk_ends();
        let Some(mut share) = body.share.take() else {
            return;
        };
        if share.done.is_empty() && !body.steps.is_empty() {
            let steps = std::mem::take(&mut body.steps);
            match share.sharing {
                Some(Sharing::Sections) => self.unseen.0 = true,
                _ => self.unseen.1 = true,
            }
            let number = match body.kind {
                Kind::Implicit(member) => self.members[member].0,
                _ => 0,
            };
            share.done.push((i64::from(number), UNKNOWN, steps));
        }
        for (first, iterations, steps) in share.done {
            let steps = self.region.add_steps(&steps);
            share.pieces.push((first, Piece { steps, iterations }));
        }
        if self.region.steps.len() > MAX_STEPS {
            self.fail(Why::TooLarge);
        }
        let met = Met::Share {
            sharing: share.sharing,
            pieces: share.pieces,
        };
        self.meet(body, met);
    }

    /// A body ends.
    pub(super) fn ends(&mut self, body: &mut Body) {
        if self.failed.is_some() {
            return;
        }
        body.gives_all();
        match body.kind {
            Kind::Task(number) => {
                body.flush();
                let steps = self.region.add_steps(&body.steps);
                if let Some(task) = self.region.tasks.get_mut(number as usize) {
                    task.steps = steps;
                }
            }
            Kind::Implicit(member) => {
                self.share_ends(body);
                self.own(body);
                body.gaps.push(std::mem::take(&mut body.parts));
                let ended = (
                    std::mem::take(&mut body.gaps),
                    std::mem::take(&mut body.met),
                );
                if let Some(member) = self.members.get_mut(member) {
                    member.1 = Some(ended);
                }
            }
            Kind::Ignored => {}
        }
        if self.region.steps.len() > MAX_STEPS {
            self.fail(Why::TooLarge);
        }
    }

    /// What is modelled in part only.
    pub(super) fn notes(&self) -> Vec<(Why, u64)> {
        let priority = self
            .flags
            .iter()
            .any(|flags| flags & task_flags::PRIORITY != 0);
        let all = [
            (self.ordered, Why::Ordered),
            (self.detached, Why::Detached),
            (priority, Why::Priority),
            (self.read_locks, Why::ReadLocks),
            (self.undeferred, Why::Undeferred),
            (self.unseen.0, Why::Sections),
            (self.unseen.1, Why::Chunks),
        ];
        let some = all.into_iter().filter(|(is, _)| *is);
        some.map(|(_, why)| (why, 0)).collect()
    }

    /// The region, complete.
    pub(super) fn finish(
        mut self,
        elapsed: u64,
        usual: Option<usize>,
        spots: &mut Spots,
    ) -> Result<Region, Why> {
        if let Some(why) = self.failed {
            return Err(why);
        }
        self.members.sort_by_key(|(number, _)| *number);
        let ended = self.members.drain(..).map(|(_, ended)| ended);
        let Some(members) = ended.collect::<Option<Vec<Ended>>>() else {
            return Err(Why::Cut);
        };
        if members.is_empty() {
            return Err(Why::Cut);
        }
        let mut region = self.region;
        region.elapsed = elapsed;
        region.team = members.len();
        region.fixed = usual.is_some_and(|usual| region.team != usual);
        let meetings = members[0].1.len();
        if members.iter().any(|(_, met)| met.len() != meetings) {
            return Err(Why::Different);
        }
        region.gaps = vec![Vec::new(); meetings + 1];
        let mut met = Vec::new();
        for (gaps, own) in members {
            for (number, gap) in gaps.into_iter().enumerate() {
                region.gaps[number].push(gap);
            }
            met.push(own.into_iter());
        }
        let mut loops = 0;
        for _ in 0..meetings {
            let row: Vec<Met> = met.iter_mut().filter_map(Iterator::next).collect();
            let meeting = meeting(row, &mut loops, self.code, spots)?;
            region.meetings.push(meeting);
        }
        region.depend(&mut self.edges);
        Ok(region)
    }
}

/// What the members met together.
fn meeting(row: Vec<Met>, loops: &mut u32, code: Code, spots: &mut Spots) -> Result<Meeting, Why> {
    let mut all = Vec::new();
    let (mut barriers, mut how, mut most) = (0, None, 0);
    let members = row.len();
    for met in row {
        match met {
            Met::Barrier => barriers += 1,
            Met::Share {
                sharing, pieces, ..
            } => {
                how = how.or(sharing);
                most = most.max(pieces.len());
                all.extend(pieces);
            }
        }
    }
    if barriers == members {
        return Ok(Meeting::Barrier);
    }
    if barriers > 0 {
        return Err(Why::Different);
    }
    *loops += 1;
    all.sort_by_key(|(first, _)| *first);
    let sizes: Vec<u64> = all.iter().map(|(_, piece)| piece.iterations).collect();
    let least = sizes.iter().rev().skip(1).min().copied().unwrap_or(1);
    let sharing = match how {
        Some(Sharing::Sections) if sizes.contains(&UNKNOWN) => Sharing::Unseen,
        _ if sizes.contains(&UNKNOWN) => Sharing::Blocks,
        Some(Sharing::Static(_)) if most > 1 => Sharing::Static(sizes.first().copied()),
        Some(Sharing::Guided(_)) => Sharing::Guided(least),
        Some(sharing) => sharing,
        // The event does not tell: chunks of a guided loop get smaller.
        None => {
            let inner = &sizes[..sizes.len().saturating_sub(1)];
            match inner.is_sorted_by(|a, b| a >= b) && inner.first() > inner.last() {
                true => Sharing::Guided(least),
                false => Sharing::Dynamic,
            }
        }
    };
    Ok(Meeting::Share {
        sharing,
        spot: spots.number(Spot::Loop(code, *loops)),
        pieces: all.into_iter().map(|(_, piece)| piece).collect(),
    })
}
