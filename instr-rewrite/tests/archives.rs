//! Archives of every kind, and which of their members a real linker takes.

mod common;

use common::{GCC, V8, nm_undefined, run, scratch, source, tool, wrapped};
use instr_rewrite::resolve::{ArchiveOrder, LinkItem, closure};
use instr_rewrite::scan::{FileKind, Source};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Objects with names short and long, in a folder.
fn members(directory: &Path) -> Vec<PathBuf> {
    let short = GCC.compile(&source("direct.c"), directory);
    let long = directory.join("a_member_with_quite_a_long_name.o");
    std::fs::rename(GCC.compile(&source("loops.f90"), directory), &long).unwrap();
    vec![short, long]
}

/// Union of what `nm -u` says about the members.
fn undefined(files: &[PathBuf]) -> BTreeSet<String> {
    files
        .iter()
        .flat_map(|file| nm_undefined("nm", file).0)
        .collect()
}

/// A BSD archive, whose long names stand in front of the contents (`#1/LENGTH`).
fn bsd_archive(files: &[PathBuf]) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    let mut member = |name: &str, bytes: &[u8]| {
        let padded = name.len().next_multiple_of(4);
        let header = format!(
            "{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
            format!("#1/{padded}"),
            0,
            0,
            0,
            100_644,
            padded + bytes.len()
        );
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(name.as_bytes());
        archive.resize(archive.len() + padded - name.len(), 0);
        archive.extend_from_slice(bytes);
        if archive.len() % 2 == 1 {
            archive.push(b'\n');
        }
    };
    member("__.SYMDEF", &[0; 8]);
    for file in files {
        member(
            file.file_name().unwrap().to_str().unwrap(),
            &std::fs::read(file).unwrap(),
        );
    }
    archive
}

#[test]
fn gnu_bsd_and_thin_archives_tell_the_same() {
    let directory = scratch();
    let files = members(directory.path());
    let path = |name: &str| directory.path().join(name);
    run(Command::new("ar")
        .arg("rcs")
        .arg(path("gnu.a"))
        .args(&files));
    run(Command::new("ar")
        .arg("rcS")
        .arg(path("unindexed.a"))
        .args(&files));
    run(Command::new("ar")
        .args(["rcs", "--thin"])
        .arg(path("thin.a"))
        .args(&files));
    std::fs::write(path("bsd.a"), bsd_archive(&files)).unwrap();
    let names: Vec<Option<String>> = files
        .iter()
        .map(|file| Some(file.file_name().unwrap().to_str().unwrap().to_owned()))
        .collect();
    let all = undefined(&files);
    for (name, thin) in [
        ("gnu.a", false),
        ("unindexed.a", false),
        ("bsd.a", false),
        ("thin.a", true),
    ] {
        let source = Source::open(&path(name)).unwrap();
        let inputs = source.scan().unwrap();
        assert_eq!(inputs.kind, FileKind::Archive { thin }, "{name}");
        assert!(inputs.refused.is_empty(), "{name}: {:?}", inputs.refused);
        let found: Vec<Option<String>> = inputs
            .objects
            .iter()
            .map(|object| {
                object
                    .member
                    .as_ref()
                    .map(|member| member.rsplit('/').next().unwrap().to_owned())
            })
            .collect();
        assert_eq!(found, names, "{name}");
        let (strong, _) = inputs.undefined();
        let strong: BTreeSet<String> = strong
            .into_iter()
            .map(|symbol| String::from_utf8(symbol.to_vec()).unwrap())
            .collect();
        assert_eq!(strong, all, "{name}");
    }
}

#[test]
fn a_thin_archive_without_its_members_names_the_missing_one() {
    let directory = scratch();
    let files = members(directory.path());
    let archive = directory.path().join("thin.a");
    run(Command::new("ar")
        .args(["rcs", "--thin"])
        .arg(&archive)
        .args(&files));
    std::fs::remove_file(&files[0]).unwrap();
    let result = tool().arg("--list").arg(&archive).output().unwrap();
    let stderr = String::from_utf8(result.stderr).unwrap();
    assert_eq!(result.status.code(), Some(1));
    assert!(
        stderr.contains("thin.a(") && stderr.contains("direct-gcc.o): cannot read: No such file"),
        "{stderr}"
    );
}

