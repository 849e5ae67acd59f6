//! Which meters measure what, and which may be added: a package's energy has its cores and graphics in it, but not its memory;
//! the platform's (`psys`) has all of them.

use std::collections::BTreeMap;

/// What a zone is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The whole machine or platform: everything else is inside.
    Platform,
    /// A processor package: its cores and uncore are inside, its memory is not.
    Package,
    /// The memory of a package.
    Memory,
    /// Inside of a package.
    Inside,
    /// Something else: not to be added to anything.
    Other,
}

/// Where a meter belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Meters of one family measure the same machine; those of different families must not be added.
    pub family: &'static str,
    /// What of it.
    pub part: Part,
}

/// Families in the order in which they are believed.
const FAMILIES: [&str; 6] = [
    "rapl",
    "perf-energy",
    "amd_energy",
    "power_meter",
    "ipmi",
    "rapl-mmio",
];

/// The zone of the meter with this name and label (`rapl/package-0/dram`, `perf-energy/ram/cpu0`, `hwmon/amd_energy/energy3` labelled `Esocket0`).
#[must_use]
pub fn zone(name: &str, label: &str) -> Zone {
    let parts: Vec<&str> = name.split('/').collect();
    let is = |part: Option<&&str>, prefix: &str| part.is_some_and(|part| part.starts_with(prefix));
    match parts.first().copied() {
        Some(family @ ("rapl" | "rapl-mmio" | "rapl-amd")) => Zone {
            family: if family == "rapl-mmio" {
                "rapl-mmio"
            } else {
                "rapl"
            },
            part: match (parts.get(1), parts.get(2)) {
                (Some(zone), None) if zone.starts_with("psys") => Part::Platform,
                (Some(zone), None) if zone.starts_with("package") => Part::Package,
                (Some(zone), None) if zone.starts_with("dram") => Part::Memory,
                (Some(_), Some(inner)) if inner.starts_with("dram") && parts.len() == 3 => {
                    Part::Memory
                }
                (Some(_), Some(_)) => Part::Inside,
                _ => Part::Other,
            },
        },
        Some("perf-energy") => Zone {
            family: "perf-energy",
            part: match parts.get(1).copied() {
                Some("psys") => Part::Platform,
                Some("pkg") => Part::Package,
                Some("ram") => Part::Memory,
                Some("cores" | "core" | "gpu") => Part::Inside,
                _ => Part::Other,
            },
        },
        Some("hwmon") if is(parts.get(1), "amd_energy") => Zone {
            family: "amd_energy",
            part: if label.starts_with("Esocket") {
                Part::Package
            } else {
                Part::Inside
            },
        },
        Some("hwmon") if is(parts.get(1), "power_meter") => Zone {
            family: "power_meter",
            part: Part::Platform,
        },
        Some("ipmi") => Zone {
            family: "ipmi",
            part: Part::Platform,
        },
        _ => Zone {
            family: "",
            part: Part::Other,
        },
    }
}

/// Which of the zones add up to the machine's energy: those of the first family that has any, the platform alone if it is measured, else
/// packages and their memory. Empty when none does. Positions in `zones`, ascending.
#[must_use]
pub fn total(zones: &[Zone]) -> Vec<usize> {
    let mut families: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, zone) in zones.iter().enumerate() {
        if let Some(rank) = FAMILIES.iter().position(|family| *family == zone.family) {
            families.entry(rank).or_default().push(at);
        }
    }
    for members in families.into_values() {
        let of = |part: Part| {
            members
                .iter()
                .copied()
                .filter(move |at| zones[*at].part == part)
        };
        if let Some(platform) = of(Part::Platform).next() {
            return vec![platform];
        }
        if of(Part::Package).next().is_some() {
            let mut found: Vec<usize> = of(Part::Package).chain(of(Part::Memory)).collect();
            found.sort_unstable();
            return found;
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(names: &[&str]) -> Vec<String> {
        let zones: Vec<Zone> = names.iter().map(|name| zone(name, "")).collect();
        total(&zones)
            .into_iter()
            .map(|at| names[at].to_owned())
            .collect()
    }

    #[test]
    fn packages_and_their_memory_are_added_what_is_inside_is_not() {
        let server = [
            "rapl/package-0",
            "rapl/package-0/core",
            "rapl/package-0/uncore",
            "rapl/package-0/dram",
            "rapl/package-1",
            "rapl/package-1/dram",
            "hwmon/nvme/temp1",
        ];
        assert_eq!(
            added(&server),
            [
                "rapl/package-0",
                "rapl/package-0/dram",
                "rapl/package-1",
                "rapl/package-1/dram"
            ]
        );
    }

    #[test]
    fn the_platform_has_everything_in_it() {
        assert_eq!(
            added(&["rapl/package-0", "rapl/package-0/dram", "rapl/psys"]),
            ["rapl/psys"]
        );
        assert_eq!(
            added(&["perf-energy/pkg/cpu0", "perf-energy/psys/cpu0"]),
            ["perf-energy/psys/cpu0"]
        );
    }

    #[test]
    fn whatever_lies_inside_of_a_zone_is_never_added_to_it() {
        let all = [
            "rapl/package-0",
            "rapl/package-0/core",
            "rapl/package-0/uncore",
            "rapl/package-0/dram",
            "rapl/package-0/dram/channel",
            "rapl/package-0-2",
            "rapl/package-0-2/dram",
            "rapl/package-0-die-1",
        ];
        assert_eq!(added(&all), [all[0], all[3], all[5], all[6], all[7]]);
        let platform = ["rapl/psys", "rapl/psys/dram", all[0], all[3]];
        assert_eq!(added(&platform), ["rapl/psys"]);
        assert_eq!(added(&all[1..3]), [""; 0], "parts alone are no total");
    }

    #[test]
    fn one_meter_of_the_platform_is_enough() {
        assert_eq!(
            added(&[
                "hwmon/power_meter/power1-average",
                "hwmon/amdgpu/power1-average"
            ]),
            ["hwmon/power_meter/power1-average"]
        );
        assert_eq!(
            added(&[
                "hwmon/power_meter/power1",
                "hwmon/power_meter/power1-average"
            ]),
            ["hwmon/power_meter/power1"]
        );
        assert_eq!(added(&["hwmon/ina226/energy1"]), [""; 0]);
    }

    #[test]
    fn two_families_are_never_added() {
        let both = [
            "perf-energy/pkg/cpu0",
            "perf-energy/ram/cpu0",
            "rapl/package-0",
            "rapl-mmio/package-0",
        ];
        assert_eq!(
            added(&["ipmi/power", "hwmon/power_meter/power1-average"]),
            ["hwmon/power_meter/power1-average"]
        );
        assert_eq!(added(&["hwmon/nvme/power1", "ipmi/power"]), ["ipmi/power"]);
        assert_eq!(added(&both), ["rapl/package-0"]);
        assert_eq!(added(&both[..2]), both[..2]);
        assert_eq!(
            added(&["hwmon/power_meter/power1", "rapl/package-0"]),
            ["rapl/package-0"]
        );
    }

    #[test]
    fn sockets_of_amd_are_told_by_their_label() {
        assert_eq!(
            zone("hwmon/amd_energy/energy65", "Esocket0").part,
            Part::Package
        );
        assert_eq!(
            zone("hwmon/amd_energy/energy1", "Ecore000").part,
            Part::Inside
        );
        assert_eq!(added(&["hwmon/coretemp/temp1", "psi/cpu"]), [""; 0]);
    }
}
