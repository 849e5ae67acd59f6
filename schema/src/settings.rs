//! Settings of a traced program, and what a TOML file says of them.
//!
//! ```toml
//! policy = "ring"              # INSTR_POLICY=ring: every setting by its name, in small letters
//! sensors = ["rapl", "psi"]    # a list is joined with commas
//! sensors_period = "10ms"
//! verbose = true
//! ```
//!
//! `instr run --config` puts them into the environment, `instr-cc --instr-config` compiles them into a program: both refuse here what
//! the runtime would not understand. The first table of `docs/environment.md` is generated from [`SETTINGS`]; a test holds that the
//! runtime's C sources read the same names and words.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::series::modules;

/// What the values of a setting look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 0 or 1.
    Switch,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// These words, separated by commas or blanks.
    ListOf(&'static [&'static str]),
    /// Bytes, with K, M or G.
    Size,
    /// The same, up to so many.
    SizeUpTo(u64),
    /// A time with its unit, us, ms or s; at least so many ns.
    Time(u64),
    /// The same, or 0: none.
    TimeOrZero(u64),
    /// A whole number from 0 to this.
    UpTo(u32),
    /// A signal of the traced machine, by name or number.
    Signal,
    /// A path.
    Path,
    /// A path of at most so many bytes.
    PathUpTo(usize),
    /// A list of names, which the runtime knows; what the list is of.
    Names(&'static str),
}

/// A setting of a traced program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The environment variable.
    pub name: &'static str,
    /// Its values.
    pub kind: Kind,
    /// What holds without it, for the document.
    pub default: &'static str,
    /// What it does, for the document.
    pub meaning: &'static str,
}

const fn setting(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    meaning: &'static str,
) -> Setting {
    Setting {
        name,
        kind,
        default,
        meaning,
    }
}

impl Setting {
    /// What the document has as its values.
    #[must_use]
    pub fn values(&self) -> String {
        let quoted = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            words.join(", ")
        };
        match self.kind {
            Kind::Switch => "0, 1".to_owned(),
            Kind::OneOf(words) => quoted(words),
            Kind::ListOf(words) => format!("list of {}", quoted(words)),
            Kind::Size => "bytes, with K, M or G".to_owned(),
            Kind::SizeUpTo(most) => format!("bytes, up to {}", short(most)),
            Kind::Time(_) => "time: 500us, 10ms, 2s".to_owned(),
            Kind::TimeOrZero(_) => "time: 1ms, 500us; or 0".to_owned(),
            Kind::UpTo(most) => format!("0 to {most}"),
            Kind::Signal => "name or number".to_owned(),
            Kind::Path | Kind::PathUpTo(_) => "path".to_owned(),
            Kind::Names(of) => format!("list of {of}"),
        }
    }
}

