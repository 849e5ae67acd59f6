//! Which code of a program is the runtime's: samples of it are the tracing's, not the program's.

use std::ops::Range;

use instr_symtab::{Image, SymbolKind};

/// How the names of the runtime's functions begin.
const PREFIX: &[u8] = b"instr_";
/// How the names of the stubs begin.
const STUB: &str = "__wrap_";
/// Parts of functions that compilers put with other rare code, far from the rest.
const COLD: &[u8] = b".cold";

/// Addresses of the runtime in an image, as the linker gave them. Its objects come from one archive, so they lie together: static functions, which have
/// ordinary names, are between others of it.
pub(super) fn addresses(image: &Image) -> Range<u64> {
    let own = image.symbols_where(|name| name.starts_with(PREFIX) && !name.ends_with(COLD));
    let functions = own
        .iter()
        .filter(|symbol| symbol.kind == SymbolKind::Function);
    let ends = functions.map(|symbol| {
        (
            symbol.address,
            symbol.address.saturating_add(symbol.size.max(1)),
        )
    });
    let (begin, end) = ends.fold((u64::MAX, 0), |(begin, end), (first, last)| {
        (begin.min(first), end.max(last))
    });
    begin.min(end)..end
}

/// Whether a function at a link address is the runtime's. `debug` says whether the debug information has a line for it: it is built without.
pub(super) fn is_own(name: &str, address: u64, runtime: &Range<u64>, debug: bool) -> bool {
    let prefix = name.as_bytes().starts_with(PREFIX) || name.starts_with(STUB);
    !runtime.is_empty() && !debug && (prefix || runtime.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_between_those_of_the_runtime_are_its_own_unless_they_have_lines() {
        let runtime = 0x1000..0x3000;
        let own = |name, address, debug| is_own(name, address, &runtime, debug);
        assert!(own("instr_event", 0x1000, false));
        assert!(own("record", 0x2000, false));
        assert!(own("instr_thread.cold", 0x100, false));
        assert!(own("__wrap_GOMP_task", 0xf00, false));
        assert!(!own("solve", 0x2000, true));
        assert!(!own("solve", 0x3000, false));
        assert!(
            !is_own("instr_event", 0x1000, &(0..0), false),
            "no runtime inside"
        );
    }
}
