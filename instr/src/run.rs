//! `instr run`: runs a program, with the settings of a file in its environment, and says where its trace is, or why there is none. One that `instr-cc`
//! did not build gets the runtime preloaded, where that can be.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) mod report;
mod tree;

use anyhow::{Context as _, Result, anyhow};
use instr_cc::exec::{Call, end_instead};
use instr_cc::preload::{self, Recorded};
use instr_trace::Metadata;
use instr_trace::kernel;
use instr_trace::kernel::series::Module;

use crate::cli::RunOptions;
use crate::console::{Console, Refusal};
use crate::kernel::{Owner, Program, Range, Recorder, Switches};
use crate::launch;
use crate::quote::{shown, typed};
use crate::run::tree::Tree;
use crate::series::Roots;
use crate::series::config::{self, Config};
use crate::why::{self, Contents, Question};

/// Larger configurations are refused.
const MAX_CONFIG: u64 = 1 << 20;
/// OpenMP's variable that names libraries with tools.
const TOOLS: &str = "OMP_TOOL_LIBRARIES";
/// Tells the runtime who records context switches.
const LAUNCHER: &str = "INSTR_LAUNCHER";
/// Runs of a command line whose traces stay, where nothing else is said.
pub(crate) const KEPT: u64 = 8;
/// Bytes of the program's arguments that a trace has.
const MOST_ARGUMENTS: usize = 1023;

/// Runs the program and ends as it ends; returns only when it could not be started.
///
/// # Errors
///
/// A configuration that is refused, a folder for the trace that cannot be made, a program that is not found or cannot be started.
pub fn run(options: &RunOptions, console: &mut Console<'_>) -> Result<()> {
    let (set, series) = settings_of(options)?;
    let (name, arguments) = options
        .command
        .split_first()
        .context("no program is named")?;
    let program = launch::find(name)?;
    if let Some(dir) = &options.output {
        check_output(dir, &program)?;
    }
    let mut variables: Vec<_> = std::env::vars_os().collect();
    variables.retain(|(name, _)| !set.iter().any(|(other, _)| other == name));
    variables.extend(
        set.iter()
            .map(|(name, value)| (OsString::from(name), value.clone())),
    );
    let mut question = Question {
        program: &program,
        folder: Path::new(""),
        variables: &variables,
        preloaded: false,
        obstacle: None,
    };
    let (preloaded, told) = preload_into(&mut question, options.quiet, console);
    question.preloaded = !preloaded.is_empty();
    let mut call = Call::new(&program).args(arguments);
    call.arg0 = Some(name.clone());
    call.env = set
        .into_iter()
        .chain(preloaded)
        .map(|(name, value)| (name, Some(value)))
        .collect();
    let begin = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let recorder = record(&question, arguments, (options, &series), console)?;
    let trace = question.variable("INSTR_TRACE").map(absolute);
    // Without a folder for them, traces of started programs have names of their own.
    let tree = match recorder {
        Some(_) => Tree::beside(&question.place()).ok(),
        None => None,
    };
    if let Some(tree) = &tree {
        for folder in tree.earlier.iter().filter(|_| !options.quiet) {
            console.note(&format!(
                "{} has traces of programs that an earlier run started, whose launcher was killed; instr summary {} shows them, and nobody needs the folder any more",
                shown(folder),
                typed(folder)
            ));
        }
        let tree = tree.variable(trace.as_deref());
        call.env.push((tree::VARIABLE, Some(tree)));
    }
    if let Some(launcher) = recorder.as_ref().and_then(launcher) {
        call.env.push((LAUNCHER, Some(launcher.into())));
    }
    if trace.is_some() {
        call.env.push(("INSTR_TRACE", trace));
    }
    let mut pid = 0;
    let status = launch::run_instead(&call, |id| pid = id)?;
    let begin = u64::try_from(begin.as_nanos()).unwrap_or(0);
    let finished = recorder.map(|recorder| recorder.finish(pid));
    let put = |console: &mut Console<'_>| {
        report::report(&question, begin, told, (pid, finished, tree), console);
    };
    if options.quiet {
        let (mut out, mut err) = (std::io::sink(), std::io::sink());
        put(&mut Console {
            out: &mut out,
            err: &mut err,
            colour: false,
            progress: false,
            width: console.width,
            height: None,
        });
    } else {
        put(console);
    }
    end_instead(status)
}

