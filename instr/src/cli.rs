//! The command line of `instr`. Paths and addresses stay as the user typed them (bytes, not text).

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use instr_export::{FORMATS, Format};

use crate::diff::options::DiffOptions;
use crate::predict::options::PredictOptions;
use crate::query::options::QueryOptions;
use crate::summary::table::Section;
use crate::sweep::options::SweepOptions;
use crate::symbolize::options::SymbolizeOptions;

/// Trace parallel programs, and see from their traces what they did and what it cost.
#[derive(Debug, Parser)]
#[command(
    name = "instr",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
#[command(
    after_help = "Exit status: 0 done, 1 the input was refused, 2 wrong usage, 3 a bug in instr."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The command line as a process takes it: where a help text names documents, it ends with the folder they are in.
#[must_use]
pub fn command() -> clap::Command {
    let note = instr_cc::documents::note();
    [
        "run",
        "export",
        "query",
        "summary",
        "processors",
        "diff",
        "report",
        "timeline",
        "plot",
        "live",
        "graph",
        "predict",
        "sweep",
        "symbolize",
    ]
    .into_iter()
    .fold(Cli::command(), |command, name| {
        let text = match name {
            "summary" => format!("{ABOUT_PAGES}\n{note}"),
            _ => note.clone(),
        };
        command.mut_subcommand(name, |sub| sub.after_help(text.trim_end().to_owned()))
    })
}

/// The commands of `instr`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compile and link with tracing, as instr-cc does: instr cc -O2 -fopenmp app.c -o app
    #[command(disable_help_flag = true)]
    Cc(WrapperOptions),
    /// The same with the C++ compiler, c++
    #[command(name = "c++", disable_help_flag = true)]
    Cpp(WrapperOptions),
    /// The same with gfortran
    #[command(disable_help_flag = true)]
    Fortran(WrapperOptions),
    /// Run a program, record it, and say where its trace is
    Run(RunOptions),
    /// Record who runs on which processor of a process that runs already, without touching it
    Attach(AttachOptions),
    /// List traces, those of earlier runs too
    List(ListOptions),
    /// Check what works on this machine
    Doctor(DoctorOptions),
    /// Print compiler options and folders for builds without instr-cc that include <instr/instr.h>
    Config(ConfigOptions),
    /// Convert a trace for Paraver: NAME.prv, NAME.pcf and NAME.row
    Merge(MergeOptions),
    /// Convert a trace for other viewers, such as Perfetto
    Export(ExportOptions),
    /// Ask a trace by SQL: its tables of tasks, waits, regions, samples …, or a ready question
    Query(QueryOptions),
    /// Show where the time went, and what helps; as tables or JSON
    Summary(SummaryOptions),
    /// Show who ran on which processor, and who took it from whom: of one trace, or of several that ran at once
    Processors(ProcessorOptions),
    /// Compare runs before and after a change: what got slower or faster, and whether that is more than noise
    Diff(DiffOptions),
    /// Write a page for the browser: what cost most, a time line, tables; one HTML file
    Report(ReportOptions),
    /// Watch a running program: what its threads do, regions, tasks, heap
    Live(LiveOptions),
    /// Draw a figure for a paper: a Gantt chart, processors, the task graph, power, memory, efficiency, durations, how a sweep scales; SVG, PNG or PDF
    Plot(PlotOptions),
    /// Draw the time line in the terminal: what each thread, or processor, did when
    Timeline(TimelineOptions),
    /// Show how parallel the tasks are, and write their graph as a picture or for other tools
    Graph(GraphOptions),
    /// Predict the time with more threads, faster functions, without a lock or with other chunks, and rank what would help most
    Predict(PredictOptions),
    /// Run a program with several numbers of threads, inputs and more, and show how it scales
    #[command(after_help = "docs/sweep.md explains the figures.")]
    Sweep(Box<SweepOptions>),
    /// Complete the trace of a killed program, so that every CTF reader can open it
    Repair(RepairOptions),
    /// Get a trace from a board: from the log of its console, a dump of its memory or a core file
    Extract(ExtractOptions),
    /// Translate addresses to functions, files and lines, as addr2line does
    #[command(
        infer_long_args = true,
        args_override_self = true,
        disable_help_flag = true,
        disable_version_flag = true,
        version = concat!(env!("CARGO_PKG_VERSION"), " (options and output of GNU addr2line 2.40)")
    )]
    Symbolize(SymbolizeOptions),
}

