//! Random graphs: each seed one graph, each graph a style of its own (few or many locations, deep or flat, dense or sparse).

use super::random::Random;
use super::script::{Data, Depend, Form, Graph, Kind, NULL_SLOTS, Op, Task};

/// What a graph may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Threads of the team.
    pub threads: u32,
    /// Kinds that GCC 13 brought (`inoutset`, `omp_all_memory`) and `taskwait depend nowait` in graphs that run in parallel. Outside
    /// parallel regions, where the run-time library looks at no entry, the two kinds are always possible.
    pub newer_than_gcc_12: bool,
    /// Tasks with a `detach` clause.
    pub detach: bool,
    /// Highest number of tasks.
    pub most: u32,
}

impl Profile {
    /// For programs linked with the libgomp of GCC 12.
    #[must_use]
    pub fn libgomp12(threads: u32) -> Self {
        Self {
            threads,
            newer_than_gcc_12: false,
            detach: false,
            most: 60,
        }
    }

    /// Everything.
    #[must_use]
    pub fn synthetic(threads: u32) -> Self {
        Self {
            threads,
            newer_than_gcc_12: true,
            detach: true,
            most: 60,
        }
    }
}

/// The style of one graph.
struct Style {
    random: Random,
    locations: u32,
    kinds: Vec<(Kind, u32)>,
    deepest: u32,
    with_depend: u32,
    nested: u32,
    waits: u32,
    clauses: u32,
    nowait: bool,
    detach: bool,
    left: u32,
    next_id: u32,
    next_slot: u32,
}

/// The graph of `seed`; its ids count from 0.
#[must_use]
pub fn graph(seed: u64, profile: &Profile) -> Graph {
    numbered(seed, profile, 0, &mut 0)
}

/// The graph of `seed` with its number and with ids from `next_id` on, which is moved behind them.
#[must_use]
pub fn numbered(seed: u64, profile: &Profile, number: u32, next_id: &mut u32) -> Graph {
    let mut random = Random::new(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ 0x1257);
    let serial = random.chance(15);
    let roots = if !serial && random.chance(30) {
        random.between(1, profile.threads)
    } else {
        1
    };
    let mut style = Style::draw(random, profile, serial, *next_id);
    let mut graph = Graph {
        number,
        serial,
        roots: Vec::new(),
    };
    for left in (1..=roots).rev() {
        let share = style.left / left;
        graph.roots.push(style.body(0, share));
    }
    *next_id = style.next_id;
    graph
}

impl Style {
    fn draw(mut random: Random, profile: &Profile, serial: bool, next_id: u32) -> Self {
        let sizes = [(3, 10), (8, 20), (20, 40), (profile.most, 30)];
        let most = random.weighted(&sizes).unwrap_or(8).min(profile.most);
        let newer = profile.newer_than_gcc_12 || serial;
        let mut kinds = vec![
            (Kind::In, random.between(1, 6)),
            (Kind::Out, random.between(1, 6)),
        ];
        if random.chance(70) {
            kinds.push((Kind::Mutex, random.between(0, 5)));
        }
        if newer && random.chance(70) {
            kinds.push((Kind::InoutSet, random.between(0, 5)));
        }
        if newer && random.chance(40) {
            kinds.push((Kind::All, 1));
        }
        Self {
            locations: random
                .weighted(&[(1, 2), (2, 3), (4, 4), (9, 2)])
                .unwrap_or(1),
            kinds,
            deepest: random.below(4),
            with_depend: random.between(30, 100),
            nested: random.between(5, 40),
            waits: random.below(25),
            clauses: random.below(30),
            nowait: profile.newer_than_gcc_12,
            detach: profile.detach,
            left: random.between(1, most),
            next_id,
            next_slot: 0,
            random,
        }
    }

    /// A body that creates up to `budget` tasks, those below it included.
    fn body(&mut self, depth: u32, budget: u32) -> Vec<Op> {
        let mut ops = Vec::new();
        let floor = self.left.saturating_sub(budget);
        while self.left > floor {
            if self.random.chance(30) {
                ops.push(Op::Work(self.random.below(300)));
            }
            let step = self.step(depth, self.left - floor);
            ops.push(step);
        }
        if self.random.chance(20) {
            ops.push(Op::Taskwait);
        }
        ops
    }

    fn step(&mut self, depth: u32, budget: u32) -> Op {
        if self.random.chance(self.waits) {
            return match self.random.below(4) {
                0 => Op::Taskwait,
                1 => Op::Yield,
                2 => Op::Taskgroup({
                    let share = self.random.below(budget.min(6)) + 1;
                    self.body(depth, share)
                }),
                _ => self.taskwait_depend(),
            };
        }
        self.task(depth, budget)
    }

