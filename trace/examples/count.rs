//! Reads a trace and prints the number of events and the last time: `count DIR`.

use instr_trace::Trace;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args_os().nth(1).ok_or("usage: count DIR")?;
    let trace = Trace::open(dir)?;
    let mut merge = trace.merge();
    let (mut events, mut last) = (0u64, 0);
    while let Some(event) = merge.next()? {
        events += 1;
        last = event.time;
    }
    println!(
        "{events} events, {last} ns, {} damaged packets, {} warnings",
        merge.damaged(),
        trace.warning_count()
    );
    Ok(())
}
