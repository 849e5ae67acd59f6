//! `instr symbolize` in place of binutils' addr2line: the same arguments to both, the same bytes and status from both.
//! `cargo test -p instr-tests --test addr2line -- FILTER`; what differs, and why, is in `accepted.rs`.

mod accepted;
mod dropin;
mod extras;
mod hostile;
mod programs;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);
    let parts: [fn() -> Vec<Trial>; 3] = [dropin::trials, extras::trials, hostile::trials];
    let trials = parts.into_iter().flat_map(|trials| trials()).collect();
    instr_tests::outcome::run(&arguments, trials);
}
