//! Size of what tracing adds to a static SPARC V8 program.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::run::{Bench, output};
use crate::table::Row;

const CROSS: &str = "sparc64-linux-gnu-";

/// Code, constants and initialized data of the runtime, by the linker's map; and by how much the whole program grows.
pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let sources = [
        "sparselu_task.c",
        "kernels.c",
        "matrix.c",
        "program.c",
        "sparselu_count.c",
    ];
    let map = bench.path("size.map");
    let build = |mut command: Command, program: &Path| {
        command.args(["-m32", "-mcpu=v8", "-static", "-O2", "-fopenmp"]);
        command.args(sources.map(|name| bench.root.join("examples/sparselu").join(name)));
        command.arg(format!("-Wl,-Map={}", map.display()));
        output(command.args(["-lm", "-o"]).arg(program)).map(drop)
    };
    let compiler = format!("{CROSS}gcc");
    let (plain, traced) = (bench.path("size_plain"), bench.path("size_traced"));
    build(Command::new(&compiler), &plain)?;
    let mut command = bench.tool("instr-cc");
    command.arg(&compiler);
    build(command, &traced)?;

    let text = std::fs::read(&map).with_context(|| format!("cannot read {}", map.display()))?;
    let runtime = loaded_bytes(&String::from_utf8_lossy(&text), "/libinstr.a(");
    anyhow::ensure!(
        runtime > 0,
        "{} was linked without the runtime",
        traced.display()
    );
    let (before, after) = (size(&plain)?, size(&traced)?);
    let grown = (after.text + after.data).saturating_sub(before.text + before.data);
    Ok(vec![Row::at_most(
        "runtime in a static SPARC V8 program, text + data",
        32.0,
        " KiB",
        runtime as f64 / 1024.0,
        1,
        format!(
            "with stubs and what it pulls out of libc and libgcc {:.1} KiB; bss {:+.1} KiB",
            grown as f64 / 1024.0,
            (after.bss as f64 - before.bss as f64) / 1024.0
        ),
    )])
}

/// Sizes of the input sections of the files whose path contains `part`, but for those that take no room in the file or
/// none in memory, from a map of GNU ld. A section is a line `NAME ADDRESS SIZE FILE`; a long name has a line of its own.
fn loaded_bytes(map: &str, part: &str) -> u64 {
    let mut total = 0;
    let mut name = "";
    for line in map
        .lines()
        .skip_while(|line| !line.starts_with("Linker script and memory map"))
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (found, rest) = match words.as_slice() {
            [first, rest @ ..] if first.starts_with('.') => (*first, rest),
            rest => (name, rest),
        };
        name = found;
        let [_address, size, file] = rest else {
            continue;
        };
        let loaded = [
            ".text",
            ".rodata",
            ".data",
            ".sdata",
            ".tdata",
            ".init",
            ".fini",
            ".ctors",
            ".dtors",
            ".eh_frame",
        ]
        .iter()
        .any(|prefix| name.starts_with(prefix));
        if loaded && file.contains(part) {
            total += size
                .strip_prefix("0x")
                .and_then(|hex| u64::from_str_radix(hex, 16).ok())
                .unwrap_or(0);
        }
    }
    total
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

    #[test]
    fn adds_up_the_loaded_sections_of_one_library() {
        let map = "Discarded input sections\n .text 0x0 0x900 /c/libinstr.a(a.o)\nLinker script and memory map\n\
            .text           0x00010000     0x5000\n \
            .text          0x00015130       0x10 /c/libinstr.a(a.o)\n \
            .text.a_long_name\n                0x00015140       0x8c /c/libinstr.a(b.o)\n                0x00015140                f\n \
            .text          0x00015200       0x20 /c/libgomp.a(b.o)\n \
            .bss           0x00025200       0x40 /c/libinstr.a(b.o)\n \
            .debug_info    0x00000000       0x80 /c/libinstr.a(b.o)\n";
        assert_eq!(loaded_bytes(map, "/libinstr.a("), 0x10 + 0x8c);
    }
}
