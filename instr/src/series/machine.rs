//! What the machine says of itself in files: pressure, clocks and use of processors, energy, memory controllers.

use std::collections::BTreeMap;
use std::fs;
use std::fs::File;
use std::path::{Path, PathBuf};

use instr_trace::kernel::series::{Definition, Module, Nature, Scope, Unit};

use super::Roots;
use super::counters::{open_device, read, refusal, scale_of};
use super::events::{Encoded, line};
use super::out::{Out, Source};
use super::rapl::Zones;

/// Longer files are read to here.
const MOST_BYTES: u64 = 4 << 20;

/// A file's text, or why there is none.
pub(super) fn text_of(path: &Path) -> Result<String, String> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let file = File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
    match file {
        Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => Err(why(path, &error)),
    }
}

fn why(path: &Path, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => format!("there is no {}", path.display()),
        std::io::ErrorKind::PermissionDenied => {
            format!("{} may not be read by this user", path.display())
        }
        _ => format!("{}: {error}", path.display()),
    }
}

/// Entries of a folder whose names are `prefix` and a number, by it.
fn numbered(folder: &Path, prefix: &str) -> BTreeMap<u32, PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let number = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        name.to_str()?.strip_prefix(prefix)?.parse().ok()
    };
    entries
        .filter_map(|entry| Some((number(&entry)?, entry.path())))
        .collect()
}

/// Numbers of a list such as `0-3,8`.
pub(super) fn list(text: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (
            first.trim().parse::<u32>().ok()?,
            last.trim().parse::<u32>().ok()?,
        );
        Some(first..=last.min(8191))
    };
    text.trim()
        .split(',')
        .filter_map(range)
        .flatten()
        .take(8192)
        .collect()
}

/// The node of each processor.
pub(super) fn nodes(roots: &Roots) -> BTreeMap<u32, u32> {
    let mut nodes = BTreeMap::new();
    for (node, folder) in numbered(&roots.sys().join("devices/system/node"), "node") {
        let processors = line(&folder.join("cpulist")).unwrap_or_default();
        nodes.extend(
            list(&processors)
                .into_iter()
                .map(|processor| (processor, node)),
        );
    }
    nodes
}

fn of(
    module: Module,
    scope: Scope,
    number: u32,
    nature: Nature,
    unit: Unit,
    name: &str,
) -> Definition {
    Definition {
        module,
        scope,
        pid: 0,
        number,
        nature,
        unit,
        name: name.to_owned(),
    }
}

/// Totals that are followed from their first reading on.
#[derive(Default)]
struct Totals {
    /// Number of the series, and what there was at its begin.
    known: BTreeMap<(u32, String), (u32, u64)>,
}

impl Totals {
    fn put(
        &mut self,
        out: &mut Out,
        value: u64,
        definition: impl FnOnce() -> Definition,
        key: (u32, &str),
    ) {
        let key = (key.0, key.1.to_owned());
        let (series, first) = *self
            .known
            .entry(key)
            .or_insert_with(|| (out.define(definition()), value));
        out.value(series, value.saturating_sub(first));
    }
}

/// Pressure stall information: how long some or all of those that could run waited.
pub(super) struct Pressure {
    files: Vec<(&'static str, PathBuf)>,
    totals: Totals,
}

impl Pressure {
    pub(super) fn open(roots: &Roots, out: &mut Out) -> Option<Self> {
        let folder = roots.proc().join("pressure");
        let mut files = Vec::new();
        for name in ["cpu", "memory", "io"] {
            let path = folder.join(name);
            match text_of(&path) {
                Ok(_) => files.push((name, path)),
                Err(why) => out.refuse(Module::Pressure, &why),
            }
        }
        (!files.is_empty()).then(|| Self {
            files,
            totals: Totals::default(),
        })
    }
}

impl Source for Pressure {
    fn read(&mut self, out: &mut Out) {
        for (resource, path) in &self.files {
            let text = text_of(path).unwrap_or_default();
            for line in text.lines() {
                let Some((kind, rest)) = line.split_once(' ') else {
                    continue;
                };
                let total = rest.split(' ').find_map(|word| word.strip_prefix("total="));
                let Some(us) = total.and_then(|total| total.parse::<u64>().ok()) else {
                    continue;
                };
                let name = format!("{resource} {kind}");
                let definition = || {
                    of(
                        Module::Pressure,
                        Scope::Machine,
                        0,
                        Nature::Total,
                        Unit::Ns,
                        &name,
                    )
                };
                self.totals
                    .put(out, us.saturating_mul(1000), definition, (0, &name));
            }
        }
    }
}

/// How long processors were busy, by `/proc/stat`.
pub(super) struct Processors {
    path: PathBuf,
    ns_a_tick: u64,
    totals: Totals,
}

impl Processors {
    pub(super) fn open(roots: &Roots, out: &mut Out) -> Option<Self> {
        let path = roots.proc().join("stat");
        if let Err(why) = text_of(&path) {
            out.refuse(Module::Processors, &why);
            return None;
        }
        Some(Self {
            path,
            ns_a_tick: ns_a_tick(),
            totals: Totals::default(),
        })
    }
}

/// Nanoseconds of a tick in which the kernel tells times.
pub(super) fn ns_a_tick() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

impl Source for Processors {
    fn read(&mut self, out: &mut Out) {
        let text = text_of(&self.path).unwrap_or_default();
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let number = words.next().and_then(|word| word.strip_prefix("cpu"));
            let Some(number) = number.and_then(|number| number.parse::<u32>().ok()) else {
                continue;
            };
            // user nice system idle iowait irq softirq steal; what guests take is in user and nice.
            let ticks: Vec<u64> = words.take(8).filter_map(|word| word.parse().ok()).collect();
            let sum = |at: &[usize]| at.iter().filter_map(|at| ticks.get(*at)).sum::<u64>();
            let series = [("busy", sum(&[0, 1, 2, 5, 6])), ("stolen", sum(&[7]))];
            for (name, ticks) in series {
                let definition = || {
                    of(
                        Module::Processors,
                        Scope::Processor,
                        number,
                        Nature::Total,
                        Unit::Ns,
                        name,
                    )
                };
                let ns = ticks.saturating_mul(self.ns_a_tick);
                self.totals.put(out, ns, definition, (number, name));
            }
        }
    }
}

