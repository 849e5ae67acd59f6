//! The known targets: one TOML file each in `cross-targets/`, embedded.

use std::fmt;

use serde::Deserialize;
use toml::Spanned;

/// Every target's file: name and text.
const FILES: &[(&str, &str)] = &[
    (
        "aarch64-linux",
        include_str!("../../cross-targets/aarch64-linux.toml"),
    ),
    (
        "riscv64-linux",
        include_str!("../../cross-targets/riscv64-linux.toml"),
    ),
    (
        "sparc-gr740-rtems",
        include_str!("../../cross-targets/sparc-gr740-rtems.toml"),
    ),
    (
        "sparc-leon3-linux",
        include_str!("../../cross-targets/sparc-leon3-linux.toml"),
    ),
    (
        "sparc-leon3-rtems",
        include_str!("../../cross-targets/sparc-leon3-rtems.toml"),
    ),
    (
        "sparc-linux",
        include_str!("../../cross-targets/sparc-linux.toml"),
    ),
    (
        "sparc64-linux",
        include_str!("../../cross-targets/sparc64-linux.toml"),
    ),
    (
        "x86_64-linux",
        include_str!("../../cross-targets/x86_64-linux.toml"),
    ),
];

/// Order of the bytes of an integer in the target's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

/// A machine and system that programs are traced on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Target {
    /// The target's name, as traces carry it.
    pub name: String,
    /// The compiler's name for the machine and system.
    pub triple: String,
    /// The runtime's platform layer.
    pub os: String,
    /// The C compiler, looked for in `PATH`.
    pub compiler: String,
    /// Options of every step.
    pub flags: Vec<String>,
    /// Options of links only.
    #[serde(default)]
    pub link_flags: Vec<String>,
    /// Order of bytes.
    pub byte_order: ByteOrder,
    /// Bits of an address.
    pub word_bits: u8,
    /// `e_machine` of a linked program, spelled as in the ELF specification.
    pub machine: String,
    /// 32 or 64, the `EI_CLASS` of its files.
    pub elf_class: u8,
    /// How its programs are run elsewhere; without one they run natively.
    pub emulator: Option<Emulator>,
    /// What its time stamps come from.
    pub clock: Clock,
    /// Power of a chip without a meter.
    pub power: Option<Power>,
    /// Conversion of the chip's own temperature sensor.
    pub temperature: Option<Temperature>,
}

/// Degrees Celsius of a temperature sensor whose readings are raw numbers: `slope` × raw + `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Temperature {
    /// Degrees a step.
    pub slope: f64,
    /// Degrees at 0.
    pub offset: f64,
}

/// Power by the number of busy cores, from which the host computes what no meter measures.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Power {
    idle_mw: Option<Spanned<f64>>,
    busy_mw: Spanned<Vec<Spanned<f64>>>,
}

impl Power {
    /// With no core busy, mW; without it the line through the first two of [`Power::busy_mw`] is continued.
    #[must_use]
    pub fn idle_mw(&self) -> Option<f64> {
        self.idle_mw.as_ref().map(|power| *power.get_ref())
    }

    /// With one, two … cores busy, mW: one at least, two without [`Power::idle_mw`].
    #[must_use]
    pub fn busy_mw(&self) -> Vec<f64> {
        let levels = self.busy_mw.get_ref().iter();
        levels.map(|power| *power.get_ref()).collect()
    }

    /// What cannot be, and where it starts.
    fn trouble(&self) -> Option<(usize, String)> {
        let levels = self.busy_mw.get_ref();
        for power in self.idle_mw.iter().chain(levels) {
            let milliwatts = *power.get_ref();
            if !milliwatts.is_finite() || milliwatts < 0.0 {
                let why = format!("no chip takes {milliwatts} mW");
                return Some((power.span().start, why));
            }
        }
        let why = match (levels.len(), &self.idle_mw) {
            (0, _) => "busy-mw has no power with one core busy",
            (1, None) => "with one number in busy-mw, idle-mw must be given too",
            _ => return None,
        };
        Some((self.busy_mw.span().start, why.to_owned()))
    }
}

