//! Why a program has no trace: what its file, the place of the trace and the settings say.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use instr_cc::preload::Obstacle;
use memchr::memmem;

use crate::quote::shown;
use crate::settings;
use crate::summary::units::elide;

/// A text that every program with the runtime inside holds: the name of a setting.
const RUNTIME: &[u8] = b"INSTR_ENABLED";
/// What the names of the OpenMP libraries' functions begin with.
const OPENMP: [&[u8]; 2] = [b"GOMP_", b"__kmpc_"];
/// What a process says with this setting, which nobody else can.
const VERBOSE: &str = "INSTR_VERBOSE=1 has each process say why it is not traced";
/// Mode bits of a program that runs with rights its user has not.
const PRIVILEGED: u32 = 0o6000;

/// Bytes of the longest name that Linux takes.
const MAX_NAME: usize = 255;
/// Bytes of the longest path that the runtime takes (`INSTR_CFG_PATH_BYTES`).
const MAX_PATH: usize = 1023;
/// Characters of a name that is too long, in a message.
const SHOWN: usize = 60;

/// A reason, and what helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reason {
    pub(crate) note: String,
    pub(crate) help: Option<String>,
}

fn reason(note: impl Into<String>, help: &str) -> Reason {
    Reason {
        note: note.into(),
        help: Some(help.to_owned()).filter(|help| !help.is_empty()),
    }
}

/// What a program's file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contents {
    /// No ELF file: a script may start one that is.
    NotElf,
    /// It has the runtime inside.
    Instrumented,
    /// It has not; whether it names functions of OpenMP.
    Plain { openmp: bool },
}

/// Looks through a file; `None`: it cannot be read.
pub(crate) fn contents(program: &Path) -> Option<Contents> {
    let mut file = std::fs::File::open(program).ok()?;
    let mut buffer = vec![0; 1 << 16];
    let (mut kept, mut first, mut openmp) = (0, true, false);
    loop {
        let count = file.read(&mut buffer[kept..]).ok()?;
        let bytes = &buffer[..kept + count];
        if first && !bytes.starts_with(b"\x7fELF") {
            return Some(Contents::NotElf);
        }
        first = false;
        let holds = |mark: &[u8]| memmem::find(bytes, mark).is_some();
        if holds(RUNTIME) {
            return Some(Contents::Instrumented);
        }
        openmp |= OPENMP.into_iter().any(holds);
        if count == 0 {
            return Some(Contents::Plain { openmp });
        }
        // A mark may lie across two pieces.
        let (end, keep) = (bytes.len(), bytes.len().min(RUNTIME.len() - 1));
        buffer.copy_within(end - keep..end, 0);
        kept = keep;
    }
}

/// What is known of a run that left no trace, or of one that would leave none.
pub(crate) struct Question<'a> {
    /// The program's file.
    pub(crate) program: &'a Path,
    /// The folder it runs in.
    pub(crate) folder: &'a Path,
    /// Its environment.
    pub(crate) variables: &'a [(OsString, OsString)],
    /// Whether it ran with the runtime preloaded.
    pub(crate) preloaded: bool,
    /// Why it could not, under `instr run`.
    pub(crate) obstacle: Option<Obstacle>,
}

