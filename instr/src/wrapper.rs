//! `instr cc`, `instr c++`, `instr fortran`: the compiler wrapper by the name of a command. It is a program of its own, which this
//! process becomes.

use std::ffi::OsStr;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use instr_cc::compiler::Machine;
use instr_cc::exec::Call;

use crate::cli::WrapperOptions;
use crate::console::Refusal;

const PROGRAM: &str = "instr-cc";

/// Becomes `instr-cc`; returns only when that fails. `name` is what it is called as: `instr-cc`, or the name of one compiler.
///
/// # Errors
///
/// There is no `instr-cc`, or it cannot be started.
pub fn run(name: &str, options: &WrapperOptions) -> Result<()> {
    let program = find().ok_or_else(|| Refusal {
        message: format!("cannot find {PROGRAM}: it is neither beside instr nor in PATH"),
        notes: Vec::new(),
        help: Some("install both: make install, or cargo install --path instr-cc".to_owned()),
    })?;
    let mut call = Call::new(&program).args(&options.arguments);
    call.arg0 = Some(name.into());
    Err(call.replace()).with_context(|| format!("cannot run {}", program.display()))
}

/// The one that was installed or built with us, else the first in `PATH`.
fn find() -> Option<PathBuf> {
    let own = std::env::current_exe().ok();
    let beside = own.map(|own| own.with_file_name(PROGRAM));
    let beside = beside.filter(|path| path.is_file());
    beside.or_else(|| {
        let found = Machine::new().find(OsStr::new(PROGRAM));
        found.map(|(path, _)| path)
    })
}
