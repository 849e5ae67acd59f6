//! Writes a synthetic trace: `synth DIR user|tasks EVENTS THREADS`.

use instr_trace::synth;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dir, kind, events, threads] = arguments.as_slice() else {
        return Err("usage: synth DIR user|tasks EVENTS THREADS".into());
    };
    let (events, threads) = (events.parse()?, threads.parse()?);
    let layout = synth::layouts()[0];
    match kind.as_str() {
        "user" => synth::user_events(dir.as_ref(), layout, threads, events, 20)?,
        "tasks" => println!(
            "{} tasks",
            synth::tasks(dir.as_ref(), layout, threads, events)?
        ),
        other => return Err(format!("unknown kind {other}").into()),
    }
    Ok(())
}
