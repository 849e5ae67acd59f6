//! `instr run`: runs a program that `instr-cc` built, with the settings of a file in its environment.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use instr_cc::compiler::Machine;
use instr_cc::exec::Call;
use instr_schema::settings;

use crate::cli::RunOptions;
use crate::console::Console;

/// Larger configurations are refused.
const MAX_CONFIG: u64 = 1 << 20;
/// A text that every program with the runtime inside holds: the name of a setting.
const MARK: &[u8] = b"INSTR_ENABLED";

/// Becomes the program; returns only when that fails.
///
/// # Errors
///
/// A configuration that is refused, a program that is not found or cannot be started.
pub fn run(options: &RunOptions, console: &mut Console<'_>) -> Result<()> {
    let mut env: Vec<(&'static str, Option<OsString>)> = Vec::new();
    if let Some(file) = &options.config {
        for (name, value) in read(file)? {
            // What the user typed in front of the command is more than what is in a file.
            if std::env::var_os(name).is_none() {
                env.push((name, Some(value.into())));
            }
        }
    }
    if let Some(dir) = &options.output {
        env.retain(|(name, _)| *name != "INSTR_TRACE");
        env.push(("INSTR_TRACE", Some(dir.into())));
    }
    let (name, arguments) = options
        .command
        .split_first()
        .context("no program is named")?;
    let program = find(name)
        .ok_or_else(|| anyhow!("cannot run {}: there is no such program", name.display()))?;
    if let Some(false) = is_instrumented(&program) {
        console.warn(&format!(
            "{} was not built by instr-cc: it runs, but records nothing itself",
            program.display()
        ));
    }
    let mut call = Call::new(&program).args(arguments);
    call.arg0 = Some(name.clone());
    call.env = env;
    Err(call.replace()).with_context(|| format!("cannot run {}", program.display()))
}

fn read(file: &Path) -> Result<Vec<(&'static str, String)>> {
    let refused = || format!("cannot use the configuration {}", file.display());
    let mut text = String::new();
    let opened = std::fs::File::open(file).with_context(refused)?;
    opened
        .take(MAX_CONFIG + 1)
        .read_to_string(&mut text)
        .with_context(refused)?;
    if text.len() as u64 > MAX_CONFIG {
        return Err(anyhow!("it is larger than 1 MiB")).with_context(refused);
    }
    settings::parse(&text).with_context(refused)
}

/// A path as it is, a name in `PATH`.
fn find(name: &OsString) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.components().count() > 1 {
        return path.exists().then(|| path.to_owned());
    }
    Machine::new().find(name).map(|(path, _)| path)
}

/// Whether the runtime is inside; nothing for what is no ELF file (a script may start one that is).
fn is_instrumented(program: &Path) -> Option<bool> {
    let mut file = std::fs::File::open(program).ok()?;
    let mut buffer = vec![0; 1 << 16];
    let (mut kept, mut first) = (0, true);
    loop {
        let count = file.read(&mut buffer[kept..]).ok()?;
        let bytes = &buffer[..kept + count];
        if first && !bytes.starts_with(b"\x7fELF") {
            return None;
        }
        first = false;
        if bytes.windows(MARK.len()).any(|window| window == MARK) {
            return Some(true);
        }
        if count == 0 {
            return Some(false);
        }
        // The mark may lie across two pieces.
        let (end, keep) = (bytes.len(), bytes.len().min(MARK.len() - 1));
        buffer.copy_within(end - keep..end, 0);
        kept = keep;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_is_found_wherever_it_lies_in_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        for at in [4, 100, (1 << 16) - 5, (1 << 16) + 7] {
            let mut bytes = b"\x7fELF".to_vec();
            bytes.resize(at, b'I');
            bytes.extend_from_slice(MARK);
            std::fs::write(&file, &bytes).unwrap();
            assert_eq!(is_instrumented(&file), Some(true), "{at}");
            bytes.pop();
            std::fs::write(&file, &bytes).unwrap();
            assert_eq!(is_instrumented(&file), Some(false), "{at}");
        }
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        assert_eq!(is_instrumented(&file), None);
    }
}