#[test]
fn redirected_archives_link_and_list_like_those_of_ar() {
    let directory = scratch();
    let files = members(directory.path());
    let path = |name: &str| directory.path().join(name);
    let redirected_members: Vec<PathBuf> = files
        .iter()
        .map(|file| {
            std::fs::create_dir_all(path("new")).unwrap();
            let output = path("new").join(file.file_name().unwrap());
            run(tool().arg("--redirect").arg(file).arg("-o").arg(&output));
            output
        })
        .collect();
    run(Command::new("ar")
        .arg("rcs")
        .arg(path("gnu.a"))
        .args(&files));
    run(Command::new("ar")
        .args(["rcs", "--thin"])
        .arg(path("thin.a"))
        .args(&files));
    std::fs::write(path("bsd.a"), bsd_archive(&files)).unwrap();
    run(Command::new("ar")
        .arg("rcsD")
        .arg(path("expected.a"))
        .args(&redirected_members));
    let index = |archive: &Path| {
        String::from_utf8(run(Command::new("nm").arg("-s").arg(archive)).stdout).unwrap()
    };
    let extract = |archive: &Path, member: &Path| {
        run(Command::new("ar")
            .arg("p")
            .arg(archive)
            .arg(member.file_name().unwrap()))
        .stdout
    };
    for name in ["gnu.a", "bsd.a", "thin.a"] {
        let output = path("output.a");
        run(tool()
            .arg("--redirect")
            .arg(path(name))
            .arg("-o")
            .arg(&output));
        assert_eq!(
            sorted_index(&index(&output)),
            sorted_index(&index(&path("expected.a"))),
            "{name}"
        );
        for member in &redirected_members {
            assert_eq!(
                extract(&output, member),
                std::fs::read(member).unwrap(),
                "{name}"
            );
        }
        let once = std::fs::read(&output).unwrap();
        run(tool().arg("--redirect").arg(&output).arg("-o").arg(&output));
        assert_eq!(
            std::fs::read(&output).unwrap(),
            once,
            "{name}: twice is not once"
        );
    }
}

