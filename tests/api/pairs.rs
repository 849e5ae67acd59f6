//! `pairs PAIRS INSIDE OUTSIDE [CONFIG]`: what pairs.c does, on two threads of Rust. Every region is left by a panic.
use std::ffi::CString;
use std::panic::{catch_unwind, set_hook};

fn events(kind: u32, count: u64) {
    for number in 1..=count {
        let _ = catch_unwind(|| {
            let _region = instr_api::region(if kind == 5 { c"inside" } else { c"outside" });
            instr_api::event(kind, number);
            panic!("left");
        });
    }
}

fn on_two_threads(kind: u32, count: u64) {
    std::thread::scope(|scope| {
        scope.spawn(|| events(kind, count));
        events(kind, count);
    });
}

fn main() {
    set_hook(Box::new(|_| {}));
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| words[at].parse::<u64>().unwrap();
    let config = words.get(3).map(|text| CString::new(text.as_str()).unwrap());
    let mut started = 0;
    events(6, number(2));
    for pair in 0..number(0) {
        let recording = match config.as_deref().filter(|_| pair == 0) {
            Some(config) => instr_api::Recording::with(config),
            None => instr_api::Recording::start(),
        };
        started += recording.result() + instr_api::start(None);
        on_two_threads(5, number(1));
        instr_api::counter(c"pair", pair as i64);
        drop(recording);
        on_two_threads(6, number(2));
    }
    println!("started {started} stopped {}", instr_api::stop());
}
