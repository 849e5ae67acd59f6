//! What addr2line cannot do: streams to other programs, JSON, several files, debug files elsewhere.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::toolchain::{need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::dropin::Pair;
use crate::programs::{PROGRAMS, run};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("symbolize::answers-at-once-through-pipes", pipes),
        trial("symbolize::answers-by-the-name-addr2line", other_name),
        trial("symbolize::json-of-many-files", json),
        trial("symbolize::debug-files-elsewhere", debug_files),
        trial("symbolize::split-units-of-a-build-that-moved", split_units),
        trial("symbolize::addresses-of-a-trace", traced),
    ]
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The address of a function, as nm tells it.
pub(crate) fn address_of(program: &Path, function: &str) -> Check<String> {
    let table = run(Command::new("nm").arg(program))?;
    let found = table.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let address = words.next()?;
        (words.nth(1) == Some(function)).then(|| address.to_owned())
    });
    found.ok_or_else(|| format!("no {function} in {}", program.display()).into())
}

/// Another program asks one question at a time and waits for each answer.
fn pipes() -> Check {
    let dir = workspace::work_dir("symbolize-pipes")?;
    let program = PROGRAMS[0].build(dir.path())?;
    let main = address_of(&program, "main")?;
    let mut child = Command::new(&tools()?.instr)
        .args(["symbolize", "-f", "-e"])
        .arg(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut questions = child.stdin.take().ok_or("no input")?;
    let mut answers = BufReader::new(child.stdout.take().ok_or("no output")?);
    for _ in 0..3 {
        writeln!(questions, "{main}")?;
        let mut answer = String::new();
        answers.read_line(&mut answer)?;
        ensure(answer == "main\n", || answer.clone())?;
        answers.read_line(&mut answer)?;
    }
    drop(questions);
    ensure(child.wait()?.success(), || "failed".into())
}

fn other_name() -> Check {
    let dir = workspace::work_dir("symbolize-name")?;
    let pair = Pair::new(dir.path())?;
    let program = PROGRAMS[0].build(dir.path())?;
    let link = dir.path().join("sparc64-linux-gnu-addr2line");
    std::os::unix::fs::symlink(&tools()?.instr, &link)?;
    let main = address_of(&program, "main")?;
    let by_name = run(Command::new(&link).args(["-fpe"]).arg(&program).arg(&main))?;
    let plain = pair.ours(&strings(&["-fp", &main]), "")?;
    ensure(
        by_name.as_bytes() == plain.stdout && by_name.starts_with("main at "),
        || by_name,
    )
}

fn json() -> Check {
    let dir = workspace::work_dir("symbolize a b")?;
    let pair = Pair::new(dir.path())?;
    let program = PROGRAMS[0].build(dir.path())?;
    let work = address_of(&program, "work")?;
    let body = address_of(&program, "work._omp_fn.0")?;
    let path = program.display();
    let input = format!("{path}:0x{work}\n\"{path}\" {body}\nnowhere/lib.so 0x10\nzz\n");
    let output = pair.ours(&strings(&["--json"]), &input)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|error| error.to_string()))
        .collect::<Result<_, _>>()?;
    ensure(output.status.success() && lines.len() == 4, || {
        text.clone().into_owned()
    })?;
    let source = std::fs::read_to_string(dir.path().join("sample.c"))?;
    let line_of = |part: &str| {
        source
            .lines()
            .position(|line| line.contains(part))
            .map(|at| at + 1)
    };
    let theirs = pair.theirs(&strings(&[&work]), "")?.stdout;
    let theirs = String::from_utf8_lossy(&theirs);
    let line = lines[0]["line"].as_u64().unwrap_or(0);
    ensure(
        lines[0]["function"]["raw"] == "work"
            && lines[0]["symbol"]["offset"] == 0
            && lines[0]["section"] == ".text"
            && theirs.trim_end().ends_with(&format!("sample.c:{line}")),
        || format!("{} {theirs}", lines[0]),
    )?;
    ensure(
        lines[1]["openmp"]["function"] == "work"
            && lines[1]["openmp"]["directive"]["line"].as_u64()
                == line_of("omp parallel").map(|line| line as u64),
        || lines[1].to_string(),
    )?;
    ensure(
        lines[2]["function"].is_null() && lines[2]["error"]["message"].is_string(),
        || lines[2].to_string(),
    )?;
    ensure(lines[3]["address"] == "0x0000000000000000", || {
        lines[3].to_string()
    })?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure(errors.matches("nowhere/lib.so").count() == 1, || {
        errors.clone().into_owned()
    })
}

