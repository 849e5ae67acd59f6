//! Which clock a program's times are of, by what the kernel says of its own: the runtime reads the processor's counter only where the kernel does.

use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Run, Status};
use libtest_mimic::Trial;

use super::Guest;

/// Names of the kernel's clocks (Linux: `arch/x86/kernel`, `drivers/clocksource`) and the clock that a trace has then.
const CLOCKS: [(&str, &str); 8] = [
    ("tsc", "tsc"),
    ("kvm-clock", "tsc"),
    ("hyperv_clocksource_tsc_page", "tsc"),
    ("xen", "tsc"),
    ("hpet", "monotonic"),
    ("acpi_pm", "monotonic"),
    ("jiffies", "monotonic"),
    ("refined-jiffies", "monotonic"),
];

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial(
        "robust::clock::the-counter-where-the-kernel-uses-it",
        as_the_kernel,
    )]
}

fn as_the_kernel() -> Check {
    let flags = std::fs::read_to_string("/proc/cpuinfo")?;
    if !flags
        .split_ascii_whitespace()
        .any(|flag| flag == "nonstop_tsc")
    {
        return Err(Stop::NotAllowed(
            "the processor does not say that its counter keeps one speed".into(),
        ));
    }
    let guest = Guest::build("events")?;
    let space = if instr_test_needs::administrator() {
        "--mount"
    } else {
        "-Urm" // user (mapped to root) and mounts
    };
    for (kernel, ours) in CLOCKS {
        std::fs::write(guest.path("clock"), format!("{kernel}\n"))?;
        let script = "mount --bind clock /sys/devices/system/clocksource/clocksource0/current_clocksource || exit 99; exec \"$@\"";
        let run = Run::words(["unshare", space, "sh", "-c", script, "sh"])
            .arg(&guest.traced)
            .arg("50")
            .env("INSTR_TRACE", kernel)
            .dir(guest.dir.path())
            .output()?;
        if run.status == Status::Code(99) || run.errors().contains("unshare:") {
            return Err(Stop::NotAllowed(format!(
                "no right to mount a file, not even in a name space: {}",
                run.errors().trim()
            )));
        }
        ensure(run.status == Status::Code(0), || format!("{run}"))?;
        let metadata = std::fs::read(guest.path(kernel).join("metadata"))?;
        let metadata = String::from_utf8_lossy(&metadata);
        let expected = format!("clock_source = \"{ours}\"");
        ensure(metadata.contains(&expected), || {
            let told = metadata
                .lines()
                .find(|line| line.contains("clock_source"))
                .unwrap_or("nothing");
            format!("the kernel's clock is {kernel}, the metadata say {told}")
        })?;
    }
    Ok(())
}
