//! Samples as Extrae writes them: events of a moment, a type for each depth of the chain of calls, 0 where the thread was.

use std::io::Write;

use crate::model::{Code, Frames};
use crate::samples::Chain;

use super::events::At;
use super::names::NameTables;
use super::types::{SAMPLED_DEPTHS, SAMPLED_FUNCTION, SAMPLED_LINE};

/// Writes the events of a sample.
pub(super) fn sample<W: Write>(
    to: &mut At<'_, '_, W>,
    names: &mut NameTables<'_>,
    chain: &mut Chain,
    process: usize,
    frames: &Frames<'_>,
) {
    chain.read(names.of(process), frames);
    let callers = chain.callers().iter().map(|&site| Code::new(site, true));
    let codes = std::iter::once(Code::new(chain.pc(), false)).chain(callers);
    for (depth, code) in (0..SAMPLED_DEPTHS).zip(codes) {
        let (function, line) = names.sampled(process, code, depth);
        to.put(SAMPLED_FUNCTION + depth, u64::from(function));
        to.put(SAMPLED_LINE + depth, u64::from(line));
    }
}
