//! Simulated runs against closed forms, an independent list scheduler, and the bounds that hold for every greedy one.

mod error;
mod graphs;
mod rules;
mod runs;

use std::collections::BTreeMap;

use instr_analysis::predict::costs::Costs;
use instr_analysis::predict::model::{Part, Region, SpotId, Step, Task};
use instr_analysis::predict::plan::{Plan, Shape};
use instr_analysis::predict::simulate::{Case, Library, Outcome, simulate};

/// Numbers of threads that closed forms are checked for.
const THREADS: std::ops::RangeInclusive<usize> = 1..=64;

/// Where all their work is: the first spot after that of waiting for a processor.
const SPOT: SpotId = 1;

/// Explicit tasks that one thread creates, by their durations, and pairs (before, after).
#[derive(Clone, Default)]
struct Graph {
    work: Vec<u64>,
    edges: Vec<(u32, u32)>,
}

impl Graph {
    fn task(&mut self, work: u64) -> u32 {
        self.work.push(work);
        (self.work.len() - 1) as u32
    }

    fn after(&mut self, before: u32, task: u32) {
        self.edges.push((before, task));
    }

    /// The longest path.
    fn span(&self) -> u64 {
        let mut ends = self.work.clone();
        let mut before: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (from, to) in &self.edges {
            before.entry(*to).or_default().push(*from);
        }
        for task in 0..ends.len() {
            let start = before.get(&(task as u32)).into_iter().flatten();
            ends[task] += start.map(|from| ends[*from as usize]).max().unwrap_or(0);
        }
        ends.into_iter().max().unwrap_or(0)
    }

    fn total(&self) -> u64 {
        self.work.iter().sum()
    }

    /// A region in which a `single` block creates the tasks.
    fn region(&self) -> Region {
        let mut region = Region::default();
        for ns in &self.work {
            let steps = region.add_steps(&[Step::Work {
                spot: SPOT,
                ns: *ns,
            }]);
            region.tasks.push(Task {
                steps,
                ..Task::default()
            });
        }
        region.depend(&mut self.edges.clone());
        let creates: Vec<Step> = (0..self.work.len() as u32).map(Step::Create).collect();
        let creates = region.add_steps(&creates);
        region.gaps = vec![vec![vec![Part::Once(creates)]]];
        region.team = 1;
        region
    }
}

/// A case in which the library's work takes no time.
fn free(library: Library) -> Case {
    Case {
        library,
        costs: Costs::default(),
        ..Case::default()
    }
}

fn run(region: &Region, threads: usize, case: &Case) -> Outcome {
    let shape = Shape {
        threads,
        ..Shape::default()
    };
    let plan = Plan::new(region, shape);
    let outcome = simulate(region, &plan, case).expect("the region ends");
    let all = outcome.threads as u64 * outcome.elapsed;
    assert_eq!(outcome.losses.total(), all, "{:?}", outcome.losses);
    outcome
}

fn time(region: &Region, threads: usize) -> u64 {
    run(region, threads, &free(Library::Unlimited)).elapsed
}
