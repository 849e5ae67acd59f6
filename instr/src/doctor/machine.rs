//! What is installed, and what the kernel allows.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use instr_cc::compiler::Machine;
use instr_cc::exec::Call;
use instr_cc::targets;

use super::Item;

/// Looked for in `PATH`; each is asked for its version.
const TOOLS: &[&str] = &[
    "cc", "gcc", "g++", "gfortran", "clang", "clang++", "ld", "ld.gold", "ld.lld", "mold", "ar",
];
/// Of them, those that compile C with OpenMP.
const COMPILERS: &[&str] = &["gcc", "clang"];
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";
/// Bits of `CapEff`: capabilities(7).
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;

/// The first line that a program prints with `argument`; why not, otherwise.
fn asked(program: &Path, argument: &str) -> Result<String, String> {
    let output = Call::new(program)
        .args([argument])
        .run_privately()
        .map_err(|error| format!("cannot be run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.lines().next().map(str::trim) {
        Some(line) if output.status.success() && !line.is_empty() => Ok(line.to_owned()),
        _ => Err(format!("{argument} ends with {}", output.status)),
    }
}

fn found(name: &str) -> Option<std::path::PathBuf> {
    Machine::new().find(OsStr::new(name)).map(|(path, _)| path)
}

/// Compilers and linkers.
pub(super) fn compilers() -> Vec<Item> {
    let one = |name: &&str| match found(name) {
        None => Item::new(*name, false, "not in PATH").help(super::advice::package(name)),
        Some(path) => match asked(&path, "--version") {
            Ok(version) => Item::new(*name, true, version),
            Err(why) => Item::new(*name, false, why),
        },
    };
    TOOLS.iter().map(one).collect()
}

/// A program whose answer needs the library.
const OPENMP: &str = "\
extern int omp_get_max_threads(void);
int main(void)
{
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum += 1;
    return sum >= 1 && omp_get_max_threads() >= 1 ? 0 : 1;
}
";

/// Whether programs with `-fopenmp` link and run, with the library shared and static.
pub(super) fn openmp(compilers: &[Item]) -> Vec<Item> {
    let mut items = Vec::new();
    let Ok(dir) = tempfile::tempdir() else {
        return vec![Item::unknown(
            "OpenMP programs",
            "cannot make a temporary folder",
        )];
    };
    for name in COMPILERS {
        if !compilers
            .iter()
            .any(|item| item.name == *name && item.works == Some(true))
        {
            continue;
        }
        let Some(compiler) = found(name) else {
            continue;
        };
        for (kind, option) in [("shared", None), ("static", Some("-static"))] {
            let label = format!("{name} -fopenmp {}", option.unwrap_or_default());
            let what = openmp_program(&compiler, dir.path(), option);
            items.push(match what {
                Ok(()) => Item::new(
                    label.trim_end(),
                    true,
                    format!("links and runs, {kind} library"),
                ),
                Err(why) => Item::new(label.trim_end(), false, why),
            });
        }
    }
    items
}

fn openmp_program(compiler: &Path, dir: &Path, option: Option<&str>) -> Result<(), String> {
    let (source, program) = (dir.join("openmp.c"), dir.join("openmp"));
    fs::write(&source, OPENMP).map_err(|error| error.to_string())?;
    let call = Call::new(compiler).args(["-fopenmp"]).args(option);
    let output = call.args(["-o"]).args([&program, &source]).run_privately();
    let output = output.map_err(|error| format!("cannot be run: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let line = said
            .lines()
            .find(|line| line.contains("error") || line.contains("cannot"));
        return Err(format!(
            "does not link: {}",
            line.unwrap_or("no reason is given").trim()
        ));
    }
    match Call::new(&program).run_privately() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!(
            "links, but the program ends with {}",
            output.status
        )),
        Err(error) => Err(format!("links, but the program cannot be run: {error}")),
    }
}

/// The known targets.
pub(super) fn targets() -> Vec<Item> {
    let mut items = Vec::new();
    for name in targets::names() {
        let Ok(Some(target)) = targets::find(name) else {
            items.push(Item::new(name, false, "its description cannot be read"));
            continue;
        };
        let mut needed = vec![target.compiler.clone()];
        needed.extend(
            target
                .emulator
                .iter()
                .filter_map(|emulator| emulator.command.first().cloned()),
        );
        let missing: Vec<&String> = needed.iter().filter(|tool| found(tool).is_none()).collect();
        items.push(match missing.as_slice() {
            [] => Item::new(name, true, format!("found {}", needed.join(", "))),
            missing => {
                let missing: Vec<&str> = missing.iter().map(|tool| tool.as_str()).collect();
                Item::new(name, false, format!("not in PATH: {}", missing.join(", ")))
            }
        });
    }
    items
}

/// Whether this process has a capability; nothing when the kernel does not say.
fn has_capability(bit: u32) -> Option<bool> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))?;
    let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
    Some(mask >> bit & 1 == 1)
}

/// What the kernel lets this user measure.
pub(super) fn permissions() -> Vec<Item> {
    let level = fs::read_to_string(PARANOID).ok();
    let level = level
        .as_deref()
        .map(str::trim)
        .and_then(|text| text.parse::<i32>().ok());
    let privileged = [CAP_PERFMON, CAP_SYS_ADMIN]
        .map(has_capability)
        .contains(&Some(true));
    let item = match level {
        None => Item::new(
            "perf_event_paranoid",
            false,
            "the kernel has no perf_event (no such file in /proc/sys/kernel)",
        ),
        Some(level) => {
            let meaning = paranoid(level);
            let works = privileged || level < 3;
            let means = if privileged {
                format!(
                    "{level}: {meaning}; this process has CAP_PERFMON or CAP_SYS_ADMIN, for which none of it holds"
                )
            } else {
                format!("{level}: {meaning}")
            };
            let help = (!privileged && level > 1).then_some("sysctl kernel.perf_event_paranoid=1 (as root) lets users count the kernel's part of their programs too");
            Item::new("perf_event_paranoid", works, means).help(help)
        }
    };
    vec![item, switches()]
}

/// What `instr run` records context switches by.
fn switches() -> Item {
    let name = "context switches by eBPF";
    let without = "instr run records them by perf, without who woke whom";
    match crate::kernel::ebpf::possible() {
        Ok(()) => Item::new(
            name,
            true,
            "permitted: instr run also records who woke whom",
        ),
        Err(why) => Item::new(name, false, format!("{why}; {without}")),
    }
}

/// What a level forbids to users without CAP_PERFMON: Documentation/admin-guide/sysctl/kernel.rst of Linux; 3 and 4 are Debian's and Android's.
fn paranoid(level: i32) -> &'static str {
    match level {
        i32::MIN..=-1 => "users may measure everything",
        0 => "users may measure everything but raw tracepoints",
        1 => {
            "users may measure their own programs, the kernel's part included, but no whole processors (perf-energy needs 0)"
        }
        2 => "users may measure their own programs without the kernel's part",
        _ => "users may measure nothing",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_not_said_to_be() {
        assert!(found("no-such-program-anywhere").is_none());
        assert!(asked(Path::new("/nonexistent/cc"), "--version").is_err());
    }

    #[test]
    fn every_known_target_is_listed() {
        assert_eq!(targets().len(), targets::names().len());
    }

    #[test]
    fn openmp_is_asked_of_compilers_that_work_only() {
        assert!(openmp(&[Item::new("gcc", false, "not in PATH")]).is_empty());
    }
}
