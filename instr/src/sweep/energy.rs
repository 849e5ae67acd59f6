//! What the machine takes while a run without a trace goes on.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::series::rapl::Zones;

/// Meters of 32 bits begin again after a minute at the soonest (a package that takes a kilowatt, in steps of 15 µJ).
const PERIOD: Duration = Duration::from_secs(20);

/// Calls `run`; what the machine took meanwhile, J, where its meters say so.
pub(super) fn around<T>(meters: Option<&mut Zones>, run: impl FnOnce() -> T) -> (T, Option<f64>) {
    let Some(meters) = meters.filter(|meters| meters.machine_microjoules().is_some()) else {
        return (run(), None);
    };
    meters.read();
    let before = meters.machine_microjoules().unwrap_or(0);
    let result = beside(PERIOD, || meters.read(), run);
    meters.read();
    let after = meters.machine_microjoules().unwrap_or(before);
    (result, Some((after - before) as f64 * 1e-6))
}

/// Calls `run`, and `read` each `period` meanwhile, on another thread.
pub(super) fn beside<T>(
    period: Duration,
    mut read: impl FnMut() + Send,
    run: impl FnOnce() -> T,
) -> T {
    std::thread::scope(|scope| {
        let (over, wait) = channel::<()>();
        scope.spawn(move || {
            while wait.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
                read();
            }
        });
        let result = run();
        drop(over);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_and_its_memory_are_read_before_and_after() {
        let dir = tempfile::tempdir().unwrap();
        let zone = |path: &str, name: &str| {
            let folder = dir.path().join("class/powercap").join(path);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("name"), name).unwrap();
            std::fs::write(folder.join("max_energy_range_uj"), "10000000").unwrap();
            std::fs::write(folder.join("energy_uj"), "9000000").unwrap();
            folder.join("energy_uj")
        };
        let package = zone("intel-rapl:0", "package-0");
        let core = zone("intel-rapl:0:0", "core");
        let memory = zone("intel-rapl:0:1", "dram");
        let mut meters = Zones::open(dir.path(), &mut |why| panic!("{why}"));
        // 3 J with a new beginning, of which 2 J of cores are a part, and 0.5 J of memory.
        let (result, joules) = around(Some(&mut meters), || {
            std::fs::write(&package, "2000000").unwrap();
            std::fs::write(&core, "1000000").unwrap();
            std::fs::write(&memory, "9500000").unwrap();
            7
        });
        assert_eq!((result, joules), (7, Some(3.5)));
        // Again from there on, and without meters.
        assert_eq!(around(Some(&mut meters), || 0), (0, Some(0.0)));
        let mut none = Zones::open(&dir.path().join("none"), &mut |why| panic!("{why}"));
        assert_eq!(around(Some(&mut none), || 0), (0, None));
        assert_eq!(around(None, || 0), (0, None));
    }
}