/// The debug information by name, by folder, by build id; and that of another program is refused.
fn debug_files() -> Check {
    need("objcopy")?;
    let dir = workspace::work_dir("symbolize-debug")?;
    let pair = Pair::new(dir.path())?;
    let program = PROGRAMS[0].build(dir.path())?;
    let main = address_of(&program, "main")?;
    let whole = pair.ours(&strings(&["-fi", &main]), "")?.stdout;
    let debug = dir.path().join("elsewhere.debug");
    run(Command::new("objcopy")
        .arg("--only-keep-debug")
        .args([&program, &debug]))?;
    run(Command::new("strip").arg("--strip-all").arg(&program))?;
    let asked = |options: &[&str]| pair.ours(&strings(&[options, &["-fi", &main]].concat()), "");
    ensure(asked(&[])?.stdout != whole, || "not stripped".into())?;
    ensure(
        asked(&["--debug-file", "elsewhere.debug"])?.stdout == whole,
        || "--debug-file".into(),
    )?;
    let notes = run(Command::new("readelf").arg("-n").arg(&program))?;
    let id = notes
        .lines()
        .find_map(|line| line.trim().strip_prefix("Build ID: "));
    let id = id.ok_or("no build id")?;
    let folder = dir.path().join("root/.build-id").join(&id[..2]);
    std::fs::create_dir_all(&folder)?;
    std::fs::rename(&debug, folder.join(format!("{}.debug", &id[2..])))?;
    ensure(
        asked(&["--debug-dir", "nowhere", "--debug-dir", "root"])?.stdout == whole,
        || "--debug-dir".into(),
    )?;
    let other = workspace::work_dir("symbolize-other")?;
    let other = PROGRAMS[1].build(other.path())?;
    let refused = asked(&["--debug-file", &other.display().to_string()])?;
    let errors = String::from_utf8_lossy(&refused.stderr);
    ensure(
        refused.status.code() == Some(1) && errors.contains("does not belong to this program"),
        || errors.clone().into_owned(),
    )
}

/// Units beside the objects of a build folder that is no longer where it was; binutils finds no inlined functions.
fn split_units() -> Check {
    let dir = workspace::work_dir("symbolize-split")?;
    let build = dir.path().join("build");
    std::fs::create_dir_all(build.join("obj"))?;
    std::fs::copy(
        workspace::root()?.join("tests/addr2line/sample.c"),
        build.join("sample.c"),
    )?;
    let gcc = |words: &[&str]| run(Command::new("gcc").args(words).current_dir(&build));
    gcc(&[
        "-O2",
        "-g",
        "-gsplit-dwarf",
        "-fopenmp",
        "-c",
        "sample.c",
        "-o",
        "obj/a.o",
    ])?;
    gcc(&["-fopenmp", "obj/a.o", "-o", "a.out"])?;
    let moved = dir.path().join("moved");
    let main = address_of(&build.join("a.out"), "main")?;
    let body = address_of(&build.join("a.out"), "work._omp_fn.0")?;
    let input = (0..40u64)
        .map(|step| {
            Ok(format!(
                "{:x}\n",
                u64::from_str_radix(&body, 16).map_err(|e| e.to_string())? + 4 * step
            ))
        })
        .collect::<Check<String>>()?;
    let there = Pair::new(&build)?.ours(&strings(&["-afi"]), &input)?.stdout;
    ensure(String::from_utf8_lossy(&there).contains("square"), || {
        format!("no inlined function: {}", String::from_utf8_lossy(&there))
    })?;
    std::fs::rename(&build, &moved)?;
    let here = Pair::new(&moved)?;
    ensure(
        here.ours(&strings(&["-afi"]), &input)?.stdout == there,
        || "beside the program".into(),
    )?;
    std::fs::rename(moved.join("obj"), dir.path().join("objects"))?;
    let map = format!("{0}/obj={1}/objects", build.display(), dir.path().display());
    let mapped = here.ours(&strings(&["--path-map", &map, "-afi"]), &input)?;
    ensure(mapped.stdout == there, || {
        String::from_utf8_lossy(&mapped.stderr).into_owned()
    })?;
    let search = format!("{}/objects", dir.path().display());
    let searched = here.ours(&strings(&["--search", &search, "-afi"]), &input)?;
    ensure(searched.stdout == there, || {
        String::from_utf8_lossy(&searched.stderr).into_owned()
    })?;
    ensure(!main.is_empty(), || "no main".into())
}

