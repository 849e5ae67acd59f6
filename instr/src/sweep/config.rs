//! What is swept: a file of TOML, options, or both; options win.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::axes::{Input, Placement, Plan, Smt, as_text};
use super::counters;
use super::options::SweepOptions;
use super::plan::Point;
use crate::counts::Counts;
use crate::quote::shown;
use crate::summary::units::elide;

/// Bytes of an argument that the kernel refuses (`MAX_ARG_STRLEN`, execve(2)).
const MOST_OF_A_WORD: usize = 128 << 10;
/// Characters of a line of the file that a message has.
const MOST_OF_A_LINE: usize = 200;
/// Larger files are refused.
const MAX_BYTES: u64 = 1 << 20;

/// A sweep. In a file all keys are optional but `command`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Config {
    /// The program and its arguments, with placeholders.
    pub(crate) command: Vec<String>,
    /// What `{program}` stands for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) programs: Vec<String>,
    /// Numbers of threads: a list, or text as `1,2,4` and `1:8`.
    #[serde(deserialize_with = "counts")]
    pub(crate) threads: Vec<u32>,
    /// What `{input}` stands for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) inputs: Vec<Input>,
    /// Clocks of the processors, kHz.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) frequencies: Vec<u64>,
    /// The governor of the processors' clocks while the sweep runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) governor: Option<String>,
    /// Which processors the threads may use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) placements: Vec<Placement>,
    /// Whether cores have all of their hardware threads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) smt: Vec<Smt>,
    /// Take processors away that a run has no thread for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) hot_plug: bool,
    /// Variables of the environment, each with the values that it takes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) environment: BTreeMap<String, Vec<String>>,
    /// Runs of each combination.
    pub(crate) repeat: u32,
    /// Further repeats until the interval of the median is within this share of it, percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<f64>,
    /// Runs of each combination before, which do not count.
    pub(crate) warm_up: u32,
    /// Rest before each run, s.
    pub(crate) idle: f64,
    /// A run that takes longer is ended, s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<f64>,
    /// Which combinations are run.
    #[serde(with = "as_text")]
    pub(crate) plan: Plan,
    /// What the random order begins with.
    pub(crate) seed: u64,
    /// What is measured.
    pub(crate) measure: Measure,
    /// Sensors that are read while a traced run goes on, as `INSTR_SENSORS` names them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sensors: Option<String>,
    /// How often, as in `INSTR_SENSORS_PERIOD`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sensors_period: Option<String>,
    /// The chip whose power model stands in for meters, or a file with its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
    /// Counters, as `INSTR_COUNTERS` names them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) counters: Option<String>,
    /// The management controller whose power is read while a plain run goes on: `local`, `HOST` or `USER@HOST`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ipmi: Option<String>,
}

/// What is measured of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Time, processor time and memory of the program as it is
    #[default]
    Plain,
    /// Also its parallel regions and those that it marks, from a trace that is removed again
    Regions,
    /// The same, and the traces stay
    Traces,
}

