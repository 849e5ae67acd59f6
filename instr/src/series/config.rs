//! The configuration of `instr run`: settings of the program, and a table for each module that reads series. All mistakes are found at once.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use instr_schema::settings::{SETTINGS, read};
use instr_trace::kernel::series::Module;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::events::Named;
use crate::settings::nearest;

/// Tables for others.
const PASSED_OVER: &str = "image";
/// Keys of every module.
const KEYS: [&str; 3] = ["enabled", "period", "rate"];
/// Keys of the counters alone.
const OF_COUNTERS: [&str; 2] = ["events", "threads"];
/// The shortest and the longest time between two readings.
const PERIODS: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(3600);
/// Events that are counted at once.
const MOST_EVENTS: usize = 32;
/// What is counted where no events are named.
const EVENTS: [&str; 6] = [
    "task-clock",
    "page-faults",
    "context-switches",
    "cpu-migrations",
    "cycles",
    "instructions",
];

/// Modules that are enabled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    /// Each with what lies between two readings, in the order of their numbers.
    pub(crate) modules: Vec<(Module, Duration)>,
    /// What the counters count.
    pub(crate) events: Vec<Named>,
    /// Whether they count threads apart.
    pub(crate) threads: bool,
}

/// What a file says.
#[derive(Debug, Default)]
pub(crate) struct File {
    /// Settings of the program, as its environment has them.
    pub(crate) settings: Vec<(&'static str, String)>,
    /// Series.
    pub(crate) series: Config,
}

/// Something that is wrong in a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// Where, in bytes.
    at: usize,
    what: String,
}

impl Mistake {
    fn new(at: &Range<usize>, what: impl Into<String>) -> Self {
        Self {
            at: at.start,
            what: what.into(),
        }
    }

    /// `LINE:COLUMN: WHAT`; both count from 1, columns in characters.
    pub(crate) fn shown(&self, text: &str) -> String {
        let before = text.get(..self.at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before[start..].chars().count() + 1;
        format!("{line}:{column}: {}", self.what)
    }
}

/// When a module is read where the file does not say.
fn default_period(module: Module) -> Duration {
    match module {
        Module::Numa => Duration::from_secs(1),
        _ => Duration::from_millis(100),
    }
}

/// Reads a file's text.
///
/// # Errors
///
/// All that is wrong, in order of the file.
pub(crate) fn parse(text: &str) -> Result<File, Vec<Mistake>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let mistake = |error: &toml::de::Error| {
            Mistake::new(&error.span().unwrap_or_default(), error.message())
        };
        return Err(errors.iter().map(mistake).collect());
    }
    // What is written as TOML wants it may still be no value: an integer of more than 64 bits.
    let values: BTreeMap<String, toml::Value> = toml::from_str(text).map_err(|error| {
        vec![Mistake::new(
            &error.span().unwrap_or_default(),
            error.message(),
        )]
    })?;
    let mut reader = Reader::default();
    for (key, value) in table.get_ref() {
        reader.top(key.get_ref(), &key.span(), value, &values);
    }
    let Reader {
        mut mistakes,
        mut file,
        ..
    } = reader;
    mistakes.sort_by_key(|mistake| mistake.at);
    file.settings.sort();
    file.series.modules.sort();
    match mistakes.is_empty() {
        true => Ok(file),
        false => Err(mistakes),
    }
}

#[derive(Default)]
struct Reader {
    mistakes: Vec<Mistake>,
    file: File,
}

impl Reader {
    fn mistake(&mut self, at: &Range<usize>, what: impl Into<String>) {
        self.mistakes.push(Mistake::new(at, what));
    }

    fn top(
        &mut self,
        key: &str,
        at: &Range<usize>,
        value: &Spanned<DeValue<'_>>,
        values: &BTreeMap<String, toml::Value>,
    ) {
        let module = Module::ALL.iter().find(|module| module.word() == key);
        match (module, value.get_ref()) {
            (Some(module), DeValue::Table(table)) => return self.module(*module, table),
            _ if key == PASSED_OVER => return,
            (None, DeValue::Table(_)) => {
                let known = Module::ALL.iter().map(|module| module.word());
                return self.mistake(at, unknown("module", key, known));
            }
            _ => {}
        }
        let wanted = format!("INSTR_{}", key.to_ascii_uppercase().replace('-', "_"));
        if !SETTINGS.iter().any(|setting| setting.name == wanted) {
            if let Some(module) = module {
                let what = format!("`{key}` is a table: write `[{}]`", module.word());
                return self.mistake(at, what);
            }
            let known = SETTINGS
                .iter()
                .map(|setting| setting.name["INSTR_".len()..].to_ascii_lowercase());
            let known: Vec<_> = known.collect();
            return self.mistake(
                at,
                unknown("setting", key, known.iter().map(String::as_str)),
            );
        }
        let one = values.get_key_value(key);
        let one = one.map(|(key, value)| (key.clone(), value.clone()));
        match read(&one.into_iter().collect()) {
            Ok(settings) => self.file.settings.extend(settings),
            Err(error) => self.mistake(&value.span(), error.to_string()),
        }
    }

