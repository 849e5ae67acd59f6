//! Looks addresses up: `cargo run -p instr-symtab --example lookup -- PROGRAM 0x401136 …`; without addresses, reads
//! them from standard input, one a line. Shows how a caller hands in the bytes.

use std::io::{BufRead, Write};

use instr_symtab::Image;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next().ok_or("usage: lookup PROGRAM [ADDRESS…]")?;
    let image = Image::from_bytes(std::fs::read(program)?.into())?;
    let mut addresses: Vec<String> = arguments
        .map(|a| a.to_string_lossy().into_owned())
        .collect();
    if addresses.is_empty() {
        addresses = std::io::stdin().lock().lines().collect::<Result<_, _>>()?;
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for text in addresses {
        let address = u64::from_str_radix(text.trim().trim_start_matches("0x"), 16)?;
        let answer = image.lookup(address);
        writeln!(out, "{address:#x}")?;
        for frame in &answer.frames {
            let name = frame.function.as_ref().map_or("??", |name| &name.demangled);
            let file = frame.file.as_deref().unwrap_or("??");
            writeln!(out, "  {name} at {file}:{}", frame.line.unwrap_or(0))?;
        }
    }
    Ok(())
}
