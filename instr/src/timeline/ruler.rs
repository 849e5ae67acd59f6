//! Ticks of a time axis at round numbers.

/// A tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tick {
    /// Its time, ns.
    pub(crate) at: u64,
    /// With its unit.
    pub(crate) label: String,
}

/// Units and their names, the largest first.
const UNITS: [(u64, &str); 4] = [
    (1_000_000_000, "s"),
    (1_000_000, "ms"),
    (1_000, "us"),
    (1, "ns"),
];

/// Ticks from `from` to `to` at multiples of 1, 2 or 5 times a power of ten, as many as fit when a label and the gap beside it take
/// `room(characters)` of the time, ns.
pub(crate) fn ticks(from: u64, to: u64, room: impl Fn(usize) -> u64) -> Vec<Tick> {
    let (mut step, mut most) = (1u64, 1000);
    loop {
        let unit = unit_of(to, step);
        let widest = label(to - to % step, step, unit).chars().count();
        if step >= room(widest) {
            break;
        }
        if step > u64::MAX / 10 {
            most = 1;
            break;
        }
        step = next(step);
    }
    let unit = unit_of(to, step);
    let first = from.div_ceil(step);
    let count = (to / step + 1).saturating_sub(first);
    let tick = |number: u64| {
        let at = (first + number).saturating_mul(step);
        Tick {
            at,
            label: label(at, step, unit),
        }
    };
    if count == 0 || first.saturating_mul(step) > to {
        let unit = unit_of(from, 1);
        return vec![Tick {
            at: from,
            label: label(from, 1, unit),
        }];
    }
    (0..count.min(most)).map(tick).collect()
}

/// 1, 2, 5, 10, 20 …
fn next(step: u64) -> u64 {
    let mut power = 1;
    while step / power >= 10 {
        power *= 10;
    }
    match step / power {
        1 => 2 * power,
        2 => 5 * power,
        _ => power.saturating_mul(10),
    }
}

/// The largest unit that the end has one of, but none in which a step would need more than six decimals.
fn unit_of(end: u64, step: u64) -> (u64, &'static str) {
    let fits = |(unit, _): &&(u64, &str)| end >= *unit && step.saturating_mul(1_000_000) >= *unit;
    UNITS.iter().find(fits).copied().unwrap_or((1, "ns"))
}

/// A time with as many decimals as the step needs.
fn label(time: u64, step: u64, (unit, name): (u64, &str)) -> String {
    let mut decimals = 0;
    let mut whole = unit;
    while !step.is_multiple_of(whole) && whole > 1 {
        (whole, decimals) = (whole / 10, decimals + 1);
    }
    let fraction = time % unit / whole.max(1);
    match decimals {
        0 => format!("{} {name}", time / unit),
        _ => format!("{}.{fraction:0decimals$} {name}", time / unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(from: u64, to: u64, columns: u64) -> Vec<String> {
        let width = (to - from).div_ceil(columns);
        let ticks = ticks(from, to, |characters| width * (characters as u64 + 2));
        ticks.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn labels_are_round_and_have_room() {
        assert_eq!(
            labels(0, 100_000_000, 60),
            ["0 ms", "20 ms", "40 ms", "60 ms", "80 ms", "100 ms"]
        );
        assert_eq!(
            labels(0, 2_000, 40),
            ["0.0 us", "0.5 us", "1.0 us", "1.5 us", "2.0 us"]
        );
        assert_eq!(labels(0, 900, 20), ["0 ns", "500 ns"]);
        assert_eq!(
            labels(1_000_000_000, 1_000_300_000, 60),
            ["1.0000 s", "1.0001 s", "1.0002 s", "1.0003 s"]
        );
        assert_eq!(labels(7, 8, 60), ["7 ns"]);
    }

    #[test]
    fn ticks_lie_in_the_time_whatever_it_is() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..2000 {
            let from = random.u64(..) >> random.u32(..64);
            let to = from.saturating_add(random.u64(..) >> random.u32(..64));
            let columns = random.u64(1..300);
            let width = (to - from).div_ceil(columns).max(1);
            let found = ticks(from, to, |characters| {
                width.saturating_mul(characters as u64 + 2)
            });
            assert!(
                found.iter().all(|tick| (from..=to).contains(&tick.at)),
                "{from} {to}"
            );
            for pair in found.windows(2) {
                let columns = (pair[1].at - pair[0].at) / width;
                assert!(
                    columns as usize >= pair[0].label.chars().count(),
                    "{pair:?}"
                );
            }
        }
    }
}
