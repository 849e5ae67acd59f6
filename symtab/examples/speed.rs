//! Times look-ups: `cargo run --release -p instr-symtab --example speed -- PROGRAM [COUNT]` looks COUNT (100,000)
//! pseudo-random code addresses of PROGRAM up, with function names and inlined frames, then the same ones again.

use std::time::Instant;

use instr_symtab::{Image, SymbolKind};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next().ok_or("usage: speed PROGRAM [COUNT]")?;
    let count: usize = arguments
        .next()
        .map_or(Ok(100_000), |text| text.to_string_lossy().parse())?;
    let bytes = std::fs::read(&program)?;
    let start = Instant::now();
    let image = Image::from_bytes(bytes.into())?;
    println!("open      {:9.1} ms", millis(start));
    let functions: Vec<_> = image
        .symbols_where(|_| true)
        .into_iter()
        .filter(|s| s.kind == SymbolKind::Function && s.size > 0)
        .collect();
    let (first, last) = (
        functions.first().ok_or("no functions")?,
        functions.last().ok_or("no functions")?,
    );
    let span = last.address + last.size - first.address;
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let addresses: Vec<u64> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        first.address + state % span
    })
    .filter(|&address| image.symbol(address).is_some())
    .take(count)
    .collect();
    for pass in ["cold", "cached"] {
        let start = Instant::now();
        let (mut frames, mut lines) = (0, 0);
        for &address in &addresses {
            let answer = image.lookup(address);
            frames += answer.frames.len();
            lines += usize::from(answer.line.is_some());
        }
        println!(
            "{pass:9} {:9.1} ms  {} addresses, {frames} frames, {lines} with a line",
            millis(start),
            addresses.len()
        );
    }
    let image = Image::from_bytes(std::fs::read(program)?.into())?;
    let start = Instant::now();
    let answers = image.lookup_all(&addresses);
    println!(
        "all       {:9.1} ms  {} addresses on all cores",
        millis(start),
        answers.len()
    );
    Ok(())
}

fn millis(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
