//! What babeltrace2, a reader that is not ours, says about a trace.

use std::collections::BTreeMap;
use std::path::Path;

use crate::outcome::{Check, ensure};
use crate::process::{Run, Status};
use crate::toolchain::need;

/// One event as babeltrace2 prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its name.
    pub name: String,
    /// Index of the thread whose stream holds it.
    pub stream: i128,
    /// Every `field = number` of the packet context and the event, the last of equal names.
    pub fields: BTreeMap<String, i128>,
    /// The entries of `depend` clauses: address and kind.
    pub entries: Vec<(i128, i128)>,
}

impl Event {
    /// The field of that name.
    #[must_use]
    pub fn get(&self, field: &str) -> Option<i128> {
        self.fields.get(field).copied()
    }
}

/// Reads a whole trace; any warning is a failure.
///
/// # Errors
///
/// When babeltrace2 refuses the trace, warns, or prints something that is no event; a skip when it is not installed.
pub fn read(trace: &Path) -> Check<Vec<Event>> {
    read_with(trace, false)
}

/// The same for a trace that lost events: the warning that the tracer discarded events is allowed.
///
/// # Errors
///
/// As [`read`].
pub fn read_lossy(trace: &Path) -> Check<Vec<Event>> {
    read_with(trace, true)
}

fn read_with(trace: &Path, lossy: bool) -> Check<Vec<Event>> {
    need("babeltrace2")?;
    let outcome = Run::new("babeltrace2")
        .arg("--no-delta")
        .arg(trace)
        .output()?;
    let allowed = |line: &str| {
        lossy && (line.contains("Tracer discarded") || line.contains("Tracer may have discarded"))
    };
    let complaints: Vec<_> = outcome
        .errors()
        .lines()
        .filter(|line| !line.trim().is_empty() && !allowed(line))
        .map(str::to_owned)
        .collect();
    ensure(
        outcome.status == Status::Code(0) && complaints.is_empty(),
        || format!("babeltrace2 is not content\n{outcome}"),
    )?;
    let events = outcome
        .text()
        .lines()
        .map(parse_event)
        .collect::<Option<Vec<_>>>();
    Ok(events.ok_or("babeltrace2 printed a line that is no event")?)
}

/// How many events of each name there are.
#[must_use]
pub fn counts(events: &[Event]) -> BTreeMap<String, i128> {
    let mut counts = BTreeMap::new();
    for event in events {
        *counts.entry(event.name.clone()).or_insert(0) += 1;
    }
    counts
}

/// How many events fit `name` or `name{field=number,…}`; a sum of such is counted each for itself. `field&mask=number` looks at some bits.
///
/// # Errors
///
/// When the text is not of that form.
pub fn count(events: &[Event], subject: &str) -> Result<i128, String> {
    total(events, subject, |event, conditions| {
        i128::from(conditions.iter().all(|condition| {
            let field = event.get(&condition.field);
            field.is_some_and(|value| value & condition.mask == condition.value)
        }))
    })
}

/// How many entries of `depend` clauses the events of that name (or sum of names) have; `{kind=number}` and `{address=number}` select.
///
/// # Errors
///
/// When the text is not of that form.
pub fn count_entries(events: &[Event], subject: &str) -> Result<i128, String> {
    total(events, subject, |event, conditions| {
        let fits = |(address, kind): &&(i128, i128)| {
            conditions.iter().all(|condition| {
                let value = if condition.field == "kind" {
                    kind
                } else {
                    address
                };
                value & condition.mask == condition.value
            })
        };
        event.entries.iter().filter(fits).count() as i128
    })
}

struct Condition {
    field: String,
    mask: i128,
    value: i128,
}

fn total(
    events: &[Event],
    subject: &str,
    measure: impl Fn(&Event, &[Condition]) -> i128,
) -> Result<i128, String> {
    let mut total = 0;
    for term in subject.split('+') {
        let (name, conditions) = parse_term(term.trim())?;
        let named = events.iter().filter(|event| event.name == name);
        total += named.map(|event| measure(event, &conditions)).sum::<i128>();
    }
    Ok(total)
}

fn parse_term(term: &str) -> Result<(&str, Vec<Condition>), String> {
    let (name, filter) = match term.split_once('{') {
        Some((name, filter)) => (
            name,
            filter
                .strip_suffix('}')
                .ok_or_else(|| format!("`{term}`: no `}}`"))?,
        ),
        None => (term, ""),
    };
    let mut conditions = Vec::new();
    for condition in filter.split(',').filter(|condition| !condition.is_empty()) {
        let number =
            |word: &str| parse_number(word).ok_or_else(|| format!("`{word}` is not a number"));
        let (field, value) = condition
            .split_once('=')
            .ok_or_else(|| format!("`{condition}` is not field=number"))?;
        let (field, mask) = field.split_once('&').unwrap_or((field, "-1"));
        conditions.push(Condition {
            field: field.to_owned(),
            mask: number(mask)?,
            value: number(value)?,
        });
    }
    Ok((name, conditions))
}