    fn module(&mut self, module: Module, table: &DeTable<'_>) {
        let mut enabled = true;
        let mut period = None;
        let mut threads = true;
        let mut events = None;
        for (key, value) in table {
            let (at, value_at) = (key.span(), value.span());
            let counts = module == Module::Counters;
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("enabled", DeValue::Boolean(yes)) => enabled = *yes,
                ("enabled", _) => self.mistake(&value_at, "`enabled` is true or false"),
                ("threads", DeValue::Boolean(yes)) if counts => threads = *yes,
                ("threads", _) if counts => self.mistake(&value_at, "`threads` is true or false"),
                (name @ ("period" | "rate"), _) => {
                    if period.is_some() {
                        self.mistake(&at, "`period` and `rate` say the same: write one of them");
                    }
                    let found = match name {
                        "period" => period_of(value.get_ref()),
                        _ => rate_of(value.get_ref()),
                    };
                    period = Some(found.clone().unwrap_or_default());
                    if let Err(what) = found {
                        self.mistake(&value_at, what);
                    }
                }
                ("events", list) if counts => {
                    events = Some(());
                    self.events(list, &value_at);
                }
                (name, _) => {
                    let more = OF_COUNTERS.iter().filter(|_| counts);
                    let known = KEYS.iter().chain(more).copied();
                    let what = unknown("key", name, known);
                    self.mistake(&at, format!("[{}]: {what}", module.word()));
                }
            }
        }
        if !enabled {
            if module == Module::Counters {
                self.file.series.events.clear();
            }
            return;
        }
        let period = period.unwrap_or_else(|| default_period(module));
        self.file.series.modules.push((module, period));
        if module == Module::Counters {
            self.file.series.threads = threads;
            if events.is_none() {
                let known = EVENTS.iter().filter_map(|name| Named::of(name).ok());
                self.file.series.events = known.collect();
            }
        }
    }

    fn events(&mut self, list: &DeValue<'_>, at: &Range<usize>) {
        let Some(list) = list.as_array() else {
            return self.mistake(
                at,
                "`events` is a list of names: [\"task-clock\", \"cycles\"]",
            );
        };
        if list.is_empty() || list.len() > MOST_EVENTS {
            let what = format!("`events` has 1 to {MOST_EVENTS} names");
            return self.mistake(at, what);
        }
        for item in list {
            let Some(name) = item.get_ref().as_str() else {
                self.mistake(&item.span(), "the name of an event is a text");
                continue;
            };
            match Named::of(name) {
                Ok(event) if self.file.series.events.contains(&event) => {
                    self.mistake(&item.span(), format!("`{name}` is there already"));
                }
                Ok(event) => self.file.series.events.push(event),
                Err(known) => {
                    let what = unknown("event", name, known.into_iter());
                    self.mistake(&item.span(), what);
                }
            }
        }
    }
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let advice = match nearest(name, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there are {}", known.join(", ")),
    };
    format!("there is no {what} `{name}`; {advice}")
}

fn bounded(period: Duration) -> Result<Duration, String> {
    match PERIODS.contains(&period) {
        true => Ok(period),
        false => Err("there are 1 ms to 1 hour between two readings".to_owned()),
    }
}

/// `"100ms"`.
fn period_of(value: &DeValue<'_>) -> Result<Duration, String> {
    let wrong = || "`period` is a time such as \"100ms\", \"0.5s\" or \"2min\"".to_owned();
    let text = value.as_str().ok_or_else(wrong)?.trim();
    let digits = text
        .find(|c: char| c.is_ascii_alphabetic())
        .ok_or_else(wrong)?;
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    let seconds = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    bounded(Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())?)
}

