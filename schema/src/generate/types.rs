//! The Rust types of events and their kinds.

use std::fmt::Write as _;

use super::{MARK, camel};
use crate::events::{EVENTS, Type};
use crate::kinds::KINDS;
use crate::{Event, Field, Kind};

/// `event/kinds.rs`.
pub(super) fn kinds() -> String {
    let mut out = format!("// {MARK}\n");
    for kind in KINDS {
        if kind.bits {
            bits(&mut out, kind);
        } else {
            enumeration(&mut out, kind);
        }
    }
    out
}

fn bits(out: &mut String, kind: &Kind) {
    _ = writeln!(out, "\n/// {}\npub mod {} {{", kind.doc, kind.rust);
    for value in kind.values {
        _ = writeln!(out, "    /// {}", value.doc);
        _ = writeln!(
            out,
            "    pub const {}: u32 = {:#x};",
            value.rust, value.number
        );
    }
    out.push_str("}\n");
}

fn enumeration(out: &mut String, kind: &Kind) {
    let name = kind.rust;
    _ = write!(
        out,
        "\n/// {}\n#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]\n#[non_exhaustive]\npub enum {name} {{\n",
        kind.doc
    );
    for value in kind.values {
        _ = write!(out, "    /// {}\n    {},\n", value.doc, value.rust);
    }
    _ = write!(
        out,
        "    /// A number that this version does not name.\n    Other(u32),\n}}\n\n\
         impl From<u32> for {name} {{\n    #[inline]\n    fn from(raw: u32) -> Self {{\n        match raw {{\n"
    );
    for value in kind.values {
        _ = writeln!(out, "            {} => Self::{},", value.number, value.rust);
    }
    _ = write!(
        out,
        "            other => Self::Other(other),\n        }}\n    }}\n}}\n\n\
         impl From<{name}> for u32 {{\n    #[inline]\n    fn from(kind: {name}) -> Self {{\n        match kind {{\n"
    );
    for value in kind.values {
        _ = writeln!(
            out,
            "            {name}::{} => {},",
            value.rust, value.number
        );
    }
    _ = write!(
        out,
        "            {name}::Other(other) => other,\n        }}\n    }}\n}}\n"
    );
}

fn rust_type(ty: &Type) -> String {
    match ty {
        Type::U32 | Type::Flags(_) => "u32",
        Type::I32 => "i32",
        Type::U64 | Type::Addr | Type::Ticks => "u64",
        Type::I64 => "i64",
        Type::Truth | Type::Bit(_) => "bool",
        Type::Kind(kind) | Type::KindAndBit(kind, ..) => return format!("kinds::{}", kind.rust),
        Type::Schedule => "Schedule",
        Type::Task(..) => "TaskId",
        Type::MaybeTask(..) => "Option<TaskId>",
        Type::Region(..) => "RegionId",
        Type::Text => "&'a [u8]",
        Type::Values | Type::Signed => "Args<'a>",
        Type::Addresses => "Addresses<'a>",
        Type::Deps => "Deps<'a>",
    }
    .to_owned()
}

/// The fields of the Rust variant: name, type, a sentence where the type does not say it all.
fn members(field: &Field) -> Vec<(&'static str, String, String)> {
    let doc = match &field.ty {
        Type::Flags(flags) => format!("See [`kinds::{}`].", flags.rust),
        Type::Ticks => "Nanoseconds since the trace's start.".to_owned(),
        Type::Signed => "Signed numbers.".to_owned(),
        _ => String::new(),
    };
    let mut members = vec![(field.rust, rust_type(&field.ty), doc)];
    if let Type::KindAndBit(_, name, _) = field.ty {
        members.push((name, "bool".to_owned(), String::new()));
    }
    members
}

fn variant(out: &mut String, event: &Event) {
    _ = writeln!(out, "    /// {}.", event.when.trim_end_matches('.'));
    let name = camel(event.name);
    if event.fields.is_empty() {
        _ = writeln!(out, "    {name},");
        return;
    }
    _ = writeln!(out, "    {name} {{");
    for (name, ty, doc) in event.fields.iter().flat_map(members) {
        if !doc.is_empty() {
            _ = writeln!(out, "        /// {doc}");
        }
        _ = writeln!(out, "        {name}: {ty},");
    }
    out.push_str("    },\n");
}

/// `event/payload.rs`.
pub(super) fn payload() -> String {
    let mut out = format!(
        "// {MARK}\n\nuse super::{{Addresses, Args, Deps, RegionId, Schedule, TaskId, kinds}};\n\n\
         /// What happened: the rows of the event table in `docs/trace-format.md`, and what the reader adds.\n\
         #[derive(Clone, Copy, Debug)]\n#[non_exhaustive]\n\
         #[allow(missing_docs, reason = \"the sentence of each event names its fields\")]\npub enum Payload<'a> {{\n"
    );
    for event in EVENTS {
        variant(&mut out, event);
    }
    out.push_str(
        "    /// Not in a trace: made by the reader, at the time a flush began (the `Flush` that ends it follows).\n    FlushBegin,\n\
         \x20   /// Not in a trace: made by the reader where events of this thread are missing before the packet that begins here.\n\
         \x20   /// All that was open on the thread is to be taken as closed, then `region`'s implicit task and `task` as running.\n\
         \x20   Lost {\n        /// Events known to be lost here; 0 when nobody counted them.\n        events: u64,\n\
         \x20       /// Explicit task that runs when the packet begins.\n        task: Option<TaskId>,\n\
         \x20       /// Region whose implicit task runs when the packet begins.\n        region: Option<RegionId>,\n    },\n}\n\n\
         impl Payload<'_> {\n    /// The event's id in the raw format, 0 for what the reader made itself.\n\
         \x20   pub fn id(&self) -> u8 {\n        match self {\n",
    );
    for event in EVENTS {
        let dots = if event.fields.is_empty() {
            ""
        } else {
            " { .. }"
        };
        _ = writeln!(
            out,
            "            Self::{}{dots} => {},",
            camel(event.name),
            event.id
        );
    }
    out.push_str("            Self::FlushBegin | Self::Lost { .. } => 0,\n        }\n    }\n}\n");
    out
}
