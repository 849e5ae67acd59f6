//! The encoder for synthetic traces: a row and a function for each event.

use std::fmt::Write as _;

use super::{MARK, wire, wire_2};
use crate::Event;
use crate::events::{EVENTS, Type};

/// `synth/events.rs`.
pub(super) fn encoder() -> String {
    let mut out = format!(
        "// {MARK}\n\nuse std::io::{{Result, Write}};\n\nuse super::StreamWriter;\n\n\
         /// Id and name of an event, type and name of each of its fields.\n\
         pub type Row = (u8, &'static str, &'static [(&'static str, &'static str)]);\n\n\
         /// All events, with their fields as in version 1.\npub const EVENTS: &[Row] = &[\n"
    );
    for event in EVENTS {
        let fields: Vec<String> = event
            .fields
            .iter()
            .flat_map(wire)
            .map(|(ty, name)| format!("(\"{ty}\", \"{name}\")"))
            .collect();
        _ = writeln!(
            out,
            "    ({}, \"{}\", &[{}]),",
            event.id,
            event.name,
            fields.join(", ")
        );
    }
    out.push_str(
        "];\n\n/// The same of those that stand in another way in version 2: `uN` are numbers of N bits that share a word.\n\
         pub(super) const PACKED: &[Row] = &[\n",
    );
    for event in EVENTS.iter().filter(|event| !event.packed.is_empty()) {
        let fields: Vec<String> = wire_2(event)
            .iter()
            .map(|(ty, name)| format!("(\"{ty}\", \"{name}\")"))
            .collect();
        let (id, name, fields) = (event.id, event.name, fields.join(", "));
        _ = writeln!(out, "    ({id}, \"{name}\", &[{fields}]),");
    }
    out.push_str(
        "];\n\n/// One function an event: it is written at tick `at`, with its fields.\n\
         #[allow(clippy::too_many_arguments, reason = \"an event has as many fields\")]\nimpl<W: Write> StreamWriter<W> {\n",
    );
    for event in EVENTS {
        function(&mut out, event);
    }
    out.push_str("}\n");
    out
}

fn function(out: &mut String, event: &Event) {
    let mut arguments = String::new();
    let mut body = String::new();
    for field in event.fields {
        let name = field.rust;
        let (ty, call) = match field.ty {
            Type::U32 | Type::Flags(_) => ("u32", format!("u32({name})")),
            Type::I32 => ("i32", format!("u32({name} as u32)")),
            Type::U64 | Type::Ticks => ("u64", format!("u64({name})")),
            Type::I64 => ("i64", format!("i64({name})")),
            Type::Addr => ("u64", format!("addr({name})")),
            Type::Truth => ("bool", format!("u32(u32::from({name}))")),
            Type::Bit(bit) => (
                "bool",
                format!("u32(if {name} {{ {bit:#x} }} else {{ 0 }})"),
            ),
            Type::Kind(_) | Type::KindAndBit(..) | Type::Schedule => {
                ("impl Into<u32>", format!("u32({name}.into())"))
            }
            Type::Task(..) | Type::MaybeTask(..) | Type::Region(..) => {
                ("(u32, u32)", format!("u32({name}.0).u32({name}.1)"))
            }
            Type::Text => ("&str", format!("text({name})")),
            Type::Values => (
                "&[u64]",
                format!("list({name}, |body, entry| _ = body.u64(*entry))"),
            ),
            Type::Signed => (
                "&[i64]",
                format!("list({name}, |body, entry| _ = body.i64(*entry))"),
            ),
            Type::Addresses => (
                "&[u64]",
                format!("list({name}, |body, entry| _ = body.addr(*entry))"),
            ),
            Type::Deps => ("&[(u64, u32)]", format!("deps({name})")),
        };
        _ = write!(arguments, ", {name}: {ty}");
        _ = write!(body, ".{call}");
    }
    let body = match body.is_empty() {
        true => "|_| {}".to_owned(),
        false => format!("|body| _ = body{body}"),
    };
    _ = write!(
        out,
        "    pub fn {}(&mut self, at: u64{arguments}) -> Result<()> {{\n        self.event(at, {}, {body})\n    }}\n\n",
        event.name, event.id
    );
}
