//! Names taken apart, compared with `c++filt` and `llvm-cxxfilt`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use instr_symtab::demangle;

/// A mangling and what tells its names.
type Kind = (&'static str, fn(&str) -> bool);

/// Languages and manglings, told apart by what a name begins with and ends in.
const KINDS: [Kind; 3] = [
    ("C++", |name| {
        name.starts_with("_Z") && !is_legacy_rust(name)
    }),
    ("Rust, v0", |name| name.starts_with("_R")),
    ("Rust, legacy", is_legacy_rust),
];

/// `…17h0123456789abcdefE`
fn is_legacy_rust(name: &str) -> bool {
    let behind = name.rsplit_once("17h").map(|(_, behind)| behind);
    let hash = behind.and_then(|behind| behind.get(..16));
    name.starts_with("_ZN")
        && hash.is_some_and(is_hex)
        && behind.is_some_and(|behind| behind[16..].starts_with('E'))
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// One name as several tools write it, brought to one way of writing.
struct Case<'n> {
    raw: &'n str,
    ours: &'n str,
    theirs: &'n str,
    /// What the other tool says.
    other: &'n str,
}

/// What differs, and how it is told.
type Rule = (&'static str, fn(&Case<'_>) -> bool);

/// Differences, first the certain ones.
const RULES: [Rule; 7] = [
    ("left as it is by us", |case| {
        case.ours == case.raw && case.theirs != case.raw
    }),
    ("left as it is by the tool", |case| {
        case.theirs == case.raw && case.ours != case.raw
    }),
    ("literals", |case| {
        literals(case.ours) == literals(case.theirs)
    }),
    ("lambdas' notation", |case| {
        case.theirs.contains("'lambda") || case.theirs.contains("'unnamed")
    }),
    ("inherited constructors", |case| {
        case.raw.contains("ECI") && case.ours == case.other
    }),
    ("the tool alone", |case| case.ours == case.other),
    ("arguments left out by us", |case| {
        is_subsequence(&literals(case.ours), &literals(case.theirs))
    }),
];

/// How many of these are ours to mend.
pub(crate) const OURS: [&str; 2] = ["left as it is by us", "arguments left out by us"];

/// What the tools say of all names.
pub(crate) struct Comparison {
    /// For the document.
    pub(crate) table: String,
    /// How many names come under each rule, by `c++filt`.
    pub(crate) differing: BTreeMap<&'static str, usize>,
    /// What no rule explains.
    pub(crate) unexplained: Vec<String>,
}

/// Asks the tools about all names.
pub(crate) fn compare(names: &BTreeSet<String>, scratch: &Path) -> Comparison {
    let mut table = String::from(
        "| names | number | c++filt: equal | differing | llvm-cxxfilt: equal | differing |\n|---|---|---|---|---|---|\n",
    );
    let (mut all, mut unexplained) = (BTreeMap::new(), Vec::new());
    for (kind, is_of_kind) in KINDS {
        let names: Vec<&str> = names
            .iter()
            .map(String::as_str)
            .filter(|name| is_of_kind(name))
            .collect();
        if names.is_empty() {
            continue;
        }
        let rust = kind.starts_with("Rust");
        let ours: Vec<String> = names
            .iter()
            .map(|name| written_alike(&demangle(name.as_bytes()), rust))
            .collect();
        let gnu = ask(
            if rust {
                &["c++filt", "-s", "rust"]
            } else {
                &["c++filt"]
            },
            &names,
            rust,
            scratch,
        );
        let llvm = ask(&["llvm-cxxfilt"], &names, rust, scratch);
        table += &format!("| {kind} | {} ", names.len());
        for (tool, theirs, other) in [("c++filt", &gnu, &llvm), ("llvm-cxxfilt", &llvm, &gnu)] {
            if kind == "Rust, legacy" && tool == "llvm-cxxfilt" {
                table += "| · | takes them for C++ ";
                continue;
            }
            let mut equal = 0;
            let mut by_rule: BTreeMap<&str, usize> = BTreeMap::new();
            for at in 0..names.len() {
                let case = Case {
                    raw: names[at],
                    ours: &ours[at],
                    theirs: &theirs[at],
                    other: &other[at],
                };
                if case.ours == case.theirs {
                    equal += 1;
                } else if let Some((rule, _)) = RULES.iter().find(|(_, applies)| applies(&case)) {
                    *by_rule.entry(rule).or_default() += 1;
                    if tool == "c++filt" {
                        *all.entry(*rule).or_default() += 1;
                    }
                } else {
                    let Case {
                        raw,
                        ours,
                        theirs,
                        other,
                    } = case;
                    unexplained.push(format!(
                        "{raw}\n  ours:  {ours}\n  {tool}: {theirs}\n  other: {other}"
                    ));
                }
            }
            let rules: Vec<String> = by_rule
                .iter()
                .map(|(rule, count)| format!("{count} {rule}"))
                .collect();
            table += &format!(
                "| {equal} | {} ",
                if rules.is_empty() {
                    String::from("·")
                } else {
                    rules.join(", ")
                }
            );
        }
        table += "|\n";
    }
    Comparison {
        table,
        differing: all,
        unexplained,
    }
}

