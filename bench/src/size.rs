//! Size of what tracing adds to a static SPARC V8 program.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::run::{Bench, output};
use crate::table::Row;

const CROSS: &str = "sparc64-linux-gnu-";

/// Text, read-only and initialized data of a program with the runtime, less those of the same program without.
pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let sources = [
        "sparselu_task.c",
        "kernels.c",
        "matrix.c",
        "program.c",
        "sparselu_count.c",
    ];
    let build = |mut command: Command, program: &Path| {
        command.args(["-m32", "-mcpu=v8", "-static", "-O2", "-fopenmp"]);
        command.args(sources.map(|name| bench.root.join("examples/sparselu").join(name)));
        output(command.args(["-lm", "-o"]).arg(program)).map(drop)
    };
    let compiler = format!("{CROSS}gcc");
    let (plain, traced) = (bench.path("size_plain"), bench.path("size_traced"));
    build(Command::new(&compiler), &plain)?;
    let mut command = bench.tool("instr-cc");
    command.arg(&compiler);
    build(command, &traced)?;

    anyhow::ensure!(
        has_runtime(&traced)?,
        "{} was linked without the runtime",
        traced.display()
    );
    let (before, after) = (size(&plain)?, size(&traced)?);
    let added = (after.text + after.data).saturating_sub(before.text + before.data);
    Ok(vec![Row::at_most(
        "runtime and stubs in a static SPARC V8 program, text + data",
        32.0,
        " KiB",
        added as f64 / 1024.0,
        1,
        format!(
            "program {} → {} bytes, bss {:+} bytes; with what they pull out of libc",
            before.text + before.data,
            after.text + after.data,
            after.bss.cast_signed() - before.bss.cast_signed()
        ),
    )])
}

/// Whether a probe of the runtime is among the program's symbols.
fn has_runtime(program: &Path) -> Result<bool> {
    Ok(output(Command::new(format!("{CROSS}nm")).arg(program))?
        .stdout
        .contains("instr_probe_task"))
}

struct Size {
    text: u64,
    data: u64,
    bss: u64,
}

/// What `size` prints in its second line.
fn size(program: &Path) -> Result<Size> {
    let text = output(Command::new(format!("{CROSS}size")).arg(program))?.stdout;
    parse(&text).with_context(|| format!("cannot read the output of size: {text}"))
}

fn parse(text: &str) -> Option<Size> {
    let mut numbers = text
        .lines()
        .nth(1)?
        .split_whitespace()
        .map_while(|word| word.parse().ok());
    Some(Size {
        text: numbers.next()?,
        data: numbers.next()?,
        bss: numbers.next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_output_of_size() {
        let text = "   text\t   data\t    bss\t    dec\t    hex\tfilename\n   1418\t    544\t      8\t   1970\t    7b2\ta.out\n";
        let size = parse(text).unwrap();
        assert_eq!((size.text, size.data, size.bss), (1418, 544, 8));
        assert!(parse("").is_none());
    }
}
