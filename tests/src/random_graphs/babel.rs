//! Events of a trace as babeltrace2 tells them, with the ticks of their clock: a reader that shares nothing with ours.

use std::path::Path;

use crate::outcome::{Check, Stop, ensure};
use crate::process::{Run, Status};
use crate::toolchain::need;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Ticks of the trace's clock.
    pub ticks: u64,
    /// Index of the thread whose stream holds it.
    pub thread: u32,
    /// Its name.
    pub name: String,
    /// Its payload, as printed.
    payload: String,
}

impl Event {
    /// The number in the first field of that name; nested fields count.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn get(&self, field: &str) -> Check<u64> {
        let words: Vec<&str> = self.payload.split([' ', ',', '{', '}']).collect();
        let words: Vec<&&str> = words.iter().filter(|word| !word.is_empty()).collect();
        words
            .windows(3)
            .find(|window| *window[0] == field && *window[1] == "=")
            .and_then(|window| parse(window[2]))
            .ok_or_else(|| Stop::Fail(format!("no number `{field}` in {self:?}")))
    }

    /// Two fields that name a task or region.
    ///
    /// # Errors
    ///
    /// When one is missing.
    pub fn pair(&self, thread: &str, seq: &str) -> Check<(u32, u32)> {
        let number = |field: &str| {
            u32::try_from(self.get(field)?)
                .map_err(|_| Stop::Fail(format!("`{field}` is no 32-bit number in {self:?}")))
        };
        Ok((number(thread)?, number(seq)?))
    }
}

fn parse(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word
            .parse()
            .ok()
            .or_else(|| word.parse::<i64>().ok().map(|value| value as u64)),
    }
}

/// All events of a trace, in time order, those of one stream in their order.
///
/// # Errors
///
/// When babeltrace2 refuses the trace, warns, or prints something else; a skip when it is not installed.
pub fn read(trace: &Path) -> Check<Vec<Event>> {
    need("babeltrace2")?;
    let outcome = Run::new("babeltrace2")
        .args(["--no-delta", "--clock-cycles"])
        .arg(trace)
        .output()?;
    ensure(
        outcome.status == Status::Code(0) && outcome.errors().trim().is_empty(),
        || format!("babeltrace2 is not content: {}", outcome.errors()),
    )?;
    let text = outcome.text();
    text.lines()
        .map(|line| {
            event(line).ok_or_else(|| Stop::Fail(format!("babeltrace2: not an event: {line}")))
        })
        .collect()
}

/// Parses `[ticks] host name: { context }, { payload }`.
fn event(line: &str) -> Option<Event> {
    let (ticks, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let (head, rest) = rest.split_once(": { ")?;
    let (context, payload) = rest.split_once(" }, ")?;
    let thread = context
        .split(", ")
        .find_map(|field| field.strip_prefix("thread = "))?;
    Some(Event {
        ticks: ticks.parse().ok()?,
        thread: thread.parse().ok()?,
        name: head.rsplit(' ').next()?.to_owned(),
        payload: payload.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_understood() {
        let line = "[00000034070327508216] vm task_begin: { thread = 3, os_tid = 1664, region_seq = 4294967295 }, { thread = 1, seq = 7 }";
        let begin = event(line).expect("an event");
        assert_eq!((begin.ticks, begin.thread), (34_070_327_508_216, 3));
        assert_eq!(begin.name, "task_begin");
        assert_eq!(begin.pair("thread", "seq").expect("two numbers"), (1, 7));
        assert!(begin.get("kind").is_err());
        let line = "[01] vm task_create: { thread = 0 }, { seq = 1, flags = 8200, deps = [ [0] = { address = 0xF1, kind = 4 } ] }";
        let create = event(line).expect("an event");
        assert_eq!(create.get("address").expect("a number"), 0xF1);
        assert!(event("[01] vm task_end: { thread = 0 }, { }").is_some());
        assert!(event("nonsense").is_none());
    }
}
