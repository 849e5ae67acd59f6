//! Modules read trees of files with known values; what they write is read back.

use std::fs;
use std::path::Path;

use instr_analysis::series::{Series, SeriesSection, series};
use instr_trace::kernel::FOLDER;
use instr_trace::kernel::series::{Module, Writer};
use tempfile::TempDir;

use super::config::Config;
use super::out::{Out, Source};
use super::{Roots, Whose, open};

/// A machine, and a recording of it.
struct Machine {
    dir: TempDir,
    out: Out,
    sources: Vec<Box<dyn Source>>,
}

impl Machine {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(FOLDER)).unwrap();
        let writer = Writer::new(&dir.path().join(FOLDER), [3; 16]).unwrap();
        Self {
            dir,
            out: Out::new(writer),
            sources: Vec::new(),
        }
    }

    fn write(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = self.dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    fn open(&mut self, module: Module) -> &mut Self {
        self.open_for(module, Whose::Descendants(100))
    }

    fn open_for(&mut self, module: Module, whose: Whose) -> &mut Self {
        let roots = Roots {
            root: self.dir.path().to_owned(),
            whose,
        };
        self.sources = open(module, &Config::default(), &roots, &mut self.out);
        self
    }

    fn read(&mut self, ms: u64) -> &mut Self {
        self.out.time = ms * 1_000_000;
        for source in &mut self.sources {
            source.read(&mut self.out);
        }
        self
    }

    fn found(&mut self) -> SeriesSection {
        self.out.flush();
        assert_eq!(self.out.trouble, None);
        series(self.dir.path()).unwrap().unwrap()
    }

    /// What was refused, without the folder's name.
    fn refused(&mut self) -> Vec<String> {
        let root = self.dir.path().display().to_string();
        let refused = self.found().refused;
        refused
            .iter()
            .map(|one| one.why.replace(&root, ""))
            .collect()
    }
}

fn named<'a>(found: &'a SeriesSection, name: &str, number: Option<u32>) -> &'a Series {
    let mut all = found.series.iter();
    let series = all.find(|series| series.name == name && series.number == number);
    series.unwrap_or_else(|| panic!("no {name} of {number:?} in {found:#?}"))
}

const RAPL: &str = "sys/class/powercap/intel-rapl:0";

#[test]
fn energy_is_followed_over_wraps_and_zones_are_named_by_their_package() {
    let mut machine = Machine::new();
    let file = |zone: &str, name: &str| format!("{RAPL}{zone}/{name}");
    for (zone, name, energy) in [("", "package-0\n", "999000"), (":0", "dram\n", "5")] {
        machine.write(&[
            (&file(zone, "name"), name),
            (&file(zone, "energy_uj"), energy),
            (&file(zone, "max_energy_range_uj"), "1000000"),
        ]);
    }
    machine.open(Module::Energy).read(0);
    machine.write(&[
        (&file("", "energy_uj"), "4000"),
        (&file(":0", "energy_uj"), "105\n"),
    ]);
    machine.read(100);
    machine.write(&[(&file("", "energy_uj"), "14000")]);
    machine.read(300);
    let found = machine.found();
    let package = named(&found, "package-0", None);
    // 1,000 to the range and 4,000 more, then 10,000 in 200 ms.
    assert_eq!((package.total, package.unit), (Some(15_000), "uJ"));
    assert_eq!((package.min, package.max), (Some(50_000.0), Some(50_000.0)));
    assert_eq!(named(&found, "package-0 dram", None).total, Some(100));
}

#[test]
fn pressure_is_what_it_grew_by() {
    let mut machine = Machine::new();
    let pressure = |some: u64| {
        format!("some avg10=1.00 avg60=0.00 avg300=0.00 total={some}\nfull avg10=0.00 total=7\n")
    };
    machine.write(&[
        ("proc/pressure/cpu", &pressure(1000)),
        ("proc/pressure/io", "nonsense\nsome total=x\n"),
    ]);
    machine.open(Module::Pressure).read(0);
    machine.write(&[("proc/pressure/cpu", &pressure(26_000))]);
    machine.read(100);
    let found = machine.found();
    let some = named(&found, "cpu some", None);
    assert_eq!(
        (some.total, some.mean),
        (Some(25_000_000), Some(250_000_000.0))
    );
    assert_eq!(named(&found, "cpu full", None).total, Some(0));
    assert_eq!(machine.refused(), ["there is no /proc/pressure/memory"]);
}