fn counts<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<u32>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Given {
        One(u32),
        List(Vec<u32>),
        Text(String),
    }
    match Given::deserialize(from)? {
        Given::One(count) => Ok(vec![count]),
        Given::List(list) => Ok(list),
        Given::Text(text) => match text.parse::<Counts>() {
            Ok(counts) => Ok(counts.0),
            Err(why) => Err(serde::de::Error::custom(why)),
        },
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            programs: Vec::new(),
            threads: vec![1],
            inputs: Vec::new(),
            frequencies: Vec::new(),
            governor: None,
            placements: Vec::new(),
            smt: Vec::new(),
            hot_plug: false,
            environment: BTreeMap::new(),
            repeat: 5,
            until: None,
            warm_up: 0,
            idle: 0.0,
            timeout: None,
            plan: Plan::default(),
            seed: 1,
            measure: Measure::default(),
            sensors: None,
            sensors_period: None,
            target: None,
            counters: None,
            ipmi: None,
        }
    }
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, is too large, or is no sweep; with line and column.
    pub(crate) fn read(file: &Path) -> Result<Self> {
        use std::io::Read as _;
        let refused = || refused(file);
        // A pipe would be waited for when it is opened.
        ensure!(
            std::fs::metadata(file).with_context(refused)?.is_file(),
            "{}: it is not a file",
            refused()
        );
        let mut bytes = Vec::new();
        let opened = std::fs::File::open(file).with_context(refused)?;
        opened
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .with_context(refused)?;
        ensure!(
            bytes.len() as u64 <= MAX_BYTES,
            "{}: it is larger than 1 MiB",
            refused()
        );
        let text = String::from_utf8(bytes).map_err(|error| {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
            anyhow::anyhow!("{}: line {line} is no text of UTF-8", refused())
        })?;
        toml::from_str(&text).map_err(|error| anyhow::anyhow!("{}: {}", refused(), brief(&error)))
    }

    /// Reads the file of a sweep that was begun.
    ///
    /// # Errors
    ///
    /// Those of [`Config::read`], and values that no sweep is begun with.
    pub(super) fn read_whole(file: &Path) -> Result<Self> {
        let mut config = Self::read(file)?;
        config.check().with_context(|| refused(file))?;
        Ok(config)
    }

    /// Adds what an earlier part of the same sweep had: its inputs, and its values of the axes.
    ///
    /// # Errors
    ///
    /// An input whose name stands for something else now.
    pub(super) fn add_earlier(&mut self, earlier: &Self) -> Result<()> {
        let mut inputs = earlier.inputs.clone();
        for input in &self.inputs {
            match inputs.iter().find(|it| it.name == input.name) {
                None => inputs.push(input.clone()),
                Some(before) => ensure!(
                    before == input,
                    "the input `{}` stood for other words or another size before: give it another name",
                    input.name
                ),
            }
        }
        self.inputs = inputs;
        add(&mut self.threads, &earlier.threads);
        add(&mut self.programs, &earlier.programs);
        add(&mut self.frequencies, &earlier.frequencies);
        add(&mut self.placements, &earlier.placements);
        add(&mut self.smt, &earlier.smt);
        for (name, values) in &earlier.environment {
            add(self.environment.entry(name.clone()).or_default(), values);
        }
        self.threads.sort_unstable();
        Ok(())
    }

    /// From options, above a file where they name one.
    ///
    /// # Errors
    ///
    /// Those of the file, and values that make no sense together.
    pub(crate) fn of(options: &SweepOptions, file: Option<&Path>) -> Result<Self> {
        let mut config = file.map_or_else(|| Ok(Self::default()), Self::read)?;
        if !options.command.is_empty() {
            let text = |word: &std::ffi::OsString| {
                word.clone()
                    .into_string()
                    .map_err(|word| anyhow::anyhow!("{} is no text of UTF-8", shown(&word)))
            };
            config.command = options.command.iter().map(text).collect::<Result<_>>()?;
        }
        if let Some(threads) = &options.threads {
            config.threads.clone_from(&threads.0);
        }
        if let Some(inputs) = &options.inputs {
            config.inputs = inputs.split(';').map(Input::of_text).collect();
        }
        if let Some(programs) = &options.programs {
            config.programs = programs.split(';').map(str::to_owned).collect();
        }
        if !options.frequencies.is_empty() {
            config.frequencies.clone_from(&options.frequencies);
        }
        if !options.placements.is_empty() {
            config.placements.clone_from(&options.placements);
        }
        if !options.smt.is_empty() {
            config.smt.clone_from(&options.smt);
        }
        config.hot_plug |= options.hot_plug;
        for (name, values) in &options.environment {
            config.environment.insert(name.clone(), values.clone());
        }
        config.governor = options.governor.clone().or(config.governor);
        config.repeat = options.repeat.unwrap_or(config.repeat);
        config.until = options.until.map(|share| share * 100.0).or(config.until);
        config.warm_up = options.warm_up.unwrap_or(config.warm_up);
        config.idle = options.idle.unwrap_or(config.idle);
        config.timeout = options.timeout.or(config.timeout);
        config.plan = options.plan.unwrap_or(config.plan);
        config.seed = options.seed.unwrap_or(config.seed);
        config.measure = options.measure.unwrap_or(config.measure);
        config.sensors = options.sensors.clone().or(config.sensors);
        config.sensors_period = options.sensors_period.clone().or(config.sensors_period);
        config.target = options.target.clone().or(config.target);
        config.counters = options.counters.clone().or(config.counters);
        config.ipmi = options.ipmi.clone().or(config.ipmi);
        let checked = config.check();
        match file {
            Some(file) => checked.with_context(|| refused(file))?,
            None => checked?,
        }
        Ok(config)
    }

    /// The input of a point.
    pub(super) fn input(&self, point: &Point) -> Option<&Input> {
        let name = point.input.as_deref()?;
        self.inputs.iter().find(|input| input.name == name)
    }

    /// What no type says.
    fn check(&mut self) -> Result<()> {
        ensure!(
            !self.command.is_empty(),
            "no program is named: write `command` into the file, or the program behind `--`"
        );
        self.threads.sort_unstable();
        self.threads.dedup();
        ensure!(!self.threads.is_empty(), "`threads` has no number");
        ensure!(
            self.threads[0] > 0,
            "`threads` has a 0: a program has at least one thread"
        );
        ensure!(
            (1..=10_000).contains(&self.repeat),
            "`repeat` is {}, which is not from 1 to 10000",
            self.repeat
        );
        ensure!(
            self.warm_up <= 10_000,
            "`warm-up` is {}, which is more than 10000",
            self.warm_up
        );
        ensure!(
            self.idle.is_finite() && (0.0..=86_400.0).contains(&self.idle),
            "`idle` is {}, which is not from 0 to 86400 s",
            self.idle
        );
        ensure!(
            self.timeout
                .is_none_or(|limit| limit.is_finite() && (0.001..=1e8).contains(&limit)),
            "`timeout` is {}, which is not from 0.001 to 100000000 s",
            self.timeout.unwrap_or(0.0)
        );
        ensure!(
            self.until
                .is_none_or(|share| share.is_finite() && share > 0.0),
            "`until` is not a share above 0, such as 2 for 2 %"
        );
        for (key, value) in [("sensors", &self.sensors), ("target", &self.target)] {
            ensure!(
                value.is_none() || self.measure != Measure::Plain,
                "`{key}` is of traced runs: it needs `measure` to be regions or traces (--measure regions)"
            );
        }
        if let Some(counters) = &self.counters {
            counters::check(counters, self.measure)?;
        }
        ensure!(
            self.ipmi.is_none() || self.measure == Measure::Plain,
            "`ipmi` is of plain runs: traced ones read the controller by `sensors` (--sensors ipmi)"
        );
        ensure!(
            !self.hot_plug || !self.placements.contains(&Placement::Spread),
            "`hot-plug` leaves the first processors, and the placement `spread` takes others: leave one of them out"
        );
        let mut names: Vec<&str> = self
            .inputs
            .iter()
            .map(|input| input.name.as_str())
            .collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            bail!("two inputs have the name `{}`", twice[0]);
        }
        for input in &self.inputs {
            ensure!(
                input.size.is_none_or(|size| size.is_finite() && size > 0.0),
                "the size of the input `{}` is not a number above 0",
                input.name
            );
        }
        ensure!(
            !self.environment.contains_key("OMP_NUM_THREADS"),
            "OMP_NUM_THREADS is what `threads` sets: leave it out of the environment"
        );
        for (name, values) in &self.environment {
            ensure!(!values.is_empty(), "the variable {name} has no value");
            ensure!(
                !name.is_empty() && !name.contains(['=', '\0']),
                "`{name}` is no name of a variable"
            );
        }
        for input in &self.inputs {
            if let Some(word) = input
                .arguments
                .iter()
                .find(|word| word.len() >= MOST_OF_A_WORD)
            {
                bail!(
                    "an argument of the input `{}` has {} bytes: Linux takes less than {MOST_OF_A_WORD}",
                    elide(&input.name, 40),
                    word.len()
                );
            }
        }
        let inputs = self.inputs.iter().flat_map(|input| &input.arguments);
        let values = self.environment.values().flatten();
        let words = self.command.iter().chain(&self.programs).chain(inputs);
        if let Some(word) = words.chain(values).find(|word| word.contains('\0')) {
            bail!(
                "`{}` has a NUL byte, which no argument and no variable can have",
                word.escape_default()
            );
        }
        let uses = |what: &str| self.command.iter().any(|word| word.contains(what));
        ensure!(
            self.programs.is_empty() || uses("{program}"),
            "there are `programs`, but the command has no {{program}}"
        );
        Ok(())
    }
}