impl Question<'_> {
    /// A variable that is set, and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsString> {
        let named = self.variables.iter().filter(|(other, _)| other == name);
        named
            .map(|(_, value)| value)
            .find(|value| !value.is_empty())
    }

    /// Where the trace is to be: what `INSTR_TRACE` says, or `NAME.instr` in the folder. The program's name is that of its file, links followed.
    pub(crate) fn place(&self) -> PathBuf {
        if let Some(place) = self.variable("INSTR_TRACE") {
            return self.folder.join(place);
        }
        let mut name = self.name();
        name.push(".instr");
        self.folder.join(name)
    }

    /// The program's name: that of its file, links followed.
    pub(crate) fn name(&self) -> OsString {
        let file = self.program.canonicalize();
        let file = file.as_deref().unwrap_or(self.program);
        file.file_name().unwrap_or_default().to_owned()
    }

    /// All reasons that can be seen, the surest first.
    pub(crate) fn reasons(&self) -> Vec<Reason> {
        let mut reasons = Vec::new();
        if self
            .variable("INSTR_ENABLED")
            .is_some_and(|value| value == "0")
        {
            reasons.push(reason("INSTR_ENABLED=0 switches recording off", ""));
        }
        if self
            .variable("INSTR_PAUSED")
            .is_some_and(|value| value == "1")
        {
            reasons.push(reason(
                "INSTR_PAUSED=1 records nothing before the program calls instr_start",
                "",
            ));
        }
        if let Some(sink) = self.variable("INSTR_SINK").filter(|sink| *sink != "file") {
            reasons.push(reason(
                format!("INSTR_SINK={} makes no folder", shown(sink)),
                "instr extract makes one of what a console printed, or of a dump of memory",
            ));
        } else if begun(&self.place()) {
            reasons.push(reason(
                format!(
                    "{} is there, but has no metadata: the program ended before it was written, or there was no space left",
                    shown(self.place())
                ),
                "INSTR_TRACE=DIR names a folder where there is space; df shows how much is left",
            ));
        } else if let Err(why) = can_be_made(&self.place()) {
            let help = "INSTR_TRACE=DIR names a folder for the trace";
            reasons.push(reason(why, help));
        }
        // What a program with the runtime preloaded did is not seen where that could not record.
        if !self.preloaded || reasons.is_empty() {
            reasons.extend(self.of_file());
        }
        let is_off = |value: &OsString| value == "0";
        if self.preloaded && self.variable("INSTR_SWITCHES").is_some_and(is_off) {
            reasons.push(reason(
                "INSTR_SWITCHES=0 leaves out who ran on which processor, which is recorded of any program",
                "",
            ));
        }
        reasons.extend(self.mistakes().into_iter().map(|why| reason(why, "")));
        reasons
    }

    /// The settings in the environment that are not understood.
    pub(crate) fn mistakes(&self) -> Vec<String> {
        let variables = self.variables.iter();
        let texts =
            variables.map(|(name, value)| (name.to_string_lossy(), value.to_string_lossy()));
        let texts: Vec<_> = texts.collect();
        settings::mistakes(texts.iter().map(|(name, value)| (&**name, &**value)))
    }

    fn of_file(&self) -> Option<Reason> {
        let program = shown(self.program);
        let build = "compile and link it by instr-cc with -fopenmp: `make CC=instr-cc`, or `instr-cc gcc -fopenmp …`";
        if let Some(obstacle) = &self.obstacle {
            let note = format!("{program} {}", obstacle.what);
            return Some(reason(note, &obstacle.help));
        }
        let unseen =
            "or could open no file when they did, or ran without LD_PRELOAD in their environment";
        match contents(self.program)? {
            Contents::Plain { openmp: true } if self.preloaded => Some(reason(
                format!(
                    "{program} called no OpenMP and made no thread in this run, has its OpenMP library inside (linked statically), or could open no file when it did"
                ),
                build,
            )),
            contents @ (Contents::NotElf | Contents::Plain { .. }) if self.preloaded => {
                let who = match contents {
                    Contents::NotElf => "is no ELF file, and what it started",
                    _ => "and what it started",
                };
                Some(reason(
                    format!("{program} {who} called no OpenMP and made no thread, {unseen}"),
                    VERBOSE,
                ))
            }
            Contents::NotElf => Some(reason(
                format!("{program} is no ELF file: only programs that instr-cc linked record"),
                "",
            )),
            Contents::Plain { openmp: true } => Some(reason(
                format!("{program} calls OpenMP, but was not linked by instr-cc"),
                "`instr run` records it as it is; or link it again with instr-cc (remove the program first if make finds it up to date)",
            )),
            Contents::Plain { openmp: false } => Some(reason(
                format!(
                    "{program} calls no OpenMP, and has no runtime of instr inside (instr-cc links none where nothing would be recorded)"
                ),
                build,
            )),
            Contents::Instrumented => {
                let mode = std::fs::metadata(self.program).ok()?.permissions().mode();
                (mode & PRIVILEGED != 0).then(|| {
                    reason(
                        format!("{program} runs with rights that its user has not (set-user-id or set-group-id): such programs record nothing"),
                        "run a copy of it without these bits",
                    )
                })
            }
        }
    }
}

