//! Agreement with binutils and llvm-symbolizer, address by address.

mod binaries;
mod demangling;
mod peers;
mod report;
mod rules;
mod sample;
mod sources;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use binaries::Binary;
use instr_symtab::{Bytes, Image};
use peers::{Frames, Peer};
use report::{Counts, Row};
use rules::{Case, Part};
use sample::Program;

/// How many unexplained addresses of a program are shown.
const SHOWN: usize = 300;

/// Percent of all addresses where neither of the tools may be equal to us.
const MAX_ALONE: usize = 20;

/// Percent of the demangled names that may be wrong.
const MAX_WRONG_NAMES: usize = 2;

/// Opens a program together with whatever further files it asks for.
fn open(path: &Path) -> Image {
    let bytes = std::fs::read(path).expect("the program");
    let mut image = Image::from_bytes(bytes.into()).expect("the program is read");
    for _ in 0..4 {
        let wanted = image.wants();
        let found = wanted.iter().filter_map(|want| {
            let mut paths = want.candidates(path).into_iter();
            paths.find_map(|path| std::fs::read(path).ok())
        });
        let found: Vec<Bytes> = found.map(Bytes::from).collect();
        if found.is_empty() || !image.add_debug(found).iter().any(Result::is_ok) {
            break;
        }
    }
    assert_eq!(image.debug_error(), None, "{}", path.display());
    image
}

/// One program: what was counted, and some of what no rule explains.
fn compare(binary: &Binary, scratch: &Path, names: &mut BTreeSet<String>) -> (Row, Vec<String>) {
    let plain = binary.twin.as_deref().unwrap_or(&binary.file);
    let program = Program::read(&binary.file, plain);
    let addresses = program.sample(binary.count, binary.name.bytes().map(u64::from).sum());
    names.extend(program.mangled_names());
    let answers = open(&binary.file).lookup_all(&addresses);
    let ours: Vec<Frames> = answers.iter().map(|answer| peers::ours(answer)).collect();
    let ask = |peer: Peer, addresses: &[u64]| {
        let answers = |file| peer.ask(binary.prefix, file, addresses, scratch);
        let own = answers(&binary.file);
        if !binary.may_not_read.contains(&peer) {
            return own;
        }
        let twin = answers(plain);
        if known(&own) < known(&twin) {
            twin
        } else {
            own
        }
    };
    let both = [Peer::Binutils, Peer::Llvm].map(|peer| (peer, ask(peer, &addresses)));
    let mut row = Row {
        name: binary.name.clone(),
        addresses: addresses.len(),
        ..Row::default()
    };
    let alone = |at: &usize| both.iter().all(|(_, answers)| answers[*at] != ours[*at]);
    row.alone = (0..addresses.len()).filter(alone).count();
    let mut unexplained = Vec::new();
    for (number, (peer, answers)) in both.iter().enumerate() {
        let mut counts = Counts::default();
        for (at, &address) in addresses.iter().enumerate() {
            let (ours, theirs, other) = (&ours[at], &answers[at], &both[1 - number].1[at]);
            if ours == theirs {
                counts.equal += 1;
                continue;
            }
            let case = Case {
                binary,
                program: &program,
                address,
                peer: *peer,
                ours,
                theirs,
                other,
            };
            match case.explain().as_deref() {
                Some([rule, ..]) => *counts.rules.entry(*rule).or_default() += 1,
                _ => {
                    counts.unexplained += 1;
                    if unexplained.len() < SHOWN {
                        let third = ask(Peer::Elfutils, &[address]);
                        unexplained.push(show(&case, third.first()));
                    }
                }
            }
        }
        row.peers.insert(*peer, counts);
    }
    (row, unexplained)
}

/// How much a tool knows of all addresses: less of a container that it does not read than of its twin.
fn known(answers: &[Frames]) -> usize {
    let frames = answers.iter().flatten();
    let parts = frames.map(|frame| {
        let place = [frame.function != "??", frame.file != "??", frame.line > 0];
        place.into_iter().filter(|&known| known).count()
    });
    parts.sum()
}

