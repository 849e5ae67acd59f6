//! Processors over time by parallel sections, applications and threads: the times of sections are those that threads measure of themselves, and pictures
//! and lists tell apart what is asked for.

use std::collections::BTreeMap;
use std::path::PathBuf;

use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Run, Status};
use instr_tests::toolchain::{Build, Target, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use tempfile::TempDir;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("processors::sections-have-the-times-of-threads", times),
        trial("processors::one-application-of-several", applications),
        trial(
            "processors::sections-are-refused-where-there-are-none",
            refused,
        ),
    ]
}

/// Threads add up their own processor time in two regions; prints it, and that of the process.
const PROGRAM: &str = "#include <stdio.h>\n#include <time.h>\nstatic long long at(clockid_t id)\n{\n    struct timespec t;\n    clock_gettime(id, &t);\n    return t.tv_sec * 1000000000LL + t.tv_nsec;\n}\n\
static void work(long long ns)\n{\n    long long end = at(CLOCK_THREAD_CPUTIME_ID) + ns;\n    while (at(CLOCK_THREAD_CPUTIME_ID) < end)\n        ;\n}\n\
__attribute__((noinline)) static long long first(void)\n{\n    long long sum = 0;\n#pragma omp parallel num_threads(2) reduction(+ : sum)\n    {\n        long long begin = at(CLOCK_THREAD_CPUTIME_ID);\n        work(15000000);\n        sum += at(CLOCK_THREAD_CPUTIME_ID) - begin;\n    }\n    return sum;\n}\n\
__attribute__((noinline)) static long long second(void)\n{\n    long long sum = 0;\n#pragma omp parallel num_threads(2) reduction(+ : sum)\n    {\n        long long begin = at(CLOCK_THREAD_CPUTIME_ID);\n        work(7000000);\n        sum += at(CLOCK_THREAD_CPUTIME_ID) - begin;\n    }\n    return sum;\n}\n\
int main(void)\n{\n    long long sums[2] = {0, 0};\n    for (int i = 0; i < 6; i++) {\n        work(5000000);\n        sums[0] += first();\n        work(2000000);\n        sums[1] += second();\n    }\n    printf(\"first=%lld second=%lld all=%lld\\n\", sums[0], sums[1], at(CLOCK_PROCESS_CPUTIME_ID));\n    return 0;\n}\n";

struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Check<Self> {
        let dir = workspace::work_dir("sections")?;
        let place = Self { dir };
        std::fs::write(place.at("two.c"), PROGRAM)?;
        Build::openmp(Target::X86_64).plain(&[&place.at("two.c")], &place.at("two"))?;
        Ok(place)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn instr(&self, words: &[&str]) -> Check<Run> {
        Ok(Run::new(&tools()?.instr).args(words).dir(self.dir.path()))
    }

    /// Runs words into a trace, and gives what they printed.
    fn traced(&self, trace: &str, words: &[&str]) -> Check<String> {
        let run = self.instr(&["run", "-o", trace, "--"])?.args(words);
        let outcome = run.env("OMP_WAIT_POLICY", "passive").succeed()?;
        match outcome
            .errors()
            .contains("context switches are not recorded")
        {
            true => Err(Stop::NotAllowed("context switches".into())),
            false => Ok(outcome.text()),
        }
    }

    /// Sums of the list's times by its last field, ns; and the number of its fields.
    fn sums(&self, words: &[&str]) -> Check<(BTreeMap<String, u64>, usize)> {
        let list = self.instr(&["processors", "--csv", "-"])?.args(words);
        let list = list.succeed()?.text();
        let mut sums = BTreeMap::new();
        let mut fields = 0;
        for line in list.lines().skip(1) {
            let words: Vec<&str> = line.split(',').collect();
            let number = |at: usize| words[at].parse::<u64>().map_err(|error| error.to_string());
            fields = words.len();
            let name = words[fields - 1].split(" [").next().unwrap_or("");
            *sums.entry(name.to_owned()).or_insert(0) += number(2)? - number(1)?;
        }
        Ok((sums, fields))
    }
}

fn between(what: &str, found: u64, told: f64) -> Check {
    // What the kernel does for a thread at a switch, and turns of the machine's host, are in the slices, not in the thread's clock.
    let (least, most) = (told * 0.97 - 2e6, told * 1.20 + 10e6);
    ensure((least..=most).contains(&(found as f64)), || {
        format!("{what}: {found}, by its own clocks {told}")
    })
}

