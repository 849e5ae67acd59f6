//! Shares of samples whose functions are known.

use super::Collector;
use instr_trace::event::SamplingClock;
use instr_trace::model::Sample;
use instr_trace::{CodeName, Names};

/// Every hundred addresses from 1000 on are a function.
struct Hundreds;

impl Names for Hundreds {
    fn resolve(&self, address: u64) -> Option<CodeName> {
        (1000..2000).contains(&address).then(|| CodeName {
            function: Some(format!("f{}", address / 100)),
            ..CodeName::default()
        })
    }

    fn object(&self, address: u64) -> Option<String> {
        (900..2000).contains(&address).then(|| "libf.so".to_owned())
    }
}

#[test]
fn shares_are_weighed_by_periods_and_recursion_counts_once() {
    let mut collector = Collector::new(&Hundreds);
    collector.take(&Sample::Begins {
        clock: SamplingClock::Ticks,
        period_ns: 1_000_000,
    });
    for weight in [3, 1] {
        collector.taken(1110, weight, [1201, 1201, 1201, 7, 1300].into_iter());
    }
    collector.taken(1250, 4, [1300].into_iter());
    collector.taken(5, 2, std::iter::empty());
    collector.take(&Sample::Lost { periods: 9 });
    let samples = collector.finish().unwrap();
    assert_eq!((samples.taken, samples.periods, samples.lost), (4, 10, 9));
    let of = |name: &str| {
        let found = samples.functions.iter().find(|f| f.function == name);
        found.map(|f| (f.share, f.inclusive_share)).unwrap()
    };
    assert_eq!(of("f11"), (0.4, 0.4));
    assert_eq!(of("f12"), (0.4, 0.8));
    // The return address 1300 follows a call at the end of f12.
    assert_eq!(of("(unknown)"), (0.2, 0.2));
    assert!(samples.functions.iter().all(|f| f.function != "f13"));
    assert_eq!(samples.paths[0].periods, 4);
    assert_eq!(
        samples.paths[0].functions,
        ["f11", "f12", "f12", "f12", "f12"]
    );
    // Code of a library that is delivered without the names of its static functions.
    let mut collector = Collector::new(&Hundreds);
    collector.taken(950, 1, [1301].into_iter());
    let samples = collector.finish().unwrap();
    assert_eq!(samples.paths[0].functions, ["[libf.so]", "f13"]);
    assert!(Collector::new(&Hundreds).finish().is_none());
}
