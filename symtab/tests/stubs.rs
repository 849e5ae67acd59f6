//! Stubs for calls into shared objects carry the names that `objdump -d` gives them.

mod common;

use std::path::Path;

use common::*;

const CALLS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int chosen_a(int x) { return x + 1; }
static int (*choose(void))(int) { return chosen_a; }
int chosen(int x) __attribute__((ifunc("choose")));
int (*volatile taken)(const char *) = puts;
int main(int argc, char **argv) {
  char text[64];
  (void)argv;
  snprintf(text, sizeof text, "%d %s", rand(), getenv("HOME"));
  taken(text);
  return puts(text) + (int)strlen(strdup(text)) + chosen(argc) + atoi(text);
}
"#;

/// `address <name>` of every labelled line of the sections of stubs.
fn labels(target: &Target, program: &Path) -> Vec<(u64, String)> {
    let out = run(
        Path::new("/"),
        &format!("{}objdump", target.binutils),
        &["-d", program.to_str().expect("plain path")],
    );
    let parse = |line: &str| {
        let (address, rest) = line.split_once(" <")?;
        let name = rest.strip_suffix(">:")?;
        let address = u64::from_str_radix(address, 16).ok()?;
        // mold makes symbols of its own for them: `puts$plt`, `chosen$pltgot`.
        let name = match name.split_once("$plt") {
            Some((function, _)) => format!("{function}@plt"),
            None => name.to_owned(),
        };
        // `<puts@plt-0x10>` is the code in front of the first stub.
        name.ends_with("@plt").then_some((address, name))
    };
    out.lines().filter_map(parse).collect()
}

fn check(target: &Target, flags: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("calls.c"), CALLS).expect("the source is written");
    let mut all = vec!["-O1", "-fno-builtin"];
    all.extend(flags);
    let program = target.compile(folder.path(), "calls.c", &all, "program");
    check_program(target, &program, flags)
}

fn check_program(target: &Target, program: &Path, flags: &[&str]) -> Vec<String> {
    let image = image(program);
    let expected = labels(target, program);
    let what = format!("{} {flags:?}", target.name);
    assert!(!expected.is_empty(), "{what}: no stubs");
    let mut names = Vec::new();
    for (address, name) in expected {
        let answer = image.lookup(address);
        let ours = answer.function.as_ref().map(|name| name.raw.to_string());
        let ours = ours.unwrap_or_else(|| panic!("{what}: no name at {address:#x}, {name}"));
        // binutils names the address of what chooses, we its function.
        assert!(
            ours == name
                || name.starts_with("*ABS*+") && ours.ends_with("@plt")
                || (&*ours, &*name) == ("choose@plt", "chosen@plt"), // mold: the function is the stub
            "{what} at {address:#x}: {ours}, binutils {name}"
        );
        assert_eq!(answer.offset, Some(0), "{what} {name}");
        assert_eq!((&answer.file, answer.line), (&None, None), "{what} {name}");
        let inside = image.lookup(address + 4);
        assert_eq!(
            inside.function.as_ref().map(|name| &*name.raw),
            Some(&*ours)
        );
        names.push(ours);
    }
    names
}

#[test]
fn lazily_bound_and_bound_at_start() {
    for target in gcc_targets() {
        let ifunc = target.name == "x86-64";
        for flags in [
            &["-Wl,-z,lazy"][..],
            &["-Wl,-z,now"],
            &["-Wl,-z,now", "-fno-plt"],
            &["-no-pie"],
            &["-shared", "-fPIC"],
        ] {
            let names = check(&target, flags);
            let has = |name: &str| names.iter().any(|other| other == name);
            if !flags.contains(&"-fno-plt") {
                assert!(
                    has("strdup@plt") && has("rand@plt"),
                    "{} {flags:?}: {names:?}",
                    target.name
                );
                assert!(
                    has("chosen@plt") || !ifunc || flags.contains(&"-shared"),
                    "{flags:?}: {names:?}"
                );
            }
        }
    }
}

#[test]
fn with_indirect_branch_tracking() {
    for now in ["-Wl,-z,lazy", "-Wl,-z,now"] {
        let names = check(&X86_64, &["-fcf-protection", "-Wl,-z,ibtplt", now]);
        assert!(names.contains(&String::from("strdup@plt")), "{names:?}");
    }
}

#[test]
fn of_other_linkers() {
    for linker in ["-fuse-ld=gold", "-fuse-ld=lld", "-fuse-ld=mold"] {
        let tool = linker.replace("-fuse-ld=", "ld.");
        if !instr_test_needs::has(&tool) {
            continue;
        }
        // objdump has no names for gold's stubs with branch tracking, which some compilers ask for by themselves.
        let names = check(&X86_64, &[linker, "-fcf-protection=none"]);
        assert!(
            names.contains(&String::from("strdup@plt")),
            "{linker}: {names:?}"
        );
    }
}

#[test]
fn of_static_programs_lead_to_chosen_functions() {
    for target in gcc_targets() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("calls.c"), CALLS).expect("the source is written");
        let flags = ["-O1", "-fno-builtin", "-static", "-no-pie", "-fno-pie"];
        let program = target.compile(folder.path(), "calls.c", &flags, "program");
        let image = image(&program);
        // binutils names no stub of a static program: `call 401038 <_init+0x20>`, `<.plt+0x20>`, `<.iplt+0x80>`.
        let tool = format!("{}objdump", target.binutils);
        let out = run(
            Path::new("/"),
            &tool,
            &["-d", program.to_str().expect("plain path")],
        );
        let stub = |line: &str| {
            let (_, label) = line.split_once("call ")?;
            let (address, label) = label.trim_start().split_once(" <")?;
            label.contains(['+', '.']).then_some(())?;
            u64::from_str_radix(address, 16).ok()
        };
        let called: Vec<String> = out
            .lines()
            .skip_while(|line| !line.ends_with(" <main>:"))
            .take_while(|line| !line.is_empty())
            .filter_map(stub)
            .map(|address| our_frames(&image, address).remove(0).0)
            .collect();
        let has = |name: &str| called.iter().any(|other| other == name);
        assert!(has("chosen@plt"), "{}: {called:?}", target.name);
        assert!(
            called.iter().all(|name| name.ends_with("@plt")),
            "{called:?}"
        );
        if target.name == "x86-64" {
            assert!(has("strlen@plt"), "{called:?}");
        }
    }
}

#[test]
fn stripped_programs_keep_them() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("calls.c"), CALLS).expect("the source is written");
    let program = X86_64.compile(folder.path(), "calls.c", &["-s"], "program");
    let names = check_program(&X86_64, &program, &["-s"]);
    assert!(names.contains(&String::from("strdup@plt")), "{names:?}");
}
