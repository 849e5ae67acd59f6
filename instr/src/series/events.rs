//! Names of perf's events, as `perf list` prints them.

use std::path::Path;

use perf_event_open_sys::bindings::{
    PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE, PERF_TYPE_RAW, PERF_TYPE_SOFTWARE,
};

/// Longer files of a device's description are not read.
const MOST_BYTES: u64 = 4096;

/// Name, another name, number in the kernel's interface.
type Row = (&'static str, &'static str, u64);

const SOFTWARE: [Row; 9] = [
    ("cpu-clock", "", 0),
    ("task-clock", "", 1),
    ("page-faults", "faults", 2),
    ("context-switches", "cs", 3),
    ("cpu-migrations", "migrations", 4),
    ("minor-faults", "", 5),
    ("major-faults", "", 6),
    ("alignment-faults", "", 7),
    ("emulation-faults", "", 8),
];
const HARDWARE: [Row; 10] = [
    ("cycles", "cpu-cycles", 0),
    ("instructions", "", 1),
    ("cache-references", "", 2),
    ("cache-misses", "", 3),
    ("branches", "branch-instructions", 4),
    ("branch-misses", "", 5),
    ("bus-cycles", "", 6),
    ("stalled-cycles-frontend", "idle-cycles-frontend", 7),
    ("stalled-cycles-backend", "idle-cycles-backend", 8),
    ("ref-cycles", "", 9),
];
/// Cache, then operation << 8, then result << 16.
const CACHES: [Row; 19] = [
    ("L1-dcache-loads", "", 0),
    ("L1-dcache-load-misses", "", 1 << 16),
    ("L1-dcache-stores", "", 1 << 8),
    ("L1-dcache-prefetches", "", 2 << 8),
    ("L1-icache-loads", "", 1),
    ("L1-icache-load-misses", "", 1 | 1 << 16),
    ("LLC-loads", "", 2),
    ("LLC-load-misses", "", 2 | 1 << 16),
    ("LLC-stores", "", 2 | 1 << 8),
    ("LLC-store-misses", "", 2 | 1 << 8 | 1 << 16),
    ("dTLB-loads", "", 3),
    ("dTLB-load-misses", "", 3 | 1 << 16),
    ("dTLB-stores", "", 3 | 1 << 8),
    ("dTLB-store-misses", "", 3 | 1 << 8 | 1 << 16),
    ("iTLB-loads", "", 4),
    ("iTLB-load-misses", "", 4 | 1 << 16),
    ("node-loads", "", 6),
    ("node-load-misses", "", 6 | 1 << 16),
    ("node-stores", "", 6 | 1 << 8),
];