/// Where the files behind a trace's addresses are.
#[derive(Debug, Clone, Default, Args)]
pub struct SymbolOptions {
    /// Take function names from this PROGRAM, not from the path in the trace
    #[arg(long, value_name = "PROGRAM")]
    pub exe: Option<PathBuf>,
    /// Look for the program and its libraries below DIR: a copy of the system where it ran
    #[arg(long, value_name = "DIR")]
    pub sysroot: Option<PathBuf>,
}

/// Options of `instr run`.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// Settings for the program, which the environment overrides (docs/environment.md), and what to read of the machine meanwhile (docs/series.md): TOML, see instr config --example
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where to write the trace [default: ./NAME.instr]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Do not say where the trace is
    #[arg(short, long)]
    pub quiet: bool,
    /// Record who runs on which processor of all programs of the machine, not only of this one (CAP_PERFMON, or kernel.perf_event_paranoid at most 0)
    #[arg(long)]
    pub system: bool,
    /// The program and its arguments; instr run returns its exit status
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

/// Options of `instr attach`.
#[derive(Debug, Args)]
pub struct AttachOptions {
    /// The process: its threads, and what they start from now on
    #[arg(value_name = "PID", value_parser = clap::value_parser!(u32).range(1..=0x7fff_ffff))]
    pub pid: u32,
    /// What to read of the machine and of the process meanwhile (docs/series.md): TOML, see instr config --example
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where to write the trace [default: ./NAME.instr]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// End after so long, at the latest [default: when the process ends, or by Ctrl-C]
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    pub duration: Option<Duration>,
    /// Do not say where the trace is
    #[arg(short, long)]
    pub quiet: bool,
}

/// `5%`, or `5`, as a share of 1. `0.05` may be meant as either: it needs its sign.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let (number, has_sign) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim_end(), true),
        None => (text.trim(), false),
    };
    let parsed: Option<f64> = number.parse().ok();
    let right = parsed.filter(|number| (0.0..=10_000.0).contains(number));
    let percent = right.ok_or_else(|| "not a share in percent, such as 5%".to_owned())?;
    if !has_sign && percent > 0.0 && percent < 1.0 {
        return Err(format!("is that {}% or {number}%?", 100.0 * percent));
    }
    Ok(percent / 100.0)
}

/// A time in seconds, more than none and less than ten years.
fn seconds(text: &str) -> Result<Duration, String> {
    let number: Option<f64> = text.parse().ok();
    let right = number.filter(|number| *number > 0.0 && *number <= 3e8);
    let time = right.and_then(|number| Duration::try_from_secs_f64(number).ok());
    time.ok_or_else(|| "not a number of seconds, such as 10 or 0.5".to_owned())
}

/// Options of `instr list`.
#[derive(Debug, Args)]
pub struct ListOptions {
    /// Folders with traces, traces (NAME.instr) or programs, whose runs are listed
    #[arg(default_value = ".", value_name = "DIR")]
    pub places: Vec<PathBuf>,
    /// Write JSON: an array with an object for each run
    #[arg(long)]
    pub json: bool,
}

/// Words of `instr cc` and its like.
#[derive(Debug, Args)]
pub struct WrapperOptions {
    /// Arguments of the compiler, and instr-cc's own options (instr cc --instr-help lists them)
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    pub arguments: Vec<OsString>,
}

/// Options of `instr config`.
#[derive(Debug, Args)]
pub struct ConfigOptions {
    /// Print the options for the compiler
    #[arg(long)]
    pub cflags: bool,
    /// Print the options for the linker: none, since without instr-cc there is nothing to link
    #[arg(long)]
    pub libs: bool,
    /// Print the folder that has instr/instr.h
    #[arg(long)]
    pub includedir: bool,
    /// Print the folder of the installation
    #[arg(long)]
    pub prefix: bool,
    /// Print the folder of the CMake package: cmake -Dinstr_DIR="$(instr config --cmakedir)"
    #[arg(long)]
    pub cmakedir: bool,
    /// Print the folder of the pkg-config file, for PKG_CONFIG_PATH
    #[arg(long)]
    pub pkgconfigdir: bool,
    /// Print a configuration for instr run --config with everything that there is
    #[arg(long)]
    pub example: bool,
}

