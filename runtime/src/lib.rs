//! The C runtime's sources, embedded for the host tools (design decision D5).
//!
//! A user's target compiler is all that is needed to build the runtime: the tools write these files into a cache and
//! compile each file of [`sources`] into one object. Include directories are `.` and `include`.

/// Every source and header: path relative to the runtime's root, and text.
pub const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// 32 hexadecimal digits that differ when [`FILES`] differ: the key under which a built runtime may be kept.
pub const KEY: &str = env!("INSTR_RUNTIME_KEY");

/// What each shared library gets beside its stubs: it finds the one runtime of its process.
pub const LIBRARY: &str = "library/library.c";

/// What a library gets that is preloaded into programs nobody built to be traced.
pub const PRELOAD: [&str; 4] = [
    "library/preload.c",
    "library/preload_runtime.c",
    "library/preload_way.c",
    "library/preload_memory.c",
];

/// What a shared library gets that uses libomp.
pub const TOOL: &str = "library/tool.c";

/// What an object with the runtime gets that is linked with no OpenMP library, for the libraries that are.
pub const GETTERS: &str = "library/getters.c";

/// What a program gets that has an OMPT tool of its own.
pub const FOREIGN_TOOL: &str = "ompt/foreign.c";

/// What an output gets whose libomp looks for a tool behind itself only, and what is loaded there.
pub const BOUND: &str = "ompt/bound.c";
/// See [`BOUND`].
pub const BRIDGE: &str = "ompt/bridge.c";

/// Sources that some outputs get only, those above: a path a line, and comments.
const APART: &str = include_str!("../apart.txt");

fn is_apart(name: &str) -> bool {
    APART.lines().any(|line| line == name)
}

/// Names the `.c` files to compile for an operating system (`"linux"`), in a fixed order.
///
/// The portable ones (`core/`, `probes/`, `sampling/`, `sensors/`, `sinks/`) come with the files of the system, `platform/OS/`.
/// Small systems get a file sink of their own, no shared libraries, and no OMPT tool: their OpenMP library is libgomp.
#[must_use]
pub fn sources(os: &str) -> Vec<&'static str> {
    let platform = format!("platform/{os}/");
    let large = os == "linux";
    let fits = |name: &str| match name {
        "sinks/file.c" | "sinks/file_place.c" | "sinks/file_runs.c" => large,
        "sinks/small_file.c" => !large,
        _ if is_apart(name) => false,
        _ if name.starts_with("include/") => false, // users compile it
        _ if name.starts_with("library/") || name.starts_with("probes/pthread") => large,
        _ if name.starts_with("platform/") => name.starts_with(&platform),
        _ => large || !name.starts_with("ompt/"),
    };
    FILES
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| name.ends_with(".c") && fits(name))
        .collect()
}

/// The version of what libraries ask of the runtime (`library/table.h`): it is part of libinstr.so's name. 0 when the sources do not say.
#[must_use]
pub fn table_version() -> u32 {
    let header = FILES.iter().find(|(name, _)| *name == "library/table.h");
    let lines = header.map_or("", |(_, text)| *text).lines();
    lines
        .filter_map(|line| line.strip_prefix("#define INSTR_TABLE_VERSION "))
        .find_map(|number| number.trim().parse().ok())
        .unwrap_or(0)
}

