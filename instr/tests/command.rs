//! The `instr` program itself, with real pipes and exit statuses.

use std::io::Read;
use std::process::{Command, Output, Stdio};

use instr_trace::synth;

fn instr() -> Command {
    Command::new(env!("CARGO_BIN_EXE_instr"))
}

fn status_and_error(output: &Output) -> (Option<i32>, String) {
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn exit_statuses_are_0_1_2() {
    let version = instr().arg("--version").output().unwrap();
    assert_eq!(status_and_error(&version), (Some(0), String::new()));
    let (status, error) =
        status_and_error(&instr().args(["summary", "/nonexistent"]).output().unwrap());
    assert_eq!(status, Some(1));
    assert!(
        error.starts_with("instr: error: cannot read /nonexistent: "),
        "{error}"
    );
    let (status, error) = status_and_error(&instr().arg("repair").output().unwrap());
    assert_eq!(status, Some(2));
    assert!(
        error.starts_with("instr: error: ") && error.contains("Usage: instr repair"),
        "{error}"
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    // More than pipes hold.
    synth::tasks(dir.path(), synth::layouts()[0], 2, 40_000).unwrap();
    let mut child = instr()
        .args(["graph", "--format", "dot"])
        .arg(dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 7];
    let mut pipe = child.stdout.take().unwrap();
    pipe.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"digraph");
    drop(pipe);
    let (status, error) = status_and_error(&child.wait_with_output().unwrap());
    assert_eq!(status, Some(0), "{error}");
    assert!(!error.contains("error"), "{error}");
}

#[test]
fn addresses_are_answered_one_by_one_through_pipes() {
    use std::io::{BufRead, BufReader, Write};
    let mut child = instr()
        .args(["symbolize", "-e", env!("CARGO_BIN_EXE_instr")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut questions = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |question| {
        writeln!(questions, "{question}").unwrap();
        answers.next().unwrap().unwrap()
    };
    assert_eq!(ask("fffffffffffffff0"), "??:0");
    assert!(!ask("no address").is_empty(), "answered all the same");
    assert_eq!(ask("0xfffffffffffffff0"), "??:0");
    drop(questions);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
        return instr_test_needs::skipped("there is no /dev/full to write to");
    };
    let dir = tempfile::tempdir().unwrap();
    synth::tasks(dir.path(), synth::layouts()[0], 2, 400).unwrap();
    for arguments in [
        &["summary"][..],
        &["summary", "--json"],
        &["graph", "--format", "json"],
    ] {
        let output = instr()
            .args(arguments)
            .arg(dir.path())
            .stdout(full.try_clone().unwrap())
            .output()
            .unwrap();
        let (status, error) = status_and_error(&output);
        assert_eq!(status, Some(1), "{arguments:?}");
        assert!(
            error.contains("instr: error: cannot write to standard output: "),
            "{error}"
        );
    }
}

/// Five steps of three tasks: each follows its neighbour of the same step, and what its own cell and its reader did in the step before.
#[test]
fn traces_of_version_1_give_the_same_graph() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/version1");
    for target in ["x86_64", "sparc"] {
        let trace = folder.join(target);
        let output = instr()
            .args(["graph", "--format", "json"])
            .arg(&trace)
            .output()
            .unwrap();
        assert_eq!(status_and_error(&output).0, Some(0));
        let graph: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut edges = std::collections::BTreeSet::new();
        for edge in graph["edges"].as_array().unwrap() {
            let end = |name: &str| {
                let (_, seq) = edge[name].as_str().unwrap().split_once('.').unwrap();
                seq.parse::<u64>().unwrap()
            };
            edges.insert((end("from"), end("to")));
        }
        assert_eq!(graph["nodes"].as_array().unwrap().len(), 15, "{target}");
        let of = |step: u64, cell: u64| 3 * step + cell;
        let mut expected = std::collections::BTreeSet::new();
        for step in 0..5 {
            for cell in 0..3 {
                if cell > 0 {
                    expected.insert((of(step, cell - 1), of(step, cell)));
                }
                // The reader of the cell that this one writes; the last has none.
                if step > 0 {
                    let reader = if cell < 2 { cell + 1 } else { cell };
                    expected.insert((of(step - 1, reader), of(step, cell)));
                }
            }
        }
        assert_eq!(edges, expected, "{target}");
        let output = instr()
            .args(["summary", "--json"])
            .arg(&trace)
            .output()
            .unwrap();
        assert_eq!(status_and_error(&output).0, Some(0));
    }
}

#[test]
fn what_the_installation_would_say_is_refused_without_one() {
    let output = instr().args(["config", "--prefix"]).output().unwrap();
    let (status, error) = status_and_error(&output);
    assert_eq!(status, Some(1));
    assert!(
        error.starts_with("instr: error: cannot tell --prefix: "),
        "{error}"
    );
    let output = instr().args(["config", "--cflags"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let folder = text.trim_end().strip_prefix("-I").unwrap();
    let header = std::path::Path::new(folder).join("instr/instr.h");
    assert!(header.is_file(), "{text}");
}

/// The wrapper beside the command gets the words as they are, and its own name says which compiler is meant.
#[test]
fn the_wrapper_is_a_command_too() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("instr");
    std::fs::copy(env!("CARGO_BIN_EXE_instr"), &program).unwrap();
    let words = ["-c", "x.c", "--version", "-h", "a b", "", "@file"];
    let run = |command: &str| {
        let mut call = Command::new(&program);
        call.arg(command).args(words).env("PATH", "/nowhere");
        call.output().unwrap()
    };
    let (status, error) = status_and_error(&run("cc"));
    assert_eq!(status, Some(1));
    assert!(
        error.contains("cannot find instr-cc") && error.contains("\n  help: "),
        "{error}"
    );
    let wrapper = dir.path().join("instr-cc");
    std::fs::write(&wrapper, "#!/bin/bash\nprintf '%s\\n' \"$@\"\nexit 7\n").unwrap();
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    for command in ["cc", "c++", "fortran"] {
        let output = run(command);
        assert_eq!(output.status.code(), Some(7), "{command}");
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(told, words.join("\n") + "\n", "{command}");
    }
}

/// Every command that reads events says what it could not read, and where.
#[test]
fn zeros_inside_a_packet_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("app");
    std::fs::create_dir(&trace).unwrap();
    synth::tasks(&trace, synth::layouts()[0], 1, 200_000).unwrap();
    let stream = synth::stream_path(&trace, 0);
    let mut bytes = std::fs::read(&stream).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 512].fill(0);
    std::fs::write(&stream, bytes).unwrap();
    let out = dir.path().join("out");
    for (command, to_file) in [
        ("summary", false),
        ("graph", false),
        ("merge", true),
        ("export", true),
    ] {
        let mut run = instr();
        run.arg(command).arg(&trace);
        if to_file {
            run.arg("-o").arg(&out);
        }
        let (status, error) = status_and_error(&run.output().unwrap());
        assert_eq!(status, Some(0), "{command}: {error}");
        let told = error.lines().find(|line| {
            line.contains("app/thread_0000 at byte ") && line.contains("no event begins here")
        });
        assert!(told.is_some(), "{command}: {error}");
    }
}
