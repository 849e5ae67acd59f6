//! End-to-end tests; what they are and how to steer them is in the library's documentation.

mod api;
mod attach;
mod bindings;
mod bindings_of_sources;
mod boundaries;
mod conformance;
mod costs;
mod diff;
mod diff_trials;
mod ebpf;
mod figures;
mod footprint;
mod install;
mod installed;
mod interrupted;
mod kept_names;
mod launcher;
mod layers;
mod libomp;
mod libomp_links;
mod live;
mod locks;
mod manual;
mod matrix;
mod memory;
mod meters;
mod mistyped;
mod no_trace;
mod perf_sched;
mod perfetto;
mod plot;
mod predict;
mod preload;
mod preload_heap;
mod processors;
mod processors_sections;
mod programs;
mod pthread;
mod python;
mod readme;
mod redirected;
mod report;
mod robust;
mod sampling;
mod sensors;
mod series;
mod small_disk;
mod sparselu;
mod sweep;
mod sweep_folders;
mod switches;
mod symbols;
mod tables;
mod terminal;
mod timeline;
mod transparency;
mod verdicts;
mod viewers;

use instr_tests::queue;
use libtest_mimic::Trial;

const PARTS: &[fn() -> Vec<Trial>] = &[
    queue::scripts,
    queue::other_executables,
    api::trials,
    attach::trials,
    bindings::trials,
    bindings_of_sources::trials,
    boundaries::trials,
    interrupted::trials,
    launcher::trials,
    layers::trials,
    figures::trials,
    symbols::trials,
    terminal::trials,
    timeline::trials,
    programs::trials,
    conformance::trials,
    libomp::trials,
    libomp_links::trials,
    live::trials,
    locks::trials,
    sparselu::trials,
    robust::trials,
    sensors::trials,
    series::trials,
    verdicts::trials,
    sweep::trials,
    sweep_folders::trials,
    switches::trials,
    meters::trials,
    memory::trials,
    perf_sched::trials,
    perfetto::trials,
    viewers::trials,
    tables::trials,
    plot::trials,
    predict::trials,
    preload::trials,
    preload_heap::trials,
    python::trials,
    processors::trials,
    processors_sections::trials,
    ebpf::trials,
    pthread::trials,
    report::trials,
    sampling::trials,
    footprint::trials,
    costs::trials,
    diff::trials,
    diff_trials::trials,
    transparency::trials,
    matrix::trials,
    redirected::trials,
    manual::trials,
    install::trials,
    installed::trials,
    readme::trials,
    kept_names::trials,
    no_trace::trials,
    mistyped::trials,
];

fn main() {
    queue::run(PARTS.iter().flat_map(|trials| trials()).collect());
}
