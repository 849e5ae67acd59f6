//! Functions of Python (docs/python.md), with Debian's Python and those of pyenv that are there: the same calls as `sys.setprofile` sees, each of every
//! process, and what outputs make of them.

mod asynchronous;
mod beneath;
mod counted;
mod frames;
mod functions;
mod outputs;
mod place;
mod programs;

use instr_tests::outcome::trial;
use libtest_mimic::Trial;

use place::DEBIAN;
pub(crate) use place::needs;

const RELEASES: [&str; 5] = ["3.9", "3.10", "3.11", "3.12", "3.13"];
const METHODS: [&str; 3] = ["fork", "spawn", "forkserver"];
const WAYS: [&str; 5] = ["with", "join", "terminate", "futures", "process"];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("python::paraver-and-perfetto", outputs::outputs),
        trial("python::interpreters-lock", beneath::lock),
        trial("python::tasks-of-asyncio", asynchronous::tasks),
        trial("python::lanes-of-tasks", asynchronous::lanes),
        trial(
            "python::collections-and-imports",
            beneath::collections_and_imports,
        ),
        trial("python::counters-of-functions", counted::functions),
        trial("python::traces-as-frames", frames::tables),
        trial("python::cells-of-a-notebook", frames::cells),
        trial("python::types", frames::types),
        trial("python::workers-of-libraries", functions::clients),
        trial("python::selection", functions::selection),
        trial("python::interface", programs::interface),
        trial("python::subinterpreters", programs::subinterpreters),
        trial("python::under-instr-run", programs::under_run),
        trial("python::killed", programs::killed),
        trial("python::functions-of-c", functions::c_functions),
        trial("python::list-of-functions", functions::list),
        trial("python::mistakes", programs::mistakes),
        trial("python::the-program-is-as-it-was", programs::unchanged),
    ];
    let found = RELEASES
        .into_iter()
        .filter(|release| place::pyenv(release).is_some());
    for release in std::iter::once(DEBIAN).chain(found) {
        let name = |what: &str| format!("python::{release}::{what}");
        trials.push(trial(name("same-calls"), move || {
            functions::same_calls(release)
        }));
        for method in METHODS {
            // The ways to close a pool differ by the library alone, which changes slowly.
            let ways = match release {
                DEBIAN | "3.13" => &WAYS[..],
                _ => &WAYS[..1],
            };
            trials.push(trial(name(method), move || {
                functions::pools(release, method, ways)
            }));
        }
    }
    trials
}