/// All code addresses of a trace; the program moved; another build in its place.
fn traced() -> Check {
    let dir = workspace::work_dir("symbolize-trace")?;
    let pair = Pair::new(dir.path())?;
    let source = workspace::root()?.join("tests/addr2line/sample.c");
    let program = dir.path().join("sample");
    run(Command::new(&tools()?.instr_cc)
        .args(["gcc", "-O1", "-g", "-fopenmp"])
        .arg(&source)
        .arg("-o")
        .arg(&program))?;
    run(Command::new(&program)
        .args(["a", "b"])
        .env("OMP_NUM_THREADS", "2")
        .current_dir(dir.path()))?;
    let text = |options: &[&str]| -> Check<(String, String)> {
        let output = pair.ours(
            &strings(&[&["--trace", "sample.instr"], options].concat()),
            "",
        )?;
        let part = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok((part(&output.stdout), part(&output.stderr)))
    };
    let (names, errors) = text(&["-fp"])?;
    ensure(
        names.contains("work._omp_fn.0 at ") && names.contains("sample.c:") && errors.is_empty(),
        || format!("{names}{errors}"),
    )?;
    // The same addresses, asked for one by one.
    let first = names
        .lines()
        .next()
        .and_then(|line| line.split(':').next())
        .unwrap_or("");
    let (single, _) = text(&["-fpa", first])?;
    ensure(
        single.lines().count() == 1 && single.starts_with(first),
        || single,
    )?;
    let moved = dir.path().join("attic");
    std::fs::create_dir(&moved)?;
    std::fs::rename(&program, moved.join("sample"))?;
    ensure(text(&["-fp"])?.0 == names, || {
        "the trace does not keep its names".into()
    })?;
    // Without the files that the trace keeps.
    let forget = || -> Check {
        for entry in std::fs::read_dir(dir.path().join("sample.instr"))? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(".binary_") {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    };
    forget()?;
    let (unknown, errors) = text(&["-fp"])?;
    ensure(
        unknown.contains("?? ??:0") && errors.matches("no names from").count() == 1,
        || format!("{unknown}{errors}"),
    )?;
    ensure(text(&["-fp", "--search", "attic"])?.0 == names, || {
        "--search".into()
    })?;
    forget()?;
    std::fs::write(dir.path().join("other.c"), "int main(void) { return 0; }\n")?;
    run(Command::new("gcc")
        .arg(dir.path().join("other.c"))
        .arg("-o")
        .arg(&program))?;
    let (wrong, errors) = text(&["--json"])?;
    let answers: Vec<Value> = wrong
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|error| error.to_string()))
        .collect::<Result<_, _>>()?;
    // The functions, not the text: a path may well have `work` in it.
    let named = |answer: &Value| {
        answer["function"]["raw"]
            .as_str()
            .is_some_and(|name| name.starts_with("work"))
    };
    ensure(
        errors.matches("it is not the file that ran").count() == 1
            && wrong.lines().any(|line| line.contains("\"expected\""))
            && !answers.iter().any(named),
        || format!("{wrong}{errors}"),
    )
}
