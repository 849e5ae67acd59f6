//! The tables in documents.

use std::fmt::Write as _;

use super::{wire_1, wire_2};
use crate::events::EVENTS;
use crate::kinds::KINDS;
use crate::settings::SETTINGS;

/// A table with the name of its place.
type Part = (&'static str, String);

/// Documents with generated tables.
pub(super) fn parts() -> Vec<(&'static str, Vec<Part>)> {
    vec![
        (
            "docs/trace-format.md",
            vec![
                ("events", events()),
                ("kinds", kinds()),
                ("kernel events", unpacked(crate::kernel::EVENTS)),
                ("series events", unpacked(crate::series::EVENTS)),
            ],
        ),
        ("docs/environment.md", vec![("settings", settings())]),
    ]
}

/// `text` with `table` between the two marks of `name`; `None` without them.
pub(super) fn put(text: &str, name: &str, table: &str) -> Option<String> {
    let begin = format!("<!-- generated: {name} (schema/src) -->\n");
    let end = format!("<!-- end of {name} -->");
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}{table}{end}{after}"))
}

fn events() -> String {
    let mut out = String::from("| id | event | fields | when |\n|---|---|---|---|\n");
    for event in EVENTS {
        let fields: Vec<String> = wire_2(event)
            .iter()
            .map(|(ty, name)| format!("{ty} {name}"))
            .collect();
        let (id, name, when) = (event.id, event.name, event.when);
        _ = writeln!(out, "| {id} | `{name}` | {} | {when} |", fields.join(", "));
    }
    out
}

fn unpacked(events: &[crate::Event]) -> String {
    let mut out = String::from("| id | event | fields | when |\n|---|---|---|---|\n");
    for event in events {
        let fields: Vec<String> = wire_1(event)
            .iter()
            .map(|(ty, name)| format!("{ty} {name}"))
            .collect();
        let (id, name, when) = (event.id, event.name, event.when);
        _ = writeln!(out, "| {id} | `{name}` | {} | {when} |", fields.join(", "));
    }
    out
}

/// The events and fields whose values `kind` names.
fn uses(kind: &str) -> String {
    use crate::events::Type;
    let mut uses = Vec::new();
    for event in EVENTS {
        for field in event.fields {
            let of = match field.ty {
                Type::Kind(of) | Type::KindAndBit(of, ..) | Type::Flags(of) => of.rust,
                Type::Schedule if kind.starts_with("Schedule") => "ScheduleKind",
                Type::Schedule => "schedule_flags",
                Type::Deps => "DependKind",
                _ => continue,
            };
            if of == kind {
                uses.push(format!("{} `{}`", event.id, field.name));
            }
        }
    }
    uses.join(", ")
}

fn kinds() -> String {
    let mut out = String::from("| in | value | meaning |\n|---|---|---|\n");
    for kind in KINDS {
        let doc = kind.doc.trim_end_matches('.');
        _ = writeln!(out, "| **{}** | | **{doc}** |", uses(kind.rust));
        for value in kind.values {
            let number = match kind.bits {
                true => format!("{:#x}", value.number),
                false => value.number.to_string(),
            };
            _ = writeln!(out, "| | {number} | {} |", value.doc.trim_end_matches('.'));
        }
    }
    out
}

fn settings() -> String {
    let mut out = String::from("| variable | values | default | meaning |\n|---|---|---|---|\n");
    for setting in SETTINGS {
        let (name, values) = (setting.name, setting.values());
        let (default, meaning) = (setting.default, setting.meaning);
        _ = writeln!(out, "| `{name}` | {values} | {default} | {meaning} |");
    }
    out
}
