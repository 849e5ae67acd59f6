//! The sparselu example: its task graph and loop counts equal those computed independently, on every target and by every way of
//! getting in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use instr_tests::cases;
use instr_tests::ctf;
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::Run;
use instr_tests::prv;
use instr_tests::redirect;
use instr_tests::sparselu::{Graph, KINDS};
use instr_tests::toolchain::{Build, Target, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;

const SHARED: [&str; 4] = ["kernels", "matrix", "program", "sparselu_count"];
const THREADS: u64 = 3;

/// Pairs (earlier task, later task) by order of creation.
type Edges = BTreeSet<(u64, u64)>;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for target in Target::ALL
        .into_iter()
        .chain(Target::FURTHER)
        .filter(|target| cases::wanted(*target))
    {
        let blocks = if target.emulator().is_some() { 9 } else { 16 };
        let name = target.name();
        trials.push(trial(format!("sparselu::tasks::{name}"), move || {
            tasks(target, blocks)
        }));
        trials.push(trial(format!("sparselu::loops::{name}"), move || {
            loops(target, blocks)
        }));
        trials.push(trial(format!("sparselu::redirect::{name}"), move || {
            redirect(target, blocks)
        }));
    }
    trials.push(trial("sparselu::large", || tasks(Target::X86_64, 30)));
    trials
}

pub(crate) fn sources(version: &str) -> Check<Vec<PathBuf>> {
    let folder = workspace::root()?.join("examples/sparselu");
    Ok(SHARED
        .iter()
        .copied()
        .chain([version])
        .map(|name| folder.join(name).with_extension("c"))
        .collect())
}

fn build(target: Target) -> Build {
    Build::openmp(target).flag("-std=c11").flag("-lm")
}

/// Runs the plain and the traced program; demands the same result and a passed check.
fn run(target: Target, plain: &Path, traced: &Path, blocks: usize, trace: &Path) -> Check {
    let run = |program: &Path| {
        let run = target
            .run(program)
            .arg(blocks.to_string())
            .arg("6")
            .env("OMP_NUM_THREADS", THREADS.to_string());
        run.env("INSTR_TRACE", trace).succeed()
    };
    let (reference, outcome) = (run(plain)?, run(traced)?);
    // Standard error holds the time.
    ensure(reference.stdout == outcome.stdout, || {
        format!("{reference}\n{outcome}")
    })?;
    ensure(outcome.text().contains("result check: passed"), || {
        format!("{outcome}")
    })
}

fn tasks(target: Target, blocks: usize) -> Check {
    let dir = workspace::work_dir("sparselu-tasks")?;
    let (plain, traced, trace) = (
        dir.path().join("plain"),
        dir.path().join("traced"),
        dir.path().join("trace"),
    );
    let sources = sources("sparselu_task")?;
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    build(target).plain(&sources, &plain)?;
    build(target).traced(&sources, &traced)?;
    run(target, &plain, &traced, blocks, &trace)?;
    let expected = Graph::of(blocks);
    counted_by_example(target, &plain, blocks, &expected)?;
    judge_tasks(&trace, target, &expected)
}

/// The example's own `--count` must agree too.
fn counted_by_example(target: Target, program: &Path, blocks: usize, expected: &Graph) -> Check {
    let counted = target
        .run(program)
        .arg("--count")
        .arg(blocks.to_string())
        .succeed()?;
    let mut text = String::new();
    for (kind, count) in KINDS.iter().zip(expected.kinds) {
        text += &format!("{kind} {count}\n");
    }
    text += &format!(
        "tasks {}\nedges {}\n",
        expected.tasks(),
        expected.edges.len()
    );
    ensure(counted.text() == text, || {
        format!("computed:\n{text}\n{counted}")
    })
}

