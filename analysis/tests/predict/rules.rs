//! OpenMP's rules, one by one, in closed forms.

use instr_analysis::predict::costs::{Cost, Costs};
use instr_analysis::predict::model::{Lock, Meeting, Part, Piece, Region, Sharing, Step, Task};
use instr_analysis::predict::plan::{Plan, Shape};
use instr_analysis::predict::simulate::{Case, Library, Stuck, simulate};
use instr_trace::event::MutexKind;

use super::{Graph, SPOT, THREADS, free, run, time};

fn work(ns: u64) -> Step {
    Step::Work { spot: SPOT, ns }
}

fn costs(of: &[(Cost, u64)]) -> Costs {
    let mut costs = Costs::default();
    for (cost, ns) in of {
        costs.0[*cost as usize] = *ns as f64;
    }
    costs
}

/// What steps are in a gap.
type Kind = fn(std::ops::Range<u32>) -> Part;

/// A region of one recorded thread with these parts.
fn region(parts: &[(&[Step], Kind)]) -> Region {
    let mut region = Region {
        team: 1,
        ..Region::default()
    };
    let gap = parts
        .iter()
        .map(|(steps, part)| part(region.add_steps(steps)));
    let gap = vec![gap.collect()];
    region.gaps = vec![gap];
    region
}

fn shared(sharing: Sharing, pieces: &[(u64, u64)]) -> Region {
    let mut region = Region {
        team: 1,
        ..Region::default()
    };
    let pieces = pieces.iter().map(|(ns, iterations)| Piece {
        steps: region.add_steps(&[work(*ns)]),
        iterations: *iterations,
    });
    let pieces = pieces.collect();
    region.gaps = vec![vec![vec![]]; 2];
    region.meetings = vec![Meeting::Share {
        sharing,
        spot: SPOT,
        pieces,
    }];
    region
}

#[test]
fn each_thread_repeats_what_is_not_shared() {
    let region = region(&[(&[work(10)], Part::Own)]);
    for threads in THREADS {
        assert_eq!(time(&region, threads), 10);
    }
}

#[test]
fn what_threads_divide_gets_shorter() {
    let region = region(&[(&[work(640)], Part::Divided)]);
    for threads in THREADS {
        let expected = 640u64.div_ceil(threads as u64);
        assert_eq!(time(&region, threads), expected, "{threads}");
    }
}

#[test]
fn a_single_block_runs_once_and_a_masked_one_too() {
    for part in [Part::Once as fn(_) -> _, Part::Masked] {
        let region = region(&[(&[work(10)], part)]);
        for threads in THREADS {
            let outcome = run(&region, threads, &free(Library::Gomp));
            assert_eq!((outcome.elapsed, outcome.losses.work), (10, 10));
        }
    }
}

#[test]
fn equal_chunks_are_dealt_out() {
    let chunks = [(5, 1); 100];
    for sharing in [
        Sharing::Dynamic,
        Sharing::Static(None),
        Sharing::Static(Some(1)),
    ] {
        let region = shared(sharing, &chunks);
        for threads in THREADS {
            let expected = 5 * 100u64.div_ceil(threads as u64);
            assert_eq!(time(&region, threads), expected, "{sharing:?} {threads}");
        }
    }
}

#[test]
fn blocks_of_a_static_loop_keep_its_slope() {
    // Iteration i takes i: thread t of P has those of its block.
    let pieces: Vec<(u64, u64)> = (0..64).map(|ns| (ns, 1)).collect();
    let region = shared(Sharing::Static(None), &pieces);
    for threads in [1, 2, 4, 8, 16, 32, 64] {
        let block = 64 / threads as u64;
        let expected: u64 = (64 - block..64).sum();
        assert_eq!(time(&region, threads), expected, "{threads}");
    }
}

#[test]
fn other_chunks_have_their_part_of_the_iterations() {
    // One recorded chunk of all iterations.
    let region = shared(Sharing::Dynamic, &[(1000, 100)]);
    assert_eq!(time(&region, 10), 1000, "too few chunks");
    let shape = Shape {
        threads: 10,
        chunk: Some(5),
        ..Shape::default()
    };
    let plan = Plan::new(&region, shape);
    let outcome = simulate(&region, &plan, &free(Library::Gomp)).unwrap();
    assert_eq!(outcome.elapsed, 100);
}

