//! Mistyped commands, each with the help that its message must give: one message, the right status, nothing written.

use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::{Run, Status};
use instr_tests::toolchain::tools;
use instr_tests::workspace;
use libtest_mimic::Trial;

/// What is typed, the status, and what the message must hold.
type Row = (&'static str, i32, &'static [&'static str]);

const INSTR: [Row; 17] = [
    (
        "instr summary app.c",
        1,
        &["app.c is not a trace", "a trace is a folder"],
    ),
    (
        "instr sumary app",
        2,
        &["unrecognized subcommand 'sumary'", "help: ", "'summary'"],
    ),
    ("instr doctr", 2, &["'doctor'"]),
    ("instr repare app", 2, &["help: ", "'repair'"]),
    (
        "instr summary --jsn app",
        2,
        &["unexpected argument '--jsn'", "help: ", "'--json'"],
    ),
    (
        "instr run --quite app",
        2,
        &[
            "unexpected argument '--quite'",
            "help: a similar argument exists: '--quiet'",
        ],
    ),
    (
        "instr run -z app",
        2,
        &["unexpected argument '-z'", "help: to pass '-z'"],
    ),
    (
        "instr merge --coms all app",
        2,
        &["'--comms'", "Usage: instr merge"],
    ),
    ("instr merge app --out x", 2, &["'--output'"]),
    (
        "instr merge --comms al app",
        2,
        &["invalid value 'al'", "none, create, depend, all"],
    ),
    (
        "instr graph --format png app",
        2,
        &["invalid value 'png'", "dot, graphml, json, svg"],
    ),
    (
        "instr graph -o tasks.png app",
        2,
        &["tasks.png", "help: name the format"],
    ),
    (
        "instr graph -o tasks.svg -f dot app",
        2,
        &["contradict", "help: leave --format out"],
    ),
    (
        "instr graph --all-tasks app",
        2,
        &["--all-tasks is for pictures", "help: "],
    ),
    (
        "instr export --format chrom app",
        2,
        &["invalid value 'chrom'", "perfetto"],
    ),
    (
        "instr repair app",
        2,
        &["--output <OUT>", "Usage: instr repair"],
    ),
    ("instr config --cflag", 2, &["'--cflags'"]),
];

const INSTR_CC: [Row; 12] = [
    (
        "instr-cc --instr-verbos gcc app.c",
        2,
        &[
            "unknown option --instr-verbos",
            "help: did you mean --instr-verbose?",
        ],
    ),
    (
        "instr-cc -instr-verbose gcc app.c",
        2,
        &["help: did you mean --instr-verbose?"],
    ),
    (
        "instr-cc --instr_memory gcc app.c",
        2,
        &["help: did you mean --instr-memory?"],
    ),
    (
        "instr-cc --instr-verbose=1 gcc app.c",
        2,
        &["takes no value", "help: write --instr-verbose"],
    ),
    (
        "instr-cc --instr-api api.rs gcc app.c",
        2,
        &["--instr-api needs a value", "help: write --instr-api=VALUE"],
    ),
    (
        "instr-cc --instr-target=sparc-linx app.c",
        2,
        &["help: did you mean sparc-linux?", "aarch64-linux"],
    ),
    (
        "instr-cc --instr-target=vax app.c",
        2,
        &["help: known targets: aarch64-linux"],
    ),
    (
        "instr-cc gc -c app.c",
        2,
        &["cannot find gc", "help: did you mean gcc?"],
    ),
    (
        "instr-cc gfrotran -c app.c",
        2,
        &["help: did you mean gfortran?"],
    ),
    (
        "instr-cc --instr-verbose --instr-help=all",
        2,
        &["takes no value", "help: write --instr-help"],
    ),
    (
        "instr-cc --instr-config=none.toml gcc app.c",
        1,
        &["cannot read none.toml"],
    ),
    (
        "instr-cc --instr-api=none.rs gcc app.c",
        1,
        &["cannot read none.rs"],
    ),
];

const INSTR_REWRITE: [Row; 8] = [
    (
        "instr-rewrite --lst app.o",
        2,
        &["unexpected argument '--lst'", "help: ", "'--list'"],
    ),
    (
        "instr-rewrite --emit-wrap-flag app.o",
        2,
        &["'--emit-wrap-flags'"],
    ),
    (
        "instr-rewrite app.o",
        2,
        &[
            "--emit-wrap-flags|--emit-stubs|--list|--redirect",
            "Usage: instr-rewrite",
        ],
    ),
    (
        "instr-rewrite --list",
        2,
        &["<FILE>", "Usage: instr-rewrite"],
    ),
    (
        "instr-rewrite --redirect app.o",
        2,
        &[
            "takes one FILE and -o OUT",
            "help: instr-rewrite --redirect app.o -o",
        ],
    ),
    (
        "instr-rewrite --emit-stubs --json app.o",
        2,
        &["--json belongs to --list", "help: "],
    ),
    (
        "instr-rewrite --list nothing.o",
        1,
        &["nothing.o: cannot read"],
    ),
    (
        "instr-rewrite --list app.c",
        1,
        &["app.c: not an ELF object", "it looks like text"],
    ),
];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("mistyped::instr", || rows(&INSTR)),
        trial("mistyped::instr-cc", || rows(&INSTR_CC)),
        trial("mistyped::instr-rewrite", || rows(&INSTR_REWRITE)),
    ]
}

fn rows(rows: &[Row]) -> Check {
    let dir = workspace::work_dir("mistyped")?;
    std::fs::write(dir.path().join("app.c"), "int main(void) { return 0; }\n")?;
    let tools = tools()?;
    let mut wrong = Vec::new();
    for (line, status, parts) in rows {
        let (name, arguments) = line.split_once(' ').unwrap_or((line, ""));
        let program = match name {
            "instr" => &tools.instr,
            "instr-cc" => &tools.instr_cc,
            _ => &tools.instr_rewrite,
        };
        let ended = Run::new(program)
            .args(arguments.split(' '))
            .dir(dir.path())
            .output()?;
        let said = ended.errors();
        let right = said.starts_with(&format!("{name}: error: "))
            && said.matches("error: ").count() == 1
            && ended.stdout.is_empty()
            && ended.status == Status::Code(*status)
            && parts.iter().all(|part| said.contains(part));
        if !right {
            wrong.push(format!("{line}: expected {status}, {parts:?}\n{ended}"));
        }
    }
    ensure(wrong.is_empty(), || wrong.join("\n"))?;
    let files = std::fs::read_dir(dir.path())?.count();
    ensure(files == 1, || "a refused command left a file".into())
}
