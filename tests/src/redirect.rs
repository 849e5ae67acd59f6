//! The other way of getting in: calls of the program's objects redirected by `instr-rewrite --redirect`, the runtime's sources compiled
//! and linked with them by hand, as a build without a linker that knows `--wrap` does.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::outcome::{Check, Stop};
use crate::process::Run;
use crate::toolchain::{Build, Target, tools};
use crate::workspace;

/// Builds the one source at `source` with gcc for x86-64 into `output`.
///
/// # Errors
///
/// When a step fails.
pub fn build(build: &Build, source: &Path, output: &Path) -> Check {
    let object = output.with_extension("o");
    let redirected = output.with_extension("redirected.o");
    let stubs = output.with_extension("stubs.c");
    let plain = build.clone().flag("-c");
    plain.command(None, &[source], &object)?.succeed()?;
    let rewrite = || -> Check<Run> { Ok(Run::new(&tools()?.instr_rewrite)) };
    // As `instr-cc` records them where nothing else is said.
    let calls = rewrite()?.args(["--redirect", "--threads"]).arg(&object);
    calls.arg("-o").arg(&redirected).succeed()?;
    let emit = rewrite()?.args(["--emit-stubs", "--linkage", "rename", "--threads"]);
    emit.arg(&object).arg("-o").arg(&stubs).succeed()?;
    // In C, whatever the program is written in.
    let stubs_object = output.with_extension("stubs.o");
    compile(&stubs, &stubs_object)?;
    let runtime = runtime_objects()?;
    let mut inputs: Vec<&Path> = vec![&redirected, &stubs_object];
    inputs.extend(runtime.iter().map(PathBuf::as_path));
    build.command(None, &inputs, output)?.succeed()?;
    Ok(())
}

fn compile(source: &Path, object: &Path) -> Check {
    let compile = Build::openmp(Target::X86_64);
    let compiler = compile.family.command(compile.language, compile.target)?;
    let run = Run::new(&compiler).args(["-c", "-O2", "-fPIE"]);
    let run = run.args(runtime_options()?).arg(source);
    run.arg("-o").arg(object).succeed()?;
    Ok(())
}

fn runtime_options() -> Check<Vec<String>> {
    let folder = workspace::root()?.join("runtime");
    Ok(vec![
        "-std=gnu11".into(),
        "-D_GNU_SOURCE".into(),
        format!("-I{}", folder.join("include").display()),
        format!("-I{}", folder.display()),
    ])
}

/// The runtime's objects for x86-64, compiled once.
fn runtime_objects() -> Check<&'static [PathBuf]> {
    static OBJECTS: OnceLock<Result<Vec<PathBuf>, String>> = OnceLock::new();
    let made = OBJECTS.get_or_init(|| compile_runtime().map_err(|stop| stop.to_string()));
    made.as_deref()
        .map_err(|message| Stop::Fail(message.clone()))
}

fn compile_runtime() -> Check<Vec<PathBuf>> {
    let folder = workspace::scratch()?.join(format!("runtime-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let sources = runtime_sources()?;
    let names = sources.iter().map(|source| object_name(source));
    let objects: Vec<PathBuf> = names.map(|name| folder.join(name)).collect();
    for (source, object) in sources.iter().zip(&objects) {
        compile(source, object)?;
    }
    Ok(objects)
}

/// `core/call.c` is `core-call.o`.
fn object_name(source: &Path) -> String {
    let part =
        |name: Option<&std::ffi::OsStr>| name.unwrap_or_default().to_string_lossy().into_owned();
    let folder = source.parent().and_then(Path::file_name);
    format!("{}-{}.o", part(folder), part(source.file_stem()))
}

/// The C files of the runtime for Linux, without the OMPT tool (its place is a link with libomp).
///
/// # Errors
///
/// When the project's folder is not found.
pub fn runtime_sources() -> Check<Vec<PathBuf>> {
    let runtime = workspace::root()?.join("runtime");
    let mut files = Vec::new();
    for folder in [
        "core",
        "platform/linux",
        "probes",
        "sinks",
        "sensors",
        "sampling",
    ] {
        let Ok(entries) = std::fs::read_dir(runtime.join(folder)) else {
            continue;
        };
        let is_linux = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".c") && name != "small_file.c"
        };
        let paths = entries.flatten().map(|entry| entry.path());
        files.extend(paths.filter(is_linux));
    }
    files.sort();
    Ok(files)
}