/// An event by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// Counted by the kernel.
    Software(&'static str, u64),
    /// One that many processors have, by the kernel's type and number.
    Hardware(&'static str, u32, u64),
    /// `rHEX`: as the processor has it.
    Raw(String, u64),
    /// `DEVICE/EVENT/`: as sysfs describes it.
    OfDevice(String),
}

impl Named {
    /// The event that `perf list` calls so.
    ///
    /// # Errors
    ///
    /// No event has this name; those that there are.
    pub(crate) fn of(name: &str) -> Result<Self, Vec<&'static str>> {
        let find = |rows: &[Row]| {
            let row = rows
                .iter()
                .find(|(first, other, _)| *first == name || (!other.is_empty() && *other == name));
            row.map(|(first, _, number)| (*first, *number))
        };
        if let Some((name, number)) = find(&SOFTWARE) {
            return Ok(Self::Software(name, number));
        }
        if let Some((name, number)) = find(&HARDWARE) {
            return Ok(Self::Hardware(name, PERF_TYPE_HARDWARE, number));
        }
        if let Some((name, number)) = find(&CACHES) {
            return Ok(Self::Hardware(name, PERF_TYPE_HW_CACHE, number));
        }
        let raw = name.strip_prefix('r').filter(|hex| hex.len() <= 16);
        if let Some(number) = raw.and_then(|hex| u64::from_str_radix(hex, 16).ok()) {
            return Ok(Self::Raw(name.to_owned(), number));
        }
        if parts(name).is_some() {
            return Ok(Self::OfDevice(name.to_owned()));
        }
        let all = [SOFTWARE.as_slice(), &HARDWARE, &CACHES];
        Err(all.concat().iter().map(|(name, ..)| *name).collect())
    }

    /// The name.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Software(name, _) | Self::Hardware(name, ..) => name,
            Self::Raw(name, _) | Self::OfDevice(name) => name,
        }
    }

    /// Whether the kernel counts it itself, all the time.
    pub(crate) fn is_software(&self) -> bool {
        matches!(self, Self::Software(..))
    }

    /// What perf is asked for. `sys`: the folder `/sys`.
    ///
    /// # Errors
    ///
    /// Why this machine has no such event.
    pub(crate) fn encoded(&self, sys: &Path) -> Result<Encoded, String> {
        let plain = |kind, config| Encoded {
            kind,
            config: [config, 0, 0],
            scale: 1.0,
            unit: String::new(),
        };
        match self {
            Self::Software(_, number) => Ok(plain(PERF_TYPE_SOFTWARE, *number)),
            Self::Hardware(_, kind, number) => Ok(plain(*kind, *number)),
            Self::Raw(_, number) => Ok(plain(PERF_TYPE_RAW, *number)),
            Self::OfDevice(name) => {
                let (device, event) = parts(name).ok_or("it is no name of an event")?;
                Encoded::of_device(sys, device, event)
            }
        }
    }
}

/// Device and event of `DEVICE/EVENT/`, which name files.
fn parts(name: &str) -> Option<(&str, &str)> {
    let (device, event) = name.strip_suffix('/')?.split_once('/')?;
    let is_name = |text: &str| {
        !text.is_empty()
            && !text.starts_with('.')
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
    };
    (is_name(device) && is_name(event)).then_some((device, event))
}

/// An event as perf is asked for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Encoded {
    /// Type in `perf_event_attr`.
    pub(crate) kind: u32,
    /// `config`, `config1`, `config2`.
    pub(crate) config: [u64; 3],
    /// What one count is, in units.
    pub(crate) scale: f64,
    /// As the device has it; empty: a number.
    pub(crate) unit: String,
}

/// The first line of a small file.
pub(super) fn line(path: &Path) -> std::io::Result<String> {
    use std::io::Read as _;
    let mut text = String::new();
    std::fs::File::open(path)?
        .take(MOST_BYTES)
        .read_to_string(&mut text)?;
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}

impl Encoded {
    /// The event of a device, as the files below `/sys/bus/event_source/devices` describe it.
    ///
    /// # Errors
    ///
    /// Why this machine has no such event.
    pub(crate) fn of_device(sys: &Path, device: &str, event: &str) -> Result<Self, String> {
        let folder = sys.join("bus/event_source/devices").join(device);
        let kind =
            line(&folder.join("type")).map_err(|_| format!("there is no device {device}"))?;
        let kind = kind.parse().map_err(|_| format!("{device} has no type"))?;
        let file = folder.join("events").join(event);
        let terms = line(&file).map_err(|_| format!("{device} has no event {event}"))?;
        let mut config = [0; 3];
        for term in terms.split(',') {
            let (name, value) = term.split_once('=').unwrap_or((term, "1"));
            let value = value.trim();
            let value = match value.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16),
                None => value.parse(),
            };
            let value = value.map_err(|_| format!("{device}: {term:?} is not understood"))?;
            let is_name = parts(&format!("x/{name}/")).is_some();
            let format = match line(&folder.join("format").join(name)) {
                Ok(format) if is_name => format,
                // Fields of the structure itself need no description.
                _ if ["config", "config1", "config2"].contains(&name) => format!("{name}:0-63"),
                _ => return Err(format!("{device} has no field {name:?}")),
            };
            place(&format, value, &mut config)
                .ok_or_else(|| format!("{device}: the field {format:?} is not understood"))?;
        }
        let beside = |ending: &str| line(&folder.join("events").join(format!("{event}{ending}")));
        let scale = beside(".scale").map_or(Ok(1.0), |text| text.parse::<f64>());
        let scale = scale.ok().filter(|scale| scale.is_finite() && *scale > 0.0);
        Ok(Self {
            kind,
            config,
            scale: scale.ok_or_else(|| format!("{device}: the scale of {event} is no number"))?,
            unit: beside(".unit").unwrap_or_default(),
        })
    }
}