fn judge_tasks(trace: &Path, target: Target, expected: &Graph) -> Check {
    let summary = cases::summary(trace)?;
    let number = |name: &str| summary["tasks"][name].as_u64();
    let counts = [number("created"), number("executed"), number("edges")];
    let wanted = [
        expected.tasks(),
        expected.tasks(),
        expected.edges.len() as u64,
    ]
    .map(Some);
    ensure(counts == wanted, || {
        format!("created, executed, edges: {counts:?}, expected {wanted:?}")
    })?;
    ensure(summary["target"] == target.in_trace(), || {
        format!("target {}", summary["target"])
    })?;
    ensure(summary["discarded"] == 0, || {
        format!("discarded {}", summary["discarded"])
    })?;
    let kinds = by_kind(&summary)?;
    ensure(kinds == expected.kinds, || {
        format!("tasks by kind {kinds:?}, expected {:?}", expected.kinds)
    })?;
    let (edges, longest) = graph(trace)?;
    ensure(longest == Some(expected.longest_path()), || {
        format!(
            "span_hops {longest:?}, expected {}",
            expected.longest_path()
        )
    })?;
    ensure(edges == expected.edges, || {
        let missing: Vec<_> = expected.edges.difference(&edges).take(5).collect();
        let invented: Vec<_> = edges.difference(&expected.edges).take(5).collect();
        format!("edges: missing {missing:?} …, invented {invented:?} …")
    })?;
    ctf::read(trace)?;
    judge_paraver(trace, expected)
}

/// Executed tasks of each kind; which kind is which is told by the source lines of the task constructs.
fn by_kind(summary: &Value) -> Check<[u64; 4]> {
    let source =
        std::fs::read_to_string(workspace::root()?.join("examples/sparselu/sparselu_task.c"))?;
    let mut construct = 0;
    let mut kind_of_line = BTreeMap::new();
    for (number, line) in (1_u64..).zip(source.lines()) {
        if line.contains("#pragma omp task") {
            construct = number;
        }
        if let Some(kind) = KINDS
            .iter()
            .position(|kind| line.trim_start().starts_with(&format!("{kind}(")))
        {
            kind_of_line.insert(construct, kind);
        }
    }
    let mut kinds = [0; 4];
    for function in summary["task_functions"]
        .as_array()
        .ok_or("task_functions is no array")?
    {
        let line = function["line"]
            .as_u64()
            .ok_or_else(|| Stop::Fail(format!("a task function without a line: {function}")))?;
        let kind = kind_of_line.get(&line).ok_or_else(|| {
            Stop::Fail(format!("line {line} holds no task construct: {function}"))
        })?;
        kinds[*kind] += function["executed"].as_u64().unwrap_or(0);
    }
    Ok(kinds)
}

/// The edges of `instr graph --format json`, between tasks numbered in the order of their creation by the one creating thread, and
/// the length of the longest path.
fn graph(trace: &Path) -> Check<(Edges, Option<u64>)> {
    let graph = Run::new(&tools()?.instr)
        .args(["graph", "--format", "json"])
        .arg(trace)
        .succeed()?;
    let graph: Value = serde_json::from_slice(&graph.stdout)
        .map_err(|error| format!("graph --format json: {error}"))?;
    let mut edges = BTreeSet::new();
    let listed = graph["edges"].as_array().ok_or("edges is no array")?;
    for edge in listed {
        let end = |name: &str| {
            edge[name]
                .as_str()
                .and_then(|id| id.split_once('.')?.1.parse::<u64>().ok())
        };
        edges.insert((end("from").ok_or("no `from`")?, end("to").ok_or("no `to`")?));
    }
    ensure(edges.len() == listed.len(), || {
        "an edge is listed twice, or tasks of two threads have the same number".into()
    })?;
    Ok((edges, graph["total"]["span_hops"].as_u64()))
}

/// One communication for the creation of each task, one for each edge, told apart by their tags.
fn judge_paraver(trace: &Path, expected: &Graph) -> Check {
    let merged = cases::paraver(trace, prv::check::Options::default())?;
    let (created, depends): (Vec<_>, Vec<_>) =
        merged.comms.iter().partition(|comm| comm.tag == 60_000_000);
    let counts = (created.len() as u64, depends.len());
    ensure(counts == (expected.tasks(), expected.edges.len()), || {
        format!("communications: {counts:?}")
    })?;
    let executed = |kind: u64| {
        merged
            .events
            .iter()
            .filter(|event| event.kind == kind && event.value != 0)
            .count() as u64
    };
    let counts = [60_000_023, 60_000_024].map(executed);
    ensure(counts == [expected.tasks(); 2], || {
        format!("executed and instantiated in the .prv: {counts:?}")
    })
}

