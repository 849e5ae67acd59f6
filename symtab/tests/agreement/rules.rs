//! Why tools differ: each rule is one reason, told apart by what can be checked at the address itself.

use instr_symtab::{demangle, parse_outlined};

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
        reason: "Ours and llvm-symbolizer's: `sum.constprop.0`, the ELF symbol, which differs between the optimizer's copies of a function and is what profilers and `nm` show. binutils prints the name of the source function, `sum`. Checked: the longer name is a symbol around the address, and is theirs with a suffix.",
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
        reason: "Nobody's: `write` and `__write` are one function. Checked: both are symbols at the same address, or around the address asked for (theirs may be the last one before it).",
        at_most: 5,
        applies: |case, part| {
            let Some((ours, theirs)) = outermost(case, part) else {
                return false;
            };
            case.program.same_place(ours, theirs)
                || case.program.covers(ours, case.address)
                    && (case.program.covers(theirs, case.address)
                        || case.program.is_nearest(theirs, case.address))
        },
    },
    Rule {
        name: "a function of an anonymous namespace, or one of Rust around inlined ones, of which the other does not find the linker name",
        reason: "Ours and llvm-symbolizer's: the ELF symbol, demangled, with namespaces and parameters. binutils prints DWARF's bare `stepped<2>`. Checked: ours is a symbol around the address whose demangled form holds their name.",
        at_most: 5,
        applies: |case, part| {
            let Some((ours, theirs)) = outermost(case, part) else {
                return false;
            };
            let base = theirs.split(['<', '(']).next().unwrap_or_default();
            is_plain(theirs)
                && !is_plain(ours)
                && !base.is_empty()
                && demangle(ours.as_bytes()).contains(base)
                && case.program.covers(ours, case.address)
        },
    },
    Rule {
        name: "the file where no line is known",
        reason: "Nobody's: without lines the file is that of the symbol in the table (`loop.o:?`), and of several names of one place some are local, which have one, and some global, which have none. Checked: no line is known to either, and each file is an `STT_FILE` symbol or missing.",
        at_most: 4,
        applies: |case, part| {
            let [theirs] = &case.theirs[..] else {
                return false;
            };
            let no_line = case.outermost().line == 0 && theirs.line == 0;
            let known = |file: &String| file == "??" || case.program.files.contains(file);
            let units = known(&case.outermost().file) && known(&theirs.file);
            part == Part::File(0) && case.ours.len() == 1 && no_line && units
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
            let named = part == Part::Function(at);
            // Where no line is known, binutils prints the symbol's unit as the file.
            let placed = part == Part::File(at)
                && theirs.line == 0
                && case.program.files.contains(&theirs.file);
            (named || placed)
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
        applies: |case, _| {
            let ours = case.outermost();
            parse_outlined(&ours.function).is_some()
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
                    .is_some_and(|name| name.starts_with(".plt") || name == ".iplt")
                && target.is_some_and(|name| {
                    case.program.imports.iter().any(|import| import == name)
                        || case.program.named(name).next().is_some()
                })
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
    Rule {
        name: "functions and inlined calls in files of `dwz`",
        reason: "Ours: `dwz` moves descriptions that units share to partial units, which binutils 2.40 does not always follow: frames are missing, or have other names. Checked: llvm-symbolizer says the same as we.",
        at_most: 5,
        applies: |case, part| {
            let dwz = case.binary.name.contains(": dwz");
            dwz && case.peer == Peer::Binutils && other_agrees(case, part)
        },
    },
    Rule {
        name: "a constructor's or destructor's clone",
        reason: "Ours and llvm-symbolizer's: the ELF symbol, `…C2….constprop.0`. binutils prints DWARF's name for all kinds of the constructor in one, `…C4…`. Checked: ours is a symbol around the address and theirs but for that digit and the suffix.",
        at_most: 1,
        applies: |case, part| {
            let Some((ours, theirs)) = outermost(case, part) else {
                return false;
            };
            let one_kind = |name: &str| {
                let name = name.split('.').next().unwrap_or_default();
                name.replace("C2", "C4")
                    .replace("C1", "C4")
                    .replace("D1", "D4")
                    .replace("D2", "D4")
            };
            one_kind(ours) == one_kind(theirs) && case.program.covers(ours, case.address)
        },
    },
    Rule {
        name: "inlined calls inside of others that are in several pieces, strict DWARF 2",
        reason: "Theirs. DWARF 2 has no ranges, so that GCC leaves out the extent of such a call but not of those inside of it; we and elfutils stop there. Checked: the unit is of version 2, the place is the same, and the outermost function.",
        at_most: 1,
        applies: |case, part| {
            let version = case.program.unit(case.address).map(|unit| unit.version);
            let place = |frames: &Frames| (frames[0].file.clone(), frames[0].line);
            part == Part::Frames
                && version == Some(2)
                && case.theirs.len() > case.ours.len()
                && place(case.ours) == place(case.theirs)
                && case.other.len() == case.theirs.len()
        },
    },
    Rule {
        name: "the file of a caller in strict DWARF 2",
        reason: "Ours: nothing. llvm-symbolizer names the unit as the file of a call whose file and line strict DWARF 2 cannot describe. Checked: the unit is of version 2, neither has a line.",
        at_most: 1,
        applies: |case, part| {
            let version = case.program.unit(case.address).map(|unit| unit.version);
            let Some((at, ours, theirs)) = frames(case, part) else {
                return false;
            };
            let unknown = ours.file == "??" && ours.line == 0 && theirs.line == 0;
            version == Some(2) && at > 0 && part == Part::File(at) && unknown
        },
    },
    Rule {
        name: "lines that binutils does not find",
        reason: "Ours. Strict DWARF 2 leaves the extent of a unit in several pieces out, and binutils then finds no line there; rarely elsewhere. Checked: theirs has no line, and llvm-symbolizer says the same as we.",
        at_most: 1,
        applies: |case, part| {
            let nothing = case.theirs.len() == 1 && case.theirs[0].line == 0;
            case.peer == Peer::Binutils && nothing && other_agrees(case, part)
        },
    },
    Rule {
        name: "names of inlined functions after link-time optimization",
        reason: "Ours: their descriptions stand in another unit, and binutils 2.40 prints `??`. Checked: theirs is `??`, and llvm-symbolizer says the same as we.",
        at_most: 1,
        applies: |case, part| {
            let unnamed = frames(case, part).is_some_and(|(at, _, theirs)| {
                part == Part::Function(at) && theirs.function == "??"
            });
            case.peer == Peer::Binutils
                && case.binary.name.contains("-flto")
                && unnamed
                && other_agrees(case, part)
        },
    },
];