/// Parses `[time] host name: { context }, { fields }`.
fn parse_event(line: &str) -> Option<Event> {
    let (head, body) = line
        .split_once(": {")
        .unwrap_or((line.strip_suffix(": ").unwrap_or(line), ""));
    let name = head
        .rsplit_once(' ')
        .map_or(head, |(_, name)| name)
        .trim_end_matches(':')
        .to_owned();
    let mut fields = BTreeMap::new();
    let (mut stream, mut entries) = (None, Vec::new());
    let (mut field, mut is_value) = ("", false);
    for word in body.split(' ') {
        let word = word.strip_suffix(',').unwrap_or(word);
        if word == "=" {
            is_value = true;
            continue;
        }
        let value = if is_value { parse_number(word) } else { None };
        if let Some(value) = value {
            match field {
                "thread" => stream = stream.or(Some(value)),
                "address" => entries.push((value, 0)),
                "kind" => entries.iter_mut().for_each(|entry| {
                    if entry.1 == 0 {
                        entry.1 = value;
                    }
                }),
                _ => {}
            }
            fields.insert(field.to_owned(), value);
        }
        (field, is_value) = (word, false);
    }
    (head.starts_with('[') && !name.is_empty()).then_some(Event {
        name,
        stream: stream.unwrap_or(0),
        fields,
        entries,
    })
}

fn parse_number(word: &str) -> Option<i128> {
    match word.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_babeltrace_are_understood() {
        let line = "[09:12:01.000000123] vm user_event: { thread = 1, os_tid = 77 }, { type = 5, value = 18446744073709551615 }";
        let event = parse_event(line).expect("an event");
        assert_eq!(
            (event.name.as_str(), event.get("thread"), event.get("type")),
            ("user_event", Some(1), Some(5))
        );
        assert_eq!(event.get("value"), Some(18_446_744_073_709_551_615));
        let line = "[09:12:01.000000123] vm task_create: { thread = 0 }, { seq = 0, function = 0x5581, flags = 8, count = 1, \
                    deps = [ [0] = { address = 0x7FF0, kind = 2 } ] }";
        let event = parse_event(line).expect("an event");
        assert_eq!(
            (
                event.get("function"),
                event.get("address"),
                event.get("count")
            ),
            (Some(0x5581), Some(0x7ff0), Some(1))
        );
        assert_eq!(event.entries, [(0x7ff0, 2)]);
        assert_eq!(event.stream, 0);
        let line = "[1.0] vm task_begin: { thread = 4 }, { thread = 1, seq = 2 }";
        let event = parse_event(line).expect("an event");
        assert_eq!((event.stream, event.get("thread")), (4, Some(1)));
        let bare = parse_event("[1.0] vm thread_end: { thread = 0 }, { }").expect("an event");
        assert_eq!(bare.name, "thread_end");
        assert!(parse_event("nonsense").is_none());
        assert_eq!(counts(&[bare.clone(), bare]).get("thread_end"), Some(&2));
    }

    #[test]
    fn events_are_counted_by_name_and_fields() {
        let event = |kind: i128, value: i128| Event {
            name: "sync_begin".into(),
            stream: 0,
            entries: Vec::new(),
            fields: BTreeMap::from([("kind".to_owned(), kind), ("value".to_owned(), value)]),
        };
        let events = [event(1, 5), event(1, -6), event(2, 5)];
        assert_eq!(count(&events, "sync_begin"), Ok(3));
        assert_eq!(count(&events, "sync_begin{kind=1}"), Ok(2));
        assert_eq!(count(&events, "sync_begin{kind=1,value=-6}"), Ok(1));
        assert_eq!(count(&events, "sync_begin{other=1}"), Ok(0));
        assert_eq!(count(&events, "sync_end"), Ok(0));
        assert_eq!(
            count(&events, "sync_begin{kind=1} + sync_begin{value=5}"),
            Ok(4)
        );
        assert_eq!(count(&events, "sync_begin{kind&1=1}"), Ok(2));
        assert!(count(&events, "sync_begin{kind=1").is_err());
        assert!(count(&events, "sync_begin{kind}").is_err());
    }
}