fn times() -> Check {
    let place = Place::new()?;
    let text = place.traced("two.instr", &["./two"])?;
    let told: BTreeMap<&str, f64> = text
        .split_whitespace()
        .filter_map(|word| word.split_once('='))
        .filter_map(|(name, number)| Some((name, number.parse().ok()?)))
        .collect();
    let (by_section, fields) = place.sums(&["two.instr", "--by", "section"])?;
    let of = |name: &str| by_section.get(name).copied().unwrap_or(0);
    ensure(by_section.len() == 3 && fields == 9, || {
        format!("{by_section:?}")
    })?;
    between("first", of("first"), told["first"])?;
    between("second", of("second"), told["second"])?;
    let rest = told["all"] - told["first"] - told["second"];
    between("sequential", of("sequential"), rest)?;
    // Slices are divided without a rest.
    let (whole, fields) = place.sums(&["two.instr"])?;
    ensure(fields == 8, || format!("{fields} fields"))?;
    let sums = [&by_section, &whole].map(|sums| sums.values().sum::<u64>());
    ensure(sums[0] == sums[1], || format!("{sums:?}"))?;
    for (by, names) in [
        ("section", &["first [", "second [", "sequential"][..]),
        ("thread", &["two ("]),
        ("application", &["two"]),
    ] {
        let svg = place.instr(&["processors", "two.instr", "--svg", "-", "--by", by])?;
        let svg = svg.succeed()?.text();
        for name in names {
            ensure(svg.contains(name), || format!("{by}: no {name}"))?;
        }
        let plot = [
            "plot",
            "two.instr",
            "--kind",
            "cores",
            "--by",
            by,
            "-o",
            "-",
        ];
        let plot = place.instr(&plot)?.succeed()?.text();
        ensure(plot.starts_with("<svg") || plot.contains("<svg"), || {
            by.to_owned()
        })?;
    }
    Ok(())
}

/// The sections of one program of two that ran at once; the other one is not told apart.
fn applications() -> Check {
    let place = Place::new()?;
    std::fs::copy(place.at("two"), place.at("other"))?;
    place.traced("two.instr", &["./two"])?;
    place.traced("other.instr", &["./other"])?;
    let both = ["two.instr", "other.instr", "--by", "section"];
    let (sums, _) = place.sums(&both)?;
    for name in ["two: first", "other: first", "two: sequential"] {
        ensure(sums.contains_key(name), || format!("no {name} in {sums:?}"))?;
    }
    let (sums, _) = place.sums(&[&both[..], &["--application", "other"]].concat())?;
    ensure(
        sums.keys()
            .map(String::as_str)
            .eq(["first", "second", "sequential"]),
        || format!("{sums:?}"),
    )?;
    let svg = [
        &["processors", "--svg", "-"][..],
        &both,
        &["--application", "two"],
    ]
    .concat();
    let svg = place.instr(&svg)?.succeed()?.text();
    ensure(svg.contains("other applications"), || svg.clone())?;
    let none = [
        &["processors", "--svg", "-"][..],
        &both,
        &["--application", "third"],
    ]
    .concat();
    let none = place.instr(&none)?.output()?;
    ensure(
        none.status == Status::Code(1)
            && none.errors().contains("there is no application third")
            && none.errors().contains("there are two ("),
        || none.to_string(),
    )
}

fn refused() -> Check {
    let place = Place::new()?;
    place.traced("sh.instr", &["sh", "-c", "echo"])?;
    for words in [
        &["processors", "sh.instr", "--svg", "-", "--by", "section"][..],
        &[
            "plot", "sh.instr", "--kind", "cores", "--by", "section", "-o", "x.svg",
        ],
    ] {
        let outcome = place.instr(words)?.output()?;
        ensure(
            outcome.status == Status::Code(1)
                && outcome.errors().contains("there is no parallel region"),
            || outcome.to_string(),
        )?;
    }
    ensure(!place.at("x.svg").exists(), || "half a picture".into())?;
    let alone = place
        .instr(&["processors", "sh.instr", "--by", "section"])?
        .output()?;
    ensure(alone.status == Status::Code(2), || alone.to_string())?;
    let words = [
        "plot", "sh.instr", "--kind", "cores", "--series", "nothing", "-o", "x.svg",
    ];
    let series = place.instr(&words)?.output()?;
    ensure(
        series.status == Status::Code(1)
            && series
                .errors()
                .contains("no series with nothing in its name"),
        || series.to_string(),
    )
}
