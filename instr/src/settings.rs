//! Settings of a traced program: from a TOML file to the environment that the runtime reads.
//!
//! ```toml
//! policy = "ring"              # INSTR_POLICY=ring: every setting by its name, in small letters
//! sensors = ["rapl", "psi"]    # a list is joined with commas
//! sensors_period = "10ms"
//! verbose = true
//! ```
//!
//! [`SETTINGS`] is the one table of them on the host. Tests keep it equal to what the runtime's C sources read and to the first table of
//! `docs/environment.md`, names and kinds of values. So a mistake is told before the program runs.

use std::collections::BTreeMap;

use thiserror::Error;

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
    /// A time with its unit, us, ms or s.
    Time,
    /// A whole number from 0 to this.
    UpTo(u32),
    /// A signal of the traced machine, by name or number.
    Signal,
    /// A path.
    Path,
    /// A list of names, which the runtime knows.
    Names,
}

/// A setting of a traced program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The environment variable.
    pub name: &'static str,
    /// Its values.
    pub kind: Kind,
}

const fn setting(name: &'static str, kind: Kind) -> Setting {
    Setting { name, kind }
}

/// All settings, in the order of `docs/environment.md`.
pub const SETTINGS: &[Setting] = &[
    setting("INSTR_ENABLED", Kind::Switch),
    setting("INSTR_TRACE", Kind::Path),
    setting("INSTR_POLICY", Kind::OneOf(&["stream", "end", "ring"])),
    setting("INSTR_BUFFER", Kind::Size),
    setting(
        "INSTR_SINK",
        Kind::OneOf(&["file", "console", "ram", "own"]),
    ),
    setting("INSTR_WRITE_MAX", Kind::Size),
    setting("INSTR_SWITCHES", Kind::Switch),
    setting("INSTR_SENSORS", Kind::Names),
    setting("INSTR_SENSORS_PERIOD", Kind::Time),
    setting(
        "INSTR_SENSORS_AT",
        Kind::ListOf(&["begin-end", "regions", "implicit", "tasks", "samples"]),
    ),
    setting("INSTR_SENSORS_ROOT", Kind::Path),
    setting("INSTR_L4STAT", Kind::Names),
    setting("INSTR_COUNTERS", Kind::Names),
    setting("INSTR_MEMORY", Kind::Switch),
    setting("INSTR_STACK", Kind::Switch),
    setting("INSTR_SAMPLING_PERIOD", Kind::Time),
    setting(
        "INSTR_SAMPLING_CLOCK",
        Kind::OneOf(&["cpu", "timer", "real"]),
    ),
    setting("INSTR_SAMPLING_SIGNAL", Kind::Signal),
    setting("INSTR_SAMPLING_DEPTH", Kind::UpTo(128)),
    setting("INSTR_SAMPLING_STACK", Kind::Size),
    setting("INSTR_VERBOSE", Kind::Switch),
];

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

/// The names of all settings, `INSTR_…`, in the order of the page.
#[must_use]
pub fn names() -> Vec<&'static str> {
    SETTINGS.iter().map(|setting| setting.name).collect()
}

/// The settings of a TOML text as the environment has them, by name.
///
/// # Errors
///
/// Text that is not TOML, and keys or values that no setting has.
pub fn parse(text: &str) -> Result<Vec<(&'static str, String)>, SettingError> {
    let file: BTreeMap<String, toml::Value> =
        toml::from_str(text).map_err(|error| SettingError::Toml(error.to_string()))?;
    let names = names();
    let mut found = Vec::new();
    for (key, value) in &file {
        if COMPILED_IN.contains(&key.as_str()) {
            continue;
        }
        let wanted = format!("INSTR_{}", key.to_ascii_uppercase().replace('-', "_"));
        let Some(name) = names.iter().find(|name| **name == wanted) else {
            let known = names
                .iter()
                .map(|name| name["INSTR_".len()..].to_ascii_lowercase());
            return Err(SettingError::Unknown(
                key.clone(),
                known.collect::<Vec<_>>().join(", "),
            ));
        };
        let text = text_of(value).ok_or_else(|| SettingError::Value(key.clone()))?;
        if let Err(what) = check(name, &text) {
            return Err(SettingError::Malformed {
                name: key.clone(),
                value: text,
                what,
            });
        }
        found.push((*name, text));
    }
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

/// Whether the runtime will understand a value; what it should be, if not. Settings that do not exist take any text.
///
/// # Errors
///
/// A few words on what the value should be.
pub fn check(name: &str, value: &str) -> Result<(), String> {
    let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
        return Ok(());
    };
    let (right, what) = match setting.kind {
        Kind::Switch => (["0", "1"].contains(&value), "0 or 1".to_owned()),
        Kind::OneOf(words) => (words.contains(&value), alternatives(words)),
        Kind::ListOf(words) => {
            let mut items = value.split([',', ' ']).filter(|item| !item.is_empty());
            let right = items.all(|item| words.contains(&item));
            (right, format!("a list of {}", words.join(", ")))
        }
        Kind::Size => (
            is_size(value),
            "a size such as 65536, 256K or 4M".to_owned(),
        ),
        Kind::Time => (
            is_time(value),
            "a time such as 500us, 10ms or 2s".to_owned(),
        ),
        Kind::UpTo(most) => (
            value.parse().is_ok_and(|number: u32| number <= most),
            format!("a number from 0 to {most}"),
        ),
        Kind::Path | Kind::Signal | Kind::Names => (true, String::new()),
    };
    if right { Ok(()) } else { Err(what) }
}

