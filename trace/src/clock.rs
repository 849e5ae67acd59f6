//! Ticks to nanoseconds: piecewise linear between `clock_sync` pairs, monotone.

use crate::metadata::Metadata;

/// Pairs closer than this are thinned out: their jitter would show as a wrong slope.
const MIN_SPACING_NS: u64 = 10_000_000;
/// Most segments kept; beyond, the spacing is doubled.
const MAX_POINTS: usize = 1 << 16;

/// A clock that is read twice is not this many times faster than its frequency, after so many nanoseconds that a thread may wait between its two
/// clocks. Damaged pairs seldom keep to that.
const MAX_RATE: u64 = 2;
const MAX_DELAY_NS: u64 = 1_000_000_000;
/// A thread that is about to write its reading of the clock waits no longer for a processor, seconds.
const MAX_SECONDS: u64 = 10;
/// Times end here, 2.3 years: what is later is damaged, and sums of such times over many threads would leave the range of 64 bits.
pub(crate) const MAX_NS: u64 = 1 << 56;

/// One segment: `ns + ((t - ticks) * factor >> shift)` from `ticks` on.
#[derive(Clone, Copy, Debug)]
struct Segment {
    ticks: u64,
    ns: u64,
    factor: u64,
    shift: u32,
}

impl Segment {
    /// A segment with `dn` nanoseconds in `dt` ticks; `dt` is not 0.
    fn new(ticks: u64, ns: u64, dt: u64, dn: u64) -> Self {
        let mut shift = 48;
        loop {
            let factor = (u128::from(dn) << shift) / u128::from(dt.max(1));
            match u64::try_from(factor) {
                Ok(factor) => {
                    return Self {
                        ticks,
                        ns,
                        factor,
                        shift,
                    };
                }
                Err(_) => shift -= 1,
            }
        }
    }

    #[inline]
    fn at(&self, ticks: u64) -> u64 {
        let elapsed = ticks.saturating_sub(self.ticks);
        let ns = (u128::from(elapsed) * u128::from(self.factor)) >> self.shift;
        self.ns
            .saturating_add(u64::try_from(ns).unwrap_or(u64::MAX))
            .min(MAX_NS)
    }
}

/// Converts the clock of one trace to nanoseconds since the trace's start.
#[derive(Clone, Debug)]
pub struct Clock {
    segments: Vec<Segment>,
    /// Pairs that cannot be, and were left out.
    refused: usize,
}

impl Clock {
    /// The clock of a trace from its metadata and the pairs found in its streams (in any order).
    pub(crate) fn new(metadata: &Metadata, pairs: SyncPairs) -> Self {
        let start = (metadata.start_ticks, 0);
        let freq = if metadata.clock.freq == 0 {
            1_000_000_000
        } else {
            metadata.clock.freq
        };
        let mut points = vec![start];
        let mut refused = pairs.refused;
        for (ticks, monotonic) in pairs.sorted() {
            let Some(ns) = monotonic.checked_sub(metadata.start_monotonic_ns) else {
                continue;
            };
            let (last_ticks, last_ns) = points[points.len() - 1];
            if ticks <= last_ticks || ns <= last_ns {
                continue;
            }
            let expected = u128::from(ticks - last_ticks) * 1_000_000_000 / u128::from(freq);
            let most = expected * u128::from(MAX_RATE) + u128::from(MAX_DELAY_NS);
            if metadata.clock.freq != 0 && u128::from(ns - last_ns) > most {
                refused += 1;
                continue;
            }
            points.push((ticks, ns));
        }
        let points = thin(points, MIN_SPACING_NS);
        let mut segments: Vec<Segment> = points
            .windows(2)
            .map(|pair| {
                Segment::new(
                    pair[0].0,
                    pair[0].1,
                    pair[1].0 - pair[0].0,
                    pair[1].1 - pair[0].1,
                )
            })
            .collect();
        match (segments.last().copied(), points.last()) {
            // Behind the last pair the last slope holds on.
            (Some(last), Some(&(ticks, ns))) => segments.push(Segment { ticks, ns, ..last }),
            _ => segments.push(Segment::new(start.0, 0, freq, 1_000_000_000)),
        }
        Self { segments, refused }
    }

    /// How many pairs were left out, since no clock goes like that.
    pub(crate) fn refused(&self) -> usize {
        self.refused
    }

    /// Nanoseconds since the trace's start; 0 for anything earlier.
    pub fn to_ns(&self, ticks: u64) -> u64 {
        self.to_ns_near(ticks, &mut 0)
    }

    /// [`Clock::to_ns`] for a run of growing tick values: `hint` keeps the segment between calls (0 at first).
    #[inline]
    pub fn to_ns_near(&self, ticks: u64, hint: &mut usize) -> u64 {
        let segment = &self.segments[(*hint).min(self.segments.len() - 1)];
        let next = self.segments.get(*hint + 1);
        if segment.ticks <= ticks && next.is_none_or(|next| ticks < next.ticks) {
            return segment.at(ticks);
        }
        *hint = self
            .segments
            .partition_point(|segment| segment.ticks <= ticks)
            .saturating_sub(1);
        self.segments[*hint].at(ticks)
    }
}

/// Keeps points at least `spacing` apart, and the last one. Empty of segments (one point) when the whole span is shorter.
fn thin(points: Vec<(u64, u64)>, spacing: u64) -> Vec<(u64, u64)> {
    let mut kept = vec![points[0]];
    for &point in &points[1..] {
        if point.1 - kept[kept.len() - 1].1 >= spacing {
            kept.push(point);
        }
    }
    let last = points[points.len() - 1];
    if kept.len() > 1 && kept[kept.len() - 1] != last {
        let end = kept.len() - 1;
        kept[end] = last;
    }
    kept
}

