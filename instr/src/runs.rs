//! The runs of a program: the newest is `NAME.instr`, earlier ones are `NAME.instr.1`, `NAME.instr.2` … beside it, and `NAME.instr.empty` is the last
//! one that recorded nothing while there was one that had. The runtime renames them (`runtime/sinks/file_runs.c`, docs/decisions/0020).

use std::fs;
use std::path::{Path, PathBuf};

use instr_trace::Metadata;

/// What follows the name of a run that recorded nothing.
const EMPTY: &str = "empty";

/// Whether a folder is, or was, a trace.
pub(crate) fn is_trace(path: &Path) -> bool {
    path.join("metadata").symlink_metadata().is_ok()
}

/// The folder around a path, which may be the current one.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// The number at the end of a name: 3 of `heat.instr.3`, and of `heat.3`.
pub(crate) fn number(path: &Path) -> Option<u64> {
    let digits = path.extension()?.to_str()?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

/// The path without the last part of its name: what an earlier run is called after.
pub(crate) fn base(path: &Path) -> PathBuf {
    path.with_extension("")
}

/// Whether a trace is an earlier run of another one, or an empty one, by its name and number.
pub(crate) fn is_earlier(path: &Path) -> bool {
    if path.extension().is_some_and(|last| last == EMPTY) {
        return base(path)
            .extension()
            .is_some_and(|before| before == "instr")
            || is_trace(&base(path));
    }
    let Some(number) = number(path) else {
        return false;
    };
    is_trace(&base(path)) || run_of(path) == Some(number)
}

/// The number of a run that its metadata has. In one that recorded nothing it is the number of the next run that does.
pub(crate) fn run_of(trace: &Path) -> Option<u64> {
    let metadata = Metadata::read(&trace.join("metadata")).ok()?;
    metadata.run.filter(|_| !metadata.empty)
}

/// The earlier runs of `base` with their numbers, the last one first.
pub(crate) fn earlier(base: &Path) -> Vec<(u64, PathBuf)> {
    let Some(name) = base.file_name() else {
        return Vec::new();
    };
    let entries = fs::read_dir(folder_of(base))
        .into_iter()
        .flatten()
        .flatten();
    let run = |entry: fs::DirEntry| {
        let entry = PathBuf::from(entry.file_name());
        let number = number(&entry).filter(|_| entry.file_stem() == Some(name))?;
        let path = base.with_file_name(entry);
        is_trace(&path).then_some((number, path))
    };
    let mut found: Vec<_> = entries.filter_map(run).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found
}

/// The newest run of `base`: itself, or the last earlier one, when a run was killed before it had a trace.
pub(crate) fn newest(base: &Path) -> Option<PathBuf> {
    if is_trace(base) {
        return Some(base.to_owned());
    }
    earlier(base).into_iter().next().map(|(_, path)| path)
}

/// Run `number` of `base`, which may be the newest one.
pub(crate) fn numbered(base: &Path, number: u64) -> Option<PathBuf> {
    let mut name = base.file_name()?.to_owned();
    name.push(format!(".{number}"));
    let path = base.with_file_name(name);
    if is_trace(&path) {
        return Some(path);
    }
    (run_of(base) == Some(number)).then(|| base.to_owned())
}

/// The run that recorded nothing, if there is one.
pub(crate) fn empty(base: &Path) -> Option<PathBuf> {
    let mut name = base.file_name()?.to_owned();
    name.push(".");
    name.push(EMPTY);
    Some(base.with_file_name(name)).filter(|path| is_trace(path))
}

/// What to say of a trace behind which a later run recorded nothing; `None`: there is no such run.
pub(crate) fn later_empty(trace: &Path) -> Option<String> {
    let started = |path: &Path| {
        let metadata = Metadata::read(&path.join("metadata")).ok()?;
        Some((metadata.start_realtime_ns, metadata.arguments))
    };
    let (later, arguments) = started(&empty(trace)?)?;
    let (own, _) = started(trace)?;
    let arguments = arguments.filter(|text| !text.is_empty());
    let arguments = arguments.map_or(String::new(), |text| {
        format!(" ({})", crate::summary::units::elide(&text, 60))
    });
    (later > own).then(|| {
        format!(
            "{}: a later run{arguments} recorded nothing; this is the run before it",
            trace.display()
        )
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A folder with traces of these names and runs.
    pub(crate) fn folder(traces: &[(&str, u64)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, run) in traces {
            let trace = dir.path().join(name);
            fs::create_dir_all(&trace).unwrap();
            let text = format!(
                "/* CTF 1.8 */ trace {{ byte_order = le; }};\nenv {{ format = 2; word_bits = 64; run = {run}; start_realtime_ns = {run}; }};"
            );
            fs::write(trace.join("metadata"), text).unwrap();
        }
        dir
    }

    #[test]
    fn runs_are_found_by_name_and_number() {
        let dir = folder(&[
            ("heat.instr", 12),
            ("heat.instr.11", 11),
            ("heat.instr.9", 9),
            ("heat.instr.empty", 13),
            ("heatx.instr.3", 3),
        ]);
        let at = |name: &str| dir.path().join(name);
        let base = at("heat.instr");
        let numbers: Vec<u64> = earlier(&base)
            .into_iter()
            .map(|(number, _)| number)
            .collect();
        assert_eq!(numbers, [11, 9]);
        assert_eq!(newest(&base), Some(base.clone()));
        assert_eq!(numbered(&base, 9), Some(at("heat.instr.9")));
        assert_eq!(
            numbered(&base, 12),
            Some(base.clone()),
            "the newest has a number, too"
        );
        assert_eq!(numbered(&base, 10), None);
        assert!(later_empty(&base).unwrap().contains("recorded nothing"));
        fs::remove_dir_all(&base).unwrap();
        assert_eq!(newest(&base), Some(at("heat.instr.11")));
        assert_eq!(newest(&at("heatx.instr")), Some(at("heatx.instr.3")));
        for (name, is) in [
            ("heat.instr.9", true),
            ("heat.instr.empty", true),
            ("heatx.instr.3", true),
            ("heat.instr", false),
        ] {
            assert_eq!(is_earlier(&at(name)), is, "{name}");
        }
    }

    #[test]
    fn a_name_that_ends_in_a_number_is_no_earlier_run_by_itself() {
        let dir = folder(&[("out.5", 1)]);
        assert!(!is_earlier(&dir.path().join("out.5")));
    }
}