/// Readings a second.
fn rate_of(value: &DeValue<'_>) -> Result<Duration, String> {
    let wrong = || "`rate` is a number of readings a second".to_owned();
    let text = match value {
        DeValue::Integer(number) => number.as_str().replace('_', ""),
        DeValue::Float(number) => number.as_str().replace('_', ""),
        _ => return Err(wrong()),
    };
    let rate: f64 = text.parse().map_err(|_| wrong())?;
    if !rate.is_finite() || rate <= 0.0 {
        return Err("`rate` is more than 0".to_owned());
    }
    bounded(Duration::try_from_secs_f64(1.0 / rate).map_err(|_| wrong())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Vec<String> {
        let mistakes = parse(text).unwrap_err();
        mistakes.iter().map(|mistake| mistake.shown(text)).collect()
    }

    #[test]
    fn modules_have_periods_and_rates() {
        let text = "buffer = \"4M\"\n[energy]\nperiod = \"50 ms\"\n[counters]\nrate = 20\nevents = [\"cs\", \"r1a2\"]\nthreads = false\n\
                    [pressure]\nenabled = false\n[numa]\n[frequency]\nrate = 0.5\n[image]\nx = 1\n";
        let file = parse(text).unwrap();
        assert_eq!(file.settings, [("INSTR_BUFFER", "4M".to_owned())]);
        let ms = Duration::from_millis;
        let expected = [
            (Module::Counters, ms(50)),
            (Module::Numa, ms(1000)),
            (Module::Energy, ms(50)),
            (Module::Frequency, ms(2000)),
        ];
        assert_eq!(file.series.modules, expected);
        let names: Vec<_> = file.series.events.iter().map(Named::name).collect();
        assert_eq!(names, ["context-switches", "r1a2"]);
        assert!(!file.series.threads);
    }

    #[test]
    fn integers_that_are_no_values_are_refused() {
        let mistakes = refused("policy = \"ring\"\nkeep = 99999999999999999999\n");
        assert_eq!(mistakes.len(), 1, "{mistakes:?}");
        assert!(mistakes[0].starts_with("2:"), "{mistakes:?}");
    }

    #[test]
    fn counters_have_events_where_none_are_named() {
        let file = parse("[counters]").unwrap();
        let names: Vec<_> = file.series.events.iter().map(Named::name).collect();
        assert_eq!(names, EVENTS);
        assert!(file.series.threads);
        assert_eq!(parse("").unwrap().series, Config::default());
    }

    #[test]
    fn all_mistakes_are_told_at_once_with_their_places() {
        let text = "bufer = 1\n\n[energi]\n[counters]\nrate = 0\n  perod = \"1s\"\nevents = [\"cycels\", \"cycles\", \"cpu-cycles\", 3]\n\
                    [pressure]\nenabled = 1\nperiod = \"1 week\"\n[numa]\nevents = []\nperiod = \"10us\"\nrate = 5\n";
        assert_eq!(
            refused(text),
            [
                "1:1: there is no setting `bufer`; did you mean `buffer`?",
                "3:2: there is no module `energi`; did you mean `energy`?",
                "5:8: `rate` is more than 0",
                "6:3: [counters]: there is no key `perod`; did you mean `period`?",
                "7:11: there is no event `cycels`; did you mean `cycles`?",
                "7:31: `cpu-cycles` is there already",
                "7:45: the name of an event is a text",
                "9:11: `enabled` is true or false",
                "10:10: `period` is a time such as \"100ms\", \"0.5s\" or \"2min\"",
                "12:1: [numa]: there is no key `events`; there are enabled, period, rate",
                "13:10: there are 1 ms to 1 hour between two readings",
                "14:1: `period` and `rate` say the same: write one of them",
            ]
        );
    }

    #[test]
    fn values_of_settings_and_syntax_have_places_too() {
        assert_eq!(refused("\npolicy = \"rign\"\n").len(), 1);
        assert!(refused("\npolicy = \"rign\"\n")[0].starts_with("2:10: "));
        assert!(refused("é = \"\n")[0].starts_with("1:"));
        assert_eq!(
            refused("energy = true\n"),
            ["1:1: `energy` is a table: write `[energy]`"]
        );
        // Settings of the same name are settings.
        assert_eq!(parse("counters = \"cycles\"").unwrap().settings.len(), 1);
    }

    #[test]
    fn the_example_is_a_configuration_with_every_module() {
        let file = parse(super::super::EXAMPLE).unwrap();
        let modules: Vec<_> = file
            .series
            .modules
            .iter()
            .map(|(module, _)| *module)
            .collect();
        assert_eq!(modules, Module::ALL);
    }
}