/// Why a description is refused, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetError {
    /// Line, from 1; 0 when it is not about one place.
    pub line: usize,
    /// Character of the line, from 1.
    pub column: usize,
    /// What is wrong.
    pub why: String,
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.why),
            line => write!(f, "line {line}, column {}: {}", self.column, self.why),
        }
    }
}

impl std::error::Error for TargetError {}

impl TargetError {
    fn at(text: &str, offset: usize, why: &str) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
            why: why.trim_end().replace('\n', ", "),
        }
    }
}

/// A program that runs the target's programs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Emulator {
    /// The command, in front of the program and its arguments.
    pub command: Vec<String>,
}

/// What time stamps come from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Clock {
    /// The clock's short name.
    pub name: String,
    /// The instruction or function that is read.
    pub source: String,
    /// What is read on machines where that cannot be.
    pub fallback: Option<String>,
}

/// The names of all targets, sorted.
#[must_use]
pub fn names() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}

/// Reads the description of a target; nothing if there is none of that name.
///
/// # Errors
/// When the embedded text is wrong, which a test excludes.
pub fn find(name: &str) -> Result<Option<Target>, TargetError> {
    let text = FILES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text);
    text.map(parse).transpose()
}

/// Reads the text of a description: one of ours, or a user's own file.
///
/// # Errors
/// When it is not TOML, has unknown or missing keys, or a power that no chip takes.
pub fn parse(text: &str) -> Result<Target, TargetError> {
    let target: Target = toml::from_str(text).map_err(|error| match error.span() {
        Some(span) => TargetError::at(text, span.start, error.message()),
        None => TargetError {
            line: 0,
            column: 0,
            why: error.message().trim_end().to_owned(),
        },
    })?;
    match target.power.as_ref().and_then(Power::trouble) {
        Some((offset, why)) => Err(TargetError::at(text, offset, &why)),
        None => Ok(target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_embedded_and_read() {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../cross-targets");
        let mut found: Vec<String> = std::fs::read_dir(dir)
            .unwrap()
            .map(|e| e.unwrap().path())
            .filter(|p| p.extension().is_some_and(|e| e == "toml"))
            .map(|p| p.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        found.sort();
        assert_eq!(found, names());
        for name in names() {
            let target = find(name).unwrap().unwrap();
            assert_eq!(target.name, name);
            assert_eq!(target.elf_class, target.word_bits);
        }
    }

    #[test]
    fn a_key_that_does_not_exist_is_refused() {
        let text = format!("{}\nwarp = 9\n", FILES[0].1);
        assert!(parse(&text).unwrap_err().to_string().contains("warp"));
    }

    #[test]
    fn a_wrong_power_is_refused_at_its_place() {
        let (_, text) = FILES[0];
        let line = text.lines().count() + 3;
        for (power, place, why) in [
            ("busy-mw = [502.72, -1]", (line, 20), "no chip takes -1 mW"),
            ("busy-mw = [nan, 1.0]", (line, 12), "no chip takes NaN mW"),
            (
                "idle-mw = inf\nbusy-mw = [1]",
                (line, 11),
                "no chip takes inf",
            ),
            (
                "busy-mw = [502.72]",
                (line, 11),
                "idle-mw must be given too",
            ),
            ("busy-mw = []", (line, 11), "no power with one core busy"),
            ("busy-mw = [\"high\"]", (line, 12), "expected f64"),
            ("bussy-mw = [1, 2]", (line, 1), "unknown field `bussy-mw`"),
            ("idle-mw = 3", (line - 1, 1), "missing field `busy-mw`"),
        ] {
            let error = parse(&format!("{text}\n[power]\n{power}\n")).unwrap_err();
            assert_eq!((error.line, error.column), place, "{power}: {error}");
            assert!(error.why.contains(why), "{power}: {error}");
        }
        let power = parse(&format!("{text}\n[power]\nidle-mw = 1\nbusy-mw = [2]\n"));
        let power = power.unwrap().power.unwrap();
        assert_eq!((power.idle_mw(), power.busy_mw()), (Some(1.0), vec![2.0]));
    }

    #[test]
    fn an_unknown_name_finds_nothing() {
        assert_eq!(find("vax").unwrap(), None);
    }
}