/// What a relative place is in the folder where the command is typed: the program may go to another one before its trace begins.
/// Where that folder is gone, it stays as it is.
fn absolute(place: &OsString) -> OsString {
    let folder = std::env::current_dir();
    folder.map_or(place.clone(), |folder| folder.join(place).into())
}

/// Says to the runtime that it can leave context switches to this process: `PID:NAMESPACE` (`runtime/platform/linux/switches.c`).
fn launcher(recorder: &Recorder) -> Option<String> {
    recorder.recorder()?;
    let namespace = rustix::fs::stat("/proc/self/ns/pid").ok()?.st_ino;
    Some(format!("{}:{namespace}", std::process::id()))
}

/// Begins to record context switches and series, where the settings want it and the trace's place can have them.
fn record(
    question: &Question<'_>,
    arguments: &[OsString],
    (options, series): (&RunOptions, &Config),
    console: &mut Console<'_>,
) -> Result<Option<Recorder>> {
    let is = |name, value: &str| question.variable(name).is_some_and(|found| found == value);
    let to_files = question
        .variable("INSTR_SINK")
        .is_none_or(|sink| sink == "file");
    // A program's own trace has the same trouble, and says so; the whole system is recorded, or nothing runs.
    let nothing = |why: String| match options.system {
        true => Err(anyhow!("cannot record the whole system: {why}")),
        false => Ok(None),
    };
    if is("INSTR_ENABLED", "0") || !to_files {
        return nothing("INSTR_ENABLED or INSTR_SINK wants no trace in files".to_owned());
    }
    let (perf, ebpf) = (is("INSTR_SWITCHES", "perf"), is("INSTR_SWITCHES", "ebpf"));
    let switches = Switches {
        whose: match () {
            () if options.system => Range::System,
            () if is("INSTR_SWITCHES", "0") => Range::Nobody,
            () => Range::Tree,
        },
        recorder: match () {
            () if perf => Some(kernel::Recorder::Perf),
            () if ebpf => Some(kernel::Recorder::Ebpf),
            () => None,
        },
        asked: options.system || perf || ebpf || is("INSTR_SWITCHES", "1"),
    };
    let place = question.place();
    let folder = place.ancestors().skip(1).map(|folder| match folder {
        folder if folder.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    });
    let found = folder.into_iter().find(|folder| folder.is_dir());
    // Relative places begin in a folder that may have been removed.
    let Some(folder) = found else {
        return nothing(format!("there is no folder for {}", shown(&place)));
    };
    let words: Vec<_> = arguments
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    let mut text = words.join(" ");
    while text.len() > MOST_ARGUMENTS {
        text.pop();
    }
    let program = Program {
        name: question.name().to_string_lossy().into_owned(),
        arguments: text,
    };
    let root = question.variable("INSTR_SENSORS_ROOT");
    let root = root.map_or(Path::new(""), Path::new);
    let series = (!series.modules.is_empty()).then(|| (series, Roots::new(root)));
    let recorder = match Recorder::start(folder, &program, switches, series) {
        Ok(recorder) => recorder,
        Err(error) => return nothing(format!("cannot write into {}: {error}", shown(folder))),
    };
    let by_perf = matches!(recorder.recorder(), Some((kernel::Recorder::Perf, _)));
    if options.system && by_perf && !options.quiet && !sees_all_processes() {
        console.note("this is a container: perf has no numbers for what runs outside of it, so processors that run that are shown as idle");
    }
    if !options.quiet {
        say_refused(recorder.refused(), console);
    }
    if is("INSTR_VERBOSE", "1")
        && let Some((by, why)) = recorder.recorder()
    {
        console.note(&recorded_by(by, why));
    }
    match recorder.trouble() {
        Some(why) if options.system => Err(anyhow!("cannot record the whole system: {why}")),
        Some(why) if !options.quiet => {
            console.note(&format!(
                "context switches are not recorded: {why}; only their number and the processor time of the whole run are known, not who ran where or waited"
            ));
            Ok(Some(recorder))
        }
        _ => Ok(Some(recorder)),
    }
}

