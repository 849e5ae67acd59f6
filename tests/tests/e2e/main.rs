//! End-to-end tests; what they are and how to steer them is in the library's documentation.

mod programs;
mod robust;

use libtest_mimic::{Arguments, Trial};

/// Two tests at once: each starts compilers and programs of several threads.
const THREADS: usize = 2;

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    let trials: Vec<Trial> = [programs::trials(), robust::trials()].into_iter().flatten().collect();
    libtest_mimic::run(&arguments, trials).exit();
}
