//! What to do about a sensor that does not work.

/// Advice for a sensor or counter that is missing for this reason; nothing when nothing helps.
pub(super) fn of(name: &str, why: &str) -> Option<&'static str> {
    let family = name.split('/').next().unwrap_or(name);
    let denied = why.contains("permission") || why.contains("permitted");
    match family {
        "rapl" | "rapl-mmio" | "rapl-amd" if denied => Some(
            "as root: chmod a+r /sys/class/powercap/*/energy_uj, again after each start of the machine (or a udev rule). Programs of others can then \
             watch what the processor computes through its energy (CVE-2020-8694): not on a machine that is shared",
        ),
        "rapl" => Some(
            "on the machine itself, as root: modprobe intel_rapl_msr (AMD since Zen has it too, Linux 5.8)",
        ),
        "hwmon" | "thermal" if denied => Some("as root: chmod a+r on the file"),
        "hwmon" => Some(
            "on the machine itself: sensors-detect (package lm-sensors) finds the driver of its chip",
        ),
        "perf-energy" if denied => {
            Some("as root: sysctl kernel.perf_event_paranoid=0, or CAP_PERFMON for the program")
        }
        "psi" => Some("start the kernel with psi=1"),
        "ipmi" if denied => {
            Some("as root, or: chgrp to a group of yours and chmod g+rw /dev/ipmi0")
        }
        "ipmi" if why.contains("no /dev/ipmi0") => Some(
            "as root: modprobe ipmi_si ipmi_devintf; acpi_power_meter shows power as hwmon/power_meter",
        ),
        _ if denied => {
            Some("as root: sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON for the program")
        }
        _ if why.contains("does not count it") => {
            Some("in a virtual machine: its host must pass the counters on (KVM: -cpu host,pmu=on)")
        }
        _ => None,
    }
}

/// Advice for a module of series that does not have all.
pub(super) fn of_series(module: &str, why: &str) -> Option<&'static str> {
    let denied = why.contains("permitted") || why.contains("may not be read");
    match module {
        "energy" if denied => of("rapl", why),
        "energy" if !why.is_empty() => of("rapl", "no zone"),
        "memory-traffic" if denied => of("perf-energy", why),
        "pressure" if !why.is_empty() => of("psi", why),
        "counters" if denied => of("counters", why),
        "counters" if why.contains("no such event") => of("counters", "does not count it"),
        _ => None,
    }
}

/// What a tool is good for.
pub(super) fn of_tool(name: &str) -> &'static str {
    match name {
        "g++" | "clang++" => "C++ programs",
        "gfortran" => "Fortran programs",
        "ar" => "static libraries",
        name if name.starts_with("ld") || name == "mold" => "links with -fuse-ld",
        _ => "C programs",
    }
}

/// The package of Debian and Ubuntu that has a tool.
pub(super) fn package(name: &str) -> Option<&'static str> {
    Some(match name {
        "cc" | "gcc" => "install the package gcc",
        "g++" => "install the package g++",
        "gfortran" => "install the package gfortran",
        "clang" | "clang++" => "install the package clang, and libomp-dev for OpenMP",
        "ld" | "ar" => "install the package binutils",
        "ld.gold" => "install the package binutils-gold",
        "ld.lld" => "install the package lld",
        "mold" => "install the package mold",
        _ => return None,
    })
}

/// What a sensor shows, or all of its family.
pub(super) fn of_sensor(name: &str) -> &'static str {
    match name.split('/').next().unwrap_or(name) {
        "rapl" | "rapl-mmio" | "rapl-amd" | "perf-energy" => {
            "energy of the processor and its memory"
        }
        "hwmon" => "temperatures, voltages and power of the board",
        "thermal" => "temperatures",
        "cpufreq" => "the processors' frequency",
        "psi" => "how much programs wait for processors, memory and disks",
        "schedstat" => "how long threads wait for a processor",
        "ipmi" => "power of the whole machine",
        _ => "a sensor",
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn permission_comes_before_absence() {
        assert!(
            of("rapl/package-0", "permission denied: root only")
                .unwrap()
                .contains("CVE-2020-8694")
        );
        assert!(of("rapl", "no zone").unwrap().contains("modprobe"));
        for name in ["hwmon/coretemp/temp1", "thermal/zone0"] {
            let advice = of(name, "permission denied").unwrap();
            assert!(advice.contains("chmod a+r"), "{name}: {advice}");
        }
        assert!(of("hwmon", "no device").unwrap().contains("sensors-detect"));
        assert_eq!(of("thermal", "no device"), None);
        let counts = [("perf-energy/pkg", "=0"), ("cycles", "=1")];
        for (name, level) in counts {
            let advice = of(name, "not permitted").unwrap();
            let setting = format!("perf_event_paranoid{level}");
            assert!(advice.contains(&setting), "{name}: {advice}");
        }
        assert_eq!(of("cpufreq", "no driver"), None);
    }
}
