//! End-to-end tests; what they are and how to steer them is in the library's documentation.

mod boundaries;
mod conformance;
mod footprint;
mod install;
mod libomp;
mod libomp_links;
mod manual;
mod matrix;
mod memory;
mod meters;
mod programs;
mod robust;
mod sampling;
mod sensors;
mod sparselu;
mod symbols;
mod transparency;

use libtest_mimic::{Arguments, Trial};

/// Two tests at once: each starts compilers and programs of several threads.
const THREADS: usize = 2;

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    let parts: [fn() -> Vec<Trial>; 17] = [
        boundaries::trials,
        symbols::trials,
        programs::trials,
        conformance::trials,
        libomp::trials,
        libomp_links::trials,
        sparselu::trials,
        robust::trials,
        sensors::trials,
        meters::trials,
        memory::trials,
        sampling::trials,
        footprint::trials,
        transparency::trials,
        matrix::trials,
        manual::trials,
        install::trials,
    ];
    let trials = parts.into_iter().flat_map(|trials| trials()).collect();
    libtest_mimic::run(&arguments, trials).exit();
}
