//! From an address to the stack of functions that the debug information knows.

use std::collections::HashMap;
use std::sync::Arc;

use crate::dwarf::Dwarf;
use crate::functions::Inlines;
use crate::lines::{Row, file_name};
use crate::lookup::{Frame, FunctionName};
use crate::names::{Fast, Names};
use crate::origin;
use crate::units::{Open, allowance};

/// What one look-up leaves for the next: worth a lot if that is in the same function or unit.
pub(crate) struct Finder<'d> {
    /// The unit that the rest belongs to.
    unit: Option<Arc<Open<'d>>>,
    /// The function whose inlined calls were read last.
    function: Option<u32>,
    inlines: Inlines,
    /// Discriminator of the last answer.
    pub(crate) discriminator: u32,
    /// Names by offset in the unit.
    functions: HashMap<u32, Option<FunctionName>, Fast>,
    /// Files by number in the unit's line table.
    files: HashMap<u32, Option<Arc<str>>, Fast>,
}

impl<'d> Finder<'d> {
    pub(crate) fn new() -> Self {
        Finder {
            unit: None,
            function: None,
            inlines: Inlines::default(),
            discriminator: 0,
            functions: HashMap::default(),
            files: HashMap::default(),
        }
    }

    /// Frames at an address, innermost first; none if the debug information does not know it.
    pub(crate) fn frames(&mut self, dwarf: &Dwarf<'d>, names: &Names, address: u64) -> Vec<Frame> {
        let with = With { dwarf, names };
        self.discriminator = 0;
        if let Some(frames) = self.frames_in_last(with, address) {
            return frames;
        }
        for number in dwarf.units.at(&dwarf.sections, dwarf.program, address) {
            if self.enter(dwarf, number)
                && let Some(frames) = self.frames_here(with, address)
            {
                return frames;
            }
        }
        Vec::new()
    }

    /// The unit of the last answer.
    pub(crate) fn unit(&self) -> Option<&Open<'d>> {
        self.unit.as_deref()
    }

    /// The same without searching for the unit, if it is the last one for certain.
    fn frames_in_last(&mut self, with: With<'_, 'd>, address: u64) -> Option<Vec<Frame>> {
        let last = self.unit.as_ref()?.number;
        if with.dwarf.units.likely(address) != Some(last) {
            return None;
        }
        self.frames_here(with, address)
    }

    /// Makes a unit the current one; false if it cannot be read.
    fn enter(&mut self, dwarf: &Dwarf<'d>, number: usize) -> bool {
        if self.unit.as_ref().is_some_and(|unit| unit.number == number) {
            return true;
        }
        let Ok(open) = dwarf.open(number) else {
            return false;
        };
        self.unit = Some(open);
        self.function = None;
        self.functions.clear();
        self.files.clear();
        true
    }

    /// Frames at an address of the current unit.
    fn frames_here(&mut self, with: With<'_, 'd>, address: u64) -> Option<Vec<Frame>> {
        let open = Arc::clone(self.unit.as_ref()?);
        let view = with.dwarf.view(&open);
        let function = open.function(view, with.dwarf.program, address);
        let row = open.lines(with.dwarf.program).find(address).copied();
        self.discriminator = row.map_or(0, |row| row.discriminator);
        let Some(function) = function else {
            let place = self.place_of(with, &open, row?);
            return Some(vec![place.frame(None)]);
        };
        if self.function != Some(function) {
            self.function = Some(function);
            // Of a damaged function, what was read before the damage counts.
            let _ = self.inlines.read(view, function, &mut allowance(view));
        }
        let calls: Vec<_> = self.inlines.find(address).copied().collect();
        let own_name = self.inlines.name_at;
        let mut place = match row {
            Some(row) => self.place_of(with, &open, row),
            None => Place::default(),
        };
        let mut frames = Vec::with_capacity(calls.len() + 1);
        for call in calls.iter().rev() {
            let name = self.function_name(with, &open, call.name_at);
            let mut frame = place.frame(name);
            frame.inlined = true;
            frames.push(frame);
            place = Place {
                file: call.file.and_then(|file| self.file(with, &open, file)),
                line: Some(call.line).filter(|&line| line > 0),
                column: Some(call.column).filter(|&column| column > 0),
            };
        }
        let name = self.function_name(with, &open, own_name);
        frames.push(place.frame(name));
        Some(frames)
    }

    fn place_of(&mut self, with: With<'_, 'd>, open: &Open<'d>, row: Row) -> Place {
        let known = row.line > 0;
        Place {
            file: self.file(with, open, row.file),
            line: known.then_some(row.line),
            column: known.then_some(row.column),
        }
    }

    fn function_name(
        &mut self,
        with: With<'_, 'd>,
        open: &Open<'d>,
        at: u32,
    ) -> Option<FunctionName> {
        let find = || {
            let raw = origin::name(with.dwarf, open, at as usize)?;
            Some(with.names.function(raw))
        };
        self.functions.entry(at).or_insert_with(find).clone()
    }

    fn file(&mut self, with: With<'_, 'd>, open: &Open<'d>, number: u32) -> Option<Arc<str>> {
        let find = || {
            let path = file_name(&with.dwarf.sections, &open.unit, number.into())?;
            Some(with.names.file(&path))
        };
        self.files.entry(number).or_insert_with(find).clone()
    }
}

/// What every question needs.
#[derive(Clone, Copy)]
struct With<'w, 'd> {
    dwarf: &'w Dwarf<'d>,
    names: &'w Names,
}

/// A place in the source.
#[derive(Default)]
struct Place {
    file: Option<Arc<str>>,
    line: Option<u32>,
    column: Option<u32>,
}

impl Place {
    fn frame(self, function: Option<FunctionName>) -> Frame {
        Frame {
            function,
            file: self.file,
            line: self.line,
            column: self.column,
            inlined: false,
        }
    }
}
