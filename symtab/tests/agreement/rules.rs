//! Why tools differ: each rule is one reason, told apart by what can be checked at the address itself.

use instr_symtab::demangle;

use crate::binaries::{Binary, Maker};
use crate::peers::{Frame, Frames, Peer, unknown};
use crate::sample::Program;
use crate::sources;

/// Everything known of one address where a peer says something else.
pub(crate) struct Case<'c> {
    pub(crate) binary: &'c Binary,
    pub(crate) program: &'c Program,
    pub(crate) address: u64,
    pub(crate) peer: Peer,
    pub(crate) ours: &'c Frames,
    pub(crate) theirs: &'c Frames,
    /// What the other one of binutils and llvm-symbolizer says.
    pub(crate) other: &'c Frames,
}

/// What differs: the number of frames, or a part of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Frames,
    Function(usize),
    File(usize),
    Line(usize),
}

/// A reason, narrow enough to be checked for each address.
pub(crate) struct Rule {
    /// What differs.
    pub(crate) name: &'static str,
    /// Who is right, and why.
    pub(crate) reason: &'static str,
    /// Percent of all addresses that may come under it.
    pub(crate) at_most: usize,
    pub(crate) applies: fn(&Case<'_>, Part) -> bool,
}

impl Case<'_> {
    /// The parts that differ.
    pub(crate) fn parts(&self) -> Vec<Part> {
        if self.ours.len() != self.theirs.len() {
            return vec![Part::Frames];
        }
        let mut parts = Vec::new();
        for (at, (ours, theirs)) in self.ours.iter().zip(self.theirs).enumerate() {
            for (part, differs) in [
                (Part::Function(at), ours.function != theirs.function),
                (Part::File(at), ours.file != theirs.file),
                (Part::Line(at), ours.line != theirs.line),
            ] {
                if differs {
                    parts.push(part);
                }
            }
        }
        parts
    }

    /// Numbers of the rules that explain all that differs, or none.
    pub(crate) fn explain(&self) -> Option<Vec<usize>> {
        let find = |part| RULES.iter().position(|rule| (rule.applies)(self, part));
        self.parts().into_iter().map(find).collect()
    }

    fn outermost(&self) -> &Frame {
        self.ours.last().expect("there is always a frame")
    }
}

/// Not a linker's name: that of a function without one, such as those of anonymous namespaces.
fn is_plain(name: &str) -> bool {
    !name.starts_with("_Z") && !name.starts_with("_R")
}

/// Whether a frame of the other tool is the same in this part.
fn other_agrees(case: &Case<'_>, part: Part) -> bool {
    let same = |at: usize, equal: fn(&Frame, &Frame) -> bool| {
        let pair = case.other.get(at).zip(case.ours.get(at));
        case.other.len() == case.ours.len() && pair.is_some_and(|(other, ours)| equal(other, ours))
    };
    match part {
        Part::Frames => case.other == case.ours,
        Part::Function(at) => same(at, |a, b| a.function == b.function),
        Part::File(at) => same(at, |a, b| a.file == b.file),
        Part::Line(at) => same(at, |a, b| a.line == b.line),
    }
}

/// The frame a part is of, ours and theirs; not for a differing number of frames.
fn frames<'c>(case: &'c Case<'_>, part: Part) -> Option<(usize, &'c Frame, &'c Frame)> {
    let (Part::Function(at) | Part::File(at) | Part::Line(at)) = part else {
        return None;
    };
    Some((at, case.ours.get(at)?, case.theirs.get(at)?))
}

/// The same where the part is the name of the outermost function.
fn outermost<'c>(case: &'c Case<'_>, part: Part) -> Option<(&'c str, &'c str)> {
    let (at, ours, theirs) = frames(case, part)?;
    let outermost = part == Part::Function(at) && at + 1 == case.ours.len();
    outermost.then_some((&*ours.function, &*theirs.function))
}

