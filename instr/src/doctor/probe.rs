//! Builds a small program with the runtime, runs it with everything asked for, and reads its trace: what it says is what a user's program
//! will find here.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use instr_cc::cache::Cache;
use instr_cc::compiler::Machine;
use instr_cc::exec::Call;
use instr_cc::runtime::{Builder, Variant, identify};
use instr_cc::shim::SENSORS;
use instr_schema::settings::SETTINGS;
use instr_trace::Trace;
use instr_trace::model::{At, Reading, Sink, Value, replay};
use instr_trace::sensors::{Definitions, SensorDef, SensorKind};

use super::{Item, Report, advice};

/// Records an event and takes some time, so that totals grow.
const PROGRAM: &str = "\
extern void instr_event(unsigned type, unsigned long long value);
int main(void)
{
    volatile unsigned long sum = 0;
    instr_event(1, 1);
    for (unsigned long i = 0; i < 20000000; i++)
        sum += i;
    return 0;
}
";

/// The counters that are tried, those of the kernel itself last.
const COUNTERS: &str = "cycles,instructions,cache-references,cache-misses,branches,branch-misses,L1-dcache-load-misses,\
                        task-clock,page-faults,context-switches,cpu-migrations,schedstat-run,schedstat-wait,schedstat-slices";

/// Fills `recording`, `clock`, `sensors` and `counters`.
pub(super) fn examine(report: &mut Report) {
    let tried = tempfile::tempdir()
        .context("cannot make a temporary folder")
        .and_then(|dir| probe(dir.path(), report));
    if let Err(error) = tried {
        let why = format!("{error:#}");
        report
            .recording
            .push(Item::new("a small program", false, &why));
        let unknown = "not tried: no program could be run with the runtime";
        report.clock.push(Item::unknown("time stamps", unknown));
        report.sensors.push(Item::unknown("sensors", unknown));
        report.counters.push(Item::unknown("counters", unknown));
    }
}

fn probe(dir: &Path, report: &mut Report) -> Result<()> {
    let cache = Cache::open(|name| std::env::var_os(name)).context("no folder for the runtime")?;
    let machine = Machine::new();
    let compiler = machine
        .compiler()
        .ok_or_else(|| anyhow!("there is no C compiler in PATH"))?;
    let (identity, facts) = identify(&cache, &compiler).context("cannot identify the compiler")?;
    let builder = Builder {
        cache: &cache,
        compiler: &compiler,
        identity: &identity,
        facts: &facts,
        abi: &[],
        variant: Variant::Pie,
    };
    let library = builder.library().context("cannot build the runtime")?;
    let (source, program, trace) = (dir.join("probe.c"), dir.join("probe"), dir.join("trace"));
    fs::write(&source, PROGRAM)?;
    let call = Call::new(&compiler)
        .args(["-O1", "-o"])
        .args([&program, &source, &library])
        .args([format!("-Wl,-u,{SENSORS}")]) // as instr-cc links programs that are not static
        .args(["-pthread"]);
    let built = call.run_privately().context("cannot run the compiler")?;
    if !built.status.success() {
        let said = String::from_utf8_lossy(&built.stderr).into_owned();
        return Err(anyhow!(
            "the compiler does not link it: {}",
            said.lines().last().unwrap_or("")
        ));
    }
    let mut call = Call::new(&program);
    for setting in SETTINGS {
        if setting.name != "INSTR_SENSORS_ROOT" {
            call.env.push((setting.name, None));
        }
    }
    let set = |name, value: &std::ffi::OsStr| (name, Some(value.to_owned()));
    call.env.extend([
        set("INSTR_TRACE", trace.as_os_str()),
        set("INSTR_SENSORS", "all".as_ref()),
        set("INSTR_COUNTERS", COUNTERS.as_ref()),
    ]);
    let ran = call.run_privately().context("the program cannot be run")?;
    if !ran.status.success() {
        return Err(anyhow!("the program ends with {}", ran.status));
    }
    let trace = Trace::open(&trace).context("the program leaves no trace")?;
    let words = format!("built by {}, run, its trace read", compiler.display());
    report
        .recording
        .push(Item::new("a small program", true, words));
    read(&trace, report).context("its trace cannot be read")
}