fn ask(command: &[&str], names: &[&str], rust: bool, scratch: &Path) -> Vec<String> {
    let list = scratch.join("names");
    fs::write(&list, names.join("\n") + "\n").expect("a list of names");
    let input = File::open(&list).expect("the list of names");
    let out = Command::new(command[0])
        .args(&command[1..])
        .stdin(input)
        .output()
        .expect("the tool starts");
    let text = String::from_utf8_lossy(&out.stdout);
    let lines: Vec<String> = text.lines().map(|line| written_alike(line, rust)).collect();
    assert_eq!(lines.len(), names.len(), "{command:?}");
    lines
}

/// One way of writing what the tools write in several: `> >` or `>>`, `operator< <`, clones, hashes of Rust's crates.
fn written_alike(name: &str, rust: bool) -> String {
    let mut name = name.replace("operator< <", "operator<<");
    while name.contains("> >") {
        name = name.replace("> >", ">>");
    }
    // ` (.isra.0)` of LLVM, ` [clone .isra.0]` of binutils: the plain suffix.
    if let Some((start, suffix)) = name
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" (."))
    {
        name = format!("{start}.{suffix}");
    }
    name = name
        .replace(" [clone ", "")
        .replace(']', if name.contains(" [clone ") { "" } else { "]" });
    if rust { without_hashes(&name) } else { name }
}

/// Rust's names without `[0123456789abcdef]` and `::h0123456789abcdef`, and without what LLVM appended.
fn without_hashes(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('[') {
        match after.split_once(']') {
            Some((hash, behind)) if hash.len() > 5 && is_hex(hash) => {
                out += before;
                rest = behind;
            }
            _ => {
                out += before;
                out.push('[');
                rest = after;
            }
        }
    }
    out += rest;
    let plain = out.split(".llvm.").next().unwrap_or_default();
    let plain = match plain.rsplit_once("::h") {
        Some((start, hash)) if hash.len() == 16 && is_hex(hash) => start,
        _ => plain,
    };
    // A number behind a point is a part of a static split up, which c++filt leaves out.
    let (start, last) = plain.rsplit_once('.').unwrap_or((plain, "x"));
    if last.bytes().all(|byte| byte.is_ascii_digit()) {
        start.to_owned()
    } else {
        plain.to_owned()
    }
}

/// `(unsigned long)3` as `3ul`.
fn literals(name: &str) -> String {
    let mut name = name.to_owned();
    for (cast, suffix) in [
        ("(unsigned long)", "ul"),
        ("(unsigned int)", "u"),
        ("(long)", "l"),
    ] {
        while let Some(at) = name.find(cast) {
            let digits = name[at + cast.len()..]
                .bytes()
                .take_while(|b| b.is_ascii_digit() || *b == b'-')
                .count();
            let end = at + cast.len() + digits;
            name = format!(
                "{}{}{suffix}{}",
                &name[..at],
                &name[at + cast.len()..end],
                &name[end..]
            );
        }
    }
    name
}

fn is_subsequence(short: &str, long: &str) -> bool {
    let mut long = long.bytes();
    short.bytes().all(|byte| long.any(|other| other == byte))
}
