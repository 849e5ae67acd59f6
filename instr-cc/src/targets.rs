//! The known targets: one TOML file each in `cross-targets/`, embedded.

use serde::Deserialize;

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
    /// With no core busy, mW; without it the line through the first two of `busy-mw` is continued.
    pub idle_mw: Option<f64>,
    /// With one, two … cores busy, mW.
    pub busy_mw: Vec<f64>,
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
pub fn find(name: &str) -> Result<Option<Target>, toml::de::Error> {
    let text = FILES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text);
    text.map(toml::from_str).transpose()
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
        assert!(
            toml::from_str::<Target>(&text)
                .unwrap_err()
                .to_string()
                .contains("warp")
        );
    }

    #[test]
    fn an_unknown_name_finds_nothing() {
        assert_eq!(find("vax").unwrap(), None);
    }
}