/// `clock_sync` pairs on their way to a [`Clock`], thinned so that they never take more than a few megabytes.
#[derive(Clone, Debug)]
pub(crate) struct SyncPairs {
    pairs: Vec<(u64, u64)>,
    spacing: u64,
    refused: usize,
    /// Ticks that a reading is later than its event at most; 0: not known.
    longest: u64,
}

impl Default for SyncPairs {
    fn default() -> Self {
        Self {
            pairs: Vec::new(),
            spacing: 1,
            refused: 0,
            longest: 0,
        }
    }
}

impl SyncPairs {
    /// For the streams of a trace.
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            longest: metadata.clock.freq.saturating_mul(MAX_SECONDS),
            ..Self::default()
        }
    }

    /// Adds (ticks, monotonic ns) of an event with this time, ticks. A reading that was made long after it is left out.
    pub(crate) fn push_of_event(&mut self, event: u64, ticks: u64, monotonic_ns: u64) {
        if self.longest != 0 && ticks > event.saturating_add(self.longest) {
            self.refused += 1;
            return;
        }
        self.push(ticks, monotonic_ns);
    }

    /// Adds (ticks, monotonic ns).
    pub(crate) fn push(&mut self, ticks: u64, monotonic_ns: u64) {
        self.pairs.push((ticks, monotonic_ns));
        if self.pairs.len() > 4 * MAX_POINTS {
            self.pairs.sort_unstable();
            while self.pairs.len() > MAX_POINTS {
                self.spacing = self.spacing.saturating_mul(2);
                let mut last = None;
                let spacing = self.spacing;
                self.pairs.retain(|&(_, ns)| {
                    let keep = last.is_none_or(|last| ns >= last && ns - last >= spacing);
                    if keep {
                        last = Some(ns);
                    }
                    keep
                });
            }
        }
    }

    fn sorted(mut self) -> Vec<(u64, u64)> {
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(freq: u64, start: u64) -> Metadata {
        let mut metadata = Metadata {
            start_ticks: start,
            start_monotonic_ns: 5_000,
            ..Metadata::default()
        };
        metadata.clock.freq = freq;
        metadata
    }

    #[test]
    fn without_pairs_the_frequency_holds() {
        let clock = Clock::new(&metadata(2_600_000_000, 100), SyncPairs::default());
        assert_eq!(clock.to_ns(99), 0);
        assert!(clock.to_ns(100 + 2_600_000_000).abs_diff(1_000_000_000) <= 1);
        let exact = 86_400u128 * 1_000_000_000;
        let got = clock.to_ns(100 + 2_600_000_000 * 86_400);
        assert!(
            exact - u128::from(got) <= 2,
            "a day is off by {}",
            exact - u128::from(got)
        );
    }

    #[test]
    fn pairs_bend_the_line_and_it_stays_monotone() {
        let mut pairs = SyncPairs::default();
        pairs.push(1_000_000 + 100_000_000, 5_000 + 100_000_000);
        pairs.push(1_000_000 + 150_000_000, 5_000 + 200_000_000);
        let clock = Clock::new(&metadata(1_000_000_000, 1_000_000), pairs);
        let near = |ticks: u64, ns: u64| {
            assert!(
                clock.to_ns(ticks).abs_diff(ns) <= 1,
                "{} {ns}",
                clock.to_ns(ticks)
            )
        };
        near(1_000_000 + 50_000_000, 50_000_000);
        near(1_000_000 + 100_000_000, 100_000_000);
        near(1_000_000 + 125_000_000, 150_000_000);
        near(1_000_000 + 175_000_000, 250_000_000);
        let (mut hint, mut last) = (0, 0);
        for ticks in (0..300_000_000).step_by(99_991) {
            let ns = clock.to_ns_near(ticks, &mut hint);
            assert!(ns >= last);
            assert_eq!(ns, clock.to_ns(ticks));
            last = ns;
        }
    }

    #[test]
    fn extreme_ticks_saturate() {
        let clock = Clock::new(&metadata(1, 0), SyncPairs::default());
        assert_eq!(clock.to_ns(u64::MAX), MAX_NS);
    }

    /// A pair with any one bit of its nanoseconds flipped moves no time by more than some seconds, and a large jump is noticed.
    #[test]
    fn pairs_that_cannot_be_are_left_out() {
        let start = 7_000_000_000_000;
        for bit in 0..64 {
            let mut pairs = SyncPairs::default();
            for at in 1..5u64 {
                let ns = 5_000 + at * 100_000_000;
                let told = if at == 3 { ns ^ 1 << bit } else { ns };
                pairs.push(start + at * 240_000_000, told);
            }
            let clock = Clock::new(&metadata(2_400_000_000, start), pairs);
            let (mut hint, mut last) = (0, 0);
            for ms in 0..800 {
                let ns = clock.to_ns_near(start + ms * 2_400_000, &mut hint);
                assert!(
                    ns.abs_diff(ms * 1_000_000) <= 10 * MAX_DELAY_NS,
                    "bit {bit}, {ms} ms: {ns}"
                );
                assert!(ns >= last, "bit {bit}");
                last = ns;
            }
            assert_eq!(clock.refused() > 0, bit >= 31, "bit {bit}");
        }
    }
}
