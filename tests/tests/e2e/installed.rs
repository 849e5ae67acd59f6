//! Debian's programs as they are, under `instr run`: the same bytes, the same status, a trace that babeltrace2 reads, and as much processor time as the
//! shell counts. The programs are those of `bench/installed/programs.toml`, whose time `make bench` measures.

use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;
use toml::Table;

/// Runs words with their output in a file, says what the shell and they used, and ends as they do.
const SCRIPT: &str =
    "out=$1; shift; \"$@\" > \"$out\" 2> /dev/null; status=$?; times; exit $status";

pub(crate) fn trials() -> Vec<Trial> {
    let Ok(programs) = programs() else {
        // The list is a file of the project: without it, one test fails and says so.
        return vec![trial("installed::programs", || programs().map(drop))];
    };
    programs
        .into_iter()
        .map(|program| {
            let name = text(&program, "name").to_lowercase();
            trial(format!("installed::{name}"), move || as_alone(&program))
        })
        .collect()
}

fn programs() -> Check<Vec<Table>> {
    let file = workspace::root()?.join("bench/installed/programs.toml");
    let read = std::fs::read_to_string(file)?;
    let table: Table = read
        .parse()
        .map_err(|error: toml::de::Error| error.to_string())?;
    let list = table.get("program").and_then(|list| list.as_array());
    let tables = list.into_iter().flatten().filter_map(|one| one.as_table());
    let tables: Vec<_> = tables.cloned().collect();
    ensure(tables.len() > 5, || "programs are missing".into())?;
    Ok(tables)
}

fn text<'a>(program: &'a Table, key: &str) -> &'a str {
    let value = program.get(key).and_then(|value| value.as_str());
    value.unwrap_or_default()
}

/// Seconds in what `times` of a shell prints: user and system time of itself and of its children.
fn seconds(times: &str) -> Check<f64> {
    let mut sum = 0.0;
    let words: Vec<_> = times.split_whitespace().collect();
    ensure(words.len() == 4, || format!("times: {times}"))?;
    for word in words {
        let parts = word.strip_suffix('s').and_then(|word| word.split_once('m'));
        let (minutes, seconds) = parts.ok_or_else(|| format!("times: {times}"))?;
        let number = |text: &str| text.parse::<f64>().map_err(|error| error.to_string());
        sum += 60.0 * number(minutes)? + number(seconds)?;
    }
    Ok(sum)
}

fn as_alone(program: &Table) -> Check {
    if !std::path::Path::new(text(program, "needs")).exists() {
        let package = text(program, "package");
        return Err(Stop::Skip(format!("{package} is not installed")));
    }
    need("babeltrace2")?;
    let dir = workspace::work_dir(&format!("installed-{}", text(program, "name")))?;
    let sized = |text: &str| text.replace("{n}", self::text(program, "small"));
    let prepare = Run::words(["sh", "-ec", &sized(text(program, "prepare"))]);
    prepare.dir(dir.path()).succeed()?;
    let words = program.get("command").and_then(|value| value.as_array());
    let words = words.into_iter().flatten().filter_map(|word| word.as_str());
    let words: Vec<String> = words.map(sized).collect();
    let run = |run: Run, out: &str| {
        let run = run.args(["sh", "-c", SCRIPT, "sh", out]).args(&words);
        let environment = program
            .get("environment")
            .and_then(|value| value.as_table());
        let environment = environment.into_iter().flatten();
        environment
            .fold(run.dir(dir.path()), |run, (name, value)| {
                run.env(name, value.as_str().unwrap_or_default())
            })
            .output()
    };
    let plain = run(Run::words(["env"]), "plain.out")?;
    let status = program.get("status").and_then(|value| value.as_integer());
    let status =
        instr_tests::process::Status::Code(i32::try_from(status.unwrap_or(0)).unwrap_or(-1));
    ensure(plain.status == status, || format!("{plain}"))?;
    let printed = std::fs::read(dir.path().join("plain.out"))?;
    ensure(!printed.is_empty(), || "it prints nothing".into())?;
    if let Some(answer) = program.get("answer").and_then(|value| value.as_str()) {
        let value = program
            .get("answers")
            .and_then(|answers| answers.get("small"));
        let value = value.and_then(|value| value.as_str()).unwrap_or_default();
        let answer = answer.replace("{n}", value);
        ensure(printed == answer.as_bytes(), || {
            format!("{} for {answer}", String::from_utf8_lossy(&printed))
        })?;
    }

    let tool = &tools()?.instr;
    let instr = |words: &[&str]| Run::new(tool).args(words).dir(dir.path());
    let traced = instr(&["run", "-q", "-o", "trace.instr", "--"]);
    let traced = run(traced, "traced.out")?;
    ensure(traced.status == status, || format!("{traced}"))?;
    ensure(
        std::fs::read(dir.path().join("traced.out"))? == printed,
        || "it prints something else under instr run".into(),
    )?;
    let trace = dir.path().join("trace.instr");
    Run::words(["babeltrace2"]).arg(&trace).succeed()?;
    let read = Run::words(["babeltrace2"])
        .arg(trace.join("kernel"))
        .succeed()?;
    ensure(read.text().lines().count() > 10, || format!("{read}"))?;
    let shown = instr(&["processors", "--json", "trace.instr"]);
    let shown: Value =
        serde_json::from_str(&shown.succeed()?.text()).map_err(|error| error.to_string())?;
    if let Some(why) = shown["trouble"].as_str() {
        return Err(Stop::NotAllowed(format!("context switches: {why}")));
    }
    ensure(shown["lost"] == 0, || "events were lost".into())?;
    let applications = shown["applications"].as_array();
    let on = applications.into_iter().flatten();
    let on: f64 = on.filter_map(|one| one["on_processor_ns"].as_f64()).sum();
    let (on, used) = (on / 1e9, seconds(&traced.text())?);
    // The kernel counts for the shell without interrupts and other machines' turns; its own end, and instr's part before the exec, are in one of both.
    ensure(on >= used * 0.97 - 0.03 && on <= used * 1.25 + 0.15, || {
        format!("{on:.3} s on processors, {used:.3} s by times")
    })?;
    let summary = instr(&["summary", "trace.instr"]).succeed()?;
    ensure(summary.text().contains("processors"), || {
        format!("{summary}")
    })
}
