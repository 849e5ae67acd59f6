//! Which unit an address belongs to.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use gimli::{
    AttributeSpecification, DebugAddrBase, DebugAddrIndex, DebugRngListsBase, DebugRngListsIndex,
    DwAt, DwForm, RangeListsOffset, Reader as _, Section as _, UnitHeader,
};

use crate::budget::{Allowance, skip_abbreviation};
use crate::dwarf::Reader;
use crate::entries::{Address, End, Entries, Fields, RangeList, as_offset};
use crate::plan::{Plans, steps};
use crate::units::Sections;

/// A stretch of code of one unit.
#[derive(Debug, Clone, Copy)]
struct UnitRange {
    begin: u64,
    end: u64,
    /// Least begin of this and all later ranges.
    least: u64,
    unit: u32,
}

/// Stretches of code with the number of their unit. They may overlap.
#[derive(Debug, Default)]
pub(crate) struct Ranges(Box<[UnitRange]>);

impl Ranges {
    /// Takes begin, end and unit of every stretch.
    pub(crate) fn new(ranges: Vec<(u64, u64, usize)>) -> Self {
        let mut sorted: Vec<_> = ranges
            .into_iter()
            .filter(|&(begin, end, unit)| begin < end && u32::try_from(unit).is_ok())
            .map(|(begin, end, unit)| UnitRange {
                begin,
                end,
                least: 0,
                unit: unit as u32,
            })
            .collect();
        sorted.sort_unstable_by_key(|range| (range.end, range.unit, range.begin));
        let mut least = u64::MAX;
        for range in sorted.iter_mut().rev() {
            least = least.min(range.begin);
            range.least = least;
        }
        Ranges(sorted.into_boxed_slice())
    }

    /// Reads `.debug_aranges`; `number_at` tells a unit's number by its offset.
    pub(crate) fn of_aranges(
        sections: &Sections<'_>,
        number_at: impl Fn(usize) -> Option<usize>,
    ) -> Self {
        let mut ranges = Vec::new();
        let mut sets = sections.debug_aranges.headers();
        while let Ok(Some(set)) = sets.next() {
            let Some(number) = number_at(set.debug_info_offset().0) else {
                continue;
            };
            let mut entries = set.entries();
            while let Some(entry) = entries.next().transpose() {
                // A single range may overflow the address space; the others count nevertheless.
                if let Ok(entry) = entry {
                    ranges.push((entry.range().begin, entry.range().end, number));
                }
            }
        }
        Ranges::new(ranges)
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Numbers of the units around an address.
    pub(crate) fn find(&self, address: u64) -> impl Iterator<Item = usize> + '_ {
        let first = self.0.partition_point(|range| range.end <= address);
        self.0[first..]
            .iter()
            .take_while(move |range| range.least <= address)
            .filter(move |range| range.begin <= address)
            .map(|range| range.unit as usize)
    }
}

/// What the first entry of a unit says.
#[derive(Debug)]
pub(crate) struct Root {
    encoding: gimli::Encoding,
    fields: Fields,
    /// Offset of the unit's line table.
    pub(crate) lines: Option<usize>,
}

/// Reads the first entries of units, and no more abbreviations than those of their own.
#[derive(Debug)]
pub(crate) struct Roots {
    /// Attributes by the offset of a table and a code in it: units may share a table.
    known: BTreeMap<(usize, u64), Vec<AttributeSpecification>>,
    /// Bytes of tables that may still be passed over.
    left: Allowance,
}

impl Roots {
    /// Will read the roots of a few units, or of all.
    pub(crate) fn new(sections: &Sections<'_>) -> Self {
        Roots {
            known: BTreeMap::new(),
            left: Allowance::of_all(sections.debug_abbrev.reader().len()),
        }
    }

    /// Reads the first entry of a unit.
    pub(crate) fn read<'d>(
        &mut self,
        sections: &Sections<'d>,
        header: &UnitHeader<Reader<'d>>,
    ) -> gimli::Result<Root> {
        let encoding = header.encoding();
        let mut bytes = header.range_from(header.root_offset()..)?;
        let code = bytes.read_uleb128()?;
        let key = (header.debug_abbrev_offset().0, code);
        let specs = match self.known.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(abbreviation(sections, key, &mut self.left)?),
        };
        let (plans, none) = (Plans::default(), gimli::Abbreviations::default());
        let mut entries = Entries::new(bytes, 0, encoding, &plans, &none)?;
        let fields = entries.follow(&steps(specs, encoding, |_| true))?;
        Ok(Root {
            encoding,
            lines: fields.lines.and_then(|lines| usize::try_from(lines).ok()),
            fields,
        })
    }
}

