//! Regions, and the bodies of implicit and explicit tasks: their begins and ends.

use instr_trace::event::task_flags;
use instr_trace::model::{At, Begin, Code};
use instr_trace::{RegionId, TaskId};

use super::body::{Body, Kind};
use super::open::Open;
use super::times::Times;
use super::{Collector, Receiver, Why, running};
use crate::predict::model::{Spot, Step};

impl<R: Receiver> Collector<R> {
    pub(super) fn parallel(&mut self, at: At, region: RegionId, code: Code, is_teams: bool) {
        if let Some(body) = running(&mut self.bodies, at.body) {
            if let Some(open) = &mut self.open {
                body.flush();
                open.nested.insert(region, (at.time, 0));
            }
            return;
        }
        match &mut self.open {
            Some(_) => self.survey.overlapping = true,
            None => {
                let open = Open::new(region, code, at.time, is_teams);
                self.open = Some(open);
                for position in 0..self.lines.len() {
                    self.account(At { position, ..at });
                    let line = &mut self.lines[position];
                    line.off_before = line.off;
                }
            }
        }
    }

    pub(super) fn implicit(&mut self, at: At, region: RegionId, number: u32, how: Begin) {
        let Some(open) = &mut self.open else {
            return;
        };
        if let Some((_, members)) = open.nested.get_mut(&region) {
            *members += 1;
            return self.set_body(at.body, Body::ignored());
        }
        if open.id != region {
            return;
        }
        if how == Begin::Found {
            open.fail(Why::Cut);
        }
        let line = &self.lines[at.position];
        let off = line.off.since(line.off_before);
        let took = at.time - open.begin.min(at.time);
        self.times.joins_team(number, took, off);
        let member = open.member(number);
        let spot = self.spots.number(Spot::Region(open.code));
        self.set_body(at.body, Body::new(Kind::Implicit(member), spot));
    }

    /// A nested region is over for the body that encountered it.
    fn nested_end(&mut self, at: At, region: RegionId) {
        let Some(open) = &mut self.open else { return };
        let Some((begin, members)) = open.nested.remove(&region) else {
            return;
        };
        let ns = at.time.saturating_sub(begin);
        if members > 1 {
            self.survey.note(Why::Nested, ns);
        }
        if let Some(body) = self.body(at) {
            // What the thread did in it has bodies of its own.
            body.work += ns;
        }
    }

    pub(super) fn task_begins(&mut self, at: At, task: TaskId, undeferred: bool) {
        let Some(open) = &mut self.open else { return };
        let Some(number) = open.number(task) else {
            // A task of a nested region, or one whose creation is not in the trace.
            let own = self.bodies.get(self.lines[at.position].body as usize);
            let nested = matches!(own, Some(Some(below)) if below.kind == Kind::Ignored);
            if !nested {
                open.fail(Why::Cut);
            }
            return self.set_body(at.body, Body::ignored());
        };
        let spot = open.spots[number as usize];
        let is_final = open.is_final(number);
        if !undeferred {
            let line = &self.lines[at.position];
            let (free, off) = (line.free.0, line.off.since(line.free.1));
            self.times
                .begins(number, free, (at.time, off), &mut self.samples);
        }
        let mut body = Body::new(Kind::Task(number), spot);
        body.is_final = is_final;
        self.set_body(at.body, body);
    }

    pub(super) fn body_ends(&mut self, at: At, told: bool) {
        let Some(mut body) = self.bodies.get_mut(at.body as usize).and_then(Option::take) else {
            return;
        };
        self.is_free(at);
        let Some(open) = &mut self.open else { return };
        if body.kind == Kind::Ignored {
            return;
        }
        if !told {
            open.fail(Why::Cut);
        }
        open.ends(&mut body);
        match body.kind {
            Kind::Task(number) => self.times.ends(number, at.time),
            _ => self.times.arrive(u32::MAX, at.time),
        }
    }

    pub(super) fn create(&mut self, at: At, task: TaskId, spot: Spot, flags: u32) {
        let spot = self.spots.number(spot);
        let Some(body) = running(&mut self.bodies, at.body) else {
            return;
        };
        let (Some(open), false) = (&mut self.open, body.kind == Kind::Ignored) else {
            return;
        };
        let asked = flags & task_flags::IF_FALSE != 0 || body.is_final;
        // libomp defers nothing in a team of one thread.
        let is_told = flags & task_flags::UNDEFERRED != 0;
        let undeferred = asked || is_told && open.members() > 1;
        open.undeferred |= is_told && !undeferred;
        let Some(number) = open.create(task, spot, flags, undeferred) else {
            return;
        };
        body.push(Step::Create(number));
        body.create = Some((number, at.time, self.lines[at.position].off));
        let waits = open.edges(&mut self.tasks.out().0);
        self.times.create(number, at.time, waits);
    }

    pub(super) fn created(&mut self, at: At, task: TaskId) {
        let Some(body) = running(&mut self.bodies, at.body) else {
            return;
        };
        let Some((number, begin, off)) = body.create.take() else {
            return;
        };
        let known = self.open.as_ref().and_then(|open| open.number(task));
        if known == Some(number) {
            let off = self.lines[at.position].off.since(off);
            let took = (at.time.saturating_sub(begin), off);
            self.times.created(number, took, at.time, &mut self.samples);
        }
    }

    pub(super) fn end_region(&mut self, at: At, region: RegionId) {
        let Some(open) = self.open.take_if(|open| open.id == region) else {
            return self.nested_end(at, region);
        };
        let elapsed = at.time.saturating_sub(open.begin);
        self.survey.in_regions += elapsed;
        let line = &self.lines[at.position];
        let off = line.off.since(line.free.1);
        self.times.join(at.time, off, &mut self.samples);
        self.times.team(&mut self.samples);
        self.bodies.clear();
        self.times = Times::default();
        for (why, ns) in open.notes() {
            self.survey.note(why, ns);
        }
        match open.finish(elapsed, self.usual, &mut self.spots) {
            Ok(region) => {
                self.survey.regions += 1;
                self.survey.team = self.survey.team.max(region.team);
                self.out.region(region, &self.spots);
            }
            Err(why) => self.survey.note(why, elapsed),
        }
    }
}
