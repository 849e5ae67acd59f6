//! Which functions of a unit have code where, and what was inlined into them.

use gimli::{DebugAddrIndex, DebugRngListsIndex, RangeListsOffset, Section as _};

use crate::budget::Allowance;
use crate::dwarf::Reader;
use crate::entries::{Address, End, Entries, Fields, RangeList, as_offset};
use crate::plan::{Kind, Plans};

/// A unit whose entries can be read: the sections it lies in, itself, its plans.
#[derive(Clone, Copy)]
pub(crate) struct View<'u, 'd> {
    pub(crate) sections: &'u gimli::Dwarf<Reader<'d>>,
    pub(crate) unit: &'u gimli::Unit<Reader<'d>>,
    pub(crate) plans: &'u Plans,
}

/// Code of one function, or a part of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// Offset of the function's entry in the unit.
    pub(crate) entry: u32,
}

/// The functions of a unit by address.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    spans: Box<[Span]>,
    /// Whether every entry was looked at.
    pub(crate) complete: bool,
}

/// A call that was inlined.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    /// Offset in the unit of the entry that leads to the name of the called function.
    pub(crate) name_at: u32,
    pub(crate) file: Option<u32>,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

#[derive(Debug, Clone, Copy)]
struct CallSpan {
    begin: u64,
    end: u64,
    depth: u32,
    call: u32,
}

/// The inlined calls of one function; kept to be filled again.
#[derive(Debug, Default)]
pub(crate) struct Inlines {
    calls: Vec<Call>,
    spans: Vec<CallSpan>,
    /// Offset in the unit of the entry that leads to the function's own name.
    pub(crate) name_at: u32,
}

impl<'u, 'd> View<'u, 'd> {
    fn entries(&self, offset: usize) -> gimli::Result<Entries<'u, 'd>> {
        let header = &self.unit.header;
        let mut bytes = *self.sections.debug_info.reader();
        gimli::Reader::skip(
            &mut bytes,
            header.debug_info_offset().map_or(usize::MAX, |at| at.0),
        )?;
        gimli::Reader::truncate(&mut bytes, header.length_including_self())?;
        Entries::new(
            bytes,
            offset,
            header.encoding(),
            self.plans,
            &self.unit.abbreviations,
        )
    }

    fn address(&self, address: Address) -> gimli::Result<u64> {
        match address {
            Address::Plain(address) => Ok(address),
            Address::Index(index) => self
                .sections
                .address(self.unit, DebugAddrIndex(as_offset(index)?)),
        }
    }

    /// Calls `found` for every range of code that an entry claims and that is not empty.
    fn for_each_range(
        &self,
        fields: &Fields,
        left: &mut Allowance,
        mut found: impl FnMut(u64, u64),
    ) -> gimli::Result<()> {
        let mut add = |begin: u64, end: u64| {
            if begin < end {
                found(begin, end);
            }
        };
        let offset =
            match fields.ranges {
                Some(RangeList::Offset(offset)) => Some(self.sections.ranges_offset_from_raw(
                    self.unit,
                    gimli::RawRangeListsOffset(as_offset(offset)?),
                )),
                Some(RangeList::Index(index)) => Some(
                    self.sections
                        .ranges_offset(self.unit, DebugRngListsIndex(as_offset(index)?))?,
                ),
                None => None,
            };
        if let Some(offset) = offset {
            return self.list(offset, left, add);
        }
        if let (Some(low), Some(high)) = (fields.low, fields.high) {
            let begin = self.address(low)?;
            match high {
                End::At(end) => add(begin, self.address(end)?),
                // A function that was dropped begins at -1: the sum overflows, and is refused as empty.
                End::After(length) => add(begin, begin.wrapping_add(length)),
            }
        }
        Ok(())
    }

    fn list(
        &self,
        offset: RangeListsOffset<usize>,
        left: &mut Allowance,
        mut add: impl FnMut(u64, u64),
    ) -> gimli::Result<()> {
        let mut list = self.sections.ranges(self.unit, offset)?;
        while let Some(range) = list.next()? {
            left.spend(1)?;
            add(range.begin, range.end);
        }
        Ok(())
    }
}

fn as_u32(offset: usize) -> gimli::Result<u32> {
    u32::try_from(offset).map_err(|_| gimli::Error::UnsupportedOffset)
}

impl Functions {
    /// Reads the functions of a unit.
    ///
    /// With `quick`, the insides of functions and types are passed over where the compiler says how far they reach:
    /// that is most of a unit, and hardly ever holds further functions with code. Functions that do not begin at code
    /// were dropped by the linker: their addresses begin at 0 or 1, and long ones reach into the code of others.
    pub(crate) fn read(
        view: View<'_, '_>,
        quick: bool,
        left: &mut Allowance,
        holds_code: impl Fn(u64) -> bool,
    ) -> gimli::Result<Self> {
        let mut spans = Vec::new();
        let mut complete = true;
        let mut entries = view.entries(view.unit.header.root_offset().0)?;
        loop {
            let at = entries.offset();
            let plan = match entries.next()? {
                None => break,
                Some(None) => continue,
                Some(Some(plan)) => plan,
            };
            let may_skip = quick && plan.children && plan.sibling && plan.kind != Kind::Other;
            if plan.kind != Kind::Function && !may_skip {
                entries.skip(&plan)?;
                continue;
            }
            let fields = entries.read(&plan)?;
            if plan.kind == Kind::Function {
                let entry = as_u32(at)?;
                view.for_each_range(&fields, left, |begin, end| {
                    if holds_code(begin) {
                        spans.push(Span { begin, end, entry });
                    }
                })?;
            }
            if may_skip && entries.jump(fields.sibling) {
                complete = false;
            }
        }
        // Of several functions at one place, the first told comes first.
        spans.sort_by_key(|span| span.begin);
        Ok(Functions {
            spans: spans.into_boxed_slice(),
            complete,
        })
    }

