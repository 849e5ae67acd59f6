use super::*;
use crate::constructs::Cost;
use crate::recorded::Recorded;
use crate::report::EventCost;
use crate::stats::Compared;

fn times(rounds: &[[f64; 3]]) -> Compared {
    let mut plain = rounds.iter().flat_map(|round| [round[0], round[2]]);
    let mut changed = rounds.iter().map(|round| round[1]);
    Compared::measure(
        rounds.len(),
        || plain.next().ok_or(()),
        || changed.next().ok_or(()),
    )
    .unwrap()
}

fn machine() -> Machine {
    Machine {
        processor: "Processor X".to_owned(),
        processors: 2,
        virtual_machine: true,
        programs: vec!["cc 1".to_owned()],
    }
}

fn program(times: Compared, recorded: Option<Recorded>) -> programs::Figures {
    programs::Figures {
        what: "fib",
        toolchain: toolchain::GCC,
        times,
        recorded,
        tasks: 1_000_000,
    }
}

fn construct(toolchain: Toolchain, threads: u32, events: Option<f64>) -> constructs::Figures {
    constructs::Figures {
        case: &CASES[0],
        threads,
        toolchain,
        cost: Cost {
            times: times(&[[100.0, 160.0, 104.0]]),
            in_memory: times(&[[100.0, 132.0, 104.0]]),
            events,
            bytes_per_event: 20.0,
        },
        instructions: None,
    }
}

const RECORDED: Recorded = Recorded {
    events: 4_000_000,
    tasks: 1_000_000,
    chunks: 0,
    bytes: 80_000_000,
};

#[test]
fn program_line_shows_ratio_noise_grain_and_rate() {
    let text = programs_table(&[program(times(&[[1.0, 1.6, 1.0]]), Some(RECORDED))]);
    let line = text.lines().last().unwrap();
    let cells: Vec<_> = line.split('|').map(str::trim).collect();
    assert_eq!(
        cells[1..12],
        [
            "fib", "gcc", "1.000 s", "1000000", "2.0 µs", "1.600", "±0.000", "4000000", "2.50 M",
            "20.0", "+300 ns"
        ]
    );
}

#[test]
fn what_is_not_recorded_is_said() {
    let plain = program(times(&[[1.0, 1.0, 1.0]]), None);
    assert!(unrecorded_programs(&[plain]).contains("Not recorded by this version: fib (gcc)"));
    let table = added_table(&[construct(toolchain::GCC, 1, None)]);
    assert!(table.contains("not recorded"), "{table}");
    let all = construct(toolchain::GCC, 1, Some(0.0));
    assert!(unrecorded(&[&all]).contains("`parallel`, empty (1 thread)"));
}

#[test]
fn compilers_stand_side_by_side() {
    let all = [
        construct(toolchain::ALL[0], 2, Some(6.0)),
        construct(toolchain::ALL[1], 2, Some(6.0)),
    ];
    let table = added_table(&all);
    assert_eq!(table.lines().count(), 3, "{table}");
    assert_eq!(table.matches("+58 ± 4 |").count(), 2, "{table}");
    assert_eq!(table.matches(" +30 |").count(), 2, "{table}");
}

#[test]
fn disturbed_and_short_runs_are_marked() {
    let document_of = |rounds: &[[f64; 3]], whole| {
        let report = Report {
            programs: vec![program(times(rounds), Some(RECORDED))],
            constructs: vec![construct(toolchain::GCC, 1, Some(6.0))],
            event: Some(EventCost {
                floor: 12.0,
                event: 16.0,
            }),
            symbolize: None,
            rows: Vec::new(),
            ..Report::default()
        };
        document(&report, &machine(), whole)
    };
    let calm = document_of(&[[1.0, 1.1, 1.0]], true);
    assert!(!calm.contains("not quiet") && !calm.contains("short"));
    assert!(calm.contains("Processor X, 2 processors of a virtual machine. With: cc 1."));
    assert!(calm.contains("(75 % of it)"));
    // 30 ns for 6 events in memory; 28 ns more for 120 bytes written.
    assert!(calm.contains("an event adds 5 ns"), "{calm}");
    assert!(calm.contains("adds 0.23 ns a byte"), "{calm}");
    assert!(document_of(&[[1.0, 1.1, 1.1]], true).contains("not quiet"));
    assert!(document_of(&[[1.0, 1.1, 1.0]], false).contains("short or partial"));
}

#[test]
fn lengths_of_time_have_a_unit_that_suits_them() {
    assert_eq!(time(850.4), "850 ns");
    assert_eq!(time(12_340.0), "12.3 µs");
    assert_eq!(time(12_340_000.0), "12.3 ms");
}