/// Lines of the archive's index and of its members' symbols, without order.
fn sorted_index(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn an_archive_without_references_stays_as_it_is() {
    let directory = scratch();
    let file = directory.path().join("plain.c");
    std::fs::write(&file, "int one(void) { return 1; }").unwrap();
    let object = V8.compile(&file, directory.path());
    let archive = directory.path().join("plain.a");
    run(Command::new("ar").arg("rc").arg(&archive).arg(&object));
    let output = directory.path().join("output.a");
    run(tool()
        .arg("--redirect")
        .arg(&archive)
        .arg("-o")
        .arg(&output));
    assert_eq!(
        std::fs::read(archive).unwrap(),
        std::fs::read(output).unwrap()
    );
}

/// Small sources that need each other across archives: `name`, functions defined, functions called.
const WEB: &[(&str, &str, &[&str])] = &[
    ("a", "a", &["b", "GOMP_barrier"]),
    ("b", "b", &["d", "GOMP_taskwait"]),
    ("c", "c", &["GOMP_taskyield"]),
    ("d", "d", &["e", "GOMP_critical_start"]),
    ("e", "e", &["b", "GOMP_critical_end"]),
    ("f", "f", &["a", "GOMP_ordered_start"]),
];

fn web(directory: &Path) -> Vec<PathBuf> {
    let compile = |name: &str, text: &str| {
        let file = directory.join(format!("{name}.c"));
        std::fs::write(&file, text).unwrap();
        let object = directory.join(format!("{name}.o"));
        run(Command::new("gcc")
            .arg("-c")
            .arg(&file)
            .arg("-o")
            .arg(&object));
        object
    };
    let mut files = vec![compile(
        "main",
        "void a(void); int main(void) { a(); return 0; }",
    )];
    for (name, function, calls) in WEB {
        let declarations: String = calls
            .iter()
            .map(|call| format!("void {call}(void);"))
            .collect();
        let body: String = calls.iter().map(|call| format!("{call}();")).collect();
        files.push(compile(
            name,
            &format!("{declarations} void {function}(void) {{ {body} }}"),
        ));
    }
    files
}

/// What bfd and lld really take (`--trace`) is what the simulation says, for several orders of a link line.
#[test]
fn the_simulated_link_takes_the_members_that_linkers_take() {
    let directory = scratch();
    let directory = directory.path();
    let files = web(directory);
    let archive = |name: &str, members: &[usize]| {
        let path = directory.join(name);
        run(Command::new("ar")
            .arg("rcs")
            .arg(&path)
            .args(members.iter().map(|&number| &files[number])));
        Source::open(&path).unwrap()
    };
    let main = Source::open(&files[0]).unwrap();
    let first = archive("first.a", &[1, 3, 4]);
    let second = archive("second.a", &[2, 5, 6]);
    let (main, first, second) = (
        main.scan().unwrap(),
        first.scan().unwrap(),
        second.scan().unwrap(),
    );
    let item = |name: &str| match name {
        "first.a" => LinkItem::File(&first),
        "second.a" => LinkItem::File(&second),
        _ => LinkItem::File(&main),
    };
    let lines: [&[&str]; 6] = [
        &["main.o", "first.a", "second.a"],
        &["main.o", "second.a", "first.a"],
        &["main.o", "first.a", "second.a", "first.a"],
        &["first.a", "main.o", "second.a"],
        &[
            "main.o",
            "--start-group",
            "first.a",
            "second.a",
            "--end-group",
        ],
        &[
            "main.o",
            "--whole-archive",
            "second.a",
            "--no-whole-archive",
            "first.a",
        ],
    ];
    for line in lines {
        let items: Vec<LinkItem<'_>> = match line {
            [first, "--start-group", inner @ .., "--end-group"] => vec![
                item(first),
                LinkItem::Group(inner.iter().map(|name| item(name)).collect()),
            ],
            [first, "--whole-archive", _, "--no-whole-archive", last] => {
                vec![item(first), LinkItem::WholeArchive(&second), item(last)]
            }
            names => names.iter().map(|name| item(name)).collect(),
        };
        for (linker, order) in [
            ("ld.bfd", ArchiveOrder::Sequential),
            ("ld.gold", ArchiveOrder::Sequential),
            ("ld.lld", ArchiveOrder::Any),
        ] {
            let result = closure(&items, &[b"main"], order);
            let simulated: BTreeSet<String> = result
                .objects
                .iter()
                .map(|(_, object)| object.member.clone().unwrap_or_else(|| "main.o".to_owned()))
                .collect();
            let mut command = Command::new(linker);
            let unresolved = if linker == "ld.lld" {
                "--unresolved-symbols=ignore-all"
            } else {
                "--unresolved-symbols=ignore-in-object-files"
            };
            command
                .current_dir(directory)
                .args([
                    "--trace", "--trace", unresolved, "-e", "main", "-o", "linked",
                ])
                .args(line);
            let output = run(&mut command);
            let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert_eq!(simulated, traced(&text), "{linker} {line:?}\n{text}");
        }
    }
}

/// Members in the output of `--trace`: `second.a(b.o)`, or bfd's `(second.a)b.o`.
fn traced(text: &str) -> BTreeSet<String> {
    let name = |line: &str| {
        line.rsplit(['(', ')', '/'])
            .find(|part| part.ends_with(".o"))
            .map(str::to_owned)
    };
    text.lines().filter_map(name).collect()
}

#[test]
fn flags_of_an_archive_are_those_of_all_its_members() {
    let directory = scratch();
    let files = web(directory.path());
    let archive = directory.path().join("all.a");
    run(Command::new("ar").arg("rcs").arg(&archive).args(&files));
    let all: BTreeSet<String> = undefined(&files)
        .into_iter()
        .filter(|symbol| symbol.starts_with("GOMP_"))
        .collect();
    assert_eq!(wrapped(&archive), all);
}