/// What differs first, by each tool.
fn show(case: &Case<'_>, third: Option<&Frames>) -> String {
    let parts = case.parts();
    let at = match parts.first() {
        Some(Part::Function(at) | Part::File(at) | Part::Line(at)) => *at,
        _ => {
            let mut pairs = case.ours.iter().zip(case.theirs);
            pairs
                .position(|(ours, theirs)| ours != theirs)
                .unwrap_or(case.ours.len().min(case.theirs.len()))
        }
    };
    let frame = |frames: &Frames| {
        let shown = frames
            .get(at)
            .map(|f| format!("{} {}:{}", f.function, f.file, f.line));
        format!(
            "{} frames, {at}: {}",
            frames.len(),
            shown.unwrap_or_default()
        )
    };
    format!(
        "{} {:#x} [{}] {parts:?} {}/{}\n  ours:   {}\n  {:8}{}\n  other:  {}\n  third:  {}",
        case.binary.name,
        case.address,
        case.program.section(case.address).unwrap_or("?"),
        case.other == case.ours,
        third == Some(case.ours),
        frame(case.ours),
        case.peer.name(),
        frame(case.theirs),
        frame(case.other),
        third.map(frame).unwrap_or_default(),
    )
}

#[test]
fn names_agree_with_other_tools() {
    for peer in [Peer::Binutils, Peer::Llvm] {
        if peer.version().is_none() {
            return instr_test_needs::skipped(&format!("{} is not installed", peer.name()));
        }
    }
    let full = std::env::var_os("INSTR_AGREEMENT").is_some_and(|value| value == "all");
    let filter = std::env::var("INSTR_AGREEMENT_FILTER").unwrap_or_default();
    // A folder that is named is kept, and what it holds is not compiled again.
    let kept = std::env::var_os("INSTR_AGREEMENT_FOLDER").map(PathBuf::from);
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = kept.as_deref().unwrap_or(temporary.path());
    let built = binaries::build(folder, full);
    let (mut rows, mut unexplained) = (Vec::new(), Vec::new());
    let mut names = BTreeSet::new();
    for binary in built.binaries.iter().filter(|binary| {
        filter.is_empty() || filter.split('|').any(|part| binary.name.contains(part))
    }) {
        let (row, texts) = compare(binary, folder, &mut names);
        eprintln!("{}", row.line());
        rows.push(row);
        unexplained.extend(texts);
    }
    let demangled = demangling::compare(&names, folder);
    eprint!("{}", demangled.table);
    unexplained.extend(demangled.unexplained);
    for note in &built.skipped {
        instr_test_needs::skipped(note);
    }
    assert!(
        unexplained.is_empty(),
        "no rule explains:\n{}",
        unexplained.join("\n")
    );
    let wrong: usize = demangling::OURS
        .iter()
        .filter_map(|rule| demangled.differing.get(rule))
        .sum();
    assert!(
        wrong * 100 <= names.len() * MAX_WRONG_NAMES,
        "{wrong} of {} names are wrong",
        names.len()
    );
    if filter.is_empty() {
        check_totals(&rows);
        if std::env::var_os("INSTR_GOLDEN").is_some() {
            report::write(&report::section(&rows, &versions(), &demangled.table));
        }
    }
    let written = report::written();
    assert!(
        written.contains(&report::rules()),
        "docs/symtab.md lists other rules: run scripts/agreement.sh"
    );
}

/// The bounds that keep the rules from swallowing what they were not made for.
fn check_totals(rows: &[Row]) {
    let total = Row::total(rows);
    assert!(total.addresses >= 10_000, "{total:?}");
    assert!(
        total.alone * 100 <= total.addresses * MAX_ALONE,
        "{total:?}"
    );
    for counts in total.peers.values() {
        for (rule, count) in &counts.rules {
            let most = rules::RULES[*rule].at_most;
            assert!(
                count * 100 <= total.addresses * most,
                "{}: {total:?}",
                report::letter(*rule)
            );
        }
    }
}

/// The tools as they name themselves.
fn versions() -> String {
    let tools =
        [Peer::Binutils, Peer::Llvm, Peer::Elfutils].map(|peer| peer.version().unwrap_or_default());
    format!("Tools: {}.", tools.join("; "))
}
