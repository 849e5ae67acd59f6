//! What is fed: one file per parser.

pub(crate) mod argv;
pub(crate) mod exports;
pub(crate) mod extract;
pub(crate) mod object;
pub(crate) mod outputs;
pub(crate) mod symtab;
pub(crate) mod trace;

use anyhow::Result;

use crate::input::Input;
use crate::programs::Kind;
use crate::random::Random;
use crate::seeds::Seeds;

/// A parser under test. It must not panic, hang, or ask for memory out of proportion.
pub(crate) trait Target {
    /// Good inputs to start from.
    fn seeds(&self, seeds: &Seeds) -> Result<Vec<Input>>;

    /// An input made from nothing, where that is possible: half of all inputs are such ones then.
    fn fresh(&self, _: &mut Random) -> Option<Input> {
        None
    }

    /// Feeds one input; true if it was accepted at least in part, so that it is worth mutating further.
    fn run(&mut self, input: &Input) -> bool;
}

/// Names of all targets, in the order of `all`.
pub(crate) const NAMES: [&str; 10] = [
    "object",
    "argv",
    "trace",
    "outputs",
    "exports",
    "symtab",
    "symtab-further",
    "symtab-packed",
    "demangle",
    "extract",
];

/// The target of this name.
pub(crate) fn by_name(name: &str) -> Result<Option<Box<dyn Target>>> {
    Ok(match name {
        "object" => Some(Box::new(object::Objects::new())),
        "argv" => Some(Box::new(argv::CommandLines::new()?)),
        "trace" => Some(Box::new(trace::Traces::new()?)),
        "outputs" => Some(Box::new(outputs::Outputs::new()?)),
        "exports" => Some(Box::new(exports::Exports::new()?)),
        "symtab" => Some(Box::new(symtab::Images(Kind::Plain))),
        "symtab-further" => Some(Box::new(symtab::Images(Kind::Several))),
        "symtab-packed" => Some(Box::new(symtab::Images(Kind::Packed))),
        "demangle" => Some(Box::new(symtab::Names)),
        "extract" => Some(Box::new(extract::Extracts)),
        _ => None,
    })
}