/// Whether this process is in the first namespace of process numbers (PROC_PID_INIT_INO of the kernel's proc_ns.h): others have no numbers for threads outside.
fn sees_all_processes() -> bool {
    let own = rustix::fs::stat("/proc/self/ns/pid");
    own.is_ok_and(|status| status.st_ino == 0xEFFF_FFFC)
}

/// What records context switches, and what that cannot show.
fn recorded_by(by: kernel::Recorder, why: &str) -> String {
    match (by, why) {
        (kernel::Recorder::Ebpf, _) => "context switches are recorded by eBPF".to_owned(),
        (kernel::Recorder::Perf, why) => {
            let because = match why {
                "" => "as INSTR_SWITCHES wants",
                why => why,
            };
            format!(
                "context switches are recorded by perf, without who woke whom, when a blocked thread could go on, and priorities: {because}"
            )
        }
    }
}

/// Says what modules of series do not have here.
pub(crate) fn say_refused(refused: &[(Module, String)], console: &mut Console<'_>) {
    for (module, why) in refused {
        console.note(&format!("series: [{}]: {why}", module.word()));
    }
}

/// How many runs of each command line stay.
fn kept(question: &Question<'_>) -> u64 {
    let set = question
        .variable("INSTR_KEEP")
        .and_then(|text| text.to_str());
    let number = set.and_then(|text| text.parse().ok());
    number.filter(|number| *number <= 1000).unwrap_or(KEPT)
}

/// Of a trace that the launcher makes.
fn owner<'a>(question: &'a Question<'_>) -> Owner<'a> {
    Owner {
        executable: question.program,
        keep: kept(question),
        empty: None,
    }
}

