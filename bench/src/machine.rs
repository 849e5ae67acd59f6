//! What the figures were measured on.

use std::process::Command;

use crate::run::output;
use crate::toolchain;

/// The machine and the programs that matter for run time; nothing that names the machine itself.
#[derive(Debug)]
pub(crate) struct Machine {
    /// Model of the processor.
    pub(crate) processor: String,
    /// Processors that may be used.
    pub(crate) processors: usize,
    /// Whether it is a virtual machine.
    pub(crate) virtual_machine: bool,
    /// Compilers, `valgrind`: the first line that each says about its version.
    pub(crate) programs: Vec<String>,
}

impl Machine {
    /// This machine.
    pub(crate) fn this() -> Self {
        let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let mut programs: Vec<_> = toolchain::ALL
            .iter()
            .filter_map(|toolchain| toolchain.version())
            .collect();
        programs.extend(
            output(Command::new("valgrind").arg("--version"))
                .ok()
                .and_then(|text| text.stdout.lines().next().map(str::to_owned)),
        );
        Self {
            processor: field(&text, "model name")
                .unwrap_or(std::env::consts::ARCH)
                .to_owned(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            virtual_machine: field(&text, "flags")
                .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
            programs,
        }
    }
}

/// Processes that want to run, on average of the last minute; 0 when the system does not tell.
pub(crate) fn load() -> f64 {
    std::fs::read_to_string("/proc/loadavg")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok())
        .unwrap_or(0.0)
}

/// The first line `NAME : VALUE` of a list.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        (found.trim() == name).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_field_of_cpuinfo() {
        let text = "vendor_id\t: X\nmodel\t\t: 17\nmodel name\t: A B: C\n";
        assert_eq!(field(text, "model name"), Some("A B: C"));
        assert_eq!(field(text, "flags"), None);
    }
}
