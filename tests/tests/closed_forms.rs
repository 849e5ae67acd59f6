//! Programs whose task graphs are known in closed form: tasks, edges, span and width of chain, fork and join, wavefront, tiled Cholesky
//! and LU factorization, and divide and conquer.

use instr_tests::cases;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::random_graphs::closed::{self, Form};
use instr_tests::random_graphs::report;
use instr_tests::toolchain::{Build, Family, Target};
use instr_tests::workspace;
use libtest_mimic::Arguments;

/// libgomp runs a task at once when 64 are waiting for each thread; none of these graphs has as many.
const THREADS: &str = "4";

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);
    let builds = [
        (Target::X86_64, Family::Gcc, "gcc"),
        (Target::X86_64, Family::Clang, "clang"),
        (Target::Sparc32, Family::Gcc, "gcc"),
        (Target::Sparc64, Family::Gcc, "gcc"),
    ];
    let trials = builds
        .into_iter()
        .filter(|(target, ..)| cases::wanted(*target))
        .map(|(target, family, name)| {
            let name = format!("closed_forms::{}::{name}", target.name());
            trial(name, move || all(target, family))
        })
        .collect();
    instr_tests::outcome::run(&arguments, trials);
}

/// Three sizes of each graph.
fn sizes(graph: &str) -> [u64; 3] {
    match graph {
        "chain" | "forkjoin" => [1, 7, 60],
        "divide" => [1, 3, 6],
        "wavefront" => [1, 4, 15],
        "lu" => [1, 3, 8],
        _ => [1, 4, 10],
    }
}

fn all(target: Target, family: Family) -> Check {
    let dir = workspace::work_dir("closed-forms")?;
    let source = workspace::root()?.join("tests/random_graphs/closed_forms.c");
    let program = dir.path().join("program");
    let mut build = Build::openmp(target).flag("-std=c11");
    build.family = family;
    if target == Target::Sparc32 {
        build = build.flag("-latomic");
    }
    build.traced(&[&source], &program)?;
    for graph in closed::GRAPHS {
        for n in sizes(graph) {
            let trace = dir.path().join(format!("{graph}-{n}"));
            let run = target.run(&program).arg(graph).arg(n.to_string());
            run.env("OMP_NUM_THREADS", THREADS)
                .env("INSTR_TRACE", &trace)
                .succeed()?;
            judge(graph, n, &trace)?;
        }
    }
    Ok(())
}

/// What follows from nodes and edges, and what the report says of itself, is the closed form.
fn judge(graph: &str, n: u64, trace: &std::path::Path) -> Check {
    let report = report::read(trace)?;
    let (expected, counted) = (closed::form(graph, n)?, closed::counted(&report)?);
    ensure(counted == expected, || {
        format!("{graph} {n}: {counted:?}, not {expected:?}")
    })?;
    let total = &report.json["total"];
    let number = |field: &str| total[field].as_u64().unwrap_or(u64::MAX);
    let told = Form {
        tasks: number("tasks"),
        edges: number("edges"),
        span: number("span_hops"),
        width: number("width"),
    };
    ensure(told == expected, || {
        format!("{graph} {n}: the report says {told:?}, not {expected:?}")
    })
}
