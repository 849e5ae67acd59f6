//! The C runtime's sources, embedded for the host tools (design decision D5).
//!
//! A user's target compiler is all that is needed to build the runtime: the tools write these files into a cache and
//! compile each file of [`sources`] into one object. Include directories are `.` and `include`.

/// Every source and header: path relative to the runtime's root, and text.
pub const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// 32 hexadecimal digits that differ when [`FILES`] differ: the key under which a built runtime may be kept.
pub const KEY: &str = env!("INSTR_RUNTIME_KEY");

/// Names the `.c` files to compile for an operating system (`"linux"`), in a fixed order.
///
/// The portable ones (`core/`, `probes/`, `sinks/`) come with the platform file `platform/OS.c`.
#[must_use]
pub fn sources(os: &str) -> Vec<&'static str> {
    let platform = format!("platform/{os}.c");
    FILES
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| {
            name.ends_with(".c") && (!name.starts_with("platform/") || *name == platform)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linux_build_has_core_probes_sink_and_one_platform() {
        let names = sources("linux");
        for part in ["core/", "probes/", "sinks/"] {
            assert!(
                names.iter().any(|n| n.starts_with(part)),
                "{part} is missing"
            );
        }
        assert_eq!(
            names.iter().filter(|n| n.starts_with("platform/")).count(),
            1
        );
    }

    #[test]
    fn an_unknown_system_gets_no_platform_file() {
        assert!(sources("plan9").iter().all(|n| !n.starts_with("platform/")));
    }
}
