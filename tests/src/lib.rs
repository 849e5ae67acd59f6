//! End-to-end tests of the whole tool chain, and the helpers they share.
//!
//! The tests themselves are in `tests/e2e/`; the traced programs in `sources/<case>/<case>.{c,cc,f90}` (their top comment says
//! what must hold, see [`directives`]) and, for the ones that are driven by a test of their own, in `robust/`.
//!
//! The tools under test are found by [`toolchain::tools`]: the folder named by `INSTR_TEST_BIN`, else the target folder this
//! test binary lies in, where `cargo build` is run once first. `INSTR_TEST_STRICT=1` turns every skipped test into a failure,
//! `INSTR_TEST_KEEP=1` keeps the working folders, `INSTR_TEST_TARGETS=x86_64-linux,…` limits the targets.

pub mod agreement;
pub mod board;
pub mod callgrind;
pub mod cases;
pub mod conformance;
pub mod ctf;
pub mod directives;
pub mod expect;
pub mod heap;
pub mod lives;
pub mod manual;
pub mod outcome;
pub mod process;
pub mod prv;
pub mod queue;
pub mod random_graphs;
pub mod redirect;
pub mod sparselu;
pub mod toolchain;
pub mod workspace;
