//! Energy meters of Intel's and AMD's processors by powercap (Linux, Documentation/power/powercap/powercap.rst): `/sys/class/powercap/intel-rapl:*`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use instr_trace::energy::{self, zone};

use super::machine::text_of;

/// A zone of the machine with its own meter.
#[derive(Debug)]
pub(crate) struct Zone {
    /// Names of the zones around it, and its own: `package-0`, `dram`.
    pub(crate) path: Vec<String>,
    /// What it took since it was opened, µJ.
    pub(crate) microjoules: u64,
    file: PathBuf,
    /// What is added where the counter begins again, µJ.
    range: u64,
    last: u64,
}

/// All zones that may be read.
#[derive(Debug)]
pub(crate) struct Zones(Vec<Zone>);

impl Zones {
    /// Those below `sys`, usually /sys. `refuse` gets a sentence for each that may not be read.
    pub(crate) fn open(sys: &Path, refuse: &mut dyn FnMut(&str)) -> Self {
        let entries = fs::read_dir(sys.join("class/powercap"));
        let entries = entries.into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        folders.retain(|folder| {
            let name = folder.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("intel-rapl:"))
        });
        folders.sort();
        let mut paths: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
        let mut zones = Vec::new();
        for folder in folders {
            let own = text_of(&folder.join("name")).unwrap_or_else(|_| "zone".to_owned());
            // A zone in a package: intel-rapl:0:1 is in intel-rapl:0.
            let name = folder.to_string_lossy();
            let outer = name.rsplit_once(':').map(|(outer, _)| PathBuf::from(outer));
            let outer = outer.and_then(|outer| paths.get(&outer).cloned());
            let mut path = outer.unwrap_or_default();
            path.push(own.trim().to_owned());
            paths.insert(folder.clone(), path.clone());
            let file = folder.join("energy_uj");
            match number(&file) {
                Ok(last) => zones.push(Zone {
                    path,
                    microjoules: 0,
                    file,
                    range: number(&folder.join("max_energy_range_uj")).unwrap_or(0),
                    last,
                }),
                Err(why) => refuse(&format!("{}: {why}", path.join(" "))),
            }
        }
        Self(zones)
    }

    /// Reads all meters. A meter that begins again between two readings is followed once.
    pub(crate) fn read(&mut self) {
        for zone in &mut self.0 {
            let Ok(now) = number(&zone.file) else {
                continue;
            };
            let grown = match now.checked_sub(zone.last) {
                Some(grown) => grown,
                None => now.saturating_add(zone.range).saturating_sub(zone.last),
            };
            zone.last = now;
            zone.microjoules = zone.microjoules.saturating_add(grown);
        }
    }

    /// The zones, those around others first.
    pub(crate) fn all(&self) -> &[Zone] {
        &self.0
    }

    /// What the machine took since the zones were opened, µJ: the platform, else packages with their memory. [`None`]: no zone stands for that.
    pub(crate) fn machine_microjoules(&self) -> Option<u64> {
        let of = |it: &Zone| zone(&format!("rapl/{}", it.path.join("/")), "");
        let zones: Vec<energy::Zone> = self.0.iter().map(of).collect();
        let added = energy::total(&zones);
        let sum = added.iter().map(|at| self.0[*at].microjoules).sum();
        (!added.is_empty()).then_some(sum)
    }
}

fn number(path: &Path) -> Result<u64, String> {
    let text = text_of(path)?;
    let number = text.trim().parse();
    number.map_err(|_| format!("{} is no number", path.display()))
}