impl Root {
    /// Adds the ranges of the unit's code.
    pub(crate) fn ranges(
        &self,
        sections: &Sections<'_>,
        number: usize,
        left: &mut Allowance,
        found: &mut Vec<(u64, u64, usize)>,
    ) -> gimli::Result<()> {
        let low = self
            .fields
            .low
            .map(|low| self.address(sections, low))
            .transpose()?;
        if let Some(list) = self.fields.ranges {
            let mut list = sections.ranges.ranges(
                self.list_offset(sections, list)?,
                self.encoding,
                low.unwrap_or(0),
                &sections.debug_addr,
                self.address_base(),
            )?;
            // What an entry takes at least (DWARF 4, 2.17.3; DWARF 5, 7.25).
            let bytes = match self.encoding.version {
                ..5 => 2 * u64::from(self.encoding.address_size),
                _ => 3,
            };
            while let Some(range) = list.next()? {
                left.spend(bytes)?;
                if range.begin < range.end {
                    found.push((range.begin, range.end, number));
                }
            }
            return Ok(());
        }
        if let (Some(begin), Some(high)) = (low, self.fields.high) {
            let end = match high {
                End::At(end) => self.address(sections, end)?,
                End::After(length) => begin.wrapping_add(length),
            };
            if begin < end {
                found.push((begin, end, number));
            }
        }
        Ok(())
    }

    fn address_base(&self) -> DebugAddrBase<usize> {
        match self
            .fields
            .address_base
            .and_then(|base| usize::try_from(base).ok())
        {
            Some(base) => DebugAddrBase(base),
            None => DebugAddrBase(0),
        }
    }

    fn address(&self, sections: &Sections<'_>, address: Address) -> gimli::Result<u64> {
        match address {
            Address::Plain(address) => Ok(address),
            Address::Index(index) => sections.debug_addr.get_address(
                self.encoding.address_size,
                self.address_base(),
                DebugAddrIndex(as_offset(index)?),
            ),
        }
    }

    fn list_offset(
        &self,
        sections: &Sections<'_>,
        list: RangeList,
    ) -> gimli::Result<RangeListsOffset<usize>> {
        match list {
            RangeList::Offset(offset) => Ok(RangeListsOffset(as_offset(offset)?)),
            RangeList::Index(index) => {
                let base = as_offset(self.fields.ranges_base.unwrap_or(0))?;
                let index = DebugRngListsIndex(as_offset(index)?);
                sections
                    .ranges
                    .get_offset(self.encoding, DebugRngListsBase(base), index)
            }
        }
    }
}

/// The attributes of the abbreviation in the table at an offset, with a code.
fn abbreviation(
    sections: &Sections<'_>,
    (offset, code): (usize, u64),
    left: &mut Allowance,
) -> gimli::Result<Vec<AttributeSpecification>> {
    let mut table = *sections.debug_abbrev.reader();
    table.skip(offset)?;
    let before = table.len();
    loop {
        match table.read_uleb128()? {
            0 => return Err(gimli::Error::InvalidAbbreviationCode(code)),
            found if found == code => break,
            _ => skip_abbreviation(&mut table)?,
        }
    }
    left.spend((before - table.len()) as u64)?;
    table.skip_leb128()?; // tag
    table.read_u8()?; // children
    let mut specs = Vec::new();
    loop {
        let (name, form) = (table.read_uleb128_u16()?, table.read_uleb128_u16()?);
        if (name, form) == (0, 0) {
            return Ok(specs);
        }
        let implicit = if form == gimli::DW_FORM_implicit_const.0 {
            Some(table.read_sleb128()?)
        } else {
            None
        };
        specs.push(AttributeSpecification::new(
            DwAt(name),
            DwForm(form),
            implicit,
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_ranges_are_all_found() {
        let ranges = [
            (10u64, 20, 0),
            (15, 40, 1),
            (0, 100, 2),
            (30, 35, 3),
            (35, 35, 4),
        ];
        let index = Ranges::new(ranges.to_vec());
        for address in 0..110 {
            let mut found: Vec<_> = index.find(address).collect();
            found.sort_unstable();
            let expected: Vec<_> = ranges
                .iter()
                .filter(|(begin, end, _)| (*begin..*end).contains(&address))
                .map(|(.., unit)| *unit)
                .collect();
            assert_eq!(found, expected, "{address}");
        }
    }
}
