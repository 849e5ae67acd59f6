//! Regions: their teams, barriers and ends.

use super::contexts::Team;
use super::path::{Joins, Point};
use super::region::Unit;
use super::slab::Key;
use super::states::TaskStates;
use super::{OUTSIDE, Parent, TaskSink};
use crate::event::RegionId;
use crate::model::{At, Code};

impl<S: TaskSink> TaskStates<S> {
    fn new_unit(&mut self, id: RegionId) -> Key {
        let unit = Unit::new(id, self.now(), self.keep_segments);
        self.units.insert(unit)
    }

    fn new_team(&mut self, id: RegionId, team: Team) -> Key {
        let key = self.teams.insert(team);
        if let Some(old) = self.regions.insert(id, key) {
            self.teams.remove(old);
        }
        key
    }

    fn remove_team(&mut self, id: RegionId) -> Option<Team> {
        let key = self.regions.remove(&id)?;
        self.teams.remove(key)
    }

    pub(super) fn parallel_begin(&mut self, at: At, id: RegionId, code: Code) {
        self.account(at.position, at.time);
        let Some(key) = self.bodies.key(at.body) else {
            return;
        };
        let unit = self.threads[at.position].unit;
        let team = match unit {
            None => {
                let key = self.new_unit(id);
                if let Some(unit) = self.units.get_mut(key) {
                    (unit.record.function, unit.record.call_site) = (code.address, code.site);
                }
                let unit = Some(key);
                self.set_unit(at.position, unit);
                let start = self.open(unit, OUTSIDE, &Joins::default());
                Team::new(unit, true, start)
            }
            Some(_) => {
                let context = self.bodies.get(key);
                let start = context.map_or(Point::START, |context| context.point);
                self.fork(key);
                Team::new(unit, false, start)
            }
        };
        self.new_team(id, team);
    }

    pub(super) fn implicit_begin(&mut self, at: At, region: RegionId) {
        let thread = self.threads[at.position].index;
        let parent = Parent::Implicit { thread, region };
        // Found again behind a gap.
        let known = self.bodies.at(at.body);
        if known.is_some_and(|context| context.parent == parent) {
            return;
        }
        let goes_on = |team: &Team| team.unit.is_some_and(|unit| self.units.get(unit).is_some());
        let known = self.regions.get(&region).copied();
        let team = match known.filter(|key| self.teams.get(*key).is_some_and(goes_on)) {
            Some(team) => team,
            None => {
                // Its begin was lost.
                let unit = Some(self.new_unit(region));
                self.new_team(region, Team::new(unit, true, Point::START))
            }
        };
        let Some((unit, start)) = self.teams.get(team).map(|team| (team.unit, team.start)) else {
            return;
        };
        self.set_unit(at.position, unit);
        let point = self.open(unit, OUTSIDE, &Joins::of(start));
        let context = self.bodies.begin(at.body, parent, point);
        (context.unit, context.team) = (unit, Some(team));
        self.switch(at);
    }

    pub(super) fn implicit_end(&mut self, at: At) {
        if let Some(context) = self.bodies.at(at.body)
            && let Some(team) = context.team.and_then(|team| self.teams.get_mut(team))
        {
            team.ends.add(context.point);
        }
        self.end_body(at.body);
    }

    pub(super) fn parallel_end(&mut self, at: At, id: RegionId) {
        let team = self.regions.get(&id).and_then(|team| self.teams.get(*team));
        let Some((unit, outermost)) = team.map(|team| (team.unit, team.outermost)) else {
            return;
        };
        if !outermost {
            let team = self.remove_team(id);
            // That of a region that has ended is of no use.
            if unit.is_none_or(|unit| self.units.get(unit).is_some())
                && let Some(mut team) = team
                && let Some(key) = self.bodies.key(at.body)
            {
                let mut joins = std::mem::take(&mut team.ends);
                joins.append(&mut team.tasks);
                self.join(key, joins);
            }
            return;
        }
        if let Some(unit) = unit {
            self.ending.push((self.now(), id, unit));
        }
        self.set_unit(at.position, None);
    }

    /// Ends the regions whose end is in the past: what has the same time as an end may still belong to it.
    pub(super) fn end_regions(&mut self, now: u64) {
        let before = |(time, ..): &&(u64, RegionId, Key)| *time < now;
        let over = self.ending.iter().take_while(before).count();
        for (time, id, key) in self.ending.drain(..over).collect::<Vec<_>>() {
            self.set_now(time);
            self.end_region(time, id, key);
        }
    }

    fn end_region(&mut self, time: u64, id: RegionId, key: Key) {
        let Some(unit) = self.units.get_mut(key) else {
            return;
        };
        let open = std::mem::take(&mut unit.open);
        let members = unit.threads.clone();
        for position in members.into_iter().map(|position| position as usize) {
            if self.threads[position].unit == Some(key) {
                self.account(position, time);
                self.set_unit(position, None);
            }
        }
        let number = |key| Some((self.live.get(key)?.record.number, key));
        let mut left: Vec<_> = open.into_iter().filter_map(number).collect();
        left.sort_unstable_by_key(|(number, _)| *number);
        for (_, task) in left {
            self.abandon(task);
        }
        let mut span = 0;
        if let Some(team) = self.remove_team(id) {
            span = team.ends.ns.max(team.tasks.ns);
        }
        if let Some(unit) = self.units.remove(key)
            && unit.created > 0
        {
            self.out.region(unit.finish(time, span));
        }
    }

    pub(super) fn enter_barrier(&mut self, at: At) {
        self.account(at.position, at.time);
        if let Some(context) = self.bodies.at_mut(at.body)
            && matches!(context.parent, Parent::Implicit { .. })
            && let Some(team) = context.team.and_then(|team| self.teams.get_mut(team))
        {
            context.arrived = team.arrive(context.barriers, context.point);
        }
    }

    pub(super) fn leave_barrier(&mut self, key: Key) {
        let Some(context) = self.bodies.get_mut(key).filter(|context| context.arrived) else {
            return;
        };
        context.arrived = false;
        let number = context.barriers;
        context.barriers += 1;
        let Some(team) = context.team.and_then(|team| self.teams.get_mut(team)) else {
            return;
        };
        let (unit, units) = (team.unit, &mut self.units);
        let end = team.leave(number, |joins| {
            super::states::open(units, unit, OUTSIDE, joins)
        });
        if let Some(end) = end {
            self.join(key, Joins::of(end));
        }
    }
}