/// Clocks of processors, by cpufreq or `/proc/cpuinfo`.
pub(super) struct Frequency {
    /// Files with kHz; empty: `/proc/cpuinfo` has MHz.
    files: BTreeMap<u32, PathBuf>,
    cpuinfo: PathBuf,
    series: BTreeMap<u32, u32>,
}

impl Frequency {
    pub(super) fn open(roots: &Roots, out: &mut Out) -> Option<Self> {
        let mut files = BTreeMap::new();
        for (number, folder) in numbered(&roots.sys().join("devices/system/cpu"), "cpu") {
            let path = folder.join("cpufreq/scaling_cur_freq");
            if text_of(&path).is_ok() {
                files.insert(number, path);
            }
        }
        let found = Self {
            files,
            cpuinfo: roots.proc().join("cpuinfo"),
            series: BTreeMap::new(),
        };
        if found.now().is_empty() {
            let why = "there is neither cpufreq nor a clock in /proc/cpuinfo";
            out.refuse(Module::Frequency, why);
            return None;
        }
        Some(found)
    }

    /// Hz by processor.
    fn now(&self) -> BTreeMap<u32, u64> {
        if !self.files.is_empty() {
            let khz = |path: &PathBuf| line(path).ok()?.parse::<u64>().ok();
            let files = self.files.iter();
            return files
                .filter_map(|(number, path)| Some((*number, khz(path)?.saturating_mul(1000))))
                .collect();
        }
        let text = text_of(&self.cpuinfo).unwrap_or_default();
        let mut found = BTreeMap::new();
        let mut processor = None;
        for line in text.lines() {
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            match key.trim() {
                "processor" => processor = value.trim().parse().ok(),
                "cpu MHz" => {
                    let mhz: Option<f64> = value.trim().parse().ok();
                    if let (Some(processor), Some(mhz)) = (processor, mhz) {
                        found.insert(processor, (mhz * 1e6).round() as u64);
                    }
                }
                _ => {}
            }
        }
        found
    }
}

impl Source for Frequency {
    fn read(&mut self, out: &mut Out) {
        for (number, hertz) in self.now() {
            let series = *self.series.entry(number).or_insert_with(|| {
                let name = "frequency";
                out.define(of(
                    Module::Frequency,
                    Scope::Processor,
                    number,
                    Nature::Level,
                    Unit::Hertz,
                    name,
                ))
            });
            out.value(series, hertz);
        }
    }
}

/// Energy by RAPL's zones. No zone is added to another: packages contain cores, and the platform contains packages.
pub(super) struct Energy {
    zones: Zones,
    /// Of each zone, once it is defined.
    series: Vec<Option<u32>>,
}

impl Energy {
    pub(super) fn open(roots: &Roots, out: &mut Out) -> Option<Self> {
        let zones = Zones::open(&roots.sys(), &mut |why| out.refuse(Module::Energy, why));
        let series = vec![None; zones.all().len()];
        (!series.is_empty()).then_some(Self { zones, series })
    }
}

impl Source for Energy {
    fn read(&mut self, out: &mut Out) {
        self.zones.read();
        for (zone, series) in self.zones.all().iter().zip(&mut self.series) {
            let series = *series.get_or_insert_with(|| {
                out.define(of(
                    Module::Energy,
                    Scope::Machine,
                    0,
                    Nature::Total,
                    Unit::Microjoules,
                    &zone.path.join(" "),
                ))
            });
            out.value(series, zone.microjoules);
        }
    }
}