/// Puts the low bits of a value where a format such as `config1:0-7,32` has them; `None`: there is no such place.
fn place(format: &str, value: u64, config: &mut [u64; 3]) -> Option<()> {
    let (word, ranges) = format.split_once(':')?;
    let word = match word {
        "config" => &mut config[0],
        "config1" => &mut config[1],
        "config2" => &mut config[2],
        _ => return None,
    };
    let mut from = 0;
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last > 63 {
            return None;
        }
        for bit in first..=last {
            *word |= (value.checked_shr(from).unwrap_or(0) % 2) << bit;
            from += 1;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_perf_list() {
        assert_eq!(Named::of("cs"), Ok(Named::Software("context-switches", 3)));
        assert_eq!(Named::of("cpu-cycles"), Named::of("cycles"));
        // PERF_COUNT_HW_CACHE_LL, _OP_READ, _RESULT_MISS
        assert_eq!(
            Named::of("LLC-load-misses"),
            Ok(Named::Hardware("LLC-load-misses", 3, 0x10002))
        );
        assert_eq!(Named::of("r01c2"), Ok(Named::Raw("r01c2".into(), 0x1c2)));
        assert!(matches!(
            Named::of("uncore_imc_0/cas_count_read/"),
            Ok(Named::OfDevice(_))
        ));
        for wrong in [
            "",
            "rxyz",
            "r",
            "../../etc/",
            "a//",
            "/b/",
            "a/../b/",
            "Cycles",
        ] {
            assert!(Named::of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_event_of_a_device_is_put_together_from_its_files() {
        let sys = tempfile::tempdir().unwrap();
        let folder = sys.path().join("bus/event_source/devices/uncore_imc_0");
        std::fs::create_dir_all(folder.join("events")).unwrap();
        std::fs::create_dir_all(folder.join("format")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        write("type", "17\n");
        write("format/event", "config:0-7,32\n");
        write("format/umask", "config:8-15\n");
        write("format/more", "config2:4\n");
        write("events/cas_count_read", "event=0x104,umask=0x03,more\n");
        write("events/cas_count_read.scale", "6.103515625e-5\n");
        write("events/cas_count_read.unit", "MiB\n");
        write("events/odd", "config1=7\n");
        let event = Encoded::of_device(sys.path(), "uncore_imc_0", "cas_count_read").unwrap();
        assert_eq!((event.kind, event.config), (17, [0x1_0000_0304, 0, 1 << 4]));
        assert_eq!((event.scale, event.unit.as_str()), (1.0 / 16384.0, "MiB"));
        let event = Encoded::of_device(sys.path(), "uncore_imc_0", "odd").unwrap();
        assert_eq!(event.config, [0, 7, 0]);
        let why = Encoded::of_device(sys.path(), "uncore_imc_0", "none").unwrap_err();
        assert_eq!(why, "uncore_imc_0 has no event none");
        write("events/bad", "../type=1\n");
        assert!(Encoded::of_device(sys.path(), "uncore_imc_0", "bad").is_err());
        write("events/bad", "event=x\n");
        assert!(Encoded::of_device(sys.path(), "uncore_imc_0", "bad").is_err());
    }
}