/// What the options put into the environment of the program, and the series they want.
fn settings_of(options: &RunOptions) -> Result<(Vec<(&'static str, OsString)>, Config)> {
    let mut set = Vec::new();
    let mut series = Config::default();
    if let Some(file) = &options.config {
        let read = read(file)?;
        series = read.series;
        for (name, value) in read.settings {
            // What the user typed in front of the command is more than what is in a file.
            if std::env::var_os(name).is_none() {
                set.push((name, value.into()));
            }
        }
    }
    if let Some(dir) = &options.output {
        set.retain(|(name, _)| *name != "INSTR_TRACE");
        set.push(("INSTR_TRACE", dir.into()));
    }
    Ok((set, series))
}

/// Refuses a folder that the runtime could not use: the trace would have another name, or there would be none.
pub(crate) fn check_output(dir: &Path, program: &Path) -> Result<()> {
    why::can_be_made(dir).map_err(|why| anyhow!("{why}"))?;
    let foreign = |what: String| Refusal {
        message: format!("cannot use {} for the trace: {what}", shown(dir)),
        notes: Vec::new(),
        help: Some("name a folder that is not there, or is empty".to_owned()),
    };
    if dir
        .symlink_metadata()
        .is_ok_and(|status| status.is_symlink())
    {
        return Err(foreign("it is a symbolic link".to_owned()).into());
    }
    let Ok(entries) = std::fs::read_dir(dir) else {
        return Ok(());
    };
    // What others may write there, a trace would be mixed with: neither this process nor the runtime uses such a folder.
    if let Ok(status) = dir.symlink_metadata() {
        if status.uid() != rustix::process::geteuid().as_raw() {
            return Err(foreign("it is another user's".to_owned()).into());
        }
        if status.mode() & 0o022 != 0 {
            let help = format!(
                "name a folder that is not there, or chmod go-w {}",
                typed(dir)
            );
            return Err(Refusal {
                help: Some(help),
                ..foreign("others may write into it".to_owned())
            }
            .into());
        }
    }
    if let Ok(metadata) = Metadata::read(&dir.join("metadata")) {
        let file = program
            .canonicalize()
            .unwrap_or_else(|_| program.to_owned());
        let name = file.file_name().unwrap_or_default();
        let other = why::recorded_name(name) != metadata.program;
        let is_elf = why::contents(program) != Some(Contents::NotElf);
        return match other && is_elf {
            true => Err(foreign(format!("it is a trace of {}", shown(&metadata.program))).into()),
            false => Ok(()),
        };
    }
    let is_ours = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
    let mut others = entries.flatten().map(|entry| entry.file_name());
    match others.find(|name| !is_ours(name)) {
        Some(name) => Err(foreign(format!("it holds {}", shown(name))).into()),
        None => Ok(()),
    }
}

/// What is put into the environment of a program without the runtime, so that it gets one; nothing where that cannot be. Then the program runs as it
/// is; `question` gets why, and that it records nothing is told before, since it may take hours, if it calls OpenMP. Returns also whether that was told.
fn preload_into(
    question: &mut Question<'_>,
    quiet: bool,
    console: &mut Console<'_>,
) -> (Vec<(&'static str, OsString)>, bool) {
    let calls_openmp = match why::contents(question.program) {
        Some(Contents::Instrumented) => return (Vec::new(), false),
        contents => contents == Some(Contents::Plain { openmp: true }),
    };
    let program = shown(question.program);
    if let Some(obstacle) = preload::obstacle(question.program) {
        if calls_openmp {
            console.warn(&format!(
                "{program} {}: it runs, but records nothing\n  help: {}",
                obstacle.what, obstacle.help
            ));
        }
        question.obstacle = Some(obstacle);
        return (Vec::new(), calls_openmp);
    }
    let recorded = recorded(question);
    if recorded == Recorded::Heap && !quiet && preload::brings_malloc(question.program) {
        console.note(&format!(
            "{program} brings its own malloc: its heap is not recorded"
        ));
    }
    let error = match preload::library(recorded) {
        Ok(library) => {
            if let Some(note) = library.note.filter(|_| !quiet) {
                console.note(&note);
            }
            return (variables_of(question, &library.path, recorded), false);
        }
        Err(error) => error,
    };
    let trouble = format!(
        "OpenMP and threads of {program} and of what it starts are not recorded, for want of a library to preload: {error:#}\n  \
         help: install gcc or clang with the C library's headers, or instr with its library (`make install`, the Debian package)"
    );
    // Of what calls no OpenMP itself it is not known whether something is missing.
    match calls_openmp {
        true => console.warn(&trouble),
        false if !quiet => console.note(&trouble),
        false => {}
    }
    (Vec::new(), calls_openmp)
}

/// The heap is recorded of programs that nobody built for it where that is asked for.
fn recorded(question: &Question<'_>) -> Recorded {
    match question.variable("INSTR_MEMORY") {
        Some(value) if value == "1" => Recorded::Heap,
        _ => Recorded::Usual,
    }
}

/// The variables by which the dynamic linker, and a libomp that looks for a tool nowhere else, find the library.
fn variables_of(
    question: &Question<'_>,
    library: &Path,
    recorded: Recorded,
) -> Vec<(&'static str, OsString)> {
    let before = question.variable(preload::VARIABLE);
    let value = preload::variable(before.map(OsString::as_os_str), library, recorded);
    let mut variables = vec![(preload::VARIABLE, value)];
    if question.variable(TOOLS).is_none() {
        variables.push((TOOLS, library.into()));
    }
    variables
}

pub(crate) fn read(file: &Path) -> Result<config::File> {
    let refused = || format!("cannot use the configuration {}", shown(file));
    // A pipe that has a name may have no writer, and opening it would wait for one. What a shell makes for <(...) leads to none.
    let is_pipe = |path: PathBuf| path.metadata().is_ok_and(|it| it.file_type().is_fifo());
    if file.canonicalize().is_ok_and(is_pipe) {
        return Err(anyhow!("it is not a file")).with_context(refused);
    }
    let mut text = String::new();
    let opened = std::fs::File::open(file).with_context(refused)?;
    opened
        .take(MAX_CONFIG + 1)
        .read_to_string(&mut text)
        .with_context(refused)?;
    if text.len() as u64 > MAX_CONFIG {
        return Err(anyhow!("it is larger than 1 MiB")).with_context(refused);
    }
    config::parse(&text).map_err(|mistakes| {
        let place = |mistake: &config::Mistake| format!("{}:{}", shown(file), mistake.shown(&text));
        let places: Vec<String> = mistakes.iter().map(place).collect();
        match places.as_slice() {
            [one] => anyhow!("{one}").context(refused()),
            several => Refusal {
                message: format!("{}: {} mistakes", refused(), several.len()),
                notes: places,
                help: Some(
                    "`instr config --example` prints one with everything that there is".to_owned(),
                ),
            }
            .into(),
        }
    })
}