/// Options of `instr doctor`.
#[derive(Debug, Args)]
pub struct DoctorOptions {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `instr merge`.
#[derive(Debug, Args)]
pub struct MergeOptions {
    /// Traces (NAME.instr), or the programs beside them; several become Paraver tasks on one time line
    #[arg(default_value = ".", value_name = "DIR")]
    pub traces: Vec<PathBuf>,
    /// Name of the three files without their endings [default: the program's name]
    #[arg(short, long, value_name = "NAME")]
    pub output: Option<PathBuf>,
    /// Which lines between tasks to write
    #[arg(long, value_enum, default_value_t = Comms::All)]
    pub comms: Comms,
    /// Where names come from.
    #[command(flatten)]
    pub symbols: SymbolOptions,
}

/// The arrows of a Paraver trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Comms {
    /// None
    None,
    /// From the creation of a task to its execution
    Create,
    /// From the end of a task to the start of each task that depends on it
    Depend,
    /// Both
    All,
}

/// Options of `instr export`.
#[derive(Debug, Args)]
pub struct ExportOptions {
    /// Traces (NAME.instr), or the programs beside them; several become processes on one time line
    #[arg(default_value = ".", value_name = "DIR")]
    pub traces: Vec<PathBuf>,
    /// Format of the output (docs/export.md)
    #[arg(short, long, value_parser = formats(), default_value = FORMATS[0].name)]
    pub format: &'static Format,
    /// Output file; - is standard output [default: the program's name with the ending of the format]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Where names come from.
    #[command(flatten)]
    pub symbols: SymbolOptions,
}

/// The formats of `instr export` by name.
fn formats() -> impl TypedValueParser<Value = &'static Format> {
    let named = |format: &Format| PossibleValue::new(format.name).help(format.help);
    PossibleValuesParser::new(FORMATS.iter().map(named))
        .try_map(|name| Format::named(&name).ok_or("no such format"))
}

/// What the help of `instr summary` ends with.
const ABOUT_PAGES: &str = "What is longer than the terminal goes through INSTR_PAGER, PAGER or less. A page is as wide as the terminal; elsewhere \
                           COLUMNS or 80 characters. docs/reading.md says what each sentence and number means.";

/// Options of `instr summary`.
#[derive(Debug, Args)]
pub struct SummaryOptions {
    /// Traces (NAME.instr), the programs beside them, or a folder with one trace
    #[arg(default_value = ".", value_name = "DIR")]
    pub traces: Vec<PathBuf>,
    /// Print JSON (docs/summary-json.md): an object, or an array of objects for several traces
    #[arg(long)]
    pub json: bool,
    /// What to show instead of the first screen.
    #[command(flatten)]
    pub sections: SectionOptions,
    /// Show only memory that was never freed, and the calls that allocated it
    #[arg(long)]
    pub leaks: bool,
    /// Show at most N rows of each table [default: 40, and 5 on the first screen]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub top: Option<u64>,
    /// Use the power model of this target, or of a description FILE.toml, not that of the trace's target
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub target: Option<OsString>,
    /// Where names come from.
    #[command(flatten)]
    pub symbols: SymbolOptions,
}

