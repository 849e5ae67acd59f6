//! `instr diff`: builds of a program whose lines moved, numbers that are those of the summary, runs that can hardly be compared.

use std::path::{Path, PathBuf};

use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Target, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("diff::constructs-whose-lines-moved", moved),
        trial("diff::numbers-are-those-of-the-summaries", numbers),
        trial("diff::killed-runs", killed),
        trial("diff::sparc-beside-x86", sparc),
        trial("diff::in-the-report", in_report),
    ]
}

/// Two regions of one function and a task; `{more}` is a line, or a region, before them.
const SOURCE: &str = "#include <stdio.h>\nstatic int sums[2];\nstatic void work(void)\n{\n{more}\n\
    #pragma omp parallel num_threads(2)\n    {\n#pragma omp atomic\n        sums[0]++;\n    }\n\
    #pragma omp parallel num_threads(2)\n#pragma omp single\n    for (int i = 0; i < 3; i++) {\n#pragma omp task\n        {\n#pragma omp atomic\n            sums[1]++;\n        }\n    }\n}\n\
    int main(void)\n{\n    for (int i = 0; i < 4; i++)\n        work();\n    printf(\"%d %d\\n\", sums[0], sums[1]);\n    return 0;\n}\n";

/// Builds the program in a folder of its own and runs it `runs` times there.
fn program(folder: &Path, more: &str, runs: usize) -> Check {
    std::fs::create_dir_all(folder)?;
    let (file, program) = (folder.join("app.c"), folder.join("app"));
    std::fs::write(&file, SOURCE.replace("{more}", more))?;
    let build = Build::openmp(Target::X86_64).flag("-g").flag("-O1");
    build.traced(&[&file], &program)?;
    for _ in 0..runs {
        Run::new(&program).dir(folder).succeed()?;
    }
    Ok(())
}

pub(crate) fn diff(words: &[&Path]) -> Check<Value> {
    let run = Run::new(&tools()?.instr)
        .args(["diff", "--json"])
        .args(words);
    let text = run.succeed()?.text();
    serde_json::from_str(&text).map_err(|error| Stop::Fail(format!("{error}: {text}")))
}

fn rows<'d>(diff: &'d Value, kind: &'d str) -> impl Iterator<Item = &'d Value> {
    let rows = diff["rows"].as_array().into_iter().flatten();
    rows.filter(move |row| row["kind"] == kind)
}

fn is(found: &[String], expected: &[&str]) -> Check {
    ensure(found == expected, || format!("{found:?}, not {expected:?}"))
}

/// Labels before and after, how they were matched, and counts, in order.
fn matched(diff: &Value, kind: &str) -> Vec<String> {
    let text = |row: &Value| {
        let label = row["label"].as_str().unwrap_or_default();
        let before = row["label_before"].as_str().unwrap_or(label);
        format!(
            "{before} = {label} {} {}",
            row["matched"].as_str().unwrap_or_default(),
            row["count"]
        )
    };
    let mut rows: Vec<String> = rows(diff, kind).map(text).collect();
    rows.sort();
    rows
}

fn moved() -> Check {
    let dir = workspace::work_dir("diff")?;
    let [before, after, larger] = ["before", "after", "larger"].map(|name| dir.path().join(name));
    program(&before, "", 2)?;
    program(&after, "    puts(\"a line\");\n", 2)?;
    let region = "#pragma omp parallel num_threads(2)\n#pragma omp atomic\n    sums[0]++;\n";
    program(&larger, region, 1)?;
    let found = diff(&[&before, &after])?;
    ensure(
        found["before"]["runs"].as_array().map(Vec::len) == Some(2),
        || format!("{}", found["before"]),
    )?;
    let expected = [
        "work [omp parallel app.c:11] = work [omp parallel app.c:12] order [4,4]",
        "work [omp parallel app.c:6] = work [omp parallel app.c:7] order [4,4]",
    ];
    is(&matched(&found, "region"), &expected)?;
    is(
        &matched(&found, "task"),
        &["work [omp task app.c:14] = work [omp task app.c:15] order [12,12]"],
    )?;
    let found = diff(&[&before, &larger])?;
    let new = rows(&found, "region")
        .filter(|row| row["matched"] == "new")
        .count();
    let gone = rows(&found, "region")
        .filter(|row| row["matched"] == "gone")
        .count();
    ensure(new == gone + 1, || format!("{new} new, {gone} gone"))
}