/// A program's name as its trace has it: the runtime replaces control characters, the reader what is no UTF-8.
pub(crate) fn recorded_name(name: &OsStr) -> String {
    let plain = |c: char| if c.is_ascii_control() { '?' } else { c };
    name.to_string_lossy().chars().map(plain).collect()
}

/// Why a trace's name is too long, if it is. Where a trace is there, that gets a number behind its name.
fn too_long(place: &Path) -> Option<String> {
    let number = if place.exists() { ".1".len() } else { 0 };
    let longest = place
        .components()
        .map(|part| part.as_os_str().len())
        .max()?;
    if longest + number > MAX_NAME {
        return Some(format!(
            "a name has at most {MAX_NAME} bytes, with a number behind it where earlier runs are kept"
        ));
    }
    let around = match place.is_absolute() {
        true => 0,
        false => std::env::current_dir().map_or(0, |folder| folder.as_os_str().len() + 1),
    };
    (around + place.as_os_str().len() > MAX_PATH)
        .then(|| format!("the path of a trace has at most {MAX_PATH} bytes"))
}

/// Whether a trace's folder can be made, or be written if it is there.
///
/// # Errors
///
/// Why not, with the folder that stands in the way.
pub(crate) fn can_be_made(place: &Path) -> Result<(), String> {
    if let Some(why) = too_long(place) {
        let name = elide(&shown(place), SHOWN);
        return Err(format!("the trace {name} cannot be made: {why}"));
    }
    let there = |path: &&Path| path.symlink_metadata().is_ok();
    // The folder itself if it is there, else the nearest one in which folders must be made.
    let nearest = place.ancestors().find(there).unwrap_or(Path::new("."));
    let refused = |why: &dyn std::fmt::Display| {
        let what = if nearest == place { "written" } else { "made" };
        Err(format!(
            "the trace {} cannot be {what}: {}: {why}",
            shown(place),
            shown(nearest)
        ))
    };
    if !nearest.is_dir() {
        return refused(&"it is no directory");
    }
    let tried = tempfile::Builder::new()
        .prefix(".instr-")
        .tempdir_in(nearest);
    match tried {
        Ok(_) => Ok(()),
        Err(error) => refused(&instr_trace::new_file::plain(error)),
    }
}

