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
/// The portable ones (`core/`, `probes/`, `sensors/`, `sinks/`) come with the platform's files, `platform/OS.c` and `platform/OS_*.c`.
#[must_use]
pub fn sources(os: &str) -> Vec<&'static str> {
    let wanted = |name: &str| match name.strip_prefix("platform/") {
        Some(file) => file
            .strip_prefix(os)
            .is_some_and(|rest| rest.starts_with(['.', '_'])),
        None => true,
    };
    FILES
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| name.ends_with(".c") && wanted(name))
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
        assert!(names.contains(&"platform/linux.c"));
        assert!(
            names
                .iter()
                .filter_map(|n| n.strip_prefix("platform/"))
                .all(|n| n.starts_with("linux.") || n.starts_with("linux_"))
        );
    }

    #[test]
    fn an_unknown_system_gets_no_platform_file() {
        assert!(sources("plan9").iter().all(|n| !n.starts_with("platform/")));
    }
}
