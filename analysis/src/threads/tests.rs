//! Threads in made-up calls of the model.

use super::*;

fn collector(threads: u32) -> Collector {
    let info = |index| ThreadInfo {
        index,
        os_tid: 100 + index,
        name: String::new(),
        initial: index == 0,
        worker: false,
        first_time: 0,
        last_time: 1000,
        discarded: 0,
        truncated: false,
        packets: 1,
        bytes: 0,
    };
    let infos: Vec<_> = (0..threads).map(info).collect();
    Collector::new(&infos)
}

fn at(position: usize, time: u64) -> At {
    At {
        time,
        position,
        body: 0,
    }
}

fn since(time: u64) -> Since {
    Since {
        here: time,
        first: Some(time),
    }
}

const MUTEX: (MutexKind, u64) = (MutexKind::Mutex, 0x5000);

fn lock(site: u64, found: Found) -> Mark<'static> {
    let (kind, object) = MUTEX;
    Mark::Lock {
        kind,
        object,
        site,
        found,
    }
}

#[test]
fn locks_count_at_the_calls_that_took_them() {
    let mut all = collector(2);
    let (kind, object) = MUTEX;
    let (hold, acquire) = (Span::Hold { kind, object }, Span::Acquire { kind, object });
    // Thread 0 takes it by call 1 and holds it for 30; thread 1 waits by call 2 for 20, and holds it for 5.
    all.mark(at(0, 10), lock(1, Found::Free));
    all.begin(at(0, 10), &hold, Begin::Found);
    all.mark(at(1, 20), lock(2, Found::Held));
    all.begin(at(1, 20), &acquire, Begin::Told);
    all.end(at(0, 40), &hold, End::Told, since(10));
    all.end(at(1, 40), &acquire, End::Told, since(20));
    all.begin(at(1, 40), &hold, Begin::Told);
    // A try by call 3 finds it held, a wait by call 1 is given up after 3.
    all.mark(at(0, 41), lock(3, Found::Refused));
    all.mark(at(0, 41), lock(1, Found::Held));
    all.begin(at(0, 41), &acquire, Begin::Told);
    all.end(at(0, 44), &acquire, End::Refused, since(41));
    all.end(at(1, 45), &hold, End::Told, since(40));
    // A critical section has no call: its wait is not that of the mutex, whose call was the last one, and found it held.
    let critical = Span::Acquire {
        kind: MutexKind::Critical,
        object: 0x7000,
    };
    all.begin(at(1, 50), &critical, Begin::Told);
    all.end(at(1, 90), &critical, End::Told, since(50));
    let locks = all.finish().locks;
    let first = LockCount {
        count: 1,
        contended: 0,
        failed: 1,
        wait_ns: 3,
        wait_max_ns: 3,
        held_ns: 30,
        held_max_ns: 30,
    };
    let second = LockCount {
        count: 1,
        contended: 1,
        failed: 0,
        wait_ns: 20,
        wait_max_ns: 20,
        held_ns: 5,
        held_max_ns: 5,
    };
    let third = LockCount {
        failed: 1,
        ..LockCount::default()
    };
    let of = |site| (kind, object, site);
    let expected = [(of(1), first), (of(2), second), (of(3), third)];
    assert_eq!(locks, BTreeMap::from(expected));
}

#[test]
fn threads_have_their_creators_also_when_these_are_told_later() {
    let mut all = collector(3);
    let start = |creator, seq, handle| Mark::StartThread {
        creator,
        seq,
        function: 0x400,
        handle,
    };
    let create = |seq, site| Mark::CreateThread {
        seq,
        function: 0x400,
        site,
    };
    all.mark(at(1, 5), start(0, 7, 0xabc));
    all.mark(at(0, 6), create(7, 0x77));
    all.mark(at(0, 7), Mark::CreatedThread { error: 0 });
    all.mark(at(2, 8), start(1, 0, 0xdef)); // its creation was lost
    all.mark(at(0, 9), create(8, 0x78));
    all.mark(at(0, 9), Mark::CreatedThread { error: 11 });
    let kind = SyncKind::Join;
    let wait = Mark::Wait {
        kind,
        object: 0xabc,
        site: 0x99,
    };
    all.mark(at(0, 10), wait);
    all.end(at(0, 60), &Span::Sync(kind), End::Told, since(10));
    let report = all.finish();
    let birth = |creator, site| Birth {
        creator,
        function: 0x400,
        site,
    };
    assert_eq!(
        report.births,
        [None, Some(birth(0, Some(0x77))), Some(birth(1, None))]
    );
    assert_eq!(report.not_made, 1);
    let waits: Vec<_> = report.waits.into_iter().collect();
    assert_eq!(waits.len(), 1);
    assert_eq!(waits[0].0, (kind, Object::Thread(1), 0x99));
    assert_eq!(waits[0].1.total_ns, 50);
}

#[test]
fn who_has_an_interpreters_lock_is_a_thread_by_the_systems_number() {
    let mut all = collector(3);
    let kind = SyncKind::Interpreter;
    for (object, begin, end) in [(102, 10, 15), (102, 20, 27), (7, 30, 31)] {
        let site = 0x99;
        let wait = Mark::Wait { kind, object, site };
        all.mark(at(1, begin), wait);
        all.end(at(1, end), &Span::Sync(kind), End::Told, since(begin));
    }
    let waits: Vec<_> = all.finish().waits.into_iter().collect();
    let found: Vec<_> = waits
        .iter()
        .map(|((_, object, _), times)| (*object, times.count, times.total_ns))
        .collect();
    assert_eq!(
        found,
        [(Object::Thread(2), 2, 12), (Object::Address(7), 1, 1)]
    );
}
