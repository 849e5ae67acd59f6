//! Writes Paraver files without symbol names: `merge DIR OUTPUT`.

use instr_trace::{Session, paraver};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [dir, output] = arguments.as_slice() else {
        return Err("usage: merge DIR OUTPUT".into());
    };
    let session = Session::open(&[dir])?;
    let stats = paraver::write(
        &session,
        &[],
        &paraver::Options::default(),
        output.as_ref(),
        &mut |_, _| {},
    )?;
    println!("{stats:?}");
    Ok(())
}