/// All settings, in the order of the document.
#[rustfmt::skip]
pub const SETTINGS: &[Setting] = &[
    setting("INSTR_ENABLED", Kind::Switch, "1", "0: the program runs as if not instrumented; no directory is made"),
    setting("INSTR_PAUSED", Kind::Switch, "0", "1: nothing is recorded, and there is no trace, before the program calls `instr_start` ([docs/api.md](api.md)). Not on SPARC and RTEMS"),
    setting("INSTR_TRACE", Kind::Path, "`./NAME.instr`", "trace directory; what it is to be in is made where it is missing. An earlier trace of the same program is renamed to `NAME.instr.N` (see `INSTR_KEEP`); anything else that is in the way, a symbolic link, another user's directory and one that others may write to are left alone, and `-2`, `-3` … is added to the name"),
    setting("INSTR_KEEP", Kind::UpTo(1000), "8", "how many traces of earlier runs stay, for each command line. What lies more than 64 runs of the program back (or more than this number, where it is larger) goes. A run that recorded nothing displaces none. 0: a run replaces the one before. Not on SPARC and RTEMS, where it is 0"),
    setting("INSTR_POLICY", Kind::OneOf(&["stream", "end", "ring"]), "`stream`; `end` on RTEMS", "what happens when a thread's buffer is full: written to the stream file; further events discarded and counted; the oldest events overwritten and counted"),
    setting("INSTR_BUFFER", Kind::Size, "512K (`stream`), 16M (`end`), 1M (`ring`); 64K on RTEMS", "buffer of one thread, 4K to 1G"),
    setting("INSTR_SINK", Kind::OneOf(&["file", "console", "ram", "own"]), "`file`; `ram` on RTEMS", "where packets go: files of the trace directory; lines of text among what is printed (standard error on Linux); nowhere, they stay in memory for a debugger or a core file; a sink that the program brings (docs/porting.md). `instr extract` makes a trace directory of the second and the third. With `ram`, `stream` means `end`"),
    setting("INSTR_WRITE_MAX", Kind::SizeUpTo(1 << 30), "0; 8192 on RTEMS", "the most bytes of one `write()`, 0: no limit. NFS version 2 takes 8192"),
    setting("INSTR_SWITCHES", Kind::OneOf(&["0", "1", "perf", "ebpf"]), "1", "0: context switches are not recorded. They are on RTEMS, and on Linux (x86-64, AArch64, RISC-V) where the kernel lets users have those of their own threads (perf, `kernel.perf_event_paranoid` at most 2), with `INSTR_POLICY=stream` into files; the trace says why not, where it does not. 1, where it is set, also tries where a seccomp filter is in place, and for every thread of thousands. `perf` and `ebpf` say by which means `instr run` records the whole tree, also where such a filter is in place ([instr run](#instr-run)); a program that runs alone records its threads' switches by perf, with either"),
    setting("INSTR_SENSORS", Kind::Names("patterns"), "none", "sensors to read: `all`, families (`hwmon`, `thermal`, `rapl`, `perf-energy`, `cpufreq`, `psi`, `schedstat`, `ipmi`; on RTEMS `l4stat`, `gr740`), or names (`rapl/package-0/dram`, `hwmon/coretemp/temp*`); `!PATTERN` takes out. `*` does not go past a `/`. What is asked for and missing says why in the metadata. `ipmi/power` is asked at begin and end and on a period only: its answer takes milliseconds"),
    setting("INSTR_SENSORS_PERIOD", Kind::Time(100_000), "not", "read them on this period too (100us at least), from a low-priority thread of the runtime's own"),
    setting("INSTR_SENSORS_AT", Kind::ListOf(&["begin-end", "regions", "implicit", "tasks", "samples", "functions"]), "sensors `begin-end`; counters `regions,implicit,tasks`", "read sensors and counters also at begin and end of parallel and user regions, of implicit tasks, at the end of explicit tasks; with each sample of a thread (a sensor whose reading takes more than a tenth of the period is not read there, and says so); where recorded functions of Python begin, go on, and leave their thread"),
    setting("INSTR_SENSORS_ROOT", Kind::PathUpTo(140), "none", "put in front of `/sys`, `/proc`, `/dev`: a copy of another machine's, for tests; at most 140 bytes"),
    setting("INSTR_L4STAT", Kind::Names("`EVENT@NUMBER`"), "instructions, cache misses and bus use of processors 0 to 3", "what the counters of the sensor `l4stat` (LEON statistics unit, RTEMS) count, at most 16: an event by name (`instructions`, `icache-miss`, `dcache-miss`, `ahb-utilization`, `ahb-read`, `ahb2-read`, `external-3`, `grant-0`, `no-grant-0` …) or number (`0x47`), of a processor or AHB master; `@*`: of processors 0 to 3"),
    setting("INSTR_COUNTERS", Kind::Names("names"), "none", "counters of each thread, as perf spells them: `cycles`, `instructions:u`, `L1-dcache-load-misses`, `r01a8`, `cpu/event=0x3c,umask=0/`, `task-clock`, `page-faults`, `sched:sched_switch` (tracepoints, where `/sys/kernel/tracing` may be read), with the modifiers `u` and `k`; and `schedstat-run`, `schedstat-wait`, `schedstat-slices`. At most 16"),
    setting("INSTR_MEMORY", Kind::Switch, "1; 0 in programs that instr-cc did not build", "0: nothing of the heap is recorded. 1: of programs linked with `--instr-memory` each call that gets or gives back memory; under `instr run` also of programs that instr-cc did not build ([more](#the-heap-under-instr-run))"),
    setting("INSTR_PTHREAD", Kind::OneOf(&["off", "threads", "waits", "all"]), "`all`; `waits` in programs that instr-cc did not build", "what is recorded of POSIX, C11 and C++ threads, and of OpenMP's locks: nothing; begins, ends and names of threads, who made them; also what waits: locks that are not free, conditions, barriers, semaphores, joins; also each lock that is taken or given back. libomp's, and OpenMP's on SPARC and RTEMS, are recorded at every level"),
    setting("INSTR_STACK", Kind::Switch, "0", "1: record how deep the stack of each thread was used; up to 256 KiB below the point where its recording begins are painted for that"),
    setting("INSTR_SAMPLING_PERIOD", Kind::TimeOrZero(50_000), "not", "record where each thread is, at the end of each such period of its time (50us at least, with the clock `real` 500us; on RTEMS whole clock ticks of each processor)"),
    setting("INSTR_SAMPLING_CLOCK", Kind::OneOf(&["cpu", "timer", "real"]), "`cpu`", "what a thread's period is of. `cpu`: of its processor time, by perf's task clock where the system allows it (a descriptor for each thread), else as `timer`: by a timer that the kernel looks at with its own ticks, some milliseconds apart, so that a sample stands for several periods. `real`: of real time, also while the thread waits; calls that are never restarted return `EINTR` then, and each sample of a sleep that the program continues makes it some 60 us longer"),
    setting("INSTR_SAMPLING_SIGNAL", Kind::Signal, "`SIGURG`", "signal that ends periods. If the program has or takes a handler for it, or waits for it, it gets the signal, and there are no more samples. One that by default does nothing (SIGURG, SIGCHLD, SIGWINCH) can meet no program that this one becomes by `exec`; with others, time in the kernel counts at the next sample outside"),
    setting("INSTR_SAMPLING_DEPTH", Kind::UpTo(128), "32", "return addresses of a sample, found by frame pointers (x86-64: code built with `-fno-omit-frame-pointer`) or register windows (SPARC)"),
    setting("INSTR_SAMPLING_STACK", Kind::SizeUpTo(64 << 10), "0", "copy so much of the stack with each sample instead; the host finds the return addresses by the program's unwind tables (x86-64)"),
    setting("INSTR_VERBOSE", Kind::Switch, "0", "1: say on standard error where the trace is, why a program is not traced or a setting not used. The only case in which the runtime prints"),
];