/// Options of `instr processors`.
#[derive(Debug, Args)]
pub struct ProcessorOptions {
    /// Traces (NAME.instr) of `instr run`, or the programs beside them; several are put on one time line
    #[arg(default_value = ".", value_name = "DIR")]
    pub traces: Vec<PathBuf>,
    /// Print JSON (docs/summary-json.md)
    #[arg(long, conflicts_with_all = ["csv", "svg"])]
    pub json: bool,
    /// Write each time in which a processor ran a thread into FILE, a line each; - is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "svg", group = "file")]
    pub csv: Option<PathBuf>,
    /// Write every value of the series that were read meanwhile into FILE, a line each (docs/series.md); - is standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "csv", "svg"])]
    pub series: Option<PathBuf>,
    /// Draw the processors over time into FILE; - is standard output
    #[arg(long, value_name = "FILE", group = "file")]
    pub svg: Option<PathBuf>,
    /// With --svg: what has a colour of its own; with --csv, section: divide times at the borders of parallel regions, and name these [default: program]
    #[arg(long, value_enum, requires = "file")]
    pub by: Option<By>,
    /// With --svg or --csv: tell only the groups of this application apart, the name of its program or the number of its process
    #[arg(long, value_name = "NAME|PID", requires = "file")]
    pub application: Option<String>,
    /// Show at most N rows of each table [default: 40]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub top: Option<u64>,
}

/// What a time on a processor is counted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// The program that ran, or where there are several applications, the application
    Program,
    /// The program that was run, with all that it started
    Application,
    /// The parallel region in which the thread was; "sequential" outside of all
    Section,
    /// The thread
    Thread,
}

/// Sections of the summary, by name; several can be given.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Sections")]
pub struct SectionOptions {
    /// Show the first screen and every section
    #[arg(long)]
    pub all: bool,
    /// States of threads, and the processors they ran on
    #[arg(long)]
    pub threads: bool,
    /// Who ran on which processor, of all processes that instr run started
    #[arg(long)]
    pub processors: bool,
    /// Efficiencies of POP and TALP
    #[arg(long)]
    pub efficiency: bool,
    /// Parallel regions and the load of their threads
    #[arg(long)]
    pub regions: bool,
    /// Explicit tasks and their graph
    #[arg(long)]
    pub tasks: bool,
    /// Loops, chunks, sections, single, masked, scope, device constructs
    #[arg(long)]
    pub loops: bool,
    /// Barriers, taskwait, critical sections, locks, cancellation
    #[arg(long)]
    pub waiting: bool,
    /// Heap, mappings, stacks, OpenMP allocators
    #[arg(long)]
    pub memory: bool,
    /// Functions of Python: calls, own and total times
    #[arg(long)]
    pub functions: bool,
    /// Functions, by samples
    #[arg(long)]
    pub samples: bool,
    /// Sensors, energy, power, counters of threads
    #[arg(long)]
    pub sensors: bool,
    /// What instr run --config read of the machine and of processes meanwhile
    #[arg(long)]
    pub series: bool,
    /// The program's own regions, counters and events, and described calls
    #[arg(long)]
    pub user: bool,
}

impl SectionOptions {
    /// The sections that were asked for, in the order of the page.
    #[must_use]
    pub fn chosen(&self) -> Vec<Section> {
        let asked = |section: &Section| match section {
            _ if self.all => true,
            Section::Threads => self.threads,
            Section::Processors => self.processors,
            Section::Efficiency => self.efficiency,
            Section::Regions => self.regions,
            Section::Tasks => self.tasks,
            Section::Loops => self.loops,
            Section::Waiting => self.waiting,
            Section::Memory => self.memory,
            Section::Functions => self.functions,
            Section::Samples => self.samples,
            Section::Sensors => self.sensors,
            Section::Series => self.series,
            Section::User => self.user,
        };
        Section::ALL.into_iter().filter(asked).collect()
    }
}

/// Options of `instr report`.
#[derive(Debug, Args)]
pub struct ReportOptions {
    /// Traces (NAME.instr), or the programs beside them; several become processes on one time line
    #[arg(default_value = ".", value_name = "DIR")]
    pub traces: Vec<PathBuf>,
    /// Output file; - is standard output [default: the program's name with .html]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Compare two runs, or two groups of them (app.1-5, or a folder, as instr diff takes them): both begin at 0, and the differences of regions, tasks and loops come first
    #[arg(long)]
    pub compare: bool,
    /// Open the page in the browser when it is written
    #[arg(long)]
    pub open: bool,
    /// Where names come from.
    #[command(flatten)]
    pub symbols: SymbolOptions,
}