#[test]
fn clocks_are_those_of_cpufreq_else_of_cpuinfo() {
    let mut machine = Machine::new();
    let file = |cpu: u32| format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
    machine.write(&[(
        "proc/cpuinfo",
        "processor\t: 3\ncpu MHz\t\t: 2596.125\n\nprocessor : 4\n",
    )]);
    machine.open(Module::Frequency).read(0);
    assert_eq!(
        named(&machine.found(), "frequency", Some(3)).mean,
        Some(2_596_125_000.0)
    );
    let mut machine = Machine::new();
    machine.write(&[(&file(0), "800000\n"), (&file(11), "3200000\n")]);
    machine.open(Module::Frequency).read(0);
    machine.write(&[(&file(0), "2400000\n")]);
    machine.read(100).read(400);
    let found = machine.found();
    // 0.8 GHz for 100 ms, 2.4 for 300.
    assert_eq!(named(&found, "frequency", Some(0)).mean, Some(2.0e9));
    assert_eq!(named(&found, "frequency", Some(11)).max, Some(3.2e9));
}

#[test]
fn busy_is_all_but_idle_waiting_and_stolen() {
    let mut machine = Machine::new();
    machine.write(&[(
        "proc/stat",
        "cpu  9 9 9\ncpu0 10 1 5 100 50 2 2 8 3 1\ncpu12 0 0 0 0\nintr 5\n",
    )]);
    machine.open(Module::Processors).read(0);
    machine.write(&[("proc/stat", "cpu0 20 2 8 200 60 3 4 9 9 9\ncpu12 1 0 0 0\n")]);
    machine.read(1000);
    let found = machine.found();
    let tick = super::machine::ns_a_tick();
    assert_eq!(named(&found, "busy", Some(0)).total, Some(17 * tick));
    assert_eq!(named(&found, "stolen", Some(0)).total, Some(tick));
    assert_eq!(named(&found, "busy", Some(12)).total, Some(tick));
}

/// `/proc/PID/stat` of a process that runs on a processor.
fn stat(pid: u32, parent: u32, began: u64, faults: u64, processor: u32) -> String {
    let mut fields = vec!["0".to_owned(); 53];
    let mut set = |number: usize, value: u64| fields[number] = value.to_string();
    set(4, parent.into());
    set(10, faults);
    set(12, 2);
    set(14, 30);
    set(15, 4);
    set(22, began);
    set(24, 16);
    set(39, processor.into());
    fields[3] = "S".into();
    format!("{pid} (a) b (c) {}\n", fields[3..].join(" "))
}

