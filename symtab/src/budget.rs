//! Bounds on what reading units costs.
//!
//! Honest debug information refers to each abbreviation table, range list and line table once or a few times. A
//! hostile file lets thousands of units or functions refer to one large table, so that reading it for each of them costs
//! memory and time that grow with the square of the file. What is read is added up here, and reading ends where honest
//! files never get to.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use gimli::{Reader as _, Section as _};

use crate::dwarf::Reader;

/// How often a section may be read in total by all units that refer to it …
const MAX_REREADS: u64 = 8;

/// … and what is allowed in any case, in bytes or entries.
const ALWAYS_ALLOWED: u64 = 1 << 20;

/// What may still be read of something.
#[derive(Debug)]
pub(crate) struct Allowance(u64);

impl Allowance {
    /// For all units together: a section of this many bytes may be read several times.
    pub(crate) fn of_all(section_len: usize) -> Self {
        Allowance(
            (section_len as u64)
                .saturating_mul(MAX_REREADS)
                .saturating_add(ALWAYS_ALLOWED),
        )
    }

    /// For the range lists of all units, in bytes: each list is one unit's.
    pub(crate) fn of_ranges(section_len: usize) -> Self {
        Allowance(
            (section_len as u64)
                .saturating_mul(2)
                .saturating_add(ALWAYS_ALLOWED),
        )
    }

    /// For one unit or function, which reads everything once.
    pub(crate) fn of_one(section_len: usize) -> Self {
        Allowance((section_len as u64).saturating_add(1 << 16))
    }

    /// Takes so many bytes or entries from what is left.
    ///
    /// # Errors
    ///
    /// If that is more than there is.
    pub(crate) fn spend(&mut self, amount: u64) -> gimli::Result<()> {
        match self.0.checked_sub(amount) {
            Some(rest) => self.0 = rest,
            None => return Err(gimli::Error::TooManyIterations),
        }
        Ok(())
    }
}

/// What all units of a file may read of the tables that they share; each unit is charged when it is first opened.
#[derive(Debug)]
pub(crate) struct Budget(Mutex<Left>);

#[derive(Debug)]
struct Left {
    abbreviations: Allowance,
    /// Tables that were charged.
    tables: BTreeSet<usize>,
    lines: Allowance,
}

impl Budget {
    pub(crate) fn new(dwarf: &gimli::Dwarf<Reader<'_>>) -> Self {
        Budget(Mutex::new(Left {
            abbreviations: Allowance::of_all(dwarf.debug_abbrev.reader().len()),
            tables: BTreeSet::new(),
            lines: Allowance::of_all(dwarf.debug_line.reader().len()),
        }))
    }

    /// Charges the abbreviation table at an offset, once.
    ///
    /// # Errors
    ///
    /// If the tables overlap so much that together they are far longer than their section.
    pub(crate) fn charge_table(
        &self,
        dwarf: &gimli::Dwarf<Reader<'_>>,
        offset: usize,
    ) -> gimli::Result<()> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if left.tables.contains(&offset) {
            return Ok(());
        }
        let section = dwarf.debug_abbrev.reader();
        let size = section.slice().get(offset..).map_or(0, |table| {
            abbreviation_table_len(Reader::new(table, section.endian()))
        });
        left.abbreviations.spend(size)?;
        left.tables.insert(offset);
        Ok(())
    }

    /// Charges the line table of a unit.
    ///
    /// # Errors
    ///
    /// If the units read the line tables far more often than once each.
    pub(crate) fn charge_lines(
        &self,
        dwarf: &gimli::Dwarf<Reader<'_>>,
        offset: usize,
    ) -> gimli::Result<()> {
        let mut table = *dwarf.debug_line.reader();
        let length = table
            .skip(offset)
            .and_then(|()| table.read_initial_length());
        let length = length.map_or(0, |(length, _)| length.min(table.len()));
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        left.lines.spend(length as u64)
    }
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
        skip_abbreviation(table)?;
    }
    Ok(())
}

/// Passes an abbreviation behind its code.
pub(crate) fn skip_abbreviation(table: &mut Reader<'_>) -> gimli::Result<()> {
    table.skip_leb128()?;
    table.read_u8()?;
    loop {
        let (name, form) = (table.read_uleb128()?, table.read_uleb128()?);
        if form == u64::from(gimli::DW_FORM_implicit_const.0) {
            table.skip_leb128()?;
        }
        if name == 0 && form == 0 {
            return Ok(());
        }
    }
}
