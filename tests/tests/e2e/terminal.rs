//! What a terminal gets: a pager where it can go back a line, and the characters of its locale.

use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Target, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("terminal::pager-and-characters", characters)]
}

const PROGRAM: &str = "int main(void)\n{\n    volatile int n = 0;\n#pragma omp parallel num_threads(2)\n    for (int i = 0; i < 1000000; i++)\n        n++;\n\
                       #pragma omp parallel num_threads(2)\n#pragma omp single\n#pragma omp task\n    n = 1;\n    return n - 1;\n}\n";

/// A terminal of 12 lines, with these variables, gets a pager, and characters that are not ASCII.
type Case = (&'static [(&'static str, &'static str)], bool, bool);

#[rustfmt::skip]
const CASES: [Case; 7] = [
    (&[("TERM", "xterm"), ("LC_ALL", "C.UTF-8")], true, true),
    (&[("TERM", "xterm"), ("LC_ALL", ""), ("LANG", "en_US.utf8")], true, true),
    (&[("TERM", "xterm"), ("LC_ALL", "C")], true, false),
    (&[("TERM", "xterm"), ("LC_ALL", ""), ("LANG", "")], true, false),
    (&[("TERM", "dumb"), ("LC_ALL", "C.UTF-8")], false, true),
    (&[("TERM", "dumb"), ("LC_ALL", "POSIX")], false, false),
    (&[("TERM", ""), ("LC_ALL", "C.UTF-8")], false, true),
];

fn characters() -> Check {
    need("script")?;
    let dir = workspace::work_dir("terminal")?;
    let (source, program) = (dir.path().join("app.c"), dir.path().join("app"));
    std::fs::write(&source, PROGRAM)?;
    Build::openmp(Target::X86_64)
        .flag("-w")
        .traced(&[&source], &program)?;
    Run::new(&program).dir(dir.path()).succeed()?;
    let instr = tools()?.instr.display().to_string();
    for command in ["summary app --all", "graph app"] {
        for (env, paged, wide) in CASES {
            // Only what is shown by instr summary is longer than a screen.
            let paged = paged && command.starts_with("summary");
            let words = format!("stty rows 12 cols 80; {instr} {command}");
            let run = Run::words(["script", "-qec", &words, "/dev/null"]).dir(dir.path());
            let run = env
                .iter()
                .fold(run, |run, (name, value)| run.env(name, value));
            let outcome = run.env("PAGER", "echo by a pager; cat").succeed()?;
            let text = outcome.text();
            let case = || format!("{env:?}, {command}:\n{text}");
            ensure(text.contains("app "), case)?;
            ensure(text.contains("by a pager") == paged, case)?;
            ensure(text.is_ascii() != wide, case)?;
        }
    }
    // Files and pipes get UTF-8 whatever the locale is.
    let piped = Run::new(&tools()?.instr).args(["summary", "app"]);
    let piped = piped.dir(dir.path()).env("LC_ALL", "C").succeed()?;
    ensure(piped.text().contains(" · "), || format!("{piped}"))
}