/// Settings that a program may change by `instr_start` when its trace has begun.
pub const CHANGEABLE: &[&str] = &["INSTR_MEMORY", "INSTR_PTHREAD", "INSTR_VERBOSE"];

/// Tables that are for `instr-cc --instr-config` alone.
const COMPILED_IN: &[&str] = &["image"];

/// Why a configuration is refused.
#[derive(Debug, Error, PartialEq)]
pub enum SettingError {
    /// Not TOML.
    #[error("{0}")]
    Toml(String),
    /// There is no such setting.
    #[error("there is no setting {0}; there are {1}")]
    Unknown(String, String),
    /// A value that no setting has.
    #[error("{0} is neither text, whole number, true or false, nor a list of texts")]
    Value(String),
    /// A value that this setting does not have.
    #[error("{name} = {value:?} is not {what}")]
    Malformed {
        /// The key.
        name: String,
        /// Its value.
        value: String,
        /// What it should be.
        what: String,
    },
}

/// The settings of a TOML text as the environment has them, sorted by name. Tables `[image]` and of modules of series are passed over.
///
/// # Errors
///
/// Text that is not TOML, and keys or values that no setting has.
pub fn parse(text: &str) -> Result<Vec<(&'static str, String)>, SettingError> {
    let mut file: BTreeMap<String, toml::Value> =
        toml::from_str(text).map_err(|error| SettingError::Toml(error.to_string()))?;
    let is_module =
        |key: &str, value: &toml::Value| value.is_table() && modules().any(|name| name == key);
    file.retain(|key, value| !COMPILED_IN.contains(&key.as_str()) && !is_module(key, value));
    read(&file)
}

/// The settings of a TOML table as the environment has them, sorted by name.
///
/// # Errors
///
/// Keys and values that no setting has.
pub fn read(
    table: &BTreeMap<String, toml::Value>,
) -> Result<Vec<(&'static str, String)>, SettingError> {
    let mut found = Vec::new();
    for (key, value) in table {
        let wanted = format!("INSTR_{}", key.to_ascii_uppercase().replace('-', "_"));
        let Some(setting) = SETTINGS.iter().find(|setting| setting.name == wanted) else {
            let known = SETTINGS
                .iter()
                .map(|setting| setting.name["INSTR_".len()..].to_ascii_lowercase());
            return Err(SettingError::Unknown(
                key.clone(),
                known.collect::<Vec<_>>().join(", "),
            ));
        };
        let text = text_of(value).ok_or_else(|| SettingError::Value(key.clone()))?;
        if let Err(what) = setting.check(&text) {
            return Err(SettingError::Malformed {
                name: key.clone(),
                value: text,
                what,
            });
        }
        found.push((setting.name, text));
    }
    found.sort();
    Ok(found)
}

