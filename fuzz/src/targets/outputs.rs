//! Every command that reads a trace, fed with random traces of all kinds of events, in order and damaged.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::Result;
use instr::console::{Console, Status};
use instr_tests::agreement;
use instr_trace::synth::random::{self, Damage, Recipe};
use instr_trace::{Trace, synth};

use super::Target;
use crate::input::Input;
use crate::processor::processor_ms;
use crate::random::Random;
use crate::seeds::Seeds;

/// Processor time of all outputs together: at least, and for each event, ms.
const BASE_MS: u64 = 3000;
const EVENTS_PER_MS: u64 = 10;
/// Bytes of one output: at least, and for each event. A `.pcf` file has its tables in any case.
const BASE_BYTES: u64 = 256 << 10;
const BYTES_PER_EVENT: u64 = 4 << 10;

/// Feeds the commands of `instr`.
pub(crate) struct Outputs {
    folder: tempfile::TempDir,
}

impl Outputs {
    pub(crate) fn new() -> Result<Self> {
        Ok(Outputs {
            folder: tempfile::tempdir()?,
        })
    }

    /// Where inputs are written, and what is made of them.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// A random trace; one in sixteen is large, so that what is not linear in the number of events takes long.
fn recipe(random: &mut Random) -> Recipe {
    let constructs = match random.one_in(16) {
        true => 50,
        false => 1 + random.below(12) as u32,
    };
    Recipe {
        seed: random.next(),
        threads: 1 + random.below(8) as u32,
        constructs,
        damage: *random.pick(&Damage::EACH),
        layout: *random.pick(&synth::all_layouts()),
    }
}

/// A random trace of any kind.
pub(super) fn random_trace(random: &mut Random) -> Result<Input> {
    made(&recipe(random))
}

fn made(recipe: &Recipe) -> Result<Input> {
    let folder = tempfile::tempdir()?;
    random::write(folder.path(), recipe)?;
    Ok(Input::read(folder.path())?)
}

impl Target for Outputs {
    fn seeds(&self, _: &Seeds) -> Result<Vec<Input>> {
        let each = (1..)
            .zip(synth::all_layouts())
            .map(|(seed, layout)| Recipe {
                seed,
                threads: 3,
                constructs: 6,
                damage: Damage::None,
                layout,
            });
        each.map(|recipe| made(&recipe)).collect()
    }

    fn fresh(&self, random: &mut Random) -> Option<Input> {
        random_trace(random).ok()
    }

    fn run(&mut self, input: &Input) -> bool {
        let folder = self.folder.path().join("trace");
        if input.write_folder(&folder).is_err() {
            return false;
        }
        let begin = processor_ms();
        let agreed = agreement::compare(&folder, false, &|words| command(words));
        if let Err(why) = agreed {
            panic!("{why}");
        }
        let Ok(trace) = Trace::open(&folder) else {
            return false;
        };
        // Every event takes at least its header.
        let events = trace.bytes() / 8;
        every_output(&folder, self.folder.path(), events);
        let (taken, most) = (processor_ms() - begin, BASE_MS + events / EVENTS_PER_MS);
        assert!(taken <= most, "{taken} ms for at most {events} events");
        true
    }
}

/// What is not compared: it must be written, in bounds, or refused. `folder` is the trace; files go below `scratch`.
fn every_output(folder: &Path, scratch: &Path, events: u64) {
    let Ok(place) = tempfile::tempdir_in(scratch) else {
        return;
    };
    let trace = folder.as_os_str();
    let (copy, perfetto) = (place.path().join("copy"), place.path().join("out.pftrace"));
    let most = BASE_BYTES + BYTES_PER_EVENT * events;
    let printed = |words: &[&str]| {
        let words: Vec<&OsStr> = words.iter().map(OsStr::new).chain([trace]).collect();
        let written = command(&words);
        match written {
            Ok((status, out)) if status < 2 && out.len() as u64 <= most => (status, out),
            Ok((status, out)) => panic!("{words:?}: status {status}, {} bytes", out.len()),
            Err(why) => panic!("{words:?}: {why}"),
        }
    };
    printed(&["summary"]);
    printed(&["summary", "--leaks"]);
    printed(&["timeline"]);
    printed(&["timeline", "--show", "regions", "--width", "200"]);
    printed(&["timeline", "--json", "--from", "10us", "--to", "1s"]);
    for kind in ["gantt", "memory", "power", "efficiency", "histogram", "tdg"] {
        printed(&["plot", "--kind", kind, "-o", "-"]);
    }
    printed(&["live", "--once"]);
    printed(&["live", "--json"]);
    let pdf = place.path().join("out.pdf");
    printed(&["plot", "--kind", "gantt", "-o", &pdf.to_string_lossy()]);
    printed(&["graph"]);
    for format in ["dot", "graphml", "svg"] {
        printed(&["graph", "--format", format, "-o", "-"]);
    }
    let file = perfetto.to_string_lossy();
    if printed(&["export", "--format", "perfetto", "-o", &file]).0 == 0 {
        let bytes = perfetto.metadata().map_or(0, |file| file.len());
        assert!(bytes <= most, "Perfetto: {bytes} bytes");
    }
    let (_, summary) = printed(&["summary", "--json"]);
    if printed(&["repair", "-o", &copy.to_string_lossy()]).0 == 0 {
        let words: [&OsStr; 3] = ["summary".as_ref(), "--json".as_ref(), copy.as_os_str()];
        match command(&words) {
            Ok((0, repaired)) => {
                let [own, copied] = [&summary, &repaired].map(|text| events_of(text));
                assert_eq!(copied, own, "events of the repaired trace");
            }
            other => panic!("the repaired trace is refused: {other:?}"),
        }
    }
}

/// The number of events in a summary.
pub(super) fn events_of(summary: &str) -> Option<&str> {
    let of_line = summary
        .lines()
        .find_map(|line| line.strip_prefix("  \"events\": "));
    of_line.map(|number| number.trim_end_matches(','))
}

/// Runs a command in this process; its status and standard output.
pub(super) fn command(words: &[&OsStr]) -> Result<(u8, String), String> {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let words = words.iter().copied().map(OsString::from);
    let mut console = Console {
        out: &mut out,
        err: &mut err,
        colour: false,
        progress: false,
        width: 80,
        height: None,
    };
    let status = instr::run(
        std::iter::once("instr".into()).chain(words).collect(),
        &mut console,
    );
    if matches!(status, Status::Usage | Status::Bug) {
        return Err(String::from_utf8_lossy(&err).into_owned());
    }
    let text = String::from_utf8(out).map_err(|error| error.to_string())?;
    Ok((status as u8, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::mutate;

    #[test]
    fn random_traces_and_mutations_of_them_pass_every_output() {
        let _one = crate::memory::COUNTS.lock().unwrap();
        let (mut target, mut random) = (Outputs::new().unwrap(), Random::new(1));
        let mut accepted = 0;
        for _ in 0..20 {
            let recipe = Recipe {
                constructs: 4,
                ..recipe(&mut random)
            };
            let (mut input, other) = (made(&recipe).unwrap(), target.fresh(&mut random).unwrap());
            accepted += u32::from(target.run(&input));
            mutate(&mut input, &other, &mut random);
            target.run(&input);
        }
        assert!(accepted > 15, "{accepted}");
    }
}