/// Which part of the time is shown.
#[derive(Debug, Clone, Default, Args)]
pub struct PartOptions {
    /// Begin with this time of the session, such as 12ms or 1.5s
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub from: Option<u64>,
    /// End with this time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub to: Option<u64>,
    /// Show the longest execution of the region, task or region of the program's own that has TEXT in its name
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["from", "to"])]
    pub region: Option<String>,
    /// Show only these threads: numbers, ranges or parts of names, such as 0,4-7 or worker
    #[arg(long = "thread", value_name = "LIST", value_delimiter = ',')]
    pub threads: Vec<String>,
}

/// A time with its unit, ns.
fn moment(text: &str) -> Result<u64, String> {
    let at = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let scale = match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => 0.0,
    };
    let number: Option<f64> = number.trim_end().parse().ok();
    let time = number.map(|number| number * scale);
    let right = time.filter(|time| scale > 0.0 && *time >= 0.0 && *time < 1e19);
    right
        .map(|time| time.round() as u64)
        .ok_or_else(|| "not a time with its unit, such as 300us, 12ms or 1.5s".to_owned())
}

/// Options of `instr timeline`.
#[derive(Debug, Args)]
pub struct TimelineOptions {
    /// Traces (NAME.instr), or the programs beside them; several are put on one time line
    #[arg(default_value = ".", value_name = "DIR")]
    pub traces: Vec<PathBuf>,
    /// What the rows are
    #[arg(long, value_enum, default_value_t = Rows::Thread)]
    pub by: Rows,
    /// What the cells show of a thread
    #[arg(long, value_enum, default_value_t = Cells::States)]
    pub show: Cells,
    /// Which part.
    #[command(flatten)]
    pub part: PartOptions,
    /// Characters of a line, from 40 to 1000; with --json, columns of time [default: those of the terminal, else 80]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(40..=1000))]
    pub width: Option<u64>,
    /// Print JSON: the time of each cell in each state (docs/terminal.md)
    #[arg(long)]
    pub json: bool,
    /// Where names come from.
    #[command(flatten)]
    pub symbols: SymbolOptions,
}

/// Options of `instr live`.
#[derive(Debug, Args)]
pub struct LiveOptions {
    /// The trace (NAME.instr), the program beside it, or the number of the process
    #[arg(default_value = ".", value_name = "DIR|PROGRAM|PID")]
    pub target: PathBuf,
    /// Print one picture and end, as in a pipe
    #[arg(long)]
    pub once: bool,
    /// Print one picture as JSON (docs/live.md)
    #[arg(long)]
    pub json: bool,
    /// Time between two pictures [default: 0.5]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub interval: Option<Duration>,
    /// Where names come from.
    #[command(flatten)]
    pub symbols: SymbolOptions,
}

/// Options of `instr plot`.
#[derive(Debug, Args)]
pub struct PlotOptions {
    /// Traces (NAME.instr), or the programs beside them; several are put on one time line. Or a sweep (NAME.sweep)
    #[arg(default_value = ".", value_name = "DIR")]
    pub traces: Vec<PathBuf>,
    /// What to draw
    #[arg(short, long, value_enum)]
    pub kind: PlotKind,
    /// Output file: NAME.svg, .png or .pdf; - is standard output [default: the program's name with the kind, as SVG]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format of the picture [default: the ending of FILE, else svg]
    #[arg(short, long, value_enum)]
    pub format: Option<PlotFormat>,
    /// Width and height in millimetres; 85x60mm fits a column of a paper [default: 160x90mm; of tdg what it needs]
    #[arg(long, value_name = "WxHmm", value_parser = millimetres)]
    pub size: Option<(f64, f64)>,
    /// Dots of an inch (PNG)
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(36..=1200))]
    pub dpi: u32,
    /// Of cores: what has a colour of its own [default: program]
    #[arg(long, value_enum)]
    pub by: Option<By>,
    /// Of cores: tell only the groups of this application apart, the name of its program or the number of its process
    #[arg(long, value_name = "NAME|PID")]
    pub application: Option<String>,
    /// Of cores: draw series below it that have TEXT in MODULE/NAME, as instr summary --series lists them; several can be given
    #[arg(long, value_name = "TEXT")]
    pub series: Vec<String>,
    /// Which part.
    #[command(flatten)]
    pub part: PartOptions,
    /// Where names come from.
    #[command(flatten)]
    pub symbols: SymbolOptions,
}

