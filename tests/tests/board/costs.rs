//! What one construct costs where code size counts: instructions on the board in memory, x86-64.

use instr_tests::board::{Board, Host, Sources};
use instr_tests::callgrind::gate;
use instr_tests::outcome::Check;
use instr_tests::toolchain::{Build, Target, need};
use instr_tests::workspace;

/// Executions of the construct in the shorter and in the longer run.
const COUNTS: [u64; 2] = [1000, 3000];

/// Construct of `tests/costs/costs.c`, and the most instructions that recording adds to one on a team of one thread: those of GCC 12 and a
/// sixteenth more. More than a third of them are the board's own services, a processor's number and its counter: registers on a real board, functions here.
const COSTS: [(&str, f64); 8] = [
    ("event", 126.0),
    ("region", 305.0),
    ("parallel", 785.0),
    ("loop", 957.0),
    ("critical", 460.0),
    ("task", 673.0),
    ("undeferred", 649.0),
    ("depend", 775.0),
];

pub(crate) fn instructions() -> Check {
    need("valgrind")?;
    let board = Board::new(Host::X86_64, "board-costs")?;
    // All fits into one buffer: handing one over is not part of a construct's cost.
    let config = "policy = \"end\"\nbuffer = \"1M\"\nsink = \"ram\"\n[image]\npool = \"8M\"\n";
    let traced = board.build_sources(Sources {
        config,
        files: &["costs/costs.c"],
        flags: &["-O2", "-fopenmp", "-pthread"],
        heap: false,
    })?;
    let plain = board.path("plain");
    let source = workspace::root()?.join("tests/costs/costs.c");
    let build = Build::openmp(Target::X86_64).flag("-O2");
    build.plain(&[&source], &plain)?;
    gate(
        &COSTS,
        COUNTS,
        [plain, traced],
        |program, construct, count| board.instructions(program, &[construct, &count.to_string()]),
    )
}