    /// The function around an address. Those of one unit do not overlap.
    pub(crate) fn find(&self, address: u64) -> Option<&Span> {
        let after = self.spans.partition_point(|span| span.begin <= address);
        let span = self.spans.get(after.checked_sub(1)?)?;
        (address < span.end).then_some(span)
    }

    /// Bytes that these take.
    pub(crate) fn size(&self) -> usize {
        size_of_val(&*self.spans)
    }
}

impl Inlines {
    /// Reads what was inlined into the function whose entry is at `entry`, in place of what was read before.
    pub(crate) fn read(
        &mut self,
        view: View<'_, '_>,
        entry: u32,
        left: &mut Allowance,
    ) -> gimli::Result<()> {
        self.calls.clear();
        self.spans.clear();
        self.name_at = entry;
        let mut entries = view.entries(entry as usize)?;
        let Some(Some(plan)) = entries.next()? else {
            return Ok(());
        };
        self.name_at = name_at(entry, &entries.read(&plan)?);
        if !plan.children {
            return Ok(());
        }
        let result = self.read_children(view, &mut entries, left);
        // By depth, then by address: the order in which `find` searches.
        self.spans
            .sort_unstable_by_key(|span| (span.depth, span.begin, span.call));
        result
    }

    fn read_children(
        &mut self,
        view: View<'_, '_>,
        entries: &mut Entries<'_, '_>,
        left: &mut Allowance,
    ) -> gimli::Result<()> {
        let keep_file_0 = view.unit.header.version() >= 5;
        // Of every open entry: whether it is an inlined call.
        let mut open = vec![false];
        let mut depth = 0;
        loop {
            let at = entries.offset();
            let plan = match entries.next()? {
                None => return Ok(()),
                Some(None) => {
                    depth -= u32::from(open.pop().unwrap_or(false));
                    if open.is_empty() {
                        return Ok(());
                    }
                    continue;
                }
                Some(Some(plan)) => plan,
            };
            match plan.kind {
                Kind::Inlined => {
                    let fields = entries.read(&plan)?;
                    let call = as_u32(self.calls.len())?;
                    self.calls.push(Call {
                        name_at: name_at(as_u32(at)?, &fields),
                        // Before DWARF 5, file 0 stands for none.
                        file: fields
                            .call_file
                            .filter(|&file| file > 0 || keep_file_0)
                            .map(|file| u32::try_from(file).unwrap_or(u32::MAX)),
                        line: fields.call_line as u32,
                        column: fields.call_column as u32,
                    });
                    view.for_each_range(&fields, left, |begin, end| {
                        self.spans.push(CallSpan {
                            begin,
                            end,
                            depth,
                            call,
                        });
                    })?;
                    if plan.children {
                        open.push(true);
                        depth += 1;
                    }
                }
                Kind::Function | Kind::Abstract | Kind::Type if plan.children => {
                    skip_tree(entries, &plan)?;
                }
                _ => {
                    entries.skip(&plan)?;
                    if plan.children {
                        open.push(false);
                    }
                }
            }
        }
    }

    /// The inlined calls around an address, from the outermost on.
    pub(crate) fn find(&self, address: u64) -> impl Iterator<Item = &Call> {
        let mut rest = &self.spans[..];
        let mut depth = 0;
        std::iter::from_fn(move || {
            let found = rest
                .binary_search_by(|span| {
                    span.depth.cmp(&depth).then_with(|| {
                        if span.begin > address {
                            std::cmp::Ordering::Greater
                        } else if span.end <= address {
                            std::cmp::Ordering::Less
                        } else {
                            std::cmp::Ordering::Equal
                        }
                    })
                })
                .ok()?;
            let call = &self.calls[rest[found].call as usize];
            rest = &rest[found + 1..];
            depth += 1;
            Some(call)
        })
    }
}

/// Where the search for a name begins: at the entry's pattern, unless the entry itself may have a name.
fn name_at(entry: u32, fields: &Fields) -> u32 {
    match fields.origin {
        Some(origin) if !fields.named_here => u32::try_from(origin).unwrap_or(entry),
        _ => entry,
    }
}

/// Passes an entry with all that is below it.
fn skip_tree(entries: &mut Entries<'_, '_>, plan: &crate::plan::Plan) -> gimli::Result<()> {
    let fields = entries.read(plan)?;
    if plan.sibling && entries.jump(fields.sibling) {
        return Ok(());
    }
    let mut open = 1usize;
    while open > 0 {
        match entries.next()? {
            None => return Ok(()),
            Some(None) => open -= 1,
            Some(Some(plan)) => {
                entries.skip(&plan)?;
                open += usize::from(plan.children);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_has_its_first_byte_and_not_the_one_behind_its_last() {
        let span = |begin, end, entry| Span { begin, end, entry };
        let functions = Functions {
            spans: Box::new([
                span(0x10, 0x20, 1),
                span(0x20, 0x28, 2),
                span(0x30, 0x31, 3),
            ]),
            complete: true,
        };
        let entry = |address| functions.find(address).map(|span| span.entry);
        let found = [0xf, 0x10, 0x1f, 0x20, 0x27, 0x28, 0x2f, 0x30, 0x31].map(entry);
        let expected = [0, 1, 1, 2, 2, 0, 0, 3, 0].map(|entry| (entry != 0).then_some(entry));
        assert_eq!(found, expected);
        assert_eq!(Functions::default().find(0).map(|span| span.entry), None);
    }
}
