//! Flat task graphs.

use std::collections::{BTreeMap, VecDeque};

use instr_analysis::predict::simulate::Library;

use super::{Graph, THREADS, free, run, time};

/// A list scheduler with one queue, first in, first out, that shares nothing with the simulator: looks at all running tasks for the next that ends.
fn schedule(graph: &Graph, threads: usize) -> u64 {
    let mut left = vec![0u32; graph.work.len()];
    let mut after: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut edges = graph.edges.clone();
    edges.sort_unstable();
    edges.dedup();
    for (from, to) in edges {
        left[to as usize] += 1;
        after.entry(from).or_default().push(to);
    }
    let mut ready: VecDeque<u32> = (0..left.len() as u32)
        .filter(|task| left[*task as usize] == 0)
        .collect();
    // End and order of begin of what runs.
    let mut running: Vec<(u64, u64, u32)> = Vec::new();
    let (mut begun, mut now) = (0, 0);
    loop {
        while running.len() < threads
            && let Some(task) = ready.pop_front()
        {
            running.push((now + graph.work[task as usize], begun, task));
            begun += 1;
        }
        let Some(next) = running.iter().min().copied() else {
            return now;
        };
        now = next.0;
        // Whoever ends a task takes the next one before others that end theirs at the same time.
        while let Some(at) = running
            .iter()
            .position(|task| Some(task) == running.iter().min() && task.0 == now)
        {
            let (_, _, task) = running.remove(at);
            for to in after.get(&task).into_iter().flatten() {
                left[*to as usize] -= 1;
                if left[*to as usize] == 0 {
                    ready.push_back(*to);
                }
            }
            if let Some(task) = ready.pop_front() {
                running.push((now + graph.work[task as usize], begun, task));
                begun += 1;
            }
        }
    }
}

fn chain(length: u32) -> Graph {
    let mut graph = Graph::default();
    for number in 0..length {
        let task = graph.task(1);
        if number > 0 {
            graph.after(number - 1, task);
        }
    }
    graph
}

fn wavefront(side: u32) -> Graph {
    let mut graph = Graph::default();
    for row in 0..side {
        for column in 0..side {
            let task = graph.task(1);
            if row > 0 {
                graph.after(task - side, task);
            }
            if column > 0 {
                graph.after(task - 1, task);
            }
        }
    }
    graph
}

/// Tasks that read and write tiles, in program order; each depends on the last that wrote what it touches.
fn tiled(tiles: impl Iterator<Item = (Vec<(u32, u32)>, (u32, u32))>) -> Graph {
    let mut graph = Graph::default();
    let mut writer: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for (reads, writes) in tiles {
        let task = graph.task(1);
        for tile in reads.iter().chain([&writes]) {
            if let Some(before) = writer.get(tile) {
                graph.after(*before, task);
            }
        }
        writer.insert(writes, task);
    }
    graph
}

fn cholesky(n: u32) -> Graph {
    let mut tasks = Vec::new();
    for k in 0..n {
        tasks.push((vec![], (k, k)));
        for i in k + 1..n {
            tasks.push((vec![(k, k)], (i, k)));
        }
        for i in k + 1..n {
            for j in k + 1..=i {
                tasks.push((vec![(i, k), (j, k)], (i, j)));
            }
        }
    }
    tiled(tasks.into_iter())
}

fn lu(n: u32) -> Graph {
    let mut tasks = Vec::new();
    for k in 0..n {
        tasks.push((vec![], (k, k)));
        for j in k + 1..n {
            tasks.push((vec![(k, k)], (k, j)));
        }
        for i in k + 1..n {
            tasks.push((vec![(k, k)], (i, k)));
        }
        for i in k + 1..n {
            for j in k + 1..n {
                tasks.push((vec![(i, k), (k, j)], (i, j)));
            }
        }
    }
    tiled(tasks.into_iter())
}

#[test]
fn a_chain_takes_its_length() {
    let region = chain(37).region();
    for threads in THREADS {
        assert_eq!(time(&region, threads), 37, "{threads}");
    }
}

#[test]
fn independent_tasks_are_shared_evenly() {
    let mut graph = Graph::default();
    for _ in 0..100 {
        graph.task(1);
    }
    let region = graph.region();
    for threads in THREADS {
        let expected = 100u64.div_ceil(threads as u64);
        assert_eq!(time(&region, threads), expected, "{threads}");
    }
}

#[test]
fn a_wavefront_takes_its_diagonals() {
    let n = 12;
    let graph = wavefront(n);
    let (region, n) = (graph.region(), u64::from(n));
    assert_eq!(time(&region, 1), n * n);
    for threads in THREADS {
        assert_eq!(
            time(&region, threads),
            schedule(&graph, threads),
            "{threads}"
        );
        if threads as u64 >= n {
            assert_eq!(time(&region, threads), 2 * n - 1, "{threads}");
        }
    }
}

#[test]
fn factorizations_take_their_span_or_their_work() {
    for n in 1..9u64 {
        for (graph, tasks, widest) in [
            (cholesky(n as u32), n * (n + 1) * (n + 2) / 6, n * n / 2 + 1),
            (lu(n as u32), n * (n + 1) * (2 * n + 1) / 6, n * n),
        ] {
            assert_eq!(graph.total(), tasks);
            let region = graph.region();
            assert_eq!(time(&region, 1), tasks, "{n}");
            // Each step of the outer loop has three levels, the last one has one.
            assert_eq!(time(&region, widest as usize), 3 * n - 2, "{n}");
            for threads in THREADS {
                assert_eq!(
                    time(&region, threads),
                    schedule(&graph, threads),
                    "{n} {threads}"
                );
            }
        }
    }
}

#[test]
fn random_graphs_keep_the_bounds_of_greedy_schedules() {
    let mut random = fastrand::Rng::with_seed(11);
    for round in 0..300 {
        let mut graph = Graph::default();
        let degree = random.u32(1..5);
        for task in 0..random.u32(1..120) {
            graph.task(1 + random.u64(..1000));
            for _ in 0..random.u32(..=degree) {
                if task > 0 {
                    graph.after(random.u32(..task), task);
                }
            }
        }
        let (work, span) = (graph.total(), graph.span());
        let region = graph.region();
        for threads in [1, 2, 3, 4, 7, 16, 64] {
            let elapsed = time(&region, threads);
            let each = work.div_ceil(threads as u64);
            assert!(elapsed >= each.max(span), "{round} {threads}");
            assert!(elapsed <= each + span, "{round} {threads}");
            assert_eq!(elapsed, schedule(&graph, threads), "{round} {threads}");
            // The libraries bound their queues, and are greedy nevertheless, where one thread creates all tasks.
            for library in [Library::Gomp, Library::Omp] {
                let elapsed = run(&region, threads, &free(library)).elapsed;
                assert!(elapsed >= each.max(span), "{round} {threads}");
                assert!(elapsed <= each + span, "{round} {threads} {library:?}");
            }
        }
    }
}