fn text_of(value: &toml::Value) -> Option<String> {
    let text = match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Boolean(yes) => u8::from(*yes).to_string(),
        toml::Value::Array(items) => {
            let items: Option<Vec<&str>> = items.iter().map(toml::Value::as_str).collect();
            items?.join(",")
        }
        _ => return None,
    };
    (!text.contains('\0')).then_some(text)
}

impl Setting {
    /// Whether the runtime understands a value.
    ///
    /// # Errors
    ///
    /// A few words on what the value should be.
    pub fn check(&self, value: &str) -> Result<(), String> {
        let (right, what) = match self.kind {
            Kind::Switch => (["0", "1"].contains(&value), "0 or 1".to_owned()),
            Kind::OneOf(words) => (words.contains(&value), alternatives(words)),
            Kind::ListOf(words) => {
                let mut items = value.split([',', ' ']).filter(|item| !item.is_empty());
                let right = items.all(|item| words.contains(&item));
                (right, format!("a list of {}", words.join(", ")))
            }
            Kind::Size => (
                size(value).is_some(),
                "a size such as 65536, 256K or 4M".to_owned(),
            ),
            Kind::SizeUpTo(most) => (
                size(value).is_some_and(|bytes| bytes <= most),
                format!("a size up to {}, such as 8192 or 64K", short(most)),
            ),
            Kind::Time(least) => (
                time_ns(value).is_some_and(|ns| ns >= least),
                format!(
                    "a time of at least {}us, such as 500us, 10ms or 2s",
                    least / 1000
                ),
            ),
            Kind::TimeOrZero(least) => (
                value == "0" || time_ns(value).is_some_and(|ns| ns >= least),
                format!(
                    "a time of at least {}us, such as 500us, 10ms or 2s, or 0",
                    least / 1000
                ),
            ),
            Kind::UpTo(most) => (
                value.parse().is_ok_and(|number: u32| number <= most),
                format!("a number from 0 to {most}"),
            ),
            Kind::PathUpTo(most) => (
                value.len() <= most,
                format!("a path of at most {most} bytes"),
            ),
            Kind::Signal => (
                is_signal(value),
                "a signal for this, such as SIGURG, SIGPROF, SIGUSR2 or SIGRTMIN+3".to_owned(),
            ),
            Kind::Path | Kind::Names(_) => (true, String::new()),
        };
        if right { Ok(()) } else { Err(what) }
    }
}

/// `a, b or c`.
fn alternatives(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    }
}

/// A number of bytes with its unit: `64K`.
fn short(bytes: u64) -> String {
    match bytes.trailing_zeros() {
        30.. => format!("{}G", bytes >> 30),
        20.. => format!("{}M", bytes >> 20),
        10.. => format!("{}K", bytes >> 10),
        _ => bytes.to_string(),
    }
}