    fn taskwait_depend(&mut self) -> Op {
        self.left -= 1;
        Op::TaskwaitDepend {
            id: self.id(),
            depends: self.depends(),
            nowait: self.nowait && self.random.chance(40),
        }
    }

    fn task(&mut self, depth: u32, budget: u32) -> Op {
        self.left -= 1;
        let clause = |style: &mut Self| {
            let percent = style.clauses;
            style.random.chance(percent)
        };
        let mut task = Task {
            id: self.id(),
            depends: Vec::new(),
            undeferred: clause(self),
            final_: clause(self) && clause(self),
            untied: clause(self),
            mergeable: clause(self),
            priority: clause(self).then(|| self.random.below(5)),
            detach: clause(self) && self.random.chance(40),
            long_form: self.random.chance(25),
            data: self.data(),
            body: Vec::new(),
        };
        if self.random.chance(self.with_depend) {
            task.depends = self.depends();
        }
        if self.random.chance(60) {
            task.body.push(Op::Work(self.random.below(2000)));
        }
        if depth < self.deepest && budget > 1 && self.random.chance(self.nested) {
            let share = self.random.between(1, budget - 1);
            task.body.extend(self.body(depth + 1, share));
        }
        // The driver's bodies find the event in their data.
        task.detach &= self.detach && !matches!(task.data, Data::Null { .. });
        Op::Task(task)
    }

    fn id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id - 1
    }

    fn data(&mut self) -> Data {
        let data = self.random.weighted(&[(0, 2), (1, 5), (2, 2), (3, 1)]);
        match data.unwrap_or(1) {
            0 if self.next_slot < NULL_SLOTS => {
                self.next_slot += 1;
                Data::Null {
                    slot: self.next_slot - 1,
                }
            }
            2 => Data::Copied,
            3 => Data::Aligned,
            _ => Data::Plain,
        }
    }

    /// Entries: mostly a few, now and then more than an event holds; duplicates as they come.
    fn depends(&mut self) -> Vec<Depend> {
        let count = match self.random.below(200) {
            0 => self.random.between(60, 200),
            1..=150 => self.random.between(1, 3),
            _ => self.random.between(1, 7),
        };
        let spread = if count > 7 { count } else { self.locations };
        let mut depends: Vec<Depend> = (0..count).map(|_| self.entry(spread)).collect();
        if self.random.chance(10) {
            let again = depends[0];
            depends.push(again);
        }
        depends
    }

    fn entry(&mut self, locations: u32) -> Depend {
        let kind = self.random.weighted(&self.kinds).unwrap_or(Kind::In);
        let object = self.random.chance(15) && kind != Kind::All;
        let form = match (kind, object) {
            (Kind::InoutSet, _) => Form::Object,
            (Kind::Out, true) if self.random.chance(50) => Form::ObjectInout,
            (_, true) => Form::Object,
            (_, false) => Form::Direct,
        };
        Depend {
            kind,
            address: self.random.below(locations),
            form,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_cover_what_a_graph_can_hold() {
        let mut kinds = std::collections::BTreeSet::new();
        let (mut nested, mut waits, mut null, mut long, mut duplicates, mut serial) =
            (0, 0, 0, 0, 0, 0);
        for seed in 0..1000 {
            let graph = graph(seed, &Profile::synthetic(4));
            assert_eq!(graph, super::graph(seed, &Profile::synthetic(4)));
            serial += u32::from(graph.serial);
            graph.families(|parent, family| {
                nested += u32::from(parent.is_some() && !family.is_empty());
                for child in family {
                    kinds.extend(child.depends.iter().map(|depend| depend.kind));
                    long += u32::from(child.depends.len() > 64);
                    waits += u32::from(child.task.is_none());
                    null += u32::from(
                        child
                            .task
                            .is_some_and(|task| matches!(task.data, Data::Null { .. })),
                    );
                    let mut places: Vec<u32> =
                        child.depends.iter().map(|depend| depend.address).collect();
                    places.sort_unstable();
                    duplicates += u32::from(places.windows(2).any(|pair| pair[0] == pair[1]));
                }
            });
        }
        assert_eq!(kinds.len(), 5);
        for (what, count) in [
            ("nested", nested),
            ("waits", waits),
            ("null", null),
            ("long", long),
            ("duplicates", duplicates),
            ("serial", serial),
        ] {
            assert!(count > 30, "{what}: {count}");
        }
    }

    #[test]
    fn older_libraries_get_what_they_know() {
        for seed in 0..300 {
            let graph = graph(seed, &Profile::libgomp12(2));
            assert!(graph.serial || !(graph.uses(Kind::InoutSet) || graph.uses(Kind::All)));
        }
    }
}
