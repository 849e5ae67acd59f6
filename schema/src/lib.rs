//! The tables of the product: which [events] a trace can hold, with their [kinds], and which [settings] a traced program has.
//!
//! [`generate::files`] makes from them, and `cargo run -p instr-schema` writes:
//!
//! | file | what |
//! |---|---|
//! | `runtime/core/events.h`, `runtime/core/declarations.h` | ids, and the part of the metadata that declares them to any reader of CTF, packed |
//! | `trace/src/event/kinds.rs`, `trace/src/event/payload.rs` | the Rust types |
//! | `trace/src/decode/payload.rs` | sizes and decoder |
//! | `trace/src/synth/events.rs` | encoder for synthetic traces |
//! | `docs/trace-format.md`, `docs/environment.md` | the tables, between two marks |
//!
//! The files are checked in; a test fails when they are not current. [settings] and [declarations] are also used as they are, by `instr-cc` and `instr`.

pub mod declarations;
pub mod events;
pub mod generate;
pub mod kinds;
pub mod settings;

use events::Type;

/// Something a thread can write.
#[derive(Debug)]
pub struct Event {
    /// Number in the event's header; never reused.
    pub id: u8,
    /// Name, in small letters with underscores.
    pub name: &'static str,
    /// Fields in their order.
    pub fields: &'static [Field],
    /// When it is written and what its fields mean, for `docs/trace-format.md`.
    pub when: &'static str,
}

/// A field of an event.
#[derive(Debug)]
pub struct Field {
    /// Name in the raw format.
    pub name: &'static str,
    /// Name in Rust.
    pub rust: &'static str,
    /// Type in the raw format and in Rust.
    pub ty: Type,
}

/// Values of a field that have names.
#[derive(Debug)]
pub struct Kind {
    /// Name of the Rust type, or of the Rust module when it is a set of bits.
    pub rust: &'static str,
    /// Beginning of the names in C.
    pub c: &'static str,
    /// Whether each value is a bit, and several may be set.
    pub bits: bool,
    /// What it is a kind of; a sentence.
    pub doc: &'static str,
    /// The values.
    pub values: &'static [Value],
}

/// A named value.
#[derive(Debug)]
pub struct Value {
    /// Number in the raw format.
    pub number: u32,
    /// Name in C, behind [`Kind::c`].
    pub c: &'static str,
    /// Name in Rust.
    pub rust: &'static str,
    /// What it means; a sentence.
    pub doc: &'static str,
}
