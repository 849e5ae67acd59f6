//! The units of a file: which of them an address belongs to, and those that are open.
//!
//! Opening a file reads the headers of the units only, and `.debug_aranges` where there is one: both are a small part of
//! the debug information. A unit is opened when an address first falls into it, and closed again when the open ones
//! together take more than the limit, the one unused for the longest time first.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use gimli::{Reader as _, Section as _, UnitHeader, UnitType};

use crate::budget::{Allowance, Budget};
use crate::dwarf::Reader;
use crate::elf::Elf;
use crate::functions::{Functions, View};
use crate::lines::Lines;
use crate::plan::Plans;
use crate::ranges::{Ranges, Roots};

/// Sections of one file.
pub(crate) type Sections<'d> = gimli::Dwarf<Reader<'d>>;

/// Abbreviations of a unit with the plans made of them.
#[derive(Debug)]
struct Table {
    abbreviations: Arc<gimli::Abbreviations>,
    plans: Plans,
}

/// What tells tables apart: offset, version, size of offsets and of addresses.
type TableKey = (usize, u16, u8, u8);

/// A place for a unit.
#[derive(Debug)]
struct Slot<'d> {
    header: UnitHeader<Reader<'d>>,
    /// When it was last asked for, as a number of [`Units::clock`].
    used: AtomicU64,
    open: Mutex<State<'d>>,
}

#[derive(Debug)]
enum State<'d> {
    /// Never opened.
    New,
    /// Opened before.
    Closed,
    Open(Arc<Open<'d>>),
    /// Damaged, or not affordable.
    Failed(gimli::Error),
}

/// The units of one file.
#[derive(Debug)]
pub(crate) struct Units<'d> {
    slots: Box<[Slot<'d>]>,
    /// Ranges of `.debug_aranges`.
    quick: Ranges,
    /// Ranges that the units themselves tell.
    complete: OnceLock<Ranges>,
    budget: Budget,
    tables: Mutex<BTreeMap<TableKey, Weak<Table>>>,
    clock: AtomicU64,
    /// Bytes that the open units take.
    resident: Arc<AtomicUsize>,
    limit: AtomicUsize,
    /// The first thing that was found damaged.
    pub(crate) error: OnceLock<gimli::Error>,
}

/// The other half of a unit, from a `.dwo` or `.dwp` file.
#[derive(Debug)]
pub(crate) struct Split<'d> {
    pub(crate) sections: Arc<Sections<'d>>,
    unit: gimli::Unit<Reader<'d>>,
    plans: Plans,
}

/// A unit whose entries can be read, with what was read of it.
#[derive(Debug)]
pub(crate) struct Open<'d> {
    /// Number of the unit.
    pub(crate) number: usize,
    pub(crate) unit: gimli::Unit<Reader<'d>>,
    table: Arc<Table>,
    split: OnceLock<Option<Box<Split<'d>>>>,
    functions: OnceLock<Functions>,
    all_functions: OnceLock<Functions>,
    lines: OnceLock<Lines>,
    size: AtomicUsize,
    resident: Arc<AtomicUsize>,
}