/// Events of devices that count for all: memory controllers, and RAPL where powercap has nothing.
pub(super) struct Devices {
    counters: Vec<DeviceCounter>,
}

struct DeviceCounter {
    file: File,
    scale: f64,
    definition: Definition,
    series: Option<u32>,
}

impl Devices {
    /// Bytes that memory controllers read and wrote, by node.
    pub(super) fn memory(roots: &Roots, out: &mut Out) -> Option<Self> {
        let devices = devices(roots, |name| {
            name.starts_with("uncore_imc") && !name.contains("free_running")
        });
        let nodes = nodes(roots);
        let mut found = Self::default();
        for device in &devices {
            for events in [
                ["cas_count_read", "cas_count_write"],
                ["data_reads", "data_writes"],
            ] {
                if Encoded::of_device(&roots.sys(), device, events[0]).is_err() {
                    continue;
                }
                for (event, way) in events.iter().zip(["read", "written"]) {
                    let name = format!("{device} {way}");
                    found.add(roots, (device, event), out, |processor| {
                        let node = nodes.get(&processor).copied().unwrap_or(0);
                        of(
                            Module::MemoryTraffic,
                            Scope::Node,
                            node,
                            Nature::Total,
                            Unit::Bytes,
                            &name,
                        )
                    });
                }
                break;
            }
        }
        if devices.is_empty() {
            out.refuse(
                Module::MemoryTraffic,
                "the kernel shows no memory controller (uncore_imc)",
            );
        } else if found.counters.is_empty()
            && !out
                .refused
                .iter()
                .any(|(module, _)| *module == Module::MemoryTraffic)
        {
            out.refuse(
                Module::MemoryTraffic,
                "the memory controllers have no events that count bytes",
            );
        }
        found.some()
    }

    /// RAPL by perf's device `power`.
    pub(super) fn power(roots: &Roots, out: &mut Out) -> Option<Self> {
        let mut found = Self::default();
        let there = !devices(roots, |name| name == "power").is_empty();
        for zone in ["pkg", "cores", "gpu", "ram", "psys"] {
            let event = format!("energy-{zone}");
            if there && Encoded::of_device(&roots.sys(), "power", &event).is_ok() {
                found.add(roots, ("power", &event), out, |processor| {
                    let name = format!("{event} of processor {processor}'s package");
                    of(
                        Module::Energy,
                        Scope::Machine,
                        0,
                        Nature::Total,
                        Unit::Microjoules,
                        &name,
                    )
                });
            }
        }
        found.some()
    }

    fn default() -> Self {
        Self {
            counters: Vec::new(),
        }
    }

    fn some(self) -> Option<Self> {
        (!self.counters.is_empty()).then_some(self)
    }

    fn add(
        &mut self,
        roots: &Roots,
        (device, event): (&str, &str),
        out: &mut Out,
        definition: impl Fn(u32) -> Definition,
    ) {
        let encoded = match Encoded::of_device(&roots.sys(), device, event) {
            Ok(encoded) => encoded,
            Err(why) => return out.refuse(definition(0).module, &why),
        };
        let folder = roots.sys().join("bus/event_source/devices").join(device);
        let mask = line(&folder.join("cpumask")).unwrap_or_else(|_| "0".to_owned());
        for processor in list(&mask) {
            let definition = definition(processor);
            let (unit, scale) = scale_of(&encoded.unit, encoded.scale);
            if unit != definition.unit {
                let why = format!(
                    "{device}/{event}/: its unit {:?} is not known",
                    encoded.unit
                );
                return out.refuse(definition.module, &why);
            }
            match open_device(&encoded, processor) {
                Ok(file) => self.counters.push(DeviceCounter {
                    file,
                    scale,
                    definition,
                    series: None,
                }),
                Err(error) => {
                    let why = format!("{device}/{event}/: {}", refusal(&error));
                    return out.refuse(definition.module, &why);
                }
            }
        }
    }
}

impl Source for Devices {
    fn read(&mut self, out: &mut Out) {
        for counter in &mut self.counters {
            let Ok(([count, ..], _)) = read(&counter.file) else {
                continue;
            };
            let definition = &counter.definition;
            let series = *counter
                .series
                .get_or_insert_with(|| out.define(definition.clone()));
            out.value(series, (count as f64 * counter.scale).round() as u64);
        }
    }
}

/// Devices of perf, by name.
fn devices(roots: &Roots, is_one: impl Fn(&str) -> bool) -> Vec<String> {
    let folder = roots.sys().join("bus/event_source/devices");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<_> = names.filter(|name| is_one(name)).collect();
    names.sort();
    names
}
