//! The configuration that `--instr-config=FILE` compiles into a program (`runtime/core/static_config.h`).
//!
//! ```toml
//! policy = "ring"          # INSTR_POLICY=ring; every setting by its name, in small letters
//! buffer = "64K"
//! sink = "console"
//!
//! [image]                  # of systems without virtual memory
//! pool = "2M"              # memory that windows come from
//! section = ".noinit.instr.buffers"
//! ```

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use instr_schema::settings::{self, SettingError};
use serde::Deserialize;
use thiserror::Error;

/// Memory of windows unless the file says otherwise, in bytes.
const DEFAULT_POOL: u64 = 1 << 20;
/// Where the linker scripts of RTEMS neither load nor clear it.
const DEFAULT_SECTION: &str = ".noinit.instr.buffers";

/// Why a configuration is refused.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// Not TOML, or of another shape.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// A setting that does not exist, or a value that it does not have.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A size that cannot be.
    #[error("pool = \"{0}\" is not a size from 64K to 2G, such as 256K or 2M")]
    Pool(String),
    /// A name that a section cannot have.
    #[error("section = \"{0}\" is no name of a section")]
    Section(String),
}

/// A configuration, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Settings as the environment would give them, sorted.
    pub settings: Vec<(&'static str, String)>,
    /// Bytes of memory for windows, on systems that get it from the image.
    pub pool: u64,
    /// The section of that memory.
    pub section: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            settings: Vec::new(),
            pool: DEFAULT_POOL,
            section: DEFAULT_SECTION.into(),
        }
    }
}

#[derive(Deserialize)]
struct File {
    image: Option<Image>,
    #[serde(flatten)]
    settings: std::collections::BTreeMap<String, toml::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Image {
    pool: Option<String>,
    section: Option<String>,
}

impl Config {
    /// Reads the text of a configuration.
    ///
    /// # Errors
    /// When it is not TOML, or names what does not exist.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let file: File = toml::from_str(text)?;
        let mut config = Self {
            settings: settings::read(&file.settings)?,
            ..Self::default()
        };
        if let Some(image) = file.image {
            if let Some(pool) = image.pool {
                config.pool = size(&pool).ok_or(ConfigError::Pool(pool))?;
            }
            if let Some(section) = image.section {
                let plain = |b: u8| b.is_ascii_alphanumeric() || b"._$".contains(&b);
                if section.is_empty() || !section.bytes().all(plain) {
                    return Err(ConfigError::Section(section));
                }
                config.section = section;
            }
        }
        Ok(config)
    }

    /// The C source that defines `instr_config` for a program that will have the path `program`, for a target if one was named.
    #[must_use]
    pub fn source(&self, os: &str, program: Option<&Path>, target: Option<&str>) -> String {
        let mut text = String::from("#include \"core/static_config.h\"\n\n");
        let with_pool = os != "linux";
        if with_pool {
            let (section, pool) = (&self.section, self.pool);
            _ = write!(
                text,
                "__asm__(\".section {section},\\\"aw\\\",%nobits\\n\"\n        \".balign 64\\n.globl instr_pool\\n\"\n        \
                 \"instr_pool: .skip {pool}\\n.size instr_pool, {pool}\\n\"\n        \
                 \".globl instr_pool_end\\ninstr_pool_end:\\n.text\\n\");\n\nextern char instr_pool[{pool}];\n\n",
            );
        }
        for name in self.sinks().iter().filter(|_| with_pool) {
            _ = writeln!(text, "extern const struct instr_sink instr_sink_{name};");
        }
        let parts = self.parts();
        if with_pool && !parts.is_empty() {
            for name in &parts {
                _ = writeln!(text, "extern const char {name}[];");
            }
            let list = parts.join(", ");
            _ = writeln!(text, "const void *const instr_parts[] = {{{list}}};\n");
        }
        text.push_str("static const char *const SETTINGS[] = {\n");
        for (name, value) in &self.settings {
            _ = writeln!(
                text,
                "    {}, {},",
                literal(name.as_ref()),
                literal(value.as_ref())
            );
        }
        text.push_str("    0, 0};\n\nconst struct instr_static_config instr_config = {\n");
        let program = program.map_or("0".to_owned(), |p| literal(p.as_os_str()));
        let pool = if with_pool {
            format!("instr_pool, {}", self.pool)
        } else {
            "0, 0".to_owned()
        };
        let mut sinks = "0".to_owned();
        if with_pool {
            let list: String = self
                .sinks()
                .iter()
                .map(|name| format!("&instr_sink_{name}, "))
                .collect();
            sinks = format!("(const struct instr_sink *const[]){{{list}0}}");
        }
        let target = target.map_or("0".to_owned(), |name| literal(name.as_ref()));
        _ = writeln!(
            text,
            "    SETTINGS, {program}, {pool}, {sinks}, {target}}};"
        );
        text
    }