impl<'d> Units<'d> {
    /// Reads the headers.
    pub(crate) fn new(sections: &Sections<'d>, limit: usize) -> Self {
        let error = OnceLock::new();
        let mut slots = Vec::new();
        let mut units = sections.units();
        loop {
            match units.next() {
                // Type units hold no code, and no name of a function.
                Ok(Some(header)) if is_type_unit(&header) => {}
                Ok(Some(header)) => slots.push(Slot {
                    header,
                    used: AtomicU64::new(0),
                    open: Mutex::new(State::New),
                }),
                Ok(None) => break,
                Err(why) => {
                    let _ = error.set(why);
                    break;
                }
            }
        }
        let number_at = |offset| {
            slots
                .binary_search_by_key(&offset, |slot: &Slot<'_>| offset_of(&slot.header))
                .ok()
        };
        Units {
            quick: Ranges::of_aranges(sections, number_at),
            slots: slots.into_boxed_slice(),
            complete: OnceLock::new(),
            budget: Budget::new(sections),
            tables: Mutex::default(),
            clock: AtomicU64::new(1),
            resident: Arc::default(),
            limit: AtomicUsize::new(limit),
            error,
        }
    }

    /// Sets how many bytes the open units may take together.
    pub(crate) fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Bytes that the open units take.
    pub(crate) fn resident(&self) -> usize {
        self.resident.load(Ordering::Relaxed)
    }

    /// Numbers of the units that may know an address, likely ones first. A unit may be told twice.
    pub(crate) fn at<'s>(
        &'s self,
        sections: &'s Sections<'d>,
        program: &'s Elf,
        address: u64,
    ) -> impl Iterator<Item = usize> + 's {
        let mut stage = 0;
        let later = std::iter::from_fn(move || {
            stage += 1;
            (stage == 1).then(|| self.complete(sections, program))
        });
        std::iter::once(&self.quick)
            .chain(later)
            .flat_map(move |ranges| ranges.find(address))
    }

    /// Number of the first unit that the quick index knows for an address.
    pub(crate) fn likely(&self, address: u64) -> Option<usize> {
        let ranges = self.complete.get().filter(|_| self.quick.is_empty());
        ranges.unwrap_or(&self.quick).find(address).next()
    }

    /// Makes the index that [`Units::likely`] looks into, if there is none.
    pub(crate) fn prepare(&self, sections: &Sections<'d>, program: &Elf) {
        if self.quick.is_empty() {
            self.complete(sections, program);
        }
    }

    fn complete(&self, sections: &Sections<'d>, program: &Elf) -> &Ranges {
        self.complete.get_or_init(|| {
            let mut left = Allowance::of_ranges(
                sections.ranges.debug_ranges().reader().len()
                    + sections.ranges.debug_rnglists().reader().len(),
            );
            let mut ranges = Vec::new();
            let mut roots = Roots::new(sections);
            for (number, slot) in self.slots.iter().enumerate() {
                if matches!(slot.header.type_(), UnitType::Partial) {
                    continue; // holds no code
                }
                let before = ranges.len();
                let root = roots.read(sections, &slot.header);
                let read =
                    root.and_then(|root| root.ranges(sections, number, &mut left, &mut ranges));
                if read == Err(gimli::Error::TooManyIterations) {
                    let _ = self.error.set(gimli::Error::TooManyIterations);
                    break;
                }
                if ranges.len() == before {
                    self.ranges_of_lines(sections, program, number, &mut ranges);
                }
            }
            Ranges::new(ranges)
        })
    }

    /// The ranges of a unit that does not declare any.
    fn ranges_of_lines(
        &self,
        sections: &Sections<'d>,
        program: &Elf,
        number: usize,
        ranges: &mut Vec<(u64, u64, usize)>,
    ) {
        if let Ok(open) = self.open(sections, number) {
            let of_lines = open.lines(program).ranges();
            ranges.extend(of_lines.map(|(begin, end)| (begin, end, number)));
        }
    }

    /// Opens a unit, or finds it open.
    pub(crate) fn open(
        &self,
        sections: &Sections<'d>,
        number: usize,
    ) -> gimli::Result<Arc<Open<'d>>> {
        let slot = self.slots.get(number).ok_or(gimli::Error::MissingUnitDie)?;
        let now = self.clock.fetch_add(1, Ordering::Relaxed);
        slot.used.store(now, Ordering::Relaxed);
        let mut state = lock(&slot.open);
        match &*state {
            State::Open(open) => return Ok(Arc::clone(open)),
            State::Failed(why) => return Err(*why),
            State::New | State::Closed => {}
        }
        let charge = matches!(*state, State::New);
        match self.read(sections, slot, number, charge) {
            Ok(open) => {
                *state = State::Open(Arc::clone(&open));
                Ok(open)
            }
            Err(why) => {
                *state = State::Failed(why);
                let _ = self.error.set(why);
                Err(why)
            }
        }
    }

    fn read(
        &self,
        sections: &Sections<'d>,
        slot: &Slot<'d>,
        number: usize,
        charge: bool,
    ) -> gimli::Result<Arc<Open<'d>>> {
        let header = &slot.header;
        self.budget
            .charge_table(sections, header.debug_abbrev_offset().0)?;
        if charge && let Some(offset) = Roots::new(sections).read(sections, header)?.lines {
            self.budget.charge_lines(sections, offset)?;
        }
        let table = self.table(sections, header)?;
        let abbreviations = Arc::clone(&table.abbreviations);
        let unit = gimli::Unit::new_with_abbreviations(sections, *header, abbreviations)?;
        let files = unit.line_program.as_ref().map_or(0, |program| {
            program.header().file_names().len() + program.header().include_directories().len()
        });
        // A table is counted for each unit that uses it: better too much than too little.
        let size = size_of::<Open<'_>>() + table.plans.size() * 3 + files * 96;
        self.resident.fetch_add(size, Ordering::Relaxed);
        Ok(Arc::new(Open {
            number,
            unit,
            table,
            split: OnceLock::new(),
            functions: OnceLock::new(),
            all_functions: OnceLock::new(),
            lines: OnceLock::new(),
            size: AtomicUsize::new(size),
            resident: Arc::clone(&self.resident),
        }))
    }

    /// The abbreviations of a unit; units that are open share them.
    fn table(
        &self,
        sections: &Sections<'d>,
        header: &UnitHeader<Reader<'d>>,
    ) -> gimli::Result<Arc<Table>> {
        let encoding = header.encoding();
        let offset = header.debug_abbrev_offset();
        let word = encoding.format.word_size();
        let key = (offset.0, encoding.version, word, encoding.address_size);
        if let Some(table) = lock(&self.tables).get(&key).and_then(Weak::upgrade) {
            return Ok(table);
        }
        let abbreviations = Arc::new(header.abbreviations(&sections.debug_abbrev)?);
        let plans = Plans::new(&abbreviations, encoding);
        let table = Arc::new(Table {
            abbreviations,
            plans,
        });
        let mut tables = lock(&self.tables);
        tables.retain(|_, table| table.strong_count() > 0);
        tables.insert(key, Arc::downgrade(&table));
        Ok(table)
    }

    /// The unit around an offset in the section, and the offset in that unit.
    pub(crate) fn around(&self, offset: usize) -> Option<(usize, usize)> {
        let after = self
            .slots
            .partition_point(|slot| offset_of(&slot.header) <= offset);
        let number = after.checked_sub(1)?;
        let header = &self.slots[number].header;
        let inner = offset - offset_of(header);
        (inner < header.length_including_self()).then_some((number, inner))
    }

    /// Bytes of a unit's entries.
    pub(crate) fn length(&self, number: usize) -> usize {
        self.slots
            .get(number)
            .map_or(0, |slot| slot.header.length_including_self())
    }

    /// The headers of the units, in order.
    pub(crate) fn headers(&self) -> impl Iterator<Item = &UnitHeader<Reader<'d>>> {
        self.slots.iter().map(|slot| &slot.header)
    }

    /// Closes the units unused for the longest time, if all together take more than the limit.
    pub(crate) fn close_idle(&self) {
        let limit = self.limit.load(Ordering::Relaxed);
        if self.resident() <= limit {
            return;
        }
        let mut idle: Vec<(u64, usize)> = Vec::new();
        for (number, slot) in self.slots.iter().enumerate() {
            // Whoever holds the lock is using the unit.
            if let Ok(state) = slot.open.try_lock()
                && matches!(*state, State::Open(_))
            {
                idle.push((slot.used.load(Ordering::Relaxed), number));
            }
        }
        idle.sort_unstable();
        idle.pop(); // the one used last
        for (_, number) in idle {
            if self.resident() <= limit / 4 * 3 {
                break;
            }
            self.close(number);
        }
    }

    /// Closes a unit, if nobody is about to use it.
    pub(crate) fn close(&self, number: usize) {
        if let Some(slot) = self.slots.get(number)
            && let Ok(mut state) = slot.open.try_lock()
            && matches!(*state, State::Open(_))
        {
            *state = State::Closed;
        }
    }
}

