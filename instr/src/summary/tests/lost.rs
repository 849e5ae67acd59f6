//! What is counted where events were lost, worked out by hand.

use instr_trace::names::NoNames;
use serde_json::{Value, json};

use super::super::summarize;
use super::{AT, Stream, alone};

fn summary(fill: impl Fn(&mut Stream)) -> Value {
    let (_dir, trace) = alone(fill);
    let summary = summarize(&trace, &NoNames, None, |_| {}).unwrap();
    serde_json::to_value(summary).unwrap()
}

const OUTSIDE: &str = "(outside of parallel regions)";

#[test]
fn a_region_that_lost_the_end_of_its_implicit_task_is_over_all_the_same() {
    let summary = summary(|thread| {
        thread.parallel_begin(AT + 10, 1, 0x100, 1, 0u32).unwrap();
        thread.implicit_begin(AT + 20, (0, 1), 0, 1).unwrap();
        // Here implicit_end is missing.
        thread.parallel_end(AT + 500, 1).unwrap();
        thread.loop_begin(AT + 600, 2u32, 0, 10, 1, 1).unwrap();
        thread.work_end(AT + 700, false).unwrap();
        thread.masked_begin(AT + 710).unwrap();
        thread.masked_end(AT + 720).unwrap();
        thread.task_create(AT + 730, 1, 0x300, 0x8000, &[]).unwrap();
        thread.task_begin(AT + 740, (0, 1)).unwrap();
        thread.task_end(AT + 790).unwrap();
        thread.task_created(AT + 800).unwrap();
        thread.thread_end(AT + 1000).unwrap();
    });
    assert_eq!(summary["parallel_regions"][0]["total_ns"], json!(490));
    assert_eq!(summary["loops"][0]["label"], OUTSIDE);
    assert_eq!(summary["masked"][0]["label"], OUTSIDE);
    assert_eq!(summary["task_functions"][0]["total_ns"], json!(50));
    let efficiency = &summary["efficiency"];
    assert_eq!(efficiency["parallel_ns"], json!(490));
    assert_eq!(efficiency["region_useful_ns"], json!(480));
    // 0 to 10 and 500 to 1000, but for the loop that asks in vain (100) and the creation (20).
    assert_eq!(efficiency["serial_useful_ns"], json!(10 + 500 - 100 - 20));
    assert_eq!(summary["threads"][0]["useful_ns"], json!(480 + 390));
}

#[test]
fn regions_and_locks_that_a_gap_cuts_count_up_to_its_end_and_loops_do_not_count() {
    let summary = summary(|thread| {
        thread.parallel_begin(AT + 10, 1, 0x100, 1, 0u32).unwrap();
        thread.implicit_begin(AT + 20, (0, 1), 0, 1).unwrap();
        thread.mutex_acquire(AT + 30, 5u32, 0x10).unwrap();
        thread.mutex_acquired(AT + 40, 5u32, 0x10).unwrap();
        thread.loop_begin(AT + 50, 2u32, 0, 10, 1, 1).unwrap();
        thread.close_packet().unwrap();
        thread.lose_packet();
        // Nothing runs behind the gap; the ends below have lost their begins.
        thread.mutex_released(AT + 300, 5u32, 0x10).unwrap();
        thread.work_end(AT + 310, false).unwrap();
        thread.parallel_end(AT + 320, 1).unwrap();
        thread.thread_end(AT + 400).unwrap();
    });
    assert_eq!(summary["parallel_regions"][0]["total_ns"], json!(290));
    assert_eq!(summary["efficiency"]["parallel_ns"], json!(290));
    assert_eq!(summary["criticals"][0]["held_ns"], json!(260));
    assert_eq!(summary["loops"], json!([]));
}

#[test]
fn a_lock_whose_request_is_lost_counts_without_a_wait() {
    let summary = summary(|thread| {
        thread.mutex_acquired(AT + 10, 5u32, 0x10).unwrap();
        thread.mutex_released(AT + 30, 5u32, 0x10).unwrap();
        thread.mutex_failed(AT + 40, 5u32, 0x10).unwrap();
        thread.thread_end(AT + 50).unwrap();
    });
    let lock = &summary["criticals"][0];
    assert_eq!(lock["count"], json!(1));
    assert_eq!(lock["held_ns"], json!(20));
    for field in ["wait_ns", "failed", "contended"] {
        assert_eq!(lock[field], json!(0), "{field}");
    }
}

#[test]
fn a_loop_that_begins_with_its_region_leaves_the_loop_around_the_region_alone() {
    let summary = summary(|thread| {
        thread.loop_begin(AT + 100, 2u32, 0, 10, 1, 1).unwrap();
        thread.chunk_begin(AT + 110, 0, 10).unwrap();
        thread.parallel_begin(AT + 120, 1, 0x100, 1, 1u32).unwrap();
        thread.implicit_begin(AT + 130, (0, 1), 0, 1).unwrap();
        thread.dispatch(AT + 140).unwrap();
        thread.chunk_begin(AT + 150, 0, 5).unwrap();
        thread.dispatch(AT + 160).unwrap();
        thread.work_end(AT + 170, false).unwrap();
        thread.implicit_end(AT + 180).unwrap();
        thread.parallel_end(AT + 190, 1).unwrap();
        thread.dispatch(AT + 300).unwrap();
        thread.work_end(AT + 310, false).unwrap();
        thread.thread_end(AT + 400).unwrap();
    });
    let loops = summary["loops"].as_array().unwrap();
    assert_eq!(loops.len(), 1, "{loops:?}");
    assert_eq!(loops[0]["label"], OUTSIDE);
    assert_eq!(loops[0]["total_ns"], json!(210));
    assert_eq!(loops[0]["chunks"], json!(1));
    assert_eq!(loops[0]["chunk_times"]["total_ns"], json!(190));
    assert_eq!(loops[0]["chunk_iterations"]["total"], json!(10));
}

#[test]
fn a_wait_lasts_on_while_its_task_is_suspended_and_the_task_does_not() {
    let summary = summary(|thread| {
        thread.task_begin(AT + 10, (0, 1)).unwrap();
        thread.sync_begin(AT + 20, 6u32).unwrap();
        thread.task_suspend(AT + 30).unwrap();
        thread.task_resume(AT + 90, (0, 1)).unwrap();
        thread.sync_end(AT + 100, 6u32).unwrap();
        thread.task_end(AT + 110).unwrap();
        thread.thread_end(AT + 120).unwrap();
    });
    assert_eq!(summary["syncs"][0]["kind"], "taskyield");
    assert_eq!(summary["syncs"][0]["total_ns"], json!(80));
    assert_eq!(summary["task_functions"][0]["total_ns"], json!(40));
    assert_eq!(summary["tasks"]["suspended"], json!(1));
}
