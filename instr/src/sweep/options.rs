//! The command line of `instr sweep`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use super::axes::{Placement, Plan, Smt};
use super::config::Measure;
use crate::cli::share;
use crate::console::WrongUsage;
use crate::counts::Counts;
use crate::quote::{shown, typed};

/// A variable with its values: `NAME=A;B`.
fn variable(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, values) = text.split_once('=').ok_or("not NAME=VALUE;VALUE")?;
    Ok((
        name.to_owned(),
        values.split(';').map(str::to_owned).collect(),
    ))
}

/// Options of `instr sweep`. Those of PaScal Analyzer's command line that mean the same are known by their names there.
#[derive(Debug, Args)]
pub struct SweepOptions {
    /// A sweep as TOML (docs/sweep.md); or the folder of one that was run, or a file of PaScal Analyzer, which are shown
    #[arg(value_name = "FILE.toml|DIR.sweep|PASCAL.json")]
    pub sweep: Option<PathBuf>,
    /// Numbers of threads: 1,2,4 or 1:8
    #[arg(short, long, visible_alias = "cors", value_name = "LIST")]
    pub threads: Option<Counts>,
    /// Inputs: words for {input}, or for the end of the command line; several are separated by ;
    #[arg(short, long, visible_alias = "ipts", value_name = "WORDS;WORDS")]
    pub inputs: Option<String>,
    /// What {program} stands for, separated by ;
    #[arg(long, value_name = "PROGRAM;PROGRAM")]
    pub programs: Option<String>,
    /// Clocks of the processors, kHz
    #[arg(
        short,
        long = "freq",
        visible_alias = "frqs",
        value_name = "KHZ",
        value_delimiter = ','
    )]
    pub frequencies: Vec<u64>,
    /// The governor of the clocks while the sweep runs
    #[arg(long, visible_alias = "govr", value_name = "NAME")]
    pub governor: Option<String>,
    /// Which processors may be used: several are swept
    #[arg(long = "placement", value_enum, value_delimiter = ',')]
    pub placements: Vec<Placement>,
    /// Hardware threads of the cores (SMT), switched for the whole machine and back: several are swept
    #[arg(long, value_enum, value_delimiter = ',', value_name = "on|off")]
    pub smt: Vec<Smt>,
    /// Take processors that a run has no thread for away from the whole machine while it runs
    #[arg(long, visible_alias = "dcrs")]
    pub hot_plug: bool,
    /// A variable of the environment with its values
    #[arg(long = "env", value_name = "NAME=VALUE;VALUE", value_parser = variable)]
    pub environment: Vec<(String, Vec<String>)>,
    /// Runs of each combination [default: 5]
    #[arg(short, long, visible_alias = "rpts", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: Option<u32>,
    /// Go on until the interval of each median is within this share of it
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub until: Option<f64>,
    /// Runs of each combination before, which do not count
    #[arg(long, value_name = "N")]
    pub warm_up: Option<u32>,
    /// Rest before each run
    #[arg(long, visible_alias = "idtm", value_name = "SECONDS")]
    pub idle: Option<f64>,
    /// End runs that take longer
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// Which combinations: full, latin or halton:N
    #[arg(long, value_name = "PLAN")]
    pub plan: Option<Plan>,
    /// Begin of the random order
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// What is measured
    #[arg(short, long, value_enum)]
    pub measure: Option<Measure>,
    /// Read these sensors in traced runs, for the energy of regions: rapl, auto, all, or as INSTR_SENSORS names them
    #[arg(long, value_name = "LIST")]
    pub sensors: Option<String>,
    /// How often they are read [default: 10ms]
    #[arg(long, value_name = "TIME")]
    pub sensors_period: Option<String>,
    /// Take the power model of this target, or of a description FILE.toml, where there are no meters
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub target: Option<String>,
    /// Count these events in runs, and in regions: task-clock, page-faults, context-switches, cycles, instructions … as INSTR_COUNTERS names them
    #[arg(long, visible_alias = "fgpe", value_name = "LIST")]
    pub counters: Option<String>,
    /// Read the power of the machine from its management controller by ipmitool while plain runs go on: local, HOST or USER@HOST, whose password is in IPMI_PASSWORD
    #[arg(long, value_name = "local|HOST")]
    pub ipmi: Option<String>,
    /// Predict times on these numbers of threads
    #[arg(long, value_name = "LIST")]
    pub model: Option<Counts>,
    /// Folder of the results [default: the program's name with .sweep]; one that is there goes on
    #[arg(short, long, visible_alias = "outp", value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Show what would be run
    #[arg(long)]
    pub dry_run: bool,
    /// Print what the program prints
    #[arg(long)]
    pub show_output: bool,
    /// Print the figures as JSON (docs/sweep.md)
    #[arg(long)]
    pub json: bool,
    /// Write all runs into FILE, a line each; - is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write all runs into FILE as a table of Parquet; - is standard output
    #[arg(long, value_name = "FILE.parquet")]
    pub parquet: Option<PathBuf>,
    /// Write all runs into FILE in the form of PaScal Analyzer; - is standard output
    #[arg(long, value_name = "FILE.json")]
    pub pascal: Option<PathBuf>,
    /// Show regions that are nested at most N deep; those inside of them are a part of them
    #[arg(long, visible_alias = "ragl", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub level: Option<u32>,
    /// Also show how long single executions of regions took
    #[arg(long)]
    pub executions: bool,
    /// Show at most N rows of the table of regions [default: 40]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub top: Option<u64>,
    /// The program and its arguments, with {threads}, {input}, {size}, {frequency}, {smt}, {program}
    #[arg(last = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

impl SweepOptions {
    /// Refuses options that say what is run, where results are shown.
    pub(super) fn refuse_those_of_runs(&self, dir: &Path) -> Result<()> {
        let given = [
            ("--threads", self.threads.is_some()),
            ("--inputs", self.inputs.is_some()),
            ("--programs", self.programs.is_some()),
            ("--freq", !self.frequencies.is_empty()),
            ("--governor", self.governor.is_some()),
            ("--placement", !self.placements.is_empty()),
            ("--smt", !self.smt.is_empty()),
            ("--hot-plug", self.hot_plug),
            ("--env", !self.environment.is_empty()),
            ("--repeat", self.repeat.is_some()),
            ("--until", self.until.is_some()),
            ("--warm-up", self.warm_up.is_some()),
            ("--idle", self.idle.is_some()),
            ("--timeout", self.timeout.is_some()),
            ("--plan", self.plan.is_some()),
            ("--seed", self.seed.is_some()),
            ("--measure", self.measure.is_some()),
            ("--sensors", self.sensors.is_some()),
            ("--sensors-period", self.sensors_period.is_some()),
            ("--target", self.target.is_some()),
            ("--counters", self.counters.is_some()),
            ("--ipmi", self.ipmi.is_some()),
            ("--output", self.output.is_some()),
            ("--dry-run", self.dry_run),
            ("--show-output", self.show_output),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => Err(WrongUsage(format!(
                "{} is shown, and {name} is of runs: the sweep goes on with its command, `instr sweep … -o {} -- PROGRAM`, or its file",
                shown(dir),
                typed(dir)
            ))
            .into()),
            None => Ok(()),
        }
    }
}
