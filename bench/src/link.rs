//! Link time of instr-cc against the plain driver, once everything is in the caches.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::run::{Bench, cost, ensure_traced, output};
use crate::stats::Compared;
use crate::table::Row;

/// A small program (sparselu) and one of many objects.
pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let small = bench.fresh("link_small")?;
    bench.make_example("sparselu", &[("BUILD", small.as_os_str())])?;
    let objects = [
        "sparselu_task",
        "kernels",
        "matrix",
        "program",
        "sparselu_count",
    ]
    .map(|name| small.join(format!("{name}.o")));
    let many = generate(bench, bench.choose(300, 20))?;
    Ok(vec![
        row(
            bench,
            &format!("link of a small program ({} objects)", objects.len()),
            &objects,
        )?,
        row(
            bench,
            &format!("link of a larger program ({} objects)", many.len()),
            &many,
        )?,
    ])
}

/// Compiles `count` files with a few hundred functions each, one of them with OpenMP, all with debugging information.
fn generate(bench: &Bench, count: usize) -> Result<Vec<PathBuf>> {
    let folder = bench.path("link_many");
    std::fs::create_dir_all(&folder)?;
    let mut objects = Vec::new();
    for file in 0..count {
        let (source, object) = (
            folder.join(format!("f{file}.c")),
            folder.join(format!("f{file}.o")),
        );
        let mut text = String::from("#include <stdio.h>\n");
        for function in 0..200 {
            let _ = writeln!(
                text,
                "int f{file}_{function}(int x) {{ return x * {function} + {file}; }}"
            );
        }
        if file == 0 {
            text.push_str("int main(void) {\n#pragma omp parallel\n puts(\"x\");\n return 0; }\n");
        }
        if !object.exists() {
            std::fs::write(&source, text)?;
            output(
                Command::new("gcc")
                    .args(["-O1", "-g", "-fopenmp", "-c"])
                    .arg(&source)
                    .arg("-o")
                    .arg(&object),
            )?;
        }
        objects.push(object);
    }
    Ok(objects)
}

fn row(bench: &Bench, what: &str, objects: &[PathBuf]) -> Result<Row> {
    let program = bench.path("linked");
    let link = |mut command: Command| {
        command
            .args(objects)
            .args(["-fopenmp", "-lm", "-o"])
            .arg(&program);
        cost(&mut command).map(|cost| cost.time.as_secs_f64() * 1e3)
    };
    let plain = || link(Command::new("gcc"));
    let traced = || {
        let mut command = bench.tool("instr-cc");
        command.arg("gcc");
        link(command)
    };
    traced()?; // fills the cache
    let trace = bench.fresh("linked.instr")?;
    output(
        Command::new(&program)
            .env("INSTR_TRACE", &trace)
            .env("INSTR_KEEP", "0")
            .env("OMP_NUM_THREADS", "2"),
    )?;
    ensure_traced(&trace)?;
    let compared = Compared::measure(bench.choose(11, 3), plain, traced)?;
    Ok(Row::at_most(
        what,
        1.1,
        "×",
        compared.ratio(),
        2,
        format!(
            "plain {:.0} ms, instr-cc {:.0} ms, A/A ±{:.2}; of the least times {:.2}×",
            compared.plain(),
            compared.changed(),
            compared.ratio_noise(),
            compared.best_ratio(),
        ),
    ))
}
