//! Mutual exclusion by object: waiting, holding, and which acquisitions were contended.

/// What happened to one critical section or lock. Times in ns.
#[derive(Debug, Default)]
pub struct MutexCount {
    /// Acquisitions.
    pub count: u64,
    /// Acquisitions whose thread found the object taken: another thread's last release before it comes after its own request.
    pub contended: u64,
    /// Failed tries.
    pub failed: u64,
    /// From request to acquisition, and in failed tries.
    pub wait_ns: u64,
    /// The longest of them.
    pub wait_max_ns: u64,
    /// From acquisition to release.
    pub held_ns: u64,
    /// The longest of them.
    pub held_max_ns: u64,
    releases: Releases,
    /// Thread of the latest acquisition, when that is not (yet) known to be contended.
    free: Option<u32>,
}

/// The latest release, and the latest one by any other thread than that.
#[derive(Debug, Default)]
struct Releases {
    latest: Option<(u32, u64)>,
    other: Option<u64>,
}

impl Releases {
    fn add(&mut self, thread: u32, now: u64) {
        if let Some((before, time)) = self.latest
            && before != thread
        {
            self.other = Some(time);
        }
        self.latest = Some((thread, now));
    }

    /// The latest release by another thread than this one.
    fn by_others(&self, thread: u32) -> Option<u64> {
        match self.latest {
            Some((latest, time)) if latest != thread => Some(time),
            _ => self.other,
        }
    }
}

impl MutexCount {
    /// `thread` has it now; it asked at `asked`, if that is known.
    pub fn acquired(&mut self, thread: u32, asked: Option<u64>, now: u64) {
        self.count += 1;
        let Some(asked) = asked else {
            self.free = None;
            return;
        };
        let wait = now.saturating_sub(asked);
        self.waits(wait);
        let contended = self
            .releases
            .by_others(thread)
            .is_some_and(|time| time > asked);
        self.contended += u64::from(contended);
        self.free = (!contended).then_some(thread);
    }

    /// A try that took `ns` found it taken.
    pub fn refused(&mut self, ns: u64) {
        self.failed += 1;
        self.wait_ns = self.wait_ns.saturating_add(ns);
    }

    /// It was free when a thread asked for it.
    pub fn taken(&mut self) {
        self.count += 1;
        self.free = None;
    }

    /// A thread has it now that is known to have waited for it so long.
    pub fn waited(&mut self, ns: u64) {
        self.count += 1;
        self.contended += 1;
        self.free = None;
        self.waits(ns);
    }

    fn waits(&mut self, ns: u64) {
        self.wait_ns = self.wait_ns.saturating_add(ns);
        self.wait_max_ns = self.wait_max_ns.max(ns);
    }

    /// `thread`, which has had it since `since`, gives it back.
    pub fn released(&mut self, thread: u32, since: u64, now: u64) {
        self.held(now.saturating_sub(since));
        self.releases.add(thread, now);
        // libomp tells of a release after it, so that the next thread may have told of its acquisition already.
        if let Some(next) = self.free
            && next != thread
        {
            self.contended += 1;
            self.free = None;
        }
    }

    /// It was held for that long; the end was not seen.
    pub fn held(&mut self, ns: u64) {
        self.held_ns = self.held_ns.saturating_add(ns);
        self.held_max_ns = self.held_max_ns.max(ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acquisition_is_contended_when_the_holder_releases_after_the_request() {
        let mut mutex = MutexCount::default();
        mutex.acquired(0, Some(10), 11);
        mutex.released(0, 11, 50);
        assert_eq!(mutex.contended, 0, "the first");
        // Thread 1 asked at 20, while thread 0 had it.
        mutex.acquired(1, Some(20), 52);
        mutex.released(1, 52, 60);
        assert_eq!(mutex.contended, 1);
        // Thread 0 comes after that, and once more: its own release does not count.
        mutex.acquired(0, Some(70), 71);
        mutex.released(0, 71, 80);
        mutex.acquired(0, Some(79), 81);
        mutex.released(0, 81, 90);
        assert_eq!((mutex.count, mutex.contended), (4, 1));
        assert_eq!((mutex.wait_ns, mutex.wait_max_ns), (1 + 32 + 1 + 2, 32));
        assert_eq!((mutex.held_ns, mutex.held_max_ns), (39 + 8 + 9 + 9, 39));
    }

    #[test]
    fn who_tries_again_and_again_waits() {
        let mut mutex = MutexCount::default();
        mutex.acquired(0, Some(0), 1);
        for _ in 0..10 {
            mutex.refused(7);
        }
        assert_eq!((mutex.count, mutex.failed, mutex.wait_ns), (1, 10, 71));
    }

    #[test]
    fn own_releases_in_between_do_not_hide_those_of_others() {
        let mut mutex = MutexCount::default();
        mutex.acquired(1, Some(0), 1);
        mutex.released(1, 1, 30);
        mutex.acquired(0, Some(31), 32);
        mutex.released(0, 32, 33);
        mutex.acquired(0, Some(34), 35);
        mutex.released(0, 35, 36);
        assert_eq!(mutex.contended, 0);
        // Asked before thread 1's release at 30: an event of a task that came from elsewhere.
        mutex.acquired(0, Some(29), 37);
        assert_eq!(mutex.contended, 1);
    }

    #[test]
    fn a_release_told_late_makes_the_acquisition_before_it_contended_once() {
        let mut mutex = MutexCount::default();
        mutex.acquired(0, Some(0), 1);
        mutex.acquired(1, Some(10), 40);
        mutex.released(0, 1, 41);
        assert_eq!(mutex.contended, 1);
        mutex.released(1, 40, 50);
        assert_eq!(mutex.contended, 1);
    }

    #[test]
    fn any_schedule_of_one_lock_counts_what_the_definition_says() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut below = |limit: u64| random.u64(..limit);
        for _ in 0..200 {
            // (thread, asked, has, releases), one after the other.
            let mut holds: Vec<(u32, u64, u64, u64)> = Vec::new();
            let mut free = 0;
            for _ in 0..below(30) {
                let thread = below(4) as u32;
                let own = holds.iter().rev().find(|hold| hold.0 == thread);
                let from = own.map_or(0, |hold| hold.3);
                let asked = from + below(60);
                let has = asked.max(free) + below(3);
                free = has + 1 + below(20);
                holds.push((thread, asked, has, free));
            }
            let expected = (0..holds.len())
                .filter(|&at| {
                    let (thread, asked, ..) = holds[at];
                    let others = holds[..at].iter().filter(|hold| hold.0 != thread);
                    others.map(|hold| hold.3).max() > Some(asked)
                })
                .count();
            let mut mutex = MutexCount::default();
            for &(thread, asked, has, releases) in &holds {
                mutex.acquired(thread, Some(asked), has);
                mutex.released(thread, has, releases);
            }
            assert_eq!(mutex.contended, expected as u64, "{holds:?}");
        }
    }
}