/// The names of all settings that the runtime reads (`INSTR_POLICY` …), sorted; taken from its sources.
#[must_use]
pub fn settings() -> Vec<String> {
    let is_name = |word: &&str| {
        word.strip_prefix("INSTR_").is_some_and(|rest| {
            !rest.is_empty()
                && rest
                    .bytes()
                    .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        })
    };
    let sources = FILES
        .iter()
        .filter(|(name, _)| name.ends_with("settings.c"));
    let mut names: Vec<String> = sources
        .flat_map(|(_, text)| text.split('"'))
        .filter(is_name)
        .map(str::to_owned)
        .collect();
    names.sort_unstable();
    names.dedup();
    names
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
        let mut platform = names.iter().filter(|n| n.starts_with("platform/"));
        assert!(platform.all(|n| n.starts_with("platform/linux/")));
        assert!(names.contains(&"sinks/file.c") && !names.contains(&"sinks/small_file.c"));
        assert!(names.contains(&"library/table.c"));
        // These are linked into some outputs only.
        let parts = [LIBRARY, TOOL, GETTERS, FOREIGN_TOOL, BOUND, BRIDGE];
        for part in parts.into_iter().chain(PRELOAD) {
            assert!(FILES.iter().any(|(name, _)| *name == part) && !names.contains(&part));
        }
        let listed = APART.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(listed.count(), parts.len() + PRELOAD.len());
    }

    #[test]
    fn a_small_system_gets_the_small_file_sink_and_no_ompt() {
        let names = sources("rtems");
        assert!(
            names.contains(&"platform/rtems/system.c") && names.contains(&"platform/rtems/clock.c")
        );
        assert!(names.contains(&"sinks/small_file.c") && !names.contains(&"sinks/file.c"));
        let hosted = ["ompt/", "library/"];
        assert!(
            names
                .iter()
                .all(|n| hosted.iter().all(|f| !n.starts_with(f)))
        );
    }

    /// The list for builds by hand, in `docs/porting.md`: each line has patterns, and those behind *but not* take away.
    #[test]
    fn the_porting_guide_lists_the_files_of_rtems() {
        let guide = include_str!("../../docs/porting.md");
        let list = guide
            .split("```")
            .find(|part| part.starts_with("\nruntime/core/*.c"));
        let list = list.expect("docs/porting.md has no list of files");
        let fits = |patterns: &str, name: &str| {
            patterns.split_whitespace().any(|pattern| {
                let pattern = pattern.strip_prefix("runtime/").unwrap_or(pattern);
                pattern
                    .split_once('*')
                    .map_or(name == pattern, |(folder, end)| {
                        name.strip_prefix(folder)
                            .is_some_and(|rest| rest.ends_with(end) && !rest.contains('/'))
                    })
            })
        };
        let listed: Vec<&str> = FILES
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| {
                list.lines().any(|line| {
                    let (all, less) = line.split_once("but not").unwrap_or((line, ""));
                    fits(all, name) && !fits(less, name)
                })
            })
            .collect();
        assert_eq!(listed, sources("rtems"));
    }

    fn text(file: &str) -> &'static str {
        let found = FILES.iter().find(|(name, _)| *name == file);
        found.map_or("", |(_, text)| *text)
    }

    /// A header without its comments, one blank between words.
    fn code(file: &str) -> String {
        let parts = text(file).split("/*");
        let code = parts.enumerate().map(|(at, part)| match at {
            0 => part,
            _ => part.split_once("*/").map_or("", |(_, behind)| behind),
        });
        let code: Vec<&str> = code.flat_map(str::split_whitespace).collect();
        code.join(" ")
    }

    #[test]
    fn libraries_find_every_probe_in_the_table() {
        let declared = code("include/instr/probes.h");
        let declared: Vec<&str> = declared
            .split("instr_probe_")
            .skip(1)
            .filter_map(|rest| rest.split('(').next())
            .collect();
        let table = text("library/table.h");
        let list = table.split_once("#define INSTR_PROBES(P)").unwrap().1;
        let list = list.split_once("#define").unwrap().0;
        let offered: Vec<&str> = list
            .split("P(")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
            .collect();
        assert!(declared.len() > 100);
        assert_eq!(offered, declared);
    }

    /// Libraries and programs of one version must agree on every signature. When this fails, raise `INSTR_TABLE_VERSION`, unless
    /// the change only adds probes, and then write the new sum here.
    #[test]
    fn the_tables_version_belongs_to_these_signatures() {
        let sum = |text: &str| {
            text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
                (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            })
        };
        let files = [
            "include/instr/probes.h",
            "include/instr/instr.h",
            "library/table.h",
        ];
        let sums = files.map(|file| format!("{:016x}", sum(&code(file))));
        assert_eq!(
            (table_version(), sums.each_ref().map(String::as_str)),
            (
                2,
                ["71a19e3a6cb78789", "8c5e7dc06cc1601e", "fd592262542a3476"]
            )
        );
    }

    #[test]
    fn settings_are_found_in_the_sources() {
        let names = settings();
        for name in ["INSTR_POLICY", "INSTR_SINK", "INSTR_BUFFER", "INSTR_TRACE"] {
            assert!(names.iter().any(|n| n == name), "{name} is missing");
        }
    }

    #[test]
    fn an_unknown_system_gets_no_platform_file() {
        assert!(sources("plan9").iter().all(|n| !n.starts_with("platform/")));
    }
}
