//! The part's metadata.

use std::fmt::Write as _;

use instr_schema::kernel::{FORMAT, OLDEST, events, types};

use crate::metadata::{blocks, escaped};

/// Whose switches were recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recorded {
    /// Those of the program and of what it started.
    #[default]
    Tree,
    /// Those of all threads on these processors.
    System,
    /// Nobody's: there are only sums.
    Sums,
}

impl Recorded {
    /// The word in the metadata and in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::System => "system",
            Self::Sums => "sums",
        }
    }
}

/// What recorded the switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recorder {
    /// perf's `PERF_RECORD_SWITCH`: who left and got a processor.
    #[default]
    Perf,
    /// A program in the kernel: also who woke whom, who gave its processor away, priorities.
    Ebpf,
}

impl Recorder {
    /// The word in the metadata and in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Perf => "perf",
            Self::Ebpf => "ebpf",
        }
    }
}

/// What `wait4` said of the program and of the children that it waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time in user code, ns.
    pub user_ns: u64,
    /// Time in the kernel, ns.
    pub system_ns: u64,
    /// Switches in which a thread waited.
    pub voluntary: u64,
    /// Switches in which another one took the processor.
    pub involuntary: u64,
}

/// What the part says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Whose switches were recorded.
    pub recorded: Recorded,
    /// What recorded them.
    pub recorder: Recorder,
    /// Why the recorder is not the one that tells more; empty: it is, or was asked for.
    pub recorder_why: String,
    /// The machine.
    pub hostname: String,
    /// Which start of its kernel.
    pub boot_id: String,
    /// The program's process.
    pub pid: u32,
    /// The program, by its file's name.
    pub program: String,
    /// Its arguments, a blank between them.
    pub arguments: String,
    /// How many processors were recorded.
    pub processors: u32,
    /// `CLOCK_MONOTONIC` at the begin, ns.
    pub start_monotonic_ns: u64,
    /// ns since 1970 at the begin.
    pub start_realtime_ns: u64,
    /// `CLOCK_MONOTONIC` at the end, ns; 0: the recording was not ended.
    pub end_monotonic_ns: u64,
    /// Events that were lost.
    pub lost: u64,
    /// What the system says at the end.
    pub usage: Option<Usage>,
    /// Why there is less than there might be.
    pub trouble: Option<String>,
}

impl Info {
    /// The metadata's text.
    #[must_use]
    pub fn text(&self, uuid: [u8; 16]) -> String {
        let mut out = types();
        let hex: Vec<String> = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        let parts = [0..4, 4..6, 6..8, 8..10, 10..16].map(|part| hex[part].concat());
        _ = write!(
            out,
            "trace {{\n    major = 1;\n    minor = 8;\n    uuid = \"{}\";\n    byte_order = le;\n    packet.header := struct {{ u32 magic; u8 uuid[16]; u32 stream_id; }};\n}};\n\nenv {{\n",
            parts.join("-")
        );
        self.env(&mut out);
        out.push_str("};\n\n");
        out.push_str(&clock("monotonic", self));
        out.push_str(&events());
        out.push_str(&instr_schema::series::declarations());
        out
    }

    fn env(&self, out: &mut String) {
        let usage = self.usage.unwrap_or_default();
        let recorder = match self.recorded {
            Recorded::Sums => "",
            _ => self.recorder.word(),
        };
        let texts = [
            ("tracer_name", "instr"),
            ("hostname", &self.hostname),
            ("boot_id", &self.boot_id),
            ("recorded", self.recorded.word()),
            ("recorder", recorder),
            ("recorder_why", &self.recorder_why),
            ("program", &self.program),
            ("arguments", &self.arguments),
            ("trouble", self.trouble.as_deref().unwrap_or("")),
        ];
        for (key, value) in texts.into_iter().filter(|(_, value)| !value.is_empty()) {
            _ = writeln!(out, "    {key} = \"{}\";", escaped(value));
        }
        let numbers = [
            ("kernel_format", FORMAT),
            ("pid", self.pid.into()),
            ("processors", self.processors.into()),
            ("start_monotonic_ns", self.start_monotonic_ns),
            ("start_realtime_ns", self.start_realtime_ns),
            ("end_monotonic_ns", self.end_monotonic_ns),
            ("lost", self.lost),
            ("children_user_ns", usage.user_ns),
            ("children_system_ns", usage.system_ns),
            ("children_voluntary", usage.voluntary),
            ("children_involuntary", usage.involuntary),
        ];
        let is_there = |key: &str| !key.starts_with("children_") || self.usage.is_some();
        for (key, value) in numbers.into_iter().filter(|(key, _)| is_there(key)) {
            _ = writeln!(out, "    {key} = {value};");
        }
    }

    /// Parses the metadata's text.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        if !bytes.starts_with(b"/* CTF 1.8 */") {
            return Err("does not begin with /* CTF 1.8 */".into());
        }
        let text = String::from_utf8_lossy(bytes);
        let mut info = Self::default();
        let mut usage = Usage::default();
        let (mut format, mut has_usage) = (0, false);
        let envs = blocks(&text).into_iter().filter(|(name, _)| name == "env");
        for (key, value) in envs.flat_map(|(_, entries)| entries) {
            let small = || u32::try_from(value.number()).unwrap_or(0);
            has_usage |= key.starts_with("children_");
            match key.as_str() {
                "kernel_format" => format = value.number(),
                "hostname" => info.hostname = value.text(),
                "boot_id" => info.boot_id = value.text(),
                "recorded" => {
                    let word = value.text();
                    let kinds = [Recorded::Tree, Recorded::System, Recorded::Sums];
                    info.recorded = *kinds
                        .iter()
                        .find(|kind| kind.word() == word)
                        .ok_or_else(|| format!("env.recorded is {word:?}"))?;
                }
                "recorder" => {
                    let word = value.text();
                    let kinds = [Recorder::Perf, Recorder::Ebpf];
                    info.recorder = *kinds
                        .iter()
                        .find(|kind| kind.word() == word)
                        .ok_or_else(|| format!("env.recorder is {word:?}"))?;
                }
                "recorder_why" => info.recorder_why = value.text(),
                "pid" => info.pid = small(),
                "program" => info.program = value.text(),
                "arguments" => info.arguments = value.text(),
                "processors" => info.processors = small(),
                "start_monotonic_ns" => info.start_monotonic_ns = value.number(),
                "start_realtime_ns" => info.start_realtime_ns = value.number(),
                "end_monotonic_ns" => info.end_monotonic_ns = value.number(),
                "lost" => info.lost = value.number(),
                "children_user_ns" => usage.user_ns = value.number(),
                "children_system_ns" => usage.system_ns = value.number(),
                "children_voluntary" => usage.voluntary = value.number(),
                "children_involuntary" => usage.involuntary = value.number(),
                "trouble" => info.trouble = Some(value.text()),
                _ => {}
            }
        }
        info.usage = has_usage.then_some(usage);
        match format {
            OLDEST..=FORMAT => Ok(info),
            other => Err(format!(
                "env.kernel_format is {other}, this build reads {OLDEST} to {FORMAT}"
            )),
        }
    }
}

/// The block of a clock that is `CLOCK_MONOTONIC`.
pub(super) fn clock(name: &str, info: &Info) -> String {
    let offset = i128::from(info.start_realtime_ns) - i128::from(info.start_monotonic_ns);
    format!(
        "clock {{\n    name = {name};\n    freq = 1000000000;\n    offset_s = {};\n    offset = {};\n}};\n\n",
        offset.div_euclid(1_000_000_000),
        offset.rem_euclid(1_000_000_000)
    )
}
