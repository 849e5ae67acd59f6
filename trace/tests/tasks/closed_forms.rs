//! Graphs whose numbers are known.

use crate::model::{IN, OUT, Program, Step, Task};
use crate::random::check;

/// Independent siblings of one task, with these dependences.
fn flat(deps: Vec<Vec<(u64, u32)>>) -> Program {
    let mut tasks = vec![Task::default()];
    for deps in deps {
        let index = tasks.len();
        tasks[0].steps.push(Step::Create(index));
        tasks.push(Task {
            deps,
            steps: vec![Step::Work(20)],
            ..Task::default()
        });
    }
    Program::new(tasks)
}

/// Tasks, hop span, width.
fn numbers(program: &Program) -> (u64, u64, u64) {
    let collected = check(program, 2, 3);
    let region = &collected.regions[0];
    (region.tasks, region.span_hops(), region.width())
}

#[test]
fn a_chain_has_no_parallelism() {
    let collected = check(&flat(vec![vec![(8, OUT)]; 30]), 3, 1);
    let region = &collected.regions[0];
    assert_eq!(
        (region.tasks, region.span_hops(), region.width()),
        (30, 30, 1)
    );
    assert_eq!((region.chain, region.chain_hops), (region.task_work, 30));
}

#[test]
fn a_fork_join_is_one_level() {
    assert_eq!(numbers(&flat(vec![vec![]; 40])), (40, 1, 40));
    // Twice, one behind the other.
    let mut program = flat(vec![vec![]; 40]);
    program.tasks[0].steps.insert(20, Step::Taskwait);
    assert_eq!(numbers(&program), (40, 2, 20));
}

#[test]
fn a_wavefront_has_the_diagonals_as_levels() {
    for n in [1u64, 2, 7] {
        let at = |i: u64, j: u64| 0x1000 + 8 * (i * n + j);
        let mut deps = Vec::new();
        for i in 0..n {
            for j in 0..n {
                let mut own = vec![(at(i, j), OUT)];
                if i > 0 {
                    own.push((at(i - 1, j), IN));
                }
                if j > 0 {
                    own.push((at(i, j - 1), IN));
                }
                deps.push(own);
            }
        }
        assert_eq!(numbers(&flat(deps)), (n * n, 2 * n - 1, n));
    }
}

#[test]
fn tiled_cholesky_has_its_tasks_and_span() {
    for n in [1u64, 2, 5] {
        let at = |i: u64, j: u64| 0x1000 + 8 * (i * n + j);
        let mut deps = Vec::new();
        for k in 0..n {
            deps.push(vec![(at(k, k), OUT)]);
            for i in k + 1..n {
                deps.push(vec![(at(k, k), IN), (at(i, k), OUT)]);
            }
            for i in k + 1..n {
                for j in k + 1..=i {
                    let mut own = vec![(at(i, k), IN), (at(i, j), OUT)];
                    if j < i {
                        own.push((at(j, k), IN));
                    }
                    deps.push(own);
                }
            }
        }
        let (tasks, span, _) = numbers(&flat(deps));
        assert_eq!((tasks, span), (n * (n + 1) * (n + 2) / 6, 3 * n - 2));
    }
}

#[test]
fn tiled_lu_has_its_tasks_and_span() {
    for n in [1u64, 2, 5] {
        let at = |i: u64, j: u64| 0x1000 + 8 * (i * n + j);
        let mut deps = Vec::new();
        for k in 0..n {
            deps.push(vec![(at(k, k), OUT)]);
            for i in k + 1..n {
                deps.push(vec![(at(k, k), IN), (at(i, k), OUT)]);
                deps.push(vec![(at(k, k), IN), (at(k, i), OUT)]);
            }
            for i in k + 1..n {
                for j in k + 1..n {
                    deps.push(vec![(at(i, k), IN), (at(k, j), IN), (at(i, j), OUT)]);
                }
            }
        }
        let (tasks, span, width) = numbers(&flat(deps));
        assert_eq!((tasks, span), (n * (n + 1) * (2 * n + 1) / 6, 3 * n - 2));
        assert_eq!(width, ((n - 1) * (n - 1)).max(2 * (n - 1)).max(1));
    }
}

#[test]
fn divide_and_conquer_doubles_at_each_level() {
    fn divide(tasks: &mut Vec<Task>, depth: u32) -> usize {
        let index = tasks.len();
        tasks.push(Task::default());
        let mut steps = vec![Step::Work(5)];
        if depth > 0 {
            steps.push(Step::Create(divide(tasks, depth - 1)));
            steps.push(Step::Create(divide(tasks, depth - 1)));
            steps.push(Step::Taskwait);
            steps.push(Step::Work(3));
        }
        tasks[index].steps = steps;
        index
    }
    for depth in 0..6 {
        let mut tasks = vec![Task::default()];
        let root = divide(&mut tasks, depth);
        tasks[0].steps = vec![Step::Create(root), Step::Taskwait];
        let (count, span, width) = numbers(&Program::new(tasks));
        assert_eq!(
            (count, span, width),
            (
                2 * 2u64.pow(depth) - 1,
                u64::from(depth) + 1,
                2u64.pow(depth)
            )
        );
    }
}
