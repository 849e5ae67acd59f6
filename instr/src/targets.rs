//! The known targets, `cross-targets/*.toml`, as far as the host needs them: their compilers, and the power of chips without a meter.

use instr_trace::energy::PowerModel;
use serde::Deserialize;

/// The files' texts, by name.
const FILES: &[&str] = include!(concat!(env!("OUT_DIR"), "/targets.rs"));

/// A machine and system that programs are traced on. Other keys are for `instr-cc`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Target {
    /// As traces carry it.
    pub name: String,
    /// The compiler's name for the machine and system.
    pub triple: String,
    /// The C compiler.
    pub compiler: String,
    /// How its programs are run elsewhere.
    pub emulator: Option<Emulator>,
    /// Power by the number of busy cores.
    pub power: Option<Power>,
}

/// A program that runs the target's programs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Emulator {
    /// The command, in front of the program.
    pub command: Vec<String>,
}

/// Power of a chip without a meter.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Power {
    /// With no core busy, mW; without it the line through the first two of `busy-mw` is continued.
    pub idle_mw: Option<f64>,
    /// With one, two … cores busy, mW.
    pub busy_mw: Vec<f64>,
}

/// All targets, by file name. A file that cannot be read is left out; a test excludes that.
#[must_use]
pub fn all() -> Vec<Target> {
    FILES
        .iter()
        .filter_map(|text| toml::from_str(text).ok())
        .collect()
}

/// The power model of the target with this name.
#[must_use]
pub fn power_model(name: &str) -> Option<PowerModel> {
    let power = all()
        .into_iter()
        .find(|target| target.name == name)?
        .power?;
    PowerModel::new(power.idle_mw, &power.busy_mw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_read() {
        assert_eq!(all().len(), FILES.len());
        assert!(all().iter().any(|target| target.name == "x86_64-linux"));
    }

    #[test]
    fn every_power_table_is_a_model() {
        for target in all() {
            assert_eq!(
                target.power.is_some(),
                power_model(&target.name).is_some(),
                "{}",
                target.name
            );
        }
    }
}
