//! Settings of a traced program: from a TOML file to the environment that the runtime reads.
//!
//! ```toml
//! policy = "ring"              # INSTR_POLICY=ring: every setting by its name, in small letters
//! sensors = ["rapl", "psi"]    # a list is joined with commas
//! sensors_period = "10ms"
//! verbose = true
//! ```
//!
//! Which settings there are is said in one place, the first table of `docs/environment.md`, which a test of the runtime keeps equal to
//! what its C sources read. [`check`] knows what the values look like, so that a mistake is told before the program runs.

use std::collections::BTreeMap;

use thiserror::Error;

/// The table of settings.
const PAGE: &str = include_str!("../../docs/environment.md");

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
        what: &'static str,
    },
}

/// The names of all settings, `INSTR_…`, in the order of the page.
#[must_use]
pub fn names() -> Vec<&'static str> {
    let table = PAGE.split("The host tools").next().unwrap_or(PAGE);
    table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .filter(|name| name.starts_with("INSTR_"))
        .collect()
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

/// Whether the runtime will understand a value; what it should be, if not. Settings that are not known here take any text.
///
/// # Errors
///
/// A few words on what the value should be.
pub fn check(name: &str, value: &str) -> Result<(), &'static str> {
    let one_of = |all: &[&str]| all.contains(&value);
    let (right, what) = match name {
        "INSTR_ENABLED" | "INSTR_VERBOSE" => (one_of(&["0", "1"]), "0 or 1"),
        "INSTR_POLICY" => (one_of(&["stream", "end", "ring"]), "stream, end or ring"),
        "INSTR_BUFFER" => (is_size(value), "a size such as 65536, 256K or 4M"),
        "INSTR_SENSORS_PERIOD" => (is_time(value), "a time such as 500us, 10ms or 2s"),
        "INSTR_SENSORS_AT" => (
            value
                .split([',', ' '])
                .all(|at| ["", "begin-end", "regions", "implicit", "tasks"].contains(&at)),
            "a list of begin-end, regions, implicit, tasks",
        ),
        _ => (true, ""),
    };
    if right { Ok(()) } else { Err(what) }
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
            ("policy = 1.5", "policy is neither text"),
            ("sensors = [1]", "sensors is neither text"),
            ("sensors", "TOML"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn every_setting_that_is_checked_exists() {
        for name in [
            "INSTR_ENABLED",
            "INSTR_VERBOSE",
            "INSTR_POLICY",
            "INSTR_BUFFER",
            "INSTR_SENSORS_PERIOD",
            "INSTR_SENSORS_AT",
        ] {
            assert!(names().contains(&name), "{name}");
        }
    }
}
