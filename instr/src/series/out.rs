//! Where modules put what they read.

use instr_trace::kernel::series::{Definition, Event, MOST_SERIES, Module, What, Writer};
use std::os::fd::BorrowedFd;

/// Reasons of one recording.
const MOST_REFUSALS: usize = 256;

/// Something that is read again and again.
pub(super) trait Source: Send {
    /// Reads it once.
    fn read(&mut self, out: &mut Out);

    /// What wakes the thread before its time.
    fn wake_ups(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    /// Something woke it.
    fn woken(&mut self) {}

    /// Reads it a last time: the program has ended.
    fn finish(&mut self, out: &mut Out) {
        self.read(out);
    }
}

/// The stream, and what was told.
pub(super) struct Out {
    writer: Writer,
    /// Time of the reading.
    pub(super) time: u64,
    series: u32,
    /// What modules do not have, in order.
    pub(super) refused: Vec<(Module, String)>,
    /// Why events could not be written.
    pub(super) trouble: Option<String>,
}

impl Out {
    pub(super) fn new(writer: Writer) -> Self {
        Self {
            writer,
            time: 0,
            series: 0,
            refused: Vec::new(),
            trouble: None,
        }
    }

    /// How many series there are.
    pub(super) fn series(&self) -> u32 {
        self.series
    }

    pub(super) fn put(&mut self, what: What) {
        if self.trouble.is_some() {
            return;
        }
        let time = self.time;
        if let Err(error) = self.writer.add(Event { time, what }) {
            self.trouble = Some(format!("they could not be written: {error}"));
        }
    }

    /// Begins a series: its number.
    pub(super) fn define(&mut self, definition: Definition) -> u32 {
        let number = self.series;
        if number >= MOST_SERIES {
            self.trouble
                .get_or_insert_with(|| format!("there are more than {MOST_SERIES} series"));
            return number;
        }
        self.series += 1;
        self.put(What::Series(number, definition));
        number
    }

    pub(super) fn value(&mut self, series: u32, value: u64) {
        self.put(What::Value(series, value));
    }

    /// What was counted in a part of the time, and what follows from it.
    pub(super) fn estimate(
        &mut self,
        series: u32,
        (value, counted): (u64, u64),
        enabled_ns: u64,
        running_ns: u64,
    ) {
        self.put(What::Estimate {
            series,
            value,
            counted,
            enabled_ns,
            running_ns,
        });
    }

    /// Says once what a module does not have here.
    pub(super) fn refuse(&mut self, module: Module, why: &str) {
        let one = (module, why.to_owned());
        if self.refused.len() < MOST_REFUSALS && !self.refused.contains(&one) {
            self.put(What::Refused(module, why.to_owned()));
            self.refused.push(one);
        }
    }

    pub(super) fn flush(&mut self) {
        if let Err(error) = self.writer.flush() {
            self.trouble
                .get_or_insert_with(|| format!("they could not be written: {error}"));
        }
    }
}