#[test]
fn threads_that_are_made_begin_when_the_last_one_is_there() {
    let mut region = region(&[(&[work(100)], Part::Own)]);
    region.team = 1;
    let case = |made| Case {
        costs: costs(&[
            (Cost::Enter, 1),
            (Cost::Fork, 5),
            (Cost::Start, 1000),
            (Cost::Make, 20),
        ]),
        made,
        ..Case::default()
    };
    for (threads, made, elapsed) in [
        (1, 0, 101),
        (2, 0, 105),
        (2, 1, 1100),
        (8, 7, 1220),
        (8, 3, 1140),
    ] {
        let outcome = run(&region, threads, &case(made));
        assert_eq!(
            outcome.elapsed, elapsed,
            "{threads} threads, {made} of them new"
        );
    }
}

#[test]
fn asking_for_chunks_costs_each_time() {
    let region = shared(Sharing::Dynamic, &[(10, 1); 8]);
    let case = Case {
        costs: costs(&[(Cost::Ask, 3)]),
        ..Case::default()
    };
    // Each thread asks for its chunks, and once in vain.
    for (threads, chunks) in [(1, 8), (2, 4), (4, 2), (8, 1)] {
        let outcome = run(&region, threads, &case);
        assert_eq!(outcome.elapsed, chunks * 13 + 3, "{threads}");
    }
}

fn locked(inside: u64, outside: u64) -> Region {
    let steps = [
        work(outside),
        Step::Acquire(0),
        work(inside),
        Step::Release(0),
    ];
    let mut region = region(&[(&steps, Part::Own)]);
    region.locks = vec![Lock {
        kind: MutexKind::Critical,
        object: 0,
    }];
    region
}

#[test]
fn a_critical_section_is_entered_one_by_one() {
    let region = locked(7, 20);
    for threads in THREADS {
        let outcome = run(&region, threads, &free(Library::Gomp));
        let n = threads as u64;
        assert_eq!(outcome.elapsed, 20 + 7 * n);
        // The k-th waits for k others.
        assert_eq!(outcome.losses.locks, [7 * n * (n - 1) / 2]);
        let case = Case {
            without: [Some(region.locks[0]), None],
            ..Case::default()
        };
        assert_eq!(run(&region, threads, &case).elapsed, 27);
    }
}

#[test]
fn handing_a_lock_over_costs_between_holders() {
    let region = locked(7, 20);
    let case = Case {
        costs: costs(&[(Cost::Lock, 2), (Cost::HandOver, 5)]),
        ..Case::default()
    };
    for threads in THREADS {
        let n = threads as u64;
        let expected = 20 + 2 + 7 * n + 5 * (n - 1);
        assert_eq!(run(&region, threads, &case).elapsed, expected);
    }
}

#[test]
fn one_thread_cannot_create_tasks_faster_than_it_does() {
    let mut graph = Graph::default();
    for _ in 0..50 {
        graph.task(20);
    }
    let region = graph.region();
    let case = Case {
        costs: costs(&[(Cost::Create, 10)]),
        ..Case::default()
    };
    assert_eq!(run(&region, 1, &case).elapsed, 50 * 30);
    // Two others are enough for tasks that take twice as long as their creation.
    for threads in [3, 8, 64] {
        assert_eq!(
            run(&region, threads, &case).elapsed,
            50 * 10 + 20,
            "{threads}"
        );
    }
}

#[test]
fn a_queue_that_is_used_one_by_one_is_a_limit() {
    let mut graph = Graph::default();
    for _ in 0..100 {
        graph.task(1);
    }
    let case = Case {
        costs: costs(&[(Cost::Dispatch, 10)]),
        one_by_one: true,
        ..free(Library::Unlimited)
    };
    for threads in [1, 2, 8, 64] {
        let elapsed = run(&graph.region(), threads, &case).elapsed;
        assert!(elapsed >= 1001, "{threads}: {elapsed}");
        assert!(threads == 1 || elapsed <= 1001 + 10, "{threads}: {elapsed}");
    }
}

/// A binary tree of tasks of this depth: leaves work, others create two and wait for them.
fn tree(depth: u32, leaf: u64) -> Region {
    fn node(region: &mut Region, depth: u32, leaf: u64) -> u32 {
        let number = region.tasks.len();
        region.tasks.push(Task::default());
        let steps = match depth {
            0 => region.add_steps(&[work(leaf)]),
            _ => {
                let children = [(); 2].map(|()| node(region, depth - 1, leaf));
                let creates = children.map(Step::Create);
                region.add_steps(&[creates[0], creates[1], Step::Taskwait])
            }
        };
        region.tasks[number].steps = steps;
        number as u32
    }
    let mut region = Region {
        team: 1,
        ..Region::default()
    };
    let root = node(&mut region, depth, leaf);
    let creates = region.add_steps(&[Step::Create(root), Step::Taskwait]);
    region.gaps = vec![vec![vec![Part::Once(creates)]]];
    region
}

