//! Discriminators of line tables: which of several pieces of code of one line an address belongs to.

use std::collections::BTreeMap;

use crate::dwarf::{Dwarf, Reader};

/// Units whose discriminators are kept.
const MAX_UNITS: usize = 4096;

/// One unit's changes of discriminator by address; the last one before an address counts.
type Changes = Vec<(u64, u32)>;

/// The discriminators of the units asked for so far.
#[derive(Debug, Default)]
pub(super) struct Discriminators {
    /// By the place of the unit's header in `.debug_info`.
    units: BTreeMap<usize, Changes>,
    /// Places of the headers of split units' skeletons, by their ids; read when first needed.
    skeletons: Option<BTreeMap<u64, usize>>,
}

impl Discriminators {
    /// The discriminator of the row around `address`; `None` without a line table.
    pub(super) fn at(&mut self, dwarf: &Dwarf<'_>, address: u64) -> Option<u32> {
        let context = dwarf.context.as_ref()?;
        let unit = dwarf.finish(context.find_dwarf_and_unit(address))?;
        let place = match unit.dwo_id {
            Some(id) => *self
                .skeletons
                .get_or_insert_with(|| skeletons(&dwarf.sections))
                .get(&id.0)?,
            None => unit.header.debug_info_offset()?.0,
        };
        if self.units.len() >= MAX_UNITS && !self.units.contains_key(&place) {
            self.units.clear();
        }
        let changes = self
            .units
            .entry(place)
            .or_insert_with(|| read(&dwarf.sections, place).unwrap_or_default());
        let after = changes.partition_point(|&(start, _)| start <= address);
        changes.get(after.checked_sub(1)?).map(|&(_, value)| value)
    }
}

/// Places of the units that stand for split ones.
fn skeletons(sections: &gimli::Dwarf<Reader<'_>>) -> BTreeMap<u64, usize> {
    let mut places = BTreeMap::new();
    let mut units = sections.units();
    while let Ok(Some(header)) = units.next() {
        let Some(place) = header.debug_info_offset() else {
            continue;
        };
        if let Ok(unit) = sections.unit(header)
            && let Some(id) = unit.dwo_id
        {
            places.insert(id.0, place.0);
        }
    }
    places
}

/// The changes in the line table of the unit at `place`.
fn read(sections: &gimli::Dwarf<Reader<'_>>, place: usize) -> Option<Changes> {
    let header = sections
        .debug_info
        .header_from_offset(gimli::DebugInfoOffset(place))
        .ok()?;
    let program = sections.unit(header).ok()?.line_program?;
    let mut rows = program.rows();
    let mut changes = Vec::new();
    while let Ok(Some((_, row))) = rows.next_row() {
        let value = match row.end_sequence() {
            true => 0,
            false => u32::try_from(row.discriminator()).unwrap_or(0),
        };
        changes.push((row.address(), !row.end_sequence(), value));
    }
    // Sequences come in any order; rows of one address stay in theirs, so that the last one counts. A sequence's
    // end gives way to the start of the next one at the same address.
    changes.sort_by_key(|&(address, begins, _)| (address, begins));
    changes.dedup_by(|later, earlier| later.2 == earlier.2);
    let without_ends = changes
        .into_iter()
        .map(|(address, _, value)| (address, value));
    Some(without_ends.collect())
}