fn refused(file: &Path) -> String {
    format!("cannot use the sweep {}", shown(file))
}

/// A message of the parser of TOML, which has a line of the file: the beginnings of long ones.
fn brief(error: &toml::de::Error) -> String {
    let text = error.to_string();
    let lines = text.trim_end().lines();
    let lines: Vec<String> = lines.map(|line| elide(line, MOST_OF_A_LINE)).collect();
    lines.join("\n")
}

/// Adds the values that are not there.
fn add<T: Clone + PartialEq>(values: &mut Vec<T>, others: &[T]) {
    let new = others.iter().filter(|other| !values.contains(other));
    let new: Vec<T> = new.cloned().collect();
    values.extend(new);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("sweep.toml");
        std::fs::write(&file, text).unwrap();
        let read = Config::read(&file).and_then(|mut config| config.check());
        format!("{:#}", read.unwrap_err())
    }

    #[test]
    fn inputs_have_names_words_and_sizes() {
        let text = "command = ['app']\nthreads = '1:2'\ninputs = ['100 -v', 200, { name = 'big', arguments = ['-n', '5'], size = 5 }]\nplan = 'halton:7'";
        let config: Config = toml::from_str(text).unwrap();
        assert_eq!(config.inputs[0].arguments, ["100", "-v"]);
        assert_eq!(
            (config.inputs[0].size, config.inputs[1].size),
            (None, Some(200.0))
        );
        assert_eq!(
            (config.inputs[2].name.as_str(), config.inputs[2].size),
            ("big", Some(5.0))
        );
        assert_eq!(config.plan, Plan::Halton(7));
        let written = toml::to_string(&config).unwrap();
        assert_eq!(
            toml::from_str::<Config>(&written).unwrap(),
            config,
            "{written}"
        );
    }

    #[test]
    fn mistakes_have_a_place_and_a_reason() {
        let unknown = refused("command = ['a']\nthread = 3\n");
        assert!(
            unknown.contains("line 2") && unknown.contains("thread") && unknown.contains("threads"),
            "{unknown}"
        );
        assert!(
            refused("command = ['a']\nthreads = '1-4'").contains("no list of numbers of threads")
        );
        assert!(refused("threads = [1]").contains("no program is named"));
        assert!(refused("command = ['a']\nthreads = [0]").contains("a 0"));
        assert!(refused("command = ['a']\ninputs = ['x', 'x']").contains("two inputs"));
        assert!(refused("command = ['a']\nprograms = ['x']").contains("{program}"));
        assert!(refused("command = ['a']\nplan = 'half'").contains("expected full"));
        for text in [
            "command = ['a', \"x\\u0000\"]",
            "command = ['a']\ninputs = [\"x\\u0000\"]",
            "command = ['a']\n[environment]\nA = [\"x\\u0000\"]",
        ] {
            assert!(refused(text).contains("a NUL byte"), "{text}");
        }
        let both = "command = ['a']\nhot-plug = true\nplacements = ['spread']";
        assert!(refused(both).contains("leave one of them out"));
    }
}