/// A width and a height in millimetres.
fn millimetres(text: &str) -> Result<(f64, f64), String> {
    let both = text.strip_suffix("mm").unwrap_or(text).split_once('x');
    let number = |text: &str| {
        text.trim()
            .parse::<f64>()
            .ok()
            .filter(|mm| (30.0..=1200.0).contains(mm))
    };
    let size = both.and_then(|(width, height)| Some((number(width)?, number(height)?)));
    size.ok_or_else(|| "not a width and a height of 30 to 1200 mm, such as 160x90mm".to_owned())
}

/// What a plot shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlotKind {
    /// What each thread did when: a column has the shares of its states
    Gantt,
    /// Which program ran on which processor when, and how many processors were in use
    Cores,
    /// The graph of the tasks, as instr graph draws it
    Tdg,
    /// Power of each zone over time
    Power,
    /// Bytes of the heap in use over time
    Memory,
    /// The efficiencies of POP and TALP; of a sweep: speedup per thread
    Efficiency,
    /// How often regions and tasks took how long
    Histogram,
    /// Of a sweep: time over threads, with intervals and the law that fits
    Time,
    /// Of a sweep: speedup over threads
    Speedup,
    /// Of a sweep: efficiency by threads and input
    Map,
}

/// How a picture is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlotFormat {
    /// Vectors, for browsers and Inkscape
    Svg,
    /// Dots
    Png,
    /// Vectors, for LaTeX; the font is in it
    Pdf,
}

/// The rows of a time line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Rows {
    /// Threads
    Thread,
    /// Processors, where instr run recorded who ran on them
    Processor,
}

/// The cells of a time line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Cells {
    /// The state with the largest share of the cell's time
    States,
    /// The region or task that ran longest
    Regions,
}

/// Options of `instr graph`.
#[derive(Debug, Args)]
pub struct GraphOptions {
    /// The trace (NAME.instr), the program beside it, or a folder with one trace
    #[arg(default_value = ".", value_name = "DIR")]
    pub trace: PathBuf,
    /// Format of the graph [default: the ending of FILE; without one, only the tables are shown]
    #[arg(short, long, value_enum)]
    pub format: Option<GraphFormat>,
    /// Output file: NAME.dot, .graphml, .json, .svg, or .txt for the tables; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Draw every task, however large the picture gets (SVG)
    #[arg(long)]
    pub all_tasks: bool,
    /// Where names come from.
    #[command(flatten)]
    pub symbols: SymbolOptions,
}

/// How a task graph is written (docs/graph.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// Graphviz
    Dot,
    /// For yEd, Gephi, networkx and others
    Graphml,
    /// Everything (docs/graph-json.md)
    Json,
    /// A picture
    Svg,
}

impl GraphFormat {
    /// The name, which is also the ending of files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Dot => "dot",
            Self::Graphml => "graphml",
            Self::Json => "json",
            Self::Svg => "svg",
        }
    }
}

/// Options of `instr repair`.
#[derive(Debug, Args)]
pub struct RepairOptions {
    /// The trace (NAME.instr); it is only read
    #[arg(value_name = "DIR")]
    pub trace: PathBuf,
    /// New trace directory; it must not exist
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
}

/// Options of `instr extract`.
#[derive(Debug, Args)]
pub struct ExtractOptions {
    /// Log of a console (INSTR_SINK=console), memory (INSTR_SINK=ram) as raw bytes, S-records or a listing by GRMON, or a core file
    #[arg(value_name = "FILE")]
    pub input: PathBuf,
    /// New trace directory; it must not exist [default: NAME.instr, by the name of the traced program]
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Number of the trace in a log with several, from 1 [default: the last]
    #[arg(long, value_name = "NUMBER")]
    pub trace: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use std::ffi::OsString;

