//! Drop-in compiler wrapper and linker shim.
//!
//! `instr-cc gcc ARGS…` runs `gcc ARGS…`. Compile steps find our headers; link steps go through a shim in front of the
//! linker (this same program under a linker's name) that adds runtime, stubs and `--wrap` options. In the order of work:
//!
//! * [`cli`]: own options, which compiler is meant; [`language`]: the compiler of a line's language where none is named; [`argv`]: the compiler's command line; [`plan`]: what is added to it
//!   (pure); [`driver`]: the way through all of them;
//! * [`shim`]: the same on the linker's side;
//! * [`runtime`], [`cache`]: things built once; [`preload`]: what `instr run` preloads, which an installation brings (`prebuilt`); [`compiler`], [`targets`]: what is known of compilers and targets;
//!   [`config`]: settings compiled into a program; [`help`], [`documents`]: what people are told; [`launcher`]: builds that compile with us and link without;
//! * `parallel`: one function for many items; [`exec`]: the only place that starts processes; [`say`]: the only place that writes to standard error.

pub mod argv;
pub mod cache;
pub mod cli;
pub mod compiler;
pub mod config;
pub mod documents;
pub mod driver;
pub mod error;
pub mod exec;
pub mod help;
mod inherited;
pub mod language;
pub mod launcher;
pub mod parallel;
pub mod plan;
mod prebuilt;
pub mod preload;
pub mod runtime;
pub mod say;
pub mod shim;
pub mod steps;
pub mod targets;

use std::ffi::OsString;

/// Runs as what `argv[0]` says: a linker, or a compiler wrapper. Returns the exit status, if it returns.
pub fn run(argv: impl IntoIterator<Item = OsString>) -> i32 {
    let mut argv = argv.into_iter();
    let argv0 = argv.next().unwrap_or_else(|| "instr-cc".into());
    let words: Vec<OsString> = argv.collect();
    if shim::is_linker_name(&argv0) {
        shim::run(&argv0, words)
    } else {
        driver::run(&argv0, words)
    }
}