pub(crate) const RULES: &[Rule] = &[
    Rule {
        name: "a clone's name",
        reason: "Ours and llvm-symbolizer's: `sum.constprop.0`, the ELF symbol, which tells the optimizer's copies of a function apart and is what profilers and `nm` show. binutils prints the name of the source function, `sum`. Checked: the longer name is a symbol around the address, and is theirs with a suffix.",
        at_most: 30,
        applies: |case, part| {
            let Some((ours, theirs)) = outermost(case, part) else {
                return false;
            };
            let clone = ours
                .strip_prefix(theirs)
                .is_some_and(|rest| rest.starts_with('.'));
            clone && case.program.covers(ours, case.address)
        },
    },
    Rule {
        name: "which of several names of one place",
        reason: "Nobody's: `write` and `__write` are one function. Checked: both are symbols at the same address.",
        at_most: 5,
        applies: |case, part| {
            let Some((ours, theirs)) = outermost(case, part) else {
                return false;
            };
            case.program.same_place(ours, theirs) && case.program.covers(theirs, case.address)
        },
    },
    Rule {
        name: "a function of an anonymous namespace, which has no linker name in DWARF",
        reason: "Ours and llvm-symbolizer's: the ELF symbol, demangled, with namespaces and parameters. binutils prints DWARF's bare `stepped<2>`. Checked: ours is a symbol around the address whose demangled form holds their name.",
        at_most: 5,
        applies: |case, part| {
            let Some((ours, theirs)) = outermost(case, part) else {
                return false;
            };
            let base = theirs.split(['<', '(']).next().unwrap_or_default();
            is_plain(theirs)
                && ours.starts_with("_Z")
                && !base.is_empty()
                && demangle(ours.as_bytes()).contains(base)
                && case.program.covers(ours, case.address)
        },
    },
    Rule {
        name: "the file where no line is known",
        reason: "Ours: nothing. binutils prints the name of an object's source (`loop.o:?`) that it took from the symbol table for another name of the function. Checked: no line is known to either, and the file is an `STT_FILE` symbol.",
        at_most: 4,
        applies: |case, part| {
            let [theirs] = &case.theirs[..] else {
                return false;
            };
            let no_line = case.outermost().line == 0 && theirs.line == 0;
            let unit = case.outermost().file == "??" && case.program.files.contains(&theirs.file);
            part == Part::File(0) && case.ours.len() == 1 && no_line && unit
        },
    },
    Rule {
        name: "the function of bytes that belong to none (padding between functions, stubs)",
        reason: "Ours: nothing. They take the last symbol before the address, however far, and binutils with it the name of its unit as the file. Checked: no symbol's extent holds the address, and theirs is the last one before it.",
        at_most: 12,
        applies: |case, part| {
            let no_line = case.theirs[0].line == 0 && case.outermost().line == 0;
            (part == Part::Function(0) || part == Part::File(0) && no_line)
                && case.ours.len() == 1
                && case.outermost().function == "??"
                && !case.program.is_covered(case.address)
                && case
                    .program
                    .is_nearest(&case.theirs[0].function, case.address)
        },
    },
    Rule {
        name: "the name of an inlined function without linker name (C with `static`, Fortran's internal procedures, lambdas)",
        reason: "Ours: the inlined function's own name. binutils 2.40 prints the ELF symbol around the address, that is the function it was inlined into. Checked: llvm-symbolizer says the same as we.",
        at_most: 8,
        applies: |case, part| {
            let Some((at, ours, theirs)) = frames(case, part) else {
                return false;
            };
            part == Part::Function(at)
                && case.peer == Peer::Binutils
                && at + 1 < case.ours.len()
                && is_plain(&ours.function)
                && other_agrees(case, part)
                && case.program.covers(&theirs.function, case.address)
        },
    },
    Rule {
        name: "the line of the first instruction of an outlined OpenMP function",
        reason: "Ours, on purpose: the directive's line. Optimized code has several lines there, of which the others take the last, often a statement the scheduler moved up. Checked: it is the function's first address, and the line of the source that we name is a directive.",
        at_most: 1,
        applies: |case, part| {
            let ours = case.outermost();
            part != Part::Frames
                && ours.function.contains("._omp_fn.")
                && case
                    .program
                    .named(&ours.function)
                    .any(|(start, _)| start == case.address)
                && sources::is_directive(&ours.file, ours.line)
        },
    },
    Rule {
        name: "the same, where ours is wrong",
        reason: "Theirs. GCC sometimes writes a statement's line before the directive's. Checked: it is the function's first address, and the line of the source that they name is a directive.",
        at_most: 1,
        applies: |case, part| {
            let ours = case.outermost();
            let Some((at, _, theirs)) = frames(case, part) else {
                return false;
            };
            part == Part::Line(at)
                && ours.function.contains("._omp_fn.")
                && case
                    .program
                    .named(&ours.function)
                    .any(|(start, _)| start == case.address)
                && sources::is_directive(&theirs.file, theirs.line)
        },
    },
    Rule {
        name: "stubs of the procedure linkage table",
        reason: "Ours: `puts@plt`, from the stub's relocation. They show the nearest symbol before it, or nothing. Checked: the address is in a section of stubs, and the dynamic symbols hold the name.",
        at_most: 6,
        applies: |case, part| {
            let [ours] = &case.ours[..] else { return false };
            let target = ours.function.strip_suffix("@plt");
            part == Part::Function(0)
                && case
                    .program
                    .section(case.address)
                    .is_some_and(|name| name.starts_with(".plt"))
                && target
                    .is_some_and(|name| case.program.imports.iter().any(|import| import == name))
        },
    },
    Rule {
        name: "the file of a function in a header, DWARF 5",
        reason: "Ours: binutils 2.40 misreads file numbers of DWARF 5 in places and prints the unit's main file with the header's line. Checked: theirs is the unit's file, and llvm-symbolizer says the same as we.",
        at_most: 5,
        applies: |case, part| {
            let Some((at, _, theirs)) = frames(case, part) else {
                return false;
            };
            let unit = case.program.unit(case.address);
            part == Part::File(at)
                && case.peer == Peer::Binutils
                && other_agrees(case, part)
                && unit.is_some_and(|unit| unit.version == 5 && unit.file == theirs.file)
        },
    },
    Rule {
        name: "the number of inlined frames, DWARF 5 of clang",
        reason: "Ours: clang writes the ranges of inlined calls as indices (`DW_FORM_rnglistx`), which binutils 2.40 does not follow, so that frames are missing. Checked: file and line are the same, all frames it shows are among ours, and llvm-symbolizer's are exactly ours.",
        at_most: 20,
        applies: |case, part| {
            let (ours, theirs) = (&case.ours[0], &case.theirs[0]);
            part == Part::Frames
                && case.peer == Peer::Binutils
                && case.binary.maker == Maker::Clang
                && case
                    .program
                    .unit(case.address)
                    .is_some_and(|unit| unit.version == 5)
                && case.theirs.len() < case.ours.len()
                && (&ours.file, ours.line) == (&theirs.file, theirs.line)
                && case
                    .theirs
                    .iter()
                    .all(|frame| case.ours.iter().any(|ours| ours.function == frame.function))
                && other_agrees(case, part)
        },
    },
    Rule {
        name: "functions without debug information in a stripped program",
        reason: "Ours: the symbols of its debug file. llvm-symbolizer 14 takes lines from there but no symbols. Checked: theirs is `??`, the program has no symbol table, and ours is a symbol around the address.",
        at_most: 2,
        applies: |case, part| {
            let ours = &case.outermost().function;
            let nothing = case.theirs[..] == unknown()[..]
                || outermost(case, part).is_some_and(|(_, theirs)| theirs == "??");
            case.peer == Peer::Llvm
                && part != Part::Frames
                && case.program.stripped
                && nothing
                && (case.program.covers(ours, case.address)
                    || case.program.is_nearest(ours, case.address))
        },
    },
];
