//! What must not pass does not: a false `instr-cc`, which only defines `TRACED`, changes programs in every way that has to be noticed.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use instr_libgomp_tests::catalog::{Language, Program};
use instr_libgomp_tests::compile::{Builder, Linkage};
use instr_libgomp_tests::directives::{self, Defaults};
use instr_libgomp_tests::exceptions::Exceptions;
use instr_libgomp_tests::facts::Facts;
use instr_libgomp_tests::trial::{self, Outcome, Plain, Settings, Step, Trial};
use instr_libgomp_tests::unpack::Suite;
use instr_tests::toolchain::Tools;

/// A program with this text, tried in a folder of its own; `says` is what the false wrapper prints.
fn attempt(text: &str, says: &str) -> Option<Trial> {
    if !instr_test_needs::has("gcc") {
        return None;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let at = |name: &str| dir.path().join(name);
    let source = at("program.c");
    std::fs::write(&source, text).expect("written");
    let builder = Builder::new(
        Suite::at(&at("suite")),
        tools(&at("instr-cc"), says),
        dir.path(),
    );
    let settings = Settings {
        linkages: vec![Linkage::Wrap],
        limit: Duration::from_secs(3),
        exceptions: Exceptions::default(),
    };
    let work = at("work");
    std::fs::create_dir(&work).expect("made");
    let program = program(&source, text);
    Some(trial::run(
        &program,
        &builder.expect("sources written"),
        &settings,
        &work,
    ))
}

fn tools(script: &Path, says: &str) -> Tools {
    let text = format!("#!/bin/sh\n{says}\nshift\nexec \"$@\" -DTRACED\n");
    std::fs::write(script, text).expect("written");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(script, mode).expect("executable");
    Tools {
        instr: PathBuf::from("false"),
        instr_cc: script.to_owned(),
        instr_rewrite: PathBuf::from("false"),
    }
}

fn program(source: &Path, text: &str) -> Program {
    let directives = directives::parse(text).expect("well-formed");
    let defaults = Defaults {
        always: &[],
        options: &[],
        folder: source.parent().expect("a folder"),
    };
    let facts = Facts::with_cpu(Language::C, &[]);
    Program {
        id: "folder/program.c".into(),
        group: 0,
        language: Language::C,
        source: source.to_owned(),
        always: Vec::new(),
        demands: Ok(directives::demands(&directives, defaults, &facts).expect("understood")),
    }
}

/// The instrumented program fails in this step, for a reason that says this.
fn fails(text: &str, step: Step, reason: &str) {
    let Some(trial) = attempt(text, ":") else {
        return;
    };
    assert_eq!(trial.plain, Plain::Passed, "{text}");
    match &trial.outcomes[..] {
        [(Linkage::Wrap, Outcome::Failed(at, why))] => {
            assert_eq!(*at, step, "{why}");
            assert!(why.contains(reason), "{why}");
        }
        other => panic!("{text}: {other:?}"),
    }
    assert!(trial.failed());
}

#[test]
fn a_program_that_does_not_build() {
    let text = "#ifdef TRACED\n#error not so\n#endif\nint main(void) { return 0; }\n";
    fails(text, Step::Build, "not so");
}

#[test]
fn another_exit_status_and_a_signal() {
    let text = "int main(void) {\n#ifdef TRACED\nreturn 3;\n#endif\nreturn 0; }\n";
    fails(text, Step::Run, "exit status 3");
    let text = "int main(void) {\n#ifdef TRACED\n__builtin_trap();\n#endif\nreturn 0; }\n";
    fails(text, Step::Run, "signal");
    let text = "/* { dg-shouldfail \"\" } */\nint main(void) {\n#ifdef TRACED\nreturn 3;\n#endif\nreturn 4; }\n";
    fails(text, Step::Run, "exit status 3, plainly exit status 4");
    let text = "/* { dg-shouldfail \"\" } */\nint main(void) {\n#ifdef TRACED\nreturn 0;\n#endif\nreturn 4; }\n";
    fails(text, Step::Run, "another exit status than 0");
}

#[test]
fn a_program_that_does_not_end() {
    let text = "int main(void) {\n#ifdef TRACED\nfor (;;) ;\n#endif\nreturn 0; }\n";
    fails(text, Step::Run, "did not end within 3 s");
}

#[test]
fn other_output() {
    let text = "#include <stdio.h>\nint main(void) {\n#ifdef TRACED\nputs(\"b\");\n#else\nputs(\"a\");\n#endif\nreturn 0; }\n";
    fails(text, Step::Run, "prints something else");
    let text = "/* { dg-output \"a\" } */\n".to_owned() + text;
    fails(&text, Step::Run, "does not match `a`");
}

#[test]
fn no_trace() {
    fails("int main(void) { return 0; }\n", Step::Trace, "no trace");
}

#[test]
fn a_program_linked_plainly_for_no_good_reason() {
    let says = "echo 'instr-cc: note: linked plainly: no idea' >&2";
    if let Some(trial) = attempt("int main(void) { return 0; }\n", says) {
        let [(_, Outcome::Failed(Step::Build, why))] = &trial.outcomes[..] else {
            panic!("{trial:?}");
        };
        assert!(why.contains("no idea"), "{why}");
    }
    let says = "echo 'instr-cc: note: linked plainly: nothing to instrument' >&2";
    if let Some(trial) = attempt("int main(void) { return 0; }\n", says) {
        assert_eq!(
            trial.outcomes[..],
            [(Linkage::Wrap, Outcome::NothingToRecord)]
        );
    }
}

#[test]
fn a_program_that_fails_by_itself_is_not_ours() {
    if let Some(trial) = attempt("int main(void) { return 1; }\n", ":") {
        assert!(matches!(trial.plain, Plain::Failed(Step::Run, _)) && trial.outcomes.is_empty());
        assert!(!trial.failed());
    }
    // Fails every other time, and whenever it is instrumented.
    let text = "#include <stdio.h>\nint main(void) {\n#ifdef TRACED\nreturn 1;\n#endif\n\
                if (remove(\"mark\") == 0) return 1;\nfclose(fopen(\"mark\", \"w\")); return 0; }\n";
    if let Some(trial) = attempt(text, ":") {
        assert!(
            matches!(trial.outcomes[..], [(_, Outcome::Unstable(_))]),
            "{trial:?}"
        );
    }
}
