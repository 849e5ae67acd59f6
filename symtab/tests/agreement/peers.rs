//! The other tools, asked about many addresses at a time.

use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use instr_symtab::Lookup;

/// One function at an address, innermost first; `??` and 0 where nothing is known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Frame {
    /// The linker's name.
    pub(crate) function: String,
    /// The file's path, joined and normalized.
    pub(crate) file: String,
    pub(crate) line: u32,
}

/// All functions at an address.
pub(crate) type Frames = Vec<Frame>;

/// What is known of nothing.
pub(crate) fn unknown() -> Frames {
    vec![Frame {
        function: String::from("??"),
        file: String::from("??"),
        line: 0,
    }]
}

/// A tool to compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Peer {
    Binutils,
    Llvm,
    /// Asked only where the others differ.
    Elfutils,
}

impl Peer {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Peer::Binutils => "binutils",
            Peer::Llvm => "llvm",
            Peer::Elfutils => "elfutils",
        }
    }

    /// The tool's first line about itself, or none where it is not installed.
    pub(crate) fn version(self) -> Option<String> {
        let out = self
            .command("")
            .arg("--version")
            .stderr(Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let line = text
            .lines()
            .find(|line| line.contains(|c: char| c.is_ascii_digit()))?;
        Some(line.trim().to_owned())
    }

    fn command(self, prefix: &str) -> Command {
        match self {
            Peer::Binutils => Command::new(format!("{prefix}addr2line")),
            Peer::Llvm => Command::new("llvm-symbolizer"),
            Peer::Elfutils => Command::new("eu-addr2line"),
        }
    }

    /// What the tool says of each address of `program`; `prefix` is that of the target's binutils.
    pub(crate) fn ask(
        self,
        prefix: &str,
        program: &Path,
        addresses: &[u64],
        scratch: &Path,
    ) -> Vec<Frames> {
        let list = scratch.join("addresses");
        let text: String = addresses.iter().map(|a| format!("{a:#x}\n")).collect();
        fs::write(&list, text).expect("a list of addresses");
        let mut command = self.command(prefix);
        match self {
            Peer::Binutils | Peer::Elfutils => command.args(["-a", "-f", "-i", "-e"]).arg(program),
            Peer::Llvm => command
                .args([
                    "--addresses",
                    "--inlines",
                    "--no-demangle",
                    "--functions=linkage",
                    "-e",
                ])
                .arg(program),
        };
        let input = File::open(&list).expect("the list of addresses");
        let out = command.stdin(input).output().expect("the tool starts");
        // elfutils fails if a single address is outside of the program's segments.
        let fine = out.status.success() || self == Peer::Elfutils;
        assert!(
            fine,
            "{command:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        let mut answers = self.read(&String::from_utf8_lossy(&out.stdout));
        if self == Peer::Elfutils {
            answers.resize(addresses.len(), unknown());
        }
        assert_eq!(answers.len(), addresses.len(), "{command:?}");
        answers
    }

    fn read(self, text: &str) -> Vec<Frames> {
        let mut answers: Vec<Frames> = Vec::new();
        let mut lines = text.lines().filter(|line| !line.is_empty());
        while let Some(line) = lines.next() {
            if line.starts_with("0x") {
                answers.push(Frames::new());
                continue;
            }
            let place = lines.next().unwrap_or_default();
            let (file, line_number) = self.place(place);
            let function = line.split(" inlined at ").next().unwrap_or_default();
            let frame = Frame {
                function: function.to_owned(),
                file: normalized(file),
                line: line_number,
            };
            answers
                .last_mut()
                .expect("an address comes first")
                .push(frame);
        }
        answers
    }

    /// `file:line` or `file:line:column`.
    fn place(self, text: &str) -> (&str, u32) {
        let text = text.split(" (discriminator").next().unwrap_or_default();
        let (file, last) = text.rsplit_once(':').unwrap_or((text, "0"));
        let with_column = match self {
            Peer::Binutils => false,
            Peer::Llvm => true,
            Peer::Elfutils => file
                .rsplit_once(':')
                .is_some_and(|(_, line)| line.parse::<u32>().is_ok()),
        };
        let (file, line) = if with_column {
            file.rsplit_once(':').unwrap_or((file, "0"))
        } else {
            (file, last)
        };
        (file, line.parse().unwrap_or(0))
    }
}

/// Our answer in the same form.
pub(crate) fn ours(answer: &Lookup) -> Frames {
    if answer.frames.is_empty() {
        return unknown();
    }
    let frames = answer.frames.iter().map(|frame| Frame {
        function: frame
            .function
            .as_ref()
            .map_or("??", |name| &name.raw)
            .to_owned(),
        file: normalized(frame.file.as_deref().unwrap_or("??")),
        line: frame.line.unwrap_or(0),
    });
    frames.collect()
}

/// A path without `.` and `..`, which the tools leave in or take out as they like.
pub(crate) fn normalized(path: &str) -> String {
    if path.is_empty() {
        return String::from("??");
    }
    let mut out = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out.to_string_lossy().into_owned()
}
