//! Demangles names, one a line, as c++filt does: `nm PROGRAM | cut -c20- | cargo run -p instr-symtab --example demangle`.

use std::io::{self, BufRead, BufWriter, Write};

fn main() -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().split(b'\n') {
        writeln!(out, "{}", instr_symtab::demangle(&line?))?;
    }
    out.flush()
}