impl<'d> Open<'d> {
    /// What to read entries of functions from: the split half where there is one, else the unit itself.
    pub(crate) fn view<'u>(
        &'u self,
        sections: &'u Sections<'d>,
        find_split: impl FnOnce(gimli::DwoId) -> Option<Arc<Sections<'d>>>,
    ) -> View<'u, 'd> {
        let split = self.split.get_or_init(|| {
            let sections = find_split(self.unit.dwo_id?)?;
            Split::new(sections, &self.unit).map(Box::new)
        });
        match split {
            Some(split) => View {
                sections: &split.sections,
                unit: &split.unit,
                plans: &split.plans,
            },
            None => self.main(sections),
        }
    }

    /// The unit itself.
    pub(crate) fn main<'u>(&'u self, sections: &'u Sections<'d>) -> View<'u, 'd> {
        View {
            sections,
            unit: &self.unit,
            plans: &self.table.plans,
        }
    }

    /// The entry of the function around an address.
    pub(crate) fn function(&self, view: View<'_, '_>, program: &Elf, address: u64) -> Option<u32> {
        let read = |quick| {
            let mut left = allowance(view);
            let holds_code = |begin| program.holds_code(begin);
            let functions = Functions::read(view, quick, &mut left, holds_code).unwrap_or_default();
            self.grow(functions.size());
            functions
        };
        let quick = self.functions.get_or_init(|| read(true));
        let found = quick.find(address).or_else(|| {
            if quick.complete {
                return None;
            }
            self.all_functions.get_or_init(|| read(false)).find(address)
        });
        found.map(|span| span.entry)
    }

    /// The unit's line table.
    pub(crate) fn lines(&self, program: &Elf) -> &Lines {
        self.lines.get_or_init(|| {
            let table = self.unit.line_program.as_ref();
            let lines = table.map(|table| Lines::read(table, |begin| program.holds_code(begin)));
            let lines = lines.and_then(Result::ok).unwrap_or_default();
            self.grow(lines.size());
            lines
        })
    }

    fn grow(&self, bytes: usize) {
        self.size.fetch_add(bytes, Ordering::Relaxed);
        self.resident.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.resident
            .fetch_sub(self.size.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

impl<'d> Split<'d> {
    /// The unit of a split file that belongs to a skeleton: the first.
    fn new(sections: Arc<Sections<'d>>, skeleton: &gimli::Unit<Reader<'d>>) -> Option<Self> {
        let header = sections.units().next().ok()??;
        let mut unit = sections.unit(header).ok()?;
        unit.copy_relocated_attributes(skeleton);
        let plans = Plans::new(&unit.abbreviations, unit.header.encoding());
        Some(Split {
            sections,
            unit,
            plans,
        })
    }
}

/// How many ranges one unit or function may have.
pub(crate) fn allowance(view: View<'_, '_>) -> Allowance {
    let ranges = &view.sections.ranges;
    Allowance::of_one(ranges.debug_ranges().reader().len() + ranges.debug_rnglists().reader().len())
}

fn is_type_unit(header: &UnitHeader<Reader<'_>>) -> bool {
    matches!(
        header.type_(),
        UnitType::Type { .. } | UnitType::SplitType { .. }
    )
}

fn offset_of(header: &UnitHeader<Reader<'_>>) -> usize {
    header.debug_info_offset().map_or(usize::MAX, |at| at.0)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