#[test]
fn divide_and_conquer_uses_all_threads() {
    let region = tree(8, 10);
    for library in [Library::Gomp, Library::Omp, Library::Unlimited] {
        for threads in [1, 2, 4, 8, 16, 32, 64] {
            let outcome = run(&region, threads, &free(library));
            assert_eq!(outcome.losses.work, 2560);
            let best = 2560 / threads as u64;
            assert!(outcome.elapsed >= best, "{library:?} {threads}");
            assert!(
                outcome.elapsed <= 2 * best,
                "{library:?} {threads}: {}",
                outcome.elapsed
            );
        }
        assert_eq!(run(&region, 1, &free(library)).elapsed, 2560);
        assert_eq!(run(&region, 2, &free(library)).elapsed, 1280, "{library:?}");
    }
}

#[test]
fn a_taskgroup_waits_for_descendants_and_taskwait_does_not() {
    for (wait, expected) in [(true, 3 + 50 + 4), (false, 50)] {
        let mut region = Region {
            team: 1,
            ..Region::default()
        };
        let inner = region.add_steps(&[work(50)]);
        let outer = region.add_steps(&[Step::Create(1), work(3)]);
        region.tasks = [outer, inner]
            .map(|steps| Task {
                steps,
                ..Task::default()
            })
            .to_vec();
        let steps = match wait {
            true => region.add_steps(&[Step::GroupBegin, Step::Create(0), Step::GroupEnd, work(4)]),
            false => region.add_steps(&[Step::Create(0), Step::Taskwait, work(4)]),
        };
        region.gaps = vec![vec![vec![Part::Once(steps)]]];
        // With one thread for each; the inner task begins when the outer one does. In a group the outer one may run first alone.
        let elapsed = run(&region, 4, &free(Library::Gomp)).elapsed;
        match wait {
            true => assert!((50 + 4..=expected).contains(&elapsed), "{elapsed}"),
            false => assert_eq!(elapsed, expected),
        }
    }
}

#[test]
fn an_undeferred_task_holds_its_creator() {
    let mut region = Region {
        team: 1,
        ..Region::default()
    };
    for ns in [30, 5] {
        let steps = region.add_steps(&[work(ns)]);
        region.tasks.push(Task {
            steps,
            undeferred: ns == 5,
            ..Task::default()
        });
    }
    region.depend(&mut vec![(0, 1)]);
    let steps = region.add_steps(&[Step::Create(0), Step::Create(1), work(2)]);
    region.gaps = vec![vec![vec![Part::Once(steps)]]];
    for threads in THREADS {
        assert_eq!(run(&region, threads, &free(Library::Gomp)).elapsed, 37);
    }
}

#[test]
fn a_barrier_waits_for_the_slowest_and_for_tasks() {
    let mut region = Region {
        team: 2,
        ..Region::default()
    };
    let steps = region.add_steps(&[work(40)]);
    region.tasks.push(Task {
        steps,
        ..Task::default()
    });
    let own =
        [[work(10), Step::Create(0)], [work(25), work(0)]].map(|steps| region.add_steps(&steps));
    let rest = region.add_steps(&[work(5)]);
    let both = vec![vec![Part::Own(rest)]; 2];
    region.gaps = vec![own.map(|steps| vec![Part::Own(steps)]).to_vec(), both];
    region.meetings = vec![Meeting::Barrier];
    // The first thread runs its task from 10 to 50.
    assert_eq!(run(&region, 2, &free(Library::Gomp)).elapsed, 55);
    assert_eq!(run(&region, 1, &free(Library::Gomp)).elapsed, 55);
    let case = Case {
        costs: costs(&[(Cost::Barrier, 100), (Cost::Join, 1000)]),
        ..Case::default()
    };
    assert_eq!(run(&region, 2, &case).elapsed, 1155);
}

#[test]
fn a_region_of_fixed_size_keeps_it() {
    let mut region = shared(Sharing::Dynamic, &[(10, 1); 8]);
    (region.fixed, region.team) = (true, 2);
    assert_eq!(time(&region, 64), 40);
}

#[test]
fn what_nobody_gives_back_is_an_error() {
    let mut region = locked(7, 20);
    let steps = region.add_steps(&[Step::Acquire(0), work(1)]);
    region.gaps = vec![vec![vec![Part::Own(steps)]]];
    let shape = Shape {
        threads: 2,
        ..Shape::default()
    };
    let plan = Plan::new(&region, shape);
    assert_eq!(simulate(&region, &plan, &free(Library::Gomp)), Err(Stuck));
}

#[test]
fn faster_code_takes_its_share() {
    let mut graph = Graph::default();
    for _ in 0..8 {
        graph.task(100);
    }
    let case = Case {
        factors: vec![1.0, 0.25],
        ..Case::default()
    };
    assert_eq!(run(&graph.region(), 4, &case).elapsed, 50);
}