fn is_number(digits: &str) -> bool {
    !digits.is_empty() && digits.len() < 19 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Bytes of a size such as `256K`.
fn size(value: &str) -> Option<u64> {
    let digits = value
        .strip_suffix(['K', 'k', 'M', 'm', 'G', 'g'])
        .unwrap_or(value);
    let shift = match value.as_bytes().last()?.to_ascii_uppercase() {
        b'K' => 10,
        b'M' => 20,
        b'G' => 30,
        _ => 0,
    };
    let number = is_number(digits).then(|| digits.parse::<u64>().ok())??;
    number.checked_mul(1 << shift)
}

/// ns of a time such as `500us`; one that is too long for them is the longest.
fn time_ns(value: &str) -> Option<u64> {
    let units = [("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
    let (digits, ns) = units
        .iter()
        .find_map(|(unit, ns)| Some((value.strip_suffix(unit)?, *ns)))?;
    let number: u64 = is_number(digits).then(|| digits.parse().ok())??;
    Some(number.saturating_mul(ns))
}

/// As the runtime reads it: a name that it has, `SIGRTMIN+3`, or a number. Those that nobody can take are none; empty is the usual one.
fn is_signal(value: &str) -> bool {
    const NAMES: [&str; 6] = ["URG", "PROF", "VTALRM", "ALRM", "USR1", "USR2"];
    const NOBODYS: [u8; 2] = [9, 19];
    let name = value.strip_prefix("SIG").unwrap_or(value);
    let number = |digits: &str| {
        is_number(digits)
            .then(|| digits.parse::<u8>().ok())
            .flatten()
    };
    let is_of_real_time = |digits: &str| number(digits).is_some_and(|number| number <= 30);
    value.is_empty()
        || NAMES.contains(&name)
        || name.strip_prefix("RTMIN+").is_some_and(is_of_real_time)
        || number(name)
            .is_some_and(|number| (1..=64).contains(&number) && !NOBODYS.contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_becomes_what_the_environment_would_say() {
        let text = "sensors = [\"rapl\", \"psi/cpu\"]\nsensors_period = \"10ms\"\nverbose = true\nbuffer = 65536\n\
                    sensors-at = \"regions,tasks\"\n[image]\npool = \"2M\"\n";
        let expected = [
            ("INSTR_BUFFER", "65536"),
            ("INSTR_SENSORS", "rapl,psi/cpu"),
            ("INSTR_SENSORS_AT", "regions,tasks"),
            ("INSTR_SENSORS_PERIOD", "10ms"),
            ("INSTR_VERBOSE", "1"),
        ];
        assert_eq!(
            parse(text).unwrap(),
            expected.map(|(name, value)| (name, value.to_owned()))
        );
    }

    #[test]
    fn mistakes_are_refused_by_name() {
        for (text, part) in [
            (
                "sensor = \"rapl\"",
                "there is no setting sensor; there are enabled, paused, trace",
            ),
            (
                "policy = \"rnig\"",
                "policy = \"rnig\" is not stream, end or ring",
            ),
            (
                "sensors_period = 10",
                "sensors_period = \"10\" is not a time of at least 100us, such as 500us, 10ms or 2s",
            ),
            ("sensors_period = \"0ms\"", "is not a time"),
            ("sensors_period = \"0\"", "is not a time"),
            ("sampling_period = 1", "2s, or 0"),
            (
                "sensors_at = \"regions,tusks\"",
                "is not a list of begin-end",
            ),
            ("buffer = \"1T\"", "is not a size"),
            ("sensors_period = \"1us\"", "a time of at least 100us"),
            ("sampling_period = \"49us\"", "a time of at least 50us"),
            ("sampling_signal = \"SIGFOO\"", "is not a signal for this"),
            ("sampling_signal = \"SIGKILL\"", "is not a signal for this"),
            ("sampling_signal = 9", "is not a signal for this"),
            ("sampling_signal = \"SIGSEGV\"", "is not a signal for this"),
            ("write_max = \"2G\"", "is not a size up to 1G"),
            ("sampling_stack = 65537", "is not a size up to 64K"),
            ("sampling_depth = 129", "is not a number from 0 to 128"),
            (
                "sink = \"disk\"",
                "sink = \"disk\" is not file, console, ram or own",
            ),
            ("switches = \"on\"", "is not 0, 1, perf or ebpf"),
            ("policy = 1.5", "policy is neither text"),
            ("sensors = [1]", "sensors is neither text"),
            ("sensors", "TOML"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn limits_are_inside() {
        for text in [
            "write_max = \"1G\"",
            "sampling_stack = \"64K\"",
            "sampling_depth = 128",
            "sampling_period = \"0\"",
            "buffer = \"4k\"",
            "sampling_period = \"50us\"",
            "sampling_signal = \"SIGRTMIN+3\"",
            "sampling_signal = \"USR2\"",
            "sampling_signal = 27",
        ] {
            assert!(parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn the_runtime_reads_the_same_settings() {
        let mut here: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
        here.sort_unstable();
        assert_eq!(here, instr_runtime::settings());
    }

    #[test]
    fn the_runtime_reads_the_same_words() {
        let sources = instr_runtime::FILES.iter();
        let texts = sources.filter(|(name, _)| name.ends_with("settings.c"));
        let text: String = texts.map(|(_, text)| *text).collect();
        for setting in SETTINGS {
            let (Kind::OneOf(words) | Kind::ListOf(words)) = setting.kind else {
                continue;
            };
            for word in words {
                assert!(
                    text.contains(&format!("\"{word}\"")),
                    "{}: {word}",
                    setting.name
                );
            }
        }
    }
}
