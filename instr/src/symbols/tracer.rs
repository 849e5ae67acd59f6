//! Which code of a program is the runtime's: samples of it are the tracing's, not the program's.

use std::ops::Range;

use instr_symtab::{Image, SymbolKind};

/// How the names of the runtime's functions begin.
const PREFIX: &[u8] = b"instr_";
/// How the names of the stubs begin.
const STUB: &str = "__wrap_";
/// What others can call of the runtime by another name.
const OTHERS: [&str; 1] = ["ompt_start_tool"];
/// Parts of functions that compilers put with other rare code, far from the rest.
const COLD: &[u8] = b".cold";

/// Where a program begins: what the linker puts before and behind it may be the program's and the runtime's.
const START: &str = "_start";

/// Addresses of the runtime in an image, as the linker gave them. Its objects come from one archive, so they lie together: static functions, which have
/// ordinary names, are between others of it. Linkers put rare code of all objects before the rest, so in a program there are several such places, and what
/// others can call that is not the runtime's stands between them.
pub(super) fn addresses(image: &Image) -> Vec<Range<u64>> {
    let own = |name: &[u8]| name.starts_with(PREFIX) && !name.ends_with(COLD);
    let mut functions = image.symbols_where(own);
    if !functions.is_empty() && !image.symbols_named(START).is_empty() {
        functions = image.symbols_where(|_| true);
    }
    let functions = functions
        .iter()
        .filter(|symbol| symbol.kind == SymbolKind::Function);
    let functions = functions.map(|symbol| {
        let name = symbol.raw.as_bytes();
        let end = symbol.address.saturating_add(symbol.size.max(1));
        let is_between = symbol.source.is_some() || name.ends_with(COLD) || is_named(&symbol.raw);
        let whose = match (own(name), is_between) {
            (true, _) => Some(true),
            (false, true) => None,
            (false, false) => Some(false),
        };
        (symbol.address..end, whose)
    });
    together(functions)
}

/// Ranges of code, by address, that is the runtime's (`Some(true)`), and of what is between and may be anybody's (`None`).
fn together(functions: impl Iterator<Item = (Range<u64>, Option<bool>)>) -> Vec<Range<u64>> {
    let mut all: Vec<Range<u64>> = Vec::new();
    let mut goes_on = false;
    for (place, whose) in functions {
        match (whose, all.last_mut()) {
            (Some(true), Some(last)) if goes_on => last.end = last.end.max(place.end),
            (Some(true), _) => all.push(place),
            (Some(false), _) => {}
            (None, _) => continue,
        }
        goes_on = whose == Some(true);
    }
    all
}

fn is_named(name: &str) -> bool {
    name.as_bytes().starts_with(PREFIX) || name.starts_with(STUB) || OTHERS.contains(&name)
}

/// Whether a function at a link address is the runtime's. `debug` says whether the debug information has a line for it: it is built without.
pub(super) fn is_own(name: &str, address: u64, runtime: &[Range<u64>], debug: bool) -> bool {
    let inside = || runtime.iter().any(|range| range.contains(&address));
    !runtime.is_empty() && !debug && (is_named(name) || inside())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_between_those_of_the_runtime_are_its_own_unless_they_have_lines() {
        let runtime = [0x100..0x200, 0x1000..0x3000];
        let own = |name, address, debug| is_own(name, address, &runtime, debug);
        assert!(own("instr_event", 0x1000, false));
        assert!(own("record", 0x2000, false));
        assert!(own("instr_thread.cold", 0x80, false));
        assert!(own("__wrap_GOMP_task", 0xf00, false));
        assert!(!own("solve", 0x2000, true));
        assert!(!own("solve", 0x3000, false));
        assert!(own("record", 0x180, false) && !own("solve", 0x200, false));
        assert!(
            !is_own("instr_event", 0x1000, &[], false),
            "no runtime inside"
        );
    }

    /// Rare code of the runtime, the program, the runtime: static functions of both are between.
    #[test]
    fn a_program_between_parts_of_the_runtime_is_no_part_of_it() {
        let (ours, theirs, anyones) = (Some(true), Some(false), None);
        let functions = [
            (0x100..0x110, anyones), // static
            (0x110..0x120, ours),
            (0x120..0x130, anyones),
            (0x130..0x140, ours),
            (0x140..0x150, anyones),
            (0x200..0x210, theirs), // _start
            (0x210..0x220, anyones),
            (0x220..0x230, theirs), // main
            (0x300..0x310, ours),
            (0x310..0x320, anyones),
            (0x320..0x330, ours),
        ];
        assert_eq!(
            together(functions.into_iter()),
            [0x110..0x140, 0x300..0x330]
        );
    }
}