    fn parse(arguments: &[&str]) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(std::iter::once(&"instr").chain(arguments))
    }

    #[test]
    fn definitions_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }

    #[test]
    fn commands_that_do_not_exist_are_unknown() {
        for name in ["sweep-guard", "record"] {
            let error = parse(&[name]).expect_err(name);
            assert_eq!(
                error.kind(),
                clap::error::ErrorKind::InvalidSubcommand,
                "{name}"
            );
        }
    }

    #[test]
    fn times_have_units() {
        for (text, ns) in [
            ("0ns", 0),
            ("300us", 300_000),
            ("1.5s", 1_500_000_000),
            ("12 ms", 12_000_000),
        ] {
            assert_eq!(moment(text), Ok(ns), "{text}");
        }
        for text in ["", "5", "ms", "-1ms", "1e99s", "nan s", "1 h", "5µs"] {
            assert!(moment(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shares_are_percents() {
        for (text, wanted) in [("5%", 0.05), ("5", 0.05), ("0", 0.0), ("0.5 %", 0.005)] {
            assert_eq!(share(text), Ok(wanted), "{text}");
        }
        for text in ["", "%", "-1%", "nan", "1e99", "5%%"] {
            assert!(share(text).is_err(), "{text}");
        }
        let unclear = share("0.05").unwrap_err();
        assert_eq!(unclear, "is that 5% or 0.05%?");
    }

    #[test]
    fn sizes_are_millimetres() {
        assert_eq!(millimetres("160x90mm"), Ok((160.0, 90.0)));
        assert_eq!(millimetres("85.5x60"), Ok((85.5, 60.0)));
        for text in [
            "", "160", "160x", "x90mm", "1x1mm", "1e9x90mm", "NaNx90mm", "160x90in",
        ] {
            assert!(millimetres(text).is_err(), "{text}");
        }
    }

    #[test]
    fn short_options_of_addr2line_can_be_joined() {
        let Command::Symbolize(options) =
            parse(&["symbolize", "-Cfipsa", "-e", "prog", "0x10", "20"])
                .unwrap()
                .command
        else {
            panic!("another command");
        };
        assert!(
            options.functions
                && options.inlines
                && options.pretty_print
                && options.basenames
                && options.addresses
        );
        assert!(options.demangle.is_some());
        assert_eq!(options.exe, Some(PathBuf::from("prog")));
        assert_eq!(options.values, ["0x10", "20"]);
    }

    #[test]
    fn what_stands_behind_the_program_is_its_own() {
        let command = |arguments: &[&str]| match parse(arguments).unwrap().command {
            Command::Run(options) => (options.quiet, options.command),
            _ => panic!("another command"),
        };
        for (typed, quiet, words) in [
            (
                &["run", "./app", "-q", "--config", "-x"][..],
                false,
                &["./app", "-q", "--config", "-x"][..],
            ),
            (
                &["run", "-q", "./app", "--", "-o"],
                true,
                &["./app", "--", "-o"],
            ),
            (&["run", "--", "-x", "-q"], false, &["-x", "-q"]),
            (
                &["run", "-q", "--", "./app", "--quiet"],
                true,
                &["./app", "--quiet"],
            ),
        ] {
            let (is_quiet, found) = command(typed);
            assert_eq!(is_quiet, quiet, "{typed:?}");
            assert_eq!(found, words, "{typed:?}");
        }
        for mistyped in ["--quite", "-z", "--verbose"] {
            let error = parse(&["run", mistyped, "./app"]).expect_err(mistyped);
            assert_eq!(error.kind(), clap::error::ErrorKind::UnknownArgument);
        }
    }

    #[test]
    fn merge_writes_all_arrows_unless_told_otherwise() {
        let Command::Merge(options) = parse(&["merge", "a.instr"]).unwrap().command else {
            panic!("another command")
        };
        assert_eq!(options.comms, Comms::All);
        assert_eq!(options.output, None);
    }

    #[cfg(unix)]
    #[test]
    fn paths_may_hold_any_bytes() {
        use std::os::unix::ffi::OsStringExt;
        let odd = OsString::from_vec(b"tr\xff.instr".to_vec());
        let cli = Cli::try_parse_from([
            OsString::from("instr"),
            OsString::from("summary"),
            odd.clone(),
        ])
        .unwrap();
        let Command::Summary(options) = cli.command else {
            panic!("another command")
        };
        assert_eq!(options.traces, [PathBuf::from(odd)]);
    }
}