/// A folder with files of a trace, and without what says what they are.
fn begun(place: &Path) -> bool {
    let is_stream = |entry: std::fs::DirEntry| {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        name == b".lock" || name.starts_with(b"thread_") || name.starts_with(b".window_")
    };
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    !place.join("metadata").exists() && entries.into_iter().any(is_stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(dir: &Path, name: &str, text: &[u8]) -> PathBuf {
        let file = dir.join(name);
        std::fs::write(&file, [b"\x7fELF....", text].concat()).unwrap();
        file
    }

    #[test]
    fn the_runtime_is_found_wherever_it_lies_in_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        for at in [4, 100, (1 << 16) - 5, (1 << 16) + 7] {
            let mut bytes = b"\x7fELF".to_vec();
            bytes.resize(at, b'I');
            bytes.extend_from_slice(RUNTIME);
            std::fs::write(&file, &bytes).unwrap();
            assert_eq!(contents(&file), Some(Contents::Instrumented), "{at}");
            bytes.pop();
            std::fs::write(&file, &bytes).unwrap();
            let plain = Some(Contents::Plain { openmp: false });
            assert_eq!(contents(&file), plain, "{at}");
        }
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        assert_eq!(contents(&file), Some(Contents::NotElf));
        assert_eq!(contents(&dir.path().join("none")), None);
    }

    #[test]
    fn a_folder_that_was_only_begun_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let trace = dir.path().join("app.instr");
        let program = elf(dir.path(), "app", RUNTIME);
        let told = || {
            let question = Question {
                program: &program,
                folder: dir.path(),
                variables: &[],
                preloaded: false,
                obstacle: None,
            };
            let reasons = question.reasons();
            reasons
                .iter()
                .any(|reason| reason.note.contains("has no metadata"))
        };
        std::fs::create_dir(&trace).unwrap();
        assert!(!told(), "an empty folder");
        std::fs::write(trace.join("thread_0000"), "").unwrap();
        assert!(told());
        std::fs::write(trace.join("metadata"), "").unwrap();
        assert!(!told());
    }

    #[test]
    fn what_keeps_the_preloaded_runtime_from_recording_is_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let plain = elf(dir.path(), "plain", b"GOMP_parallel");
        let told = |name: &str, value: &str| {
            let question = Question {
                program: &plain,
                folder: dir.path(),
                variables: &[(name.into(), value.into())],
                preloaded: true,
                obstacle: None,
            };
            let notes = question.reasons().into_iter().map(|reason| reason.note);
            notes.collect::<Vec<_>>().join(" | ")
        };
        assert!(
            told("INSTR_ENABLED", "1").contains("called no OpenMP and made no thread in this run")
        );
        assert_eq!(
            told("INSTR_ENABLED", "0"),
            "INSTR_ENABLED=0 switches recording off"
        );
        assert!(told("INSTR_PAUSED", "1").starts_with("INSTR_PAUSED=1 records nothing before"));
        assert_eq!(
            told("INSTR_SINK", "console"),
            "INSTR_SINK=console makes no folder"
        );
        let long = told("INSTR_TRACE", &"x".repeat(300));
        assert!(!long.contains("OpenMP") && long.contains("255"), "{long}");
    }

    #[test]
    fn every_reason_that_can_be_seen_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let told = |program: &Path, variables: &[(&str, &str)]| {
            let own = |(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
            let variables: Vec<_> = variables.iter().map(own).collect();
            let question = Question {
                program,
                folder: dir.path(),
                variables: &variables,
                preloaded: false,
                obstacle: None,
            };
            let notes = question.reasons().into_iter().map(|reason| reason.note);
            notes.collect::<Vec<_>>().join(" | ")
        };
        let traced = elf(dir.path(), "traced", b"INSTR_ENABLED");
        for name in ["x".repeat(256), format!("a/{}/b", "x".repeat(300))] {
            let long = told(&traced, &[("INSTR_TRACE", &name)]);
            assert!(long.contains("a name has at most 255 bytes"), "{long}");
            assert!(long.len() < 200, "{long}");
        }
        let deep = told(&traced, &[("INSTR_TRACE", &"abc/".repeat(300))]);
        assert!(deep.contains("has at most 1023 bytes"), "{deep}");
        let longest = "x".repeat(255);
        assert_eq!(told(&traced, &[("INSTR_TRACE", &longest)]), "");
        std::fs::create_dir(dir.path().join(&longest)).unwrap();
        let second = told(&traced, &[("INSTR_TRACE", &longest)]);
        assert!(second.contains("with a number behind it"), "{second}");
        assert_eq!(told(&traced, &[]), "");
        assert_eq!(told(&traced, &[("INSTR_TRACE", "a/b")]), "");
        let below = told(&traced, &[("INSTR_TRACE", "traced/b")]);
        assert!(
            below.contains("traced/b cannot be made: ") && below.ends_with("it is no directory"),
            "{below}"
        );
        let off = told(
            &traced,
            &[
                ("INSTR_ENABLED", "0"),
                ("INSTR_TRCE", "x"),
                ("INSTR_POLICY", "rng"),
            ],
        );
        for part in [
            "INSTR_ENABLED=0",
            "did you mean INSTR_TRACE?",
            "INSTR_POLICY=rng is not",
        ] {
            assert!(off.contains(part), "{off}");
        }
        assert!(told(&traced, &[("INSTR_SINK", "ram")]).contains("makes no folder"));
        let plain = elf(dir.path(), "plain", b"GOMP_parallel");
        assert!(told(&plain, &[]).contains("calls OpenMP, but was not linked by instr-cc"));
        let serial = elf(dir.path(), "serial", b"main");
        assert!(told(&serial, &[]).contains("calls no OpenMP"));
        let mode = std::fs::Permissions::from_mode(0o4755);
        std::fs::set_permissions(&traced, mode).unwrap();
        assert!(told(&traced, &[]).contains("rights that its user has not"));
    }
}