fn read(trace: &Trace, report: &mut Report) -> Result<()> {
    let metadata = trace.metadata();
    let hertz = metadata.clock.freq;
    report.clock.push(match metadata.clock_source.as_str() {
        "monotonic" => Item::new(
            "time stamps",
            true,
            "clock_gettime: the processor's counter is not the same on all processors, or is not known to be; each costs some 40 ns instead of 15",
        ),
        source => Item::new("time stamps", true, format!("{source}, {:.1} MHz", hertz as f64 / 1e6)),
    });
    let definitions = Definitions::of(metadata);
    let mut readings = Readings {
        first: vec![None; definitions.sensors.len()],
        last: vec![None; definitions.sensors.len()],
        counters: Vec::new(),
    };
    replay(trace, &mut readings)?;
    for (at, sensor) in definitions.sensors.iter().enumerate() {
        report.sensors.push(sensor_item(
            sensor,
            readings.first[at].as_deref(),
            readings.last[at].as_deref(),
        ));
    }
    for (at, counter) in definitions.counters.iter().enumerate() {
        let value = readings.counters.get(at).copied().flatten();
        let name = counter.name.as_str();
        report.counters.push(match value {
            Some(value) => Item::new(
                name,
                true,
                format!("{value} {} in the small program", counter.unit).replace("  ", " "),
            ),
            None => Item::new(name, false, "opened, but never counted"),
        });
    }
    troubles(trace, &definitions, report);
    if definitions.is_empty() {
        let why = metadata.setting_trouble.as_deref();
        let why = why.unwrap_or("the small program says nothing about them");
        report.sensors.push(Item::unknown("sensors", why));
        report.counters.push(Item::unknown("counters", why));
    }
    Ok(())
}

/// What sensors and counters gave.
struct Readings {
    /// Of each sensor.
    first: Vec<Option<Vec<Value>>>,
    last: Vec<Option<Vec<Value>>>,
    /// Of the last thread that counted.
    counters: Vec<Option<i64>>,
}

impl Sink for Readings {
    const MARKS: bool = false;
    const TASK_CODES: bool = false;
    const READINGS: bool = true;

    fn reading(&mut self, _at: At, reading: &Reading<'_>) {
        match *reading {
            Reading::Sensor { sensor, values, .. } => {
                self.first[sensor].get_or_insert_with(|| values.to_vec());
                self.last[sensor] = Some(values.to_vec());
            }
            Reading::Counters { values, .. } => {
                self.counters = values.iter().map(|count| count.value).collect();
            }
            _ => {}
        }
    }
}

fn sensor_item(sensor: &SensorDef, first: Option<&[Value]>, last: Option<&[Value]>) -> Item {
    let Some(last) = last else {
        return Item::new(&sensor.name, false, "found, but never read");
    };
    let values = last.iter().enumerate().map(|(index, value)| {
        let label = match sensor.labels.get(index) {
            Some(label) => format!("{label} "),
            None => String::new(),
        };
        let number = |raw: i64| format!("{} {}", short(raw as f64 * sensor.scale), sensor.unit);
        let first = first.and_then(|first| first.get(index)?.raw);
        let value = match (sensor.kind, first, value.raw) {
            (_, _, None) => "a number that cannot be".to_owned(),
            (SensorKind::Total, Some(first), Some(raw)) => {
                let grown = sensor.growth(first, raw) as f64 * sensor.scale;
                format!("{}, +{}", number(raw), short(grown))
            }
            (_, _, Some(raw)) => number(raw),
        };
        format!("{label}{}", value.trim_end())
    });
    let values: Vec<String> = values.collect();
    let cost = short(sensor.cost_ns as f64 / 1e3);
    Item::new(
        &sensor.name,
        true,
        format!("{} ({cost} us a reading)", values.join("; ")),
    )
}

/// Six digits without an exponent's noise.
fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn troubles(trace: &Trace, definitions: &Definitions, report: &mut Report) {
    let is_counter = |name: &str| {
        let keys = trace
            .metadata()
            .other
            .iter()
            .filter(|(key, _)| key.starts_with("counter_trouble_"));
        keys.into_iter()
            .any(|(_, text)| text.split(' ').next() == Some(name))
    };
    for trouble in &definitions.troubles {
        let item = Item::new(&trouble.name, false, &trouble.why)
            .help(advice::of(&trouble.name, &trouble.why));
        match is_counter(&trouble.name) {
            true => report.counters.push(item),
            false => report.sensors.push(item),
        }
    }
}
