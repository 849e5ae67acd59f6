//! Functions that the linker dropped.

use crate::dwarf::Dwarf;
use crate::elf::Elf;

/// Whether the function at `die`, which the debug information gives for `address`, was dropped by the linker.
///
/// Such a function's addresses begin at 0 or 1. A long one reaches from there into the code of others, since position
/// independent programs begin at low addresses too.
pub(crate) fn was_dropped(
    dwarf: &Dwarf<'_>,
    program: &Elf,
    address: u64,
    die: gimli::UnitOffset,
) -> bool {
    begins_at(dwarf, address, die).is_some_and(|begin| !program.holds_code(begin))
}

/// Where the function's range around `address` begins.
fn begins_at(dwarf: &Dwarf<'_>, address: u64, die: gimli::UnitOffset) -> Option<u64> {
    let context = dwarf.context.as_ref()?;
    let unit = dwarf.finish(context.find_dwarf_and_unit(address))?;
    let entry = unit.entry(die).ok()?;
    let mut ranges = unit.die_ranges(&entry).ok()?;
    while let Ok(Some(range)) = ranges.next() {
        if range.begin <= address && address < range.end {
            return Some(range.begin);
        }
    }
    None
}