/// `a, b or c`.
fn alternatives(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    }
}

fn is_number(digits: &str) -> bool {
    !digits.is_empty() && digits.len() < 19 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_size(value: &str) -> bool {
    is_number(
        value
            .strip_suffix(['K', 'k', 'M', 'm', 'G', 'g'])
            .unwrap_or(value),
    )
}

fn is_time(value: &str) -> bool {
    let digits = ["us", "ms", "s"]
        .iter()
        .find_map(|unit| value.strip_suffix(unit));
    digits.is_some_and(|digits| is_number(digits) && digits.bytes().any(|byte| byte != b'0'))
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
        let mut found = parse(text).unwrap();
        found.sort();
        assert_eq!(
            found,
            expected.map(|(name, value)| (name, value.to_owned()))
        );
    }

    #[test]
    fn mistakes_are_told_by_name() {
        for (text, part) in [
            (
                "sensor = \"rapl\"",
                "there is no setting sensor; there are enabled, trace",
            ),
            (
                "policy = \"rnig\"",
                "policy = \"rnig\" is not stream, end or ring",
            ),
            (
                "sensors_period = 10",
                "sensors_period = \"10\" is not a time such as 500us, 10ms or 2s",
            ),
            ("sensors_period = \"0ms\"", "is not a time"),
            (
                "sensors_at = \"regions,tusks\"",
                "is not a list of begin-end",
            ),
            ("buffer = \"1T\"", "is not a size"),
            (
                "sink = \"disk\"",
                "sink = \"disk\" is not file, console, ram or own",
            ),
            ("switches = \"on\"", "is not 0 or 1"),
            ("policy = 1.5", "policy is neither text"),
            ("sensors = [1]", "sensors is neither text"),
            ("sensors", "TOML"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    /// The rows of the first table of `docs/environment.md`: name and values.
    fn documented() -> Vec<(&'static str, &'static str)> {
        let page = include_str!("../../docs/environment.md");
        let table = page.split("The host tools").next().unwrap();
        let row = |line: &'static str| {
            let mut cells = line.strip_prefix("| `INSTR_")?.split(" | ");
            let name = &line[3..line[3..].find('`')? + 3];
            cells.next();
            Some((name, cells.next()?))
        };
        table.lines().filter_map(row).collect()
    }

    #[test]
    fn the_runtime_the_page_and_this_table_have_the_same_settings() {
        let page: Vec<&str> = documented().iter().map(|(name, _)| *name).collect();
        assert_eq!(names(), page, "docs/environment.md");
        let mut here = names();
        here.sort_unstable();
        assert_eq!(here, instr_runtime::settings(), "runtime/core/settings.c");
    }

    #[test]
    fn the_page_tells_the_same_values() {
        for (setting, (_, values)) in SETTINGS.iter().zip(documented()) {
            let quoted: Vec<&str> = values.split('`').skip(1).step_by(2).collect();
            let right = match setting.kind {
                Kind::Switch => values == "0, 1",
                Kind::OneOf(words) => quoted == words && !values.contains("list"),
                Kind::ListOf(words) => quoted == words && values.starts_with("list of"),
                Kind::Size => values.starts_with("bytes"),
                Kind::Time => values.starts_with("time"),
                Kind::UpTo(most) => values == format!("0 to {most}"),
                Kind::Signal => values == "name or number",
                Kind::Path => values == "path",
                Kind::Names => values.starts_with("list"),
            };
            assert!(right, "{setting:?}: {values}");
        }
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