fn numbers() -> Check {
    let dir = workspace::work_dir("diff")?;
    let folder = dir.path().join("runs");
    program(&folder, "", 2)?;
    let [first, second] = ["app.1", "app"].map(|name| folder.join(name));
    let found = diff(&[&first, &second])?;
    for (side, run) in [(0, &first), (1, &second)] {
        let text = Run::new(&tools()?.instr)
            .args(["summary", "--json"])
            .arg(run)
            .succeed()?
            .text();
        let summary: Value =
            serde_json::from_str(&text).map_err(|error| Stop::Fail(format!("{error}")))?;
        let name = ["before_ns", "after_ns"][side];
        for (kind, list, count) in [
            ("region", "parallel_regions", "count"),
            ("task", "task_functions", "executed"),
        ] {
            let own = summary[list].as_array().into_iter().flatten();
            for construct in own {
                let row = rows(&found, kind).find(|row| row["label"] == construct["label"]);
                let row = row.ok_or_else(|| format!("no row {}", construct["label"]))?;
                let same = row["count"][side] == construct[count]
                    && row["total"][name].as_f64() == construct["total_ns"].as_f64();
                ensure(same, || format!("{row} {construct}"))?;
            }
        }
        let time = rows(&found, "run").find(|row| row["label"] == "run time");
        let time = time.and_then(|row| row["total"][name].as_f64());
        ensure(time == summary["duration_ns"].as_f64(), || {
            format!("{time:?}")
        })?;
    }
    Ok(())
}

/// A run that was killed is compared by single executions, and not at all where others were not.
fn killed() -> Check {
    let dir = workspace::work_dir("diff")?;
    let folder = dir.path().join("runs");
    let dies = "    extern char *getenv(const char *);\n    extern int raise(int);\n    if (sums[1] >= 6 && getenv(\"DIE\"))\n        raise(9);";
    program(&folder, dies, 2)?;
    let dead = dir.path().join("dead.instr");
    let run = Run::new(folder.join("app"))
        .env("DIE", "1")
        .env("INSTR_TRACE", &dead);
    run.output()?;
    let found = diff(&[&folder.join("app"), &dead])?;
    let told = found["notes"].to_string();
    ensure(told.contains("were killed"), || told.clone())?;
    let region = rows(&found, "region").next().ok_or("no region")?;
    ensure(
        region["total"].is_null() && region["each"]["after_ns"].as_f64() > Some(0.0),
        || format!("{region}"),
    )?;
    let run = Run::new(&tools()?.instr)
        .args(["diff", "--before"])
        .arg(folder.join("app.1"));
    let run = run
        .arg("--after")
        .arg(folder.join("app"))
        .arg(&dead)
        .output()?;
    let warned = run.errors();
    ensure(warned.contains("left out, since they were killed"), || {
        warned.clone()
    })
}

fn sparc() -> Check {
    need("qemu-sparc32plus")?;
    let dir = workspace::work_dir("diff")?;
    let file = dir.path().join("app.c");
    std::fs::write(&file, SOURCE.replace("{more}", ""))?;
    let mut traces: Vec<PathBuf> = Vec::new();
    for (target, name) in [(Target::X86_64, "x86"), (Target::Sparc32, "sparc")] {
        let (program, trace) = (
            dir.path().join(name),
            dir.path().join(name).with_extension("instr"),
        );
        Build::openmp(target)
            .flag("-g")
            .flag("-O1")
            .traced(&[&file], &program)?;
        target.run(&program).env("INSTR_TRACE", &trace).succeed()?;
        traces.push(trace);
    }
    let found = diff(&[&traces[0], &traces[1]])?;
    let told = found["notes"].to_string();
    ensure(
        told.contains("different machines: before x86_64-linux, after sparc"),
        || told.clone(),
    )?;
    is(
        &matched(&found, "task"),
        &["work [omp task app.c:14] = work [omp task app.c:14] label [12,12]"],
    )
}

/// The page says what the command says.
fn in_report() -> Check {
    let dir = workspace::work_dir("diff")?;
    let [before, after] = ["before", "after"].map(|name| dir.path().join(name));
    program(&before, "", 2)?;
    program(&after, "    puts(\"a line\");", 2)?;
    let page = dir.path().join("page.html");
    let run = Run::new(&tools()?.instr)
        .args(["report", "--compare"])
        .args([&before, &after]);
    run.arg("-o").arg(&page).succeed()?;
    let text = std::fs::read_to_string(&page)?;
    let twice = Run::new(&tools()?.instr).args(["report", "--compare", "-o", "-"]);
    let outcome = twice.args([&before, &before]).output()?;
    ensure(outcome.errors().contains("is there twice"), || {
        format!("{outcome}")
    })?;
    let found = diff(&[&before, &after])?;
    let notes = found["notes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    for note in notes.chain(["Comparison of two groups of runs", "app (2 runs), before"]) {
        ensure(text.contains(note), || {
            format!("the page does not say: {note}")
        })?;
    }
    let table = text
        .split_once("<table class=\"compared\">")
        .ok_or("no table")?
        .1;
    let rows = table
        .split_once("</table>")
        .ok_or("no end")?
        .0
        .matches("<tr><th scope=\"row\">")
        .count();
    let constructs = found["rows"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|row| row["kind"] != "run")
        .count();
    ensure(rows == constructs, || {
        format!("{rows} rows, {constructs} constructs")
    })
}