/// One region; for each k one single and three dynamic loops over what is right of or below the diagonal, one chunk an iteration.
fn loops(target: Target, blocks: usize) -> Check {
    let dir = workspace::work_dir("sparselu-loops")?;
    let (plain, traced, trace) = (
        dir.path().join("plain"),
        dir.path().join("traced"),
        dir.path().join("trace"),
    );
    let sources = sources("sparselu_for")?;
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    build(target).plain(&sources, &plain)?;
    build(target).traced(&sources, &traced)?;
    run(target, &plain, &traced, blocks, &trace)?;
    let steps = blocks as i128;
    let threads = i128::from(THREADS);
    let events = ctf::read(&trace)?;
    for (subject, expected) in [
        ("parallel_begin", 1),
        ("implicit_begin", threads),
        ("loop_begin", 3 * steps * threads),
        ("chunk_begin", 3 * steps * (steps - 1) / 2),
        ("work_end", 3 * steps * threads),
        ("work_end{nowait=1}", steps * threads),
        ("single", steps * threads),
        ("single{executor=1}", steps),
    ] {
        let actual = ctf::count(&events, subject)?;
        ensure(actual == expected, || {
            format!("{subject}: expected {expected}, got {actual}")
        })?;
    }
    cases::paraver(&trace, prv::check::Options::default())?;
    Ok(())
}

/// The same program without `--wrap`: undefined references renamed in the objects, stubs of the rename linkage, runtime linked by hand.
fn redirect(target: Target, blocks: usize) -> Check {
    let dir = workspace::work_dir("sparselu-redirect")?;
    let at = |name: &str| dir.path().join(name);
    let compile = build(target);
    let compiler = compile.family.command(compile.language, target)?;
    let cc = || {
        Run::new(&compiler)
            .args(target.flags())
            .args(["-std=c11", "-g", "-O1", "-fopenmp"])
    };
    let mut objects = Vec::new();
    let mut redirected = Vec::new();
    for source in sources("sparselu_task")? {
        let object =
            at(&source.file_stem().ok_or("no name")?.to_string_lossy()).with_extension("o");
        let output = object.with_extension("redirected.o");
        cc().arg("-c")
            .arg(&source)
            .arg("-o")
            .arg(&object)
            .succeed()?;
        Run::new(&tools()?.instr_rewrite)
            .arg("--redirect")
            .arg(&object)
            .arg("-o")
            .arg(&output)
            .succeed()?;
        objects.push(object);
        redirected.push(output);
    }
    let (traced, plain, trace) = (at("traced"), at("plain"), at("trace"));
    // By hand for one target; the others as users link: `instr-cc` adds the stubs and the runtime.
    if target == Target::X86_64 {
        link_by_hand(&cc(), &objects, &redirected, dir.path(), &traced)?;
    } else {
        let link = Run::new(&tools()?.instr_cc).arg(&compiler);
        let link = link.args(target.flags()).arg("-fopenmp");
        let link = link.args(&redirected).arg("-lm").arg("-o").arg(&traced);
        link.succeed()?;
    }
    cc().args(&objects)
        .arg("-lm")
        .arg("-o")
        .arg(&plain)
        .succeed()?;
    run(target, &plain, &traced, blocks, &trace)?;
    judge_tasks(&trace, target, &Graph::of(blocks))
}

/// Links redirected objects with the stubs and all of the runtime's sources, as a build without our linker does.
fn link_by_hand(
    cc: &Run,
    objects: &[PathBuf],
    redirected: &[PathBuf],
    dir: &Path,
    output: &Path,
) -> Check {
    let stubs = dir.join("stubs.c");
    let emit = Run::new(&tools()?.instr_rewrite).args(["--emit-stubs", "--linkage", "rename"]);
    emit.args(objects).arg("-o").arg(&stubs).succeed()?;
    let runtime = workspace::root()?.join("runtime");
    let link = cc
        .clone()
        .arg("-I")
        .arg(runtime.join("include"))
        .arg("-I")
        .arg(&runtime)
        .arg("-D_GNU_SOURCE")
        .args(redirected)
        .arg(&stubs);
    let link = link.args(redirect::runtime_sources()?).arg("-lm");
    link.arg("-o").arg(output).succeed().map(drop)
}