#[test]
fn processes_of_the_program_are_followed_and_no_others() {
    let mut machine = Machine::new();
    machine.write(&[
        ("proc/stat", "cpu0 1\n"),
        ("proc/100/stat", &stat(100, 1, 5, 0, 0)),
    ]);
    machine.write(&[
        ("proc/101/stat", &stat(101, 100, 10, 7, 0)),
        ("proc/102/stat", &stat(102, 101, 11, 8, 0)),
        ("proc/103/stat", &stat(103, 1, 12, 9, 0)),
        ("proc/101/io", "rchar: 10\nwchar: 20\nsyscr: 1\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n"),
    ]);
    machine.open(Module::Process).read(0);
    // The parent ends, the child is followed on; a new process has the number of the first.
    machine.write(&[
        ("proc/102/stat", &stat(102, 1, 11, 18, 0)),
        ("proc/101/stat", &stat(101, 100, 99, 1, 0)),
    ]);
    machine.read(100);
    let found = machine.found();
    let of = |pid: u32, name: &str| {
        let all = found
            .series
            .iter()
            .filter(|one| one.pid == Some(pid) && one.name == name);
        all.map(|one| one.total.or(one.max.map(|max| max as u64)).unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of(101, "minor faults"),
        [7, 1],
        "two processes of one number"
    );
    assert_eq!(of(102, "minor faults"), [18]);
    assert_eq!(of(101, "written to storage"), [8192, 8192]);
    let page = rustix::param::page_size() as u64;
    assert_eq!(of(102, "resident memory"), [16 * page]);
    assert_eq!(of(102, "user time"), [30 * super::machine::ns_a_tick()]);
    assert!(
        found
            .series
            .iter()
            .all(|one| one.pid != Some(103) && one.pid != Some(100))
    );
}

#[test]
fn a_running_process_has_what_comes_from_now_on() {
    let mut machine = Machine::new();
    machine.write(&[
        ("proc/stat", "cpu0 1\n"),
        ("proc/100/stat", &stat(100, 1, 5, 70, 0)),
        ("proc/100/task/100/children", "101 "),
        ("proc/101/stat", &stat(101, 100, 10, 7, 0)),
        ("proc/101/task/101/children", "103 "),
        ("proc/103/stat", &stat(103, 101, 12, 9, 0)),
    ]);
    machine
        .open_for(Module::Process, Whose::Running(100))
        .read(0);
    // One that was there has ended, and a new process has its number.
    machine.write(&[
        ("proc/100/stat", &stat(100, 1, 5, 75, 0)),
        ("proc/100/task/100/children", "101 102 "),
        ("proc/101/stat", &stat(101, 100, 99, 3, 0)),
        ("proc/102/stat", &stat(102, 100, 98, 8, 0)),
    ]);
    machine.read(100);
    let found = machine.found();
    let faults = found.series.iter().filter(|one| one.name == "minor faults");
    let mut faults: Vec<_> = faults.map(|one| (one.pid, one.total)).collect();
    faults.sort_unstable();
    let expected = [(100, 5), (101, 3), (102, 8)];
    assert_eq!(
        faults,
        expected.map(|(pid, total)| (Some(pid), Some(total)))
    );
}

#[test]
fn memory_on_the_own_node_is_a_share() {
    let mut machine = Machine::new();
    let children = |of: &str| (format!("proc/{of}/task/{of}/children"), "101 ".to_owned());
    let (name, text) = children("100");
    machine.write(&[
        ("sys/devices/system/node/node0/cpulist", "0-3\n"),
        ("sys/devices/system/node/node1/cpulist", "4-7,9\n"),
        ("proc/100/numa_maps", "\n"),
        (&name, &text),
        ("proc/101/stat", &stat(101, 100, 10, 0, 9)),
        (
            "proc/101/numa_maps",
            "0 default anon=4 N0=3 N1=1 kernelpagesize_kB=4\n",
        ),
    ]);
    machine.open(Module::Numa).read(0);
    let found = machine.found();
    assert_eq!(
        named(&found, "memory on node 0", None).mean,
        Some(3.0 * 4096.0)
    );
    assert_eq!(
        named(&found, "memory on the own node", None).mean,
        Some(250_000.0)
    );
    let mut none = Machine::new();
    none.open(Module::Numa);
    assert_eq!(none.refused(), ["there is no /proc/100/numa_maps"]);
}

#[test]
fn what_a_machine_lacks_is_told_with_its_reason() {
    let modules = [
        Module::MemoryTraffic,
        Module::Energy,
        Module::Frequency,
        Module::Processors,
        Module::Process,
    ];
    for module in modules {
        let mut machine = Machine::new();
        assert!(machine.open(module).sources.is_empty(), "{module:?}");
        assert_eq!(machine.refused().len(), 1, "{module:?}");
    }
    let mut machine = Machine::new();
    machine.write(&[
        ("sys/bus/event_source/devices/uncore_imc_0/type", "17\n"),
        (
            "sys/bus/event_source/devices/uncore_imc_0/events/other",
            "event=1\n",
        ),
    ]);
    machine.open(Module::MemoryTraffic);
    assert_eq!(
        machine.refused(),
        ["the memory controllers have no events that count bytes"]
    );
    assert!(Path::new("/").join("proc") == Roots::new(Path::new("")).proc());
}
