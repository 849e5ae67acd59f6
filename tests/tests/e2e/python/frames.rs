//! What Python reads: traces and sweeps as frames, and cells of a notebook.

use std::ffi::OsString;
use std::path::Path;

use instr_tests::outcome::{Check, Stop, ensure};
use instr_tests::process::Run;
use instr_tests::toolchain::tools;
use instr_tests::workspace;

use super::outputs::NESTED;
use super::place::{DEBIAN, Place, needs, packages, text};

/// Runs a script that ends with `fits` where it found what it expects, with the package of this tree.
pub(super) fn fits(place: &Place, script: Run) -> Check {
    let said = script
        .dir(place.dir.path())
        .env("PATH", path()?)
        .env("PYTHONPATH", workspace::root()?.join("python/src"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .succeed()?;
    text(&said, "fits\n")
}

/// PATH with the folder of `instr` first.
fn path() -> Check<OsString> {
    let folder = tools()?.instr.parent().map(Path::to_owned);
    let others = std::env::var_os("PATH").unwrap_or_default();
    let all = folder.into_iter().chain(std::env::split_paths(&others));
    std::env::join_paths(all).map_err(|error| Stop::Fail(error.to_string()))
}

/// pandas, polars and pyarrow find what the program did, without copies; speedups are those of the runs. The examples of docs/python.md run.
pub(super) fn tables() -> Check {
    let python = needs("pandas, polars, pyarrow, matplotlib")?;
    let place = Place::new(DEBIAN)?;
    place.write("app.py", NESTED)?;
    place.recorded(&["app.py"]).succeed()?;
    place.write("three.py", "import os\n\ndef work(): pass\n\nfor n in (20, 60):\n    child = os.fork()\n    if child == 0:\n        for _ in range(n): work()\n        os._exit(0)\n    os.waitpid(child, 0)\nfor _ in range(10): work()\n")?;
    place
        .run(&["-m", "instr", "-o", "three.instr", "three.py"])
        .succeed()?;
    let sweep = [
        "sweep",
        "--counters",
        "page-faults",
        "--threads",
        "1,2",
        "--repeat",
        "3",
        "-o",
        "s.sweep",
    ];
    let run = Run::new(&tools()?.instr).args(sweep);
    run.args(["--", "sleep", "0.02"])
        .dir(place.dir.path())
        .succeed()?;
    let frames = Run::new(python).arg(place.program("frames.py"));
    fits(&place, frames.args(["out.instr", "s.sweep", "three.instr"]))?;
    std::fs::rename(place.at("out.instr"), place.at("app.instr"))?;
    std::fs::rename(place.at("s.sweep"), place.at("heat.sweep"))?;
    let said = place
        .run(&[&place.program("documented.py")])
        .arg(workspace::root()?.join("docs/python.md"))
        .env("PATH", path()?)
        .env("PYTHONPATH", packages()?)
        .succeed()?;
    text(&said, "runs\n")?;
    // Without the command there is one line.
    let said = place
        .run(&["-c", "import instr\ntry: instr.open('app.instr').summary()\nexcept instr.ToolError as error: print(error)"])
        .env("PATH", "/nowhere")
        .succeed()?;
    text(
        &said,
        "the command instr is not in PATH: traces are read by it (README.md, Install)\n",
    )
}

/// A strict type checker finds the types of the package, and a mistake.
pub(super) fn types() -> Check {
    let python = needs("mypy")?;
    let place = Place::new(DEBIAN)?;
    let program = workspace::root()?.join("tests/python/typed.py");
    let text = std::fs::read_to_string(&program)?;
    let mistake = text.lines().count();
    let found = Run::new(python)
        .args(["-m", "mypy", "--strict", "--cache-dir", "cache"])
        .args(["--no-error-summary", "--hide-error-codes"])
        .arg(program)
        .dir(place.dir.path())
        .env("MYPYPATH", workspace::root()?.join("python/src"))
        .output()?
        .text();
    let mut lines = found.lines();
    let expected =
        format!("typed.py:{mistake}: error: Argument 1 to \"event\" has incompatible type");
    let first = lines.next().unwrap_or_default();
    ensure(first.contains(&expected) && lines.next().is_none(), || {
        found.clone()
    })
}

/// A notebook whose cells are these.
fn notebook(cells: &[&str]) -> String {
    let cell = |source: &&str| {
        serde_json::json!({
            "cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "id": format!("c{}", source.len()), "source": source,
        })
    };
    let kernel =
        serde_json::json!({"name": "python3", "display_name": "Python 3", "language": "python"});
    serde_json::json!({
        "cells": cells.iter().map(cell).collect::<Vec<_>>(),
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    })
    .to_string()
}

/// A notebook, executed by nbconvert: the cells' functions are recorded, other cells' are not, and the page is in what comes out.
pub(super) fn cells() -> Check {
    needs("nbconvert, ipykernel, pyarrow")?;
    let place = Place::new(DEBIAN)?;
    let cells = [
        "def work(n):\n    return n + 1",
        "%load_ext instr",
        "%%instr -q -o cells.instr\nfor n in range(9): work(n)",
        "work(1), work(2)",
        "%%instr -f work\nfor n in range(4): work(n)\nimport math",
        "import instr\nprint({row['name'].rpartition('.')[2]: row['calls'] for row in instr.cells().functions().to_pylist()}['work'])",
        "print(sorted(region['name'] for region in instr.cells().summary()['regions']))",
    ];
    place.write("book.ipynb", &notebook(&cells))?;
    let convert = "nbconvert --to notebook --execute book.ipynb --output done.ipynb";
    place
        .run(&["-m"])
        .args(convert.split(' '))
        .env("PYTHONPATH", packages()?)
        .env("PATH", path()?)
        .env("HOME", place.dir.path())
        .succeed()?;
    let done = std::fs::read_to_string(place.at("done.ipynb"))?;
    let done: serde_json::Value =
        serde_json::from_str(&done).map_err(|error| Stop::Fail(error.to_string()))?;
    let shown = |cell: usize| done["cells"][cell]["outputs"].to_string();
    ensure(shown(5).contains("\"13\\n\""), || shown(5))?;
    ensure(shown(6).contains("['cell 1', 'cell 2']"), || shown(6))?;
    ensure(
        shown(2) == "[]" && shown(4).contains("<iframe srcdoc="),
        || format!("{} and {}", shown(2), shown(4)),
    )?;
    let calls = place.calls("cells.instr")?;
    let work: u64 = calls
        .iter()
        .filter(|(name, _)| name.ends_with("work"))
        .map(|(_, n)| n)
        .sum();
    ensure(work == 13, || format!("{calls:?}"))
}