    /// What of the runtime is linked only because a setting asks for it, on small systems and in static programs: functions of each part.
    #[must_use]
    pub fn parts(&self) -> Vec<&'static str> {
        let is_on = |name: &str| {
            self.settings
                .iter()
                .any(|(n, value)| *n == name && !["", "0"].contains(&value.as_str()))
        };
        let sampling = is_on("INSTR_SAMPLING_PERIOD");
        [
            (sampling || is_on("INSTR_STACK"), "instr_stack_begin"),
            (sampling, "instr_sampling_begin"),
            (sampling, "instr_sampling_settings"),
        ]
        .into_iter()
        .filter_map(|(wanted, name)| wanted.then_some(name))
        .collect()
    }

    /// Whether sensors or counters of threads are read.
    #[must_use]
    pub fn reads_sensors(&self) -> bool {
        let names = ["INSTR_SENSORS", "INSTR_COUNTERS"];
        let set = |(name, value): &(&str, String)| names.contains(name) && !value.is_empty();
        self.settings.iter().any(set)
    }

    /// The sink that is chosen.
    #[must_use]
    pub fn sink(&self) -> Option<&str> {
        let setting = self.settings.iter().find(|(name, _)| *name == "INSTR_SINK");
        setting.map(|(_, value)| value.as_str())
    }

    /// The sinks that the program needs: the one it is configured for, or all.
    fn sinks(&self) -> Vec<&'static str> {
        let all = ["ram", "console", "file"];
        let wanted = self.sink();
        let of_name = |name: &&str| wanted.is_none_or(|sink| sink == *name || sink == "own");
        all.into_iter().filter(of_name).collect()
    }
}

fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'k', 'M', 'm', 'G', 'g']);
    let shift = match text.as_bytes().get(digits.len()..)? {
        [] => 0,
        [b'K' | b'k'] => 10,
        [b'M' | b'm'] => 20,
        [b'G' | b'g'] => 30,
        _ => return None,
    };
    let bytes = digits.parse::<u64>().ok()?.checked_mul(1 << shift)?;
    (1 << 16..=1 << 31).contains(&bytes).then_some(bytes)
}

/// A C string literal; bytes that are not plain are octal.
pub(crate) fn literal(text: &OsStr) -> String {
    let mut literal = String::from("\"");
    for &byte in text.as_bytes() {
        if byte.is_ascii_alphanumeric() || b" ._-+=,:/@%".contains(&byte) {
            literal.push(char::from(byte));
        } else {
            _ = write!(literal, "\\{byte:03o}");
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_become_what_the_environment_would_say() {
        let config = Config::parse(
            "policy = \"ring\"\nwrite_max = 8192\nenabled = true\n[image]\npool = \"2M\"\n",
        )
        .unwrap();
        let expected = [
            ("INSTR_ENABLED", "1"),
            ("INSTR_POLICY", "ring"),
            ("INSTR_WRITE_MAX", "8192"),
        ];
        let expected = expected.map(|(n, v)| (n, v.to_owned()));
        assert_eq!(config.settings, expected);
        assert_eq!(config.pool, 2 << 20);
    }

    #[test]
    fn a_small_system_gets_the_parts_that_settings_ask_for() {
        let source = |text: &str, os| Config::parse(text).unwrap().source(os, None, None);
        let none = source("stack = false\nsampling_period = \"0\"", "rtems");
        assert!(!none.contains("instr_parts"), "{none}");
        let stack = source("stack = true", "rtems");
        assert!(stack.contains("instr_parts[] = {instr_stack_begin};"));
        let both = source("sampling_period = \"1ms\"", "rtems");
        assert!(
            both.contains("{instr_stack_begin, instr_sampling_begin, instr_sampling_settings};")
        );
        assert!(!source("stack = true", "linux").contains("instr_parts"));
    }

    #[test]
    fn what_does_not_exist_is_refused_by_name() {
        for (text, part) in [
            ("polizy = \"ring\"", "there is no setting polizy"),
            ("policy = \"rign\"", "is not stream, end or ring"),
            ("buffer = \"64 K\"", "is not a size"),
            ("policy = 1.5", "policy is neither text"),
            ("[image]\npool = \"1T\"", "pool = \"1T\" is not a size"),
            ("[image]\nsection = \"a b\"", "is no name of a section"),
            ("[image]\npolicy = \"x\"", "unknown field `policy`"),
            ("policy", "expected"),
        ] {
            let error = Config::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn texts_cannot_leave_their_literal() {
        assert_eq!(literal("a\"b\\\n?".as_ref()), r#""a\042b\134\012\077""#);
    }
}
