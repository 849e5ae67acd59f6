//! Bounds on what the index of units costs, checked before it is built.
//!
//! Honest debug information refers to each abbreviation table, range list and line table once or a few times. A
//! hostile file lets thousands of units refer to one large table, so that reading it for each of them costs memory
//! and time that grow with the square of the file. The references are added up here, without storing anything.

use std::collections::BTreeMap;

use gimli::{Attribute, AttributeValue, Reader as _, Section as _, UnitHeader};

use crate::dwarf::Reader;

/// How often a section may be read in total by all units that refer to it …
const MAX_REREADS: u64 = 8;

/// … and what is allowed in any case, in bytes or entries.
const ALWAYS_ALLOWED: u64 = 1 << 20;

/// What remains to be spent on each section.
struct Budget {
    lines: u64,
    ranges: u64,
}

/// Whether the units' references stay in bounds.
pub(crate) fn is_affordable(dwarf: &gimli::Dwarf<Reader<'_>>) -> bool {
    abbreviations_are_affordable(dwarf) && tables_are_affordable(dwarf)
}

fn allowance(section_len: usize) -> u64 {
    (section_len as u64)
        .saturating_mul(MAX_REREADS)
        .saturating_add(ALWAYS_ALLOWED)
}

/// Adds up the sizes of the abbreviation tables at all distinct offsets.
fn abbreviations_are_affordable(dwarf: &gimli::Dwarf<Reader<'_>>) -> bool {
    let section = dwarf.debug_abbrev.reader();
    let mut left = allowance(section.len());
    let mut sizes: BTreeMap<usize, u64> = BTreeMap::new();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let offset = header.debug_abbrev_offset().0;
        if sizes.contains_key(&offset) {
            continue;
        }
        let size = section.slice().get(offset..).map_or(0, |table| {
            abbreviation_table_len(Reader::new(table, section.endian()))
        });
        sizes.insert(offset, size);
        match left.checked_sub(size) {
            Some(rest) => left = rest,
            None => return false,
        }
    }
    true
}

/// Length of the table at the start of `table` in bytes.
fn abbreviation_table_len(mut table: Reader<'_>) -> u64 {
    let total = table.len();
    // An error ends the table: whoever parses it stops there too.
    let _ = skip_abbreviations(&mut table);
    (total - table.len()) as u64
}

fn skip_abbreviations(table: &mut Reader<'_>) -> gimli::Result<()> {
    while table.read_uleb128()? != 0 {
        table.skip_leb128()?;
        table.read_u8()?;
        loop {
            let (name, form) = (table.read_uleb128()?, table.read_uleb128()?);
            if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                table.skip_leb128()?;
            }
            if name == 0 && form == 0 {
                break;
            }
        }
    }
    Ok(())
}

/// Adds up the line tables and range lists that the units' first entries refer to.
fn tables_are_affordable(dwarf: &gimli::Dwarf<Reader<'_>>) -> bool {
    let ranges =
        dwarf.ranges.debug_ranges().reader().len() + dwarf.ranges.debug_rnglists().reader().len();
    let mut left = Budget {
        lines: allowance(dwarf.debug_line.reader().len()),
        ranges: allowance(ranges),
    };
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        if matches!(
            header.type_(),
            gimli::UnitType::Type { .. } | gimli::UnitType::SplitType { .. }
        ) {
            continue; // never read
        }
        // A unit whose first entry cannot be read is skipped by the index as well.
        if let Ok(false) = unit_is_affordable(dwarf, &header, &mut left) {
            return false;
        }
    }
    true
}

/// Takes one unit's tables from the budget; false once it is overdrawn.
fn unit_is_affordable(
    dwarf: &gimli::Dwarf<Reader<'_>>,
    header: &UnitHeader<Reader<'_>>,
    left: &mut Budget,
) -> gimli::Result<bool> {
    let abbreviations = dwarf.abbreviations(header)?;
    let mut entries = header.entries_raw(&abbreviations, None)?;
    let Some(abbreviation) = entries.read_abbreviation()? else {
        return Ok(true);
    };
    let (mut base, mut ranges) = (gimli::DebugRngListsBase(0), None);
    for spec in abbreviation.attributes() {
        let attribute = entries.read_attribute(*spec)?;
        match (attribute.name(), attribute.value()) {
            (gimli::DW_AT_rnglists_base, AttributeValue::DebugRngListsBase(found)) => base = found,
            (gimli::DW_AT_ranges, value) => ranges = Some(value),
            (gimli::DW_AT_stmt_list, _) if !spend_lines(dwarf, &attribute, &mut left.lines) => {
                return Ok(false);
            }
            _ => {}
        }
    }
    let offset = match ranges {
        Some(AttributeValue::RangeListsRef(offset)) => gimli::RangeListsOffset(offset.0),
        Some(AttributeValue::DebugRngListsIndex(index)) => {
            dwarf.ranges.get_offset(header.encoding(), base, index)?
        }
        _ => return Ok(true),
    };
    let mut list = dwarf.ranges.raw_ranges(offset, header.encoding())?;
    while let Ok(Some(_)) = list.next() {
        match left.ranges.checked_sub(1) {
            Some(rest) => left.ranges = rest,
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// Takes a line table's length from what is left; false once it is overdrawn.
fn spend_lines(
    dwarf: &gimli::Dwarf<Reader<'_>>,
    attribute: &Attribute<Reader<'_>>,
    left: &mut u64,
) -> bool {
    let AttributeValue::DebugLineRef(offset) = attribute.value() else {
        return true;
    };
    let mut table = *dwarf.debug_line.reader();
    let length = table
        .skip(offset.0)
        .and_then(|()| table.read_initial_length());
    let length = length.map_or(0, |(length, _)| length.min(table.len()));
    left.checked_sub(length as u64)
        .map(|rest| *left = rest)
        .is_some()
}
