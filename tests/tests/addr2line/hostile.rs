//! Programs that are there to harm who looks at them.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};

use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::toolchain::{need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;

use crate::extras::address_of;
use crate::programs::run;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("symbolize::a-file-that-becomes-shorter", shorter),
        trial("symbolize::control-bytes-stay-off-the-terminal", control),
        trial("symbolize::ranges-that-many-units-share", ranges),
    ]
}

/// The file is cut between two questions: a message, and the status of a refused input.
fn shorter() -> Check {
    let dir = workspace::work_dir("symbolize-shorter")?;
    let program = dir.path().join("program");
    for (name, text) in [
        ("a.c", "int b(int); int main(void) { return b(0); }"),
        ("b.c", "int b(int x) { return x; }"),
    ] {
        std::fs::write(dir.path().join(name), text)?;
    }
    let compile = Command::new("gcc")
        .current_dir(dir.path())
        .args(["-g", "a.c", "b.c", "-o", "program"])
        .status()?;
    ensure(compile.success(), || "gcc failed".into())?;
    let (first, second) = (address_of(&program, "main")?, address_of(&program, "b")?);
    let mut child = Command::new(&tools()?.instr)
        .args(["symbolize", "-f", "-e"])
        .arg(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut questions = child.stdin.take().ok_or("no input")?;
    let mut answers = BufReader::new(child.stdout.take().ok_or("no output")?);
    writeln!(questions, "{first}")?;
    let mut answer = String::new();
    answers.read_line(&mut answer)?;
    ensure(answer == "main\n", || answer.clone())?;
    std::fs::write(&program, "")?;
    writeln!(questions, "{second}")?;
    drop(questions);
    let mut said = String::new();
    let mut errors = child.stderr.take().ok_or("no errors")?;
    errors.read_to_string(&mut said)?;
    let status = child.wait()?;
    ensure(
        status.code() == Some(1)
            && said.starts_with("instr: error: ")
            && said.contains("shorter")
            && said.lines().count() == 1,
        || format!("{status}: {said}"),
    )
}

/// A function whose name turns the terminal red: a program that reads the answer gets the name, people do not.
fn control() -> Check {
    need("script")?;
    need("objcopy")?;
    let dir = workspace::work_dir("symbolize-control")?;
    let program = dir.path().join("red");
    std::fs::write(dir.path().join("red.c"), "int main(void) { return 0; }")?;
    let words =
        "gcc red.c -o plain && objcopy --redefine-sym \"main=$(printf 'm\\033[31mred')\" plain red";
    run(Command::new("sh")
        .current_dir(dir.path())
        .args(["-c", words]))?;
    let address = address_of(&dir.path().join("plain"), "main")?;
    let instr = tools()?.instr.display().to_string();
    let command = format!("{instr} symbolize -f -e {} {address}", program.display());
    let piped = run(Command::new("sh").args(["-c", &command]))?;
    ensure(piped.starts_with("m\u{1b}[31mred\n"), || {
        format!("{piped:?}")
    })?;
    let words = format!("stty rows 20 cols 80; {command}");
    let shown = run(Command::new("script").args(["-qec", &words, "/dev/null"]))?;
    ensure(
        shown.contains("m?[31mred") && !shown.contains('\u{1b}'),
        || format!("{shown:?}"),
    )
}

/// 3,000 units that all say that they have the same 300,000 ranges: a file of 6 MB.
fn ranges() -> Check {
    let dir = workspace::work_dir("symbolize-ranges")?;
    let mut text = String::from(
        ".text\n.globl main\nmain: ret\n.skip 4 * 300000, 0x90\n.section .note.GNU-stack,\"\",@progbits\n\
         .section .debug_abbrev,\"\",@progbits\n.byte 1, 0x11, 0, 3, 8, 0x55, 0x17, 0x11, 1, 0, 0, 0\n\
         .section .debug_ranges,\"\",@progbits\n.set i, 0\n.rept 300000\n.quad main + 4 * i, main + 4 * i + 2\n.set i, i + 1\n.endr\n.quad 0, 0\n\
         .section .debug_info,\"\",@progbits\n",
    );
    for _ in 0..3000 {
        _ = writeln!(
            text,
            ".long 1f - 0f\n0: .value 4\n.long 0\n.byte 8, 1\n.asciz \"u\"\n.long 0\n.quad 0\n1:"
        );
    }
    std::fs::write(dir.path().join("many.s"), text)?;
    let gcc = Command::new("gcc")
        .current_dir(dir.path())
        .args(["-no-pie", "many.s", "-o", "many"])
        .status()?;
    ensure(gcc.success(), || "gcc failed".into())?;
    let program = dir.path().join("many");
    let main = address_of(&program, "main")?;
    // 2.1 GB were taken; address space also holds the command itself.
    let words = "ulimit -v 1500000; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", words, "sh"]).arg(&tools()?.instr);
    command.args(["symbolize", "-f", "-e"]).arg(&program);
    let answer = run(command.arg(&main))?;
    ensure(answer.starts_with("main\n"), || answer.clone())
}
