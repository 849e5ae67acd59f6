//! Which functions are recorded, and whether all of them are.

use std::collections::BTreeMap;
use std::path::Path;

use instr_tests::outcome::{Check, ensure};
use instr_tests::process::Run;
use instr_tests::toolchain::need;

use super::place::{DEBIAN, Place, is_of_the_program, needs, packages, pyenv, text, wheels};

/// Calls of `work` in `pools.py`.
const CALLS: u64 = 100;

/// What each thread does, by its name: how (`begin` …), function, line.
pub(super) fn sequences(trace: &Path) -> Check<BTreeMap<String, Vec<[String; 3]>>> {
    need("babeltrace2")?;
    let shown = Run::new("babeltrace2")
        .arg("--no-delta")
        .arg(trace)
        .succeed()?
        .text();
    let after = |line: &str, key: &str| {
        let (_, rest) = line.split_once(key)?;
        Some(rest.split([',', ' ']).next().unwrap_or_default().to_owned())
    };
    let quoted = |line: &str, key: &str| {
        let (_, rest) = line.split_once(key)?;
        Some(rest.split('"').nth(1)?.to_owned())
    };
    let (mut texts, mut names) = (BTreeMap::new(), BTreeMap::new());
    let mut found: BTreeMap<String, Vec<[String; 3]>> = BTreeMap::new();
    for line in shown.lines() {
        let Some(thread) = after(line, "{ thread = ") else {
            continue;
        };
        if line.contains(" string: ") {
            let address = after(line, " address = ").unwrap_or_default();
            texts.insert(
                (thread, address),
                quoted(line, " text = ").unwrap_or_default(),
            );
        } else if line.contains(" thread_name: ") {
            names.insert(thread, quoted(line, " name = ").unwrap_or_default());
        } else if let Some((_, rest)) = line.split_once(" function_") {
            let how = rest.split(':').next().unwrap_or_default().to_owned();
            let address = after(line, " function = ").unwrap_or_default();
            let text = texts
                .get(&(thread.clone(), address))
                .cloned()
                .unwrap_or_default();
            // babeltrace2 shows the tab as two characters.
            let (name, place) = text.split_once("\\t").unwrap_or((text.as_str(), ""));
            if !is_of_the_program(name) {
                continue;
            }
            let name = name.rsplit('.').next().unwrap_or_default().to_owned();
            let line = place.rsplit(':').next().unwrap_or_default().to_owned();
            found.entry(thread).or_default().push([how, name, line]);
        }
    }
    let named = |thread: &String| names.get(thread).cloned().unwrap_or_else(|| thread.clone());
    Ok(found
        .iter()
        .map(|(thread, all)| (named(thread), all.clone()))
        .collect())
}

/// Thread by thread the calls that a profiler in plain Python sees, in the same order.
pub(super) fn same_calls(release: &'static str) -> Check {
    let place = Place::new(release)?;
    let [reference, program] = ["reference.py", "cases.py"].map(|name| place.program(name));
    let said = place
        .run(&[&reference, "reference.txt", &program])
        .succeed()?;
    ensure(said.text().contains("52 cases"), || format!("{said}"))?;
    place.recorded(&[&program]).succeed()?;
    let own = sequences(&place.at("out.instr"))?;
    let mut expected: BTreeMap<String, Vec<[String; 3]>> = BTreeMap::new();
    for line in std::fs::read_to_string(place.at("reference.txt"))?.lines() {
        let mut words = line.split('\t').map(str::to_owned);
        let thread = words.next().unwrap_or_default();
        let row = [(); 3].map(|()| words.next().unwrap_or_default());
        expected.entry(thread).or_default().push(row);
    }
    let names = |all: &BTreeMap<String, Vec<_>>| all.keys().cloned().collect::<Vec<_>>();
    ensure(names(&own) == names(&expected) && own.len() == 7, || {
        format!("threads {:?}, expected {:?}", names(&own), names(&expected))
    })?;
    for (thread, rows) in &expected {
        let found = &own[thread];
        for (number, (found, row)) in found.iter().zip(rows).enumerate() {
            // Of a generator that never goes on again the reference cannot know that it was suspended.
            let fits = match found[0].as_str() {
                "begin" => row[0] == "in",
                "resume" => row[0] == "resume",
                "suspend" => row[0] == "suspend" || row[0] == "out",
                _ => row[0] == "out",
            };
            ensure(fits && found[1..] == row[1..], || {
                format!("{thread}, event {number}: {found:?}, expected {row:?}")
            })?;
        }
        ensure(found.len() == rows.len(), || {
            format!("{thread}: {} events, expected {}", found.len(), rows.len())
        })?;
    }
    ensure(expected["at-once-0"].len() >= 1000, || {
        "too few events of threads".into()
    })
}

/// All calls of pools of processes, whichever way these begin and end.
pub(super) fn pools(release: &'static str, method: &str, ways: &[&str]) -> Check {
    let place = Place::new(release)?;
    for way in ways {
        let trace = format!("{way}.instr");
        let program = place.program("pools.py");
        let run = place.run(&["-m", "instr", "-o", &trace, &program, method, way]);
        text(&run.succeed()?, "328350\n")?;
        let calls = place.calls(&trace)?;
        let work = calls
            .iter()
            .filter(|(name, _)| name.rsplit('.').next() == Some("work"));
        let sum: u64 = work.map(|(_, calls)| calls).sum();
        ensure(sum == CALLS, || {
            format!("{method}, {way}: {sum} calls of {calls:?}")
        })?;
    }
    Ok(())
}

/// All calls by the workers of libraries that other people wrote.
pub(super) fn clients() -> Check {
    needs("joblib, dask, distributed")?;
    let place = Place::new(DEBIAN)?;
    let program = place.program("clients.py");
    for which in [
        "loky",
        "multiprocessing",
        "threading",
        "futures",
        "dask",
        "distributed",
    ] {
        let trace = format!("{which}.instr");
        let words = ["-m", "instr", "-f", "work", "-o", &trace, &program, which];
        let run = place.run(&words).env("PYTHONPATH", packages()?);
        text(&run.succeed()?, "70210\n")?;
        let calls = place.calls(&trace)?;
        let work = calls
            .iter()
            .filter(|(name, _)| name.rsplit('.').next() == Some("work"));
        let sum: u64 = work.map(|(_, calls)| calls).sum();
        ensure(sum == 60, || format!("{which}: {sum} calls of {calls:?}"))?;
    }
    Ok(())
}

/// Only what patterns choose is recorded.
pub(super) fn selection() -> Check {
    let place = Place::new(DEBIAN)?;
    place.write("tool.py", "class Grid:\n    def get(self): return 1\n    def step(self): return self.get()\n\ndef work(): return 2\n")?;
    place.write("app.py", "import json\nimport tool\n\ndef work():\n    return tool.work()\n\nfor _ in range(5):\n    work(); tool.Grid().step()\njson.loads('[]')\n")?;
    place.write(
        "list.txt",
        "# functions\nGrid.get # the first\n\ntool:work\n",
    )?;
    for (patterns, expected) in [
        (&["work"][..], &[("tool.work", 5), ("work", 5)][..]),
        (
            &["tool:*", "!tool:Grid", "!tool:<module>"],
            &[
                ("tool.Grid.get", 5),
                ("tool.Grid.step", 5),
                ("tool.work", 5),
            ],
        ),
        (
            &["tool:Grid.*"],
            &[("tool.Grid.get", 5), ("tool.Grid.step", 5)],
        ),
        (&["tool.py:2-2"], &[("tool.Grid.get", 5)]),
        (&["@list.txt"], &[("tool.Grid.get", 5), ("tool.work", 5)]),
        (&["json:loads"], &[("json.loads", 1)]),
        (&["!tool.py:*", "!<module>"], &[("work", 5)]),
    ] {
        let mut words = Vec::new();
        for pattern in patterns {
            words.extend(["-f", pattern]);
        }
        words.push("app.py");
        place.recorded(&words).succeed()?;
        let calls = place.calls("out.instr")?;
        let expected: BTreeMap<_, _> = expected
            .iter()
            .map(|(name, n)| ((*name).to_owned(), *n))
            .collect();
        ensure(calls == expected, || {
            format!("{patterns:?}: {calls:?}, expected {expected:?}")
        })?;
    }
    // A function that cloudpickle (joblib, dask) sent to a worker of its own program: its file has no name there.
    place.write("sent.py", "import json, sys\n\nsys.modules['__main__'].__file__ = json.__file__\nfor name, module in ('work', '__main__'), ('other', 'json'):\n    spaces = {'__name__': module}\n    exec(compile(f'def {name}(): pass', '<dynamic-code>', 'exec'), spaces)\n    spaces[name]()\n")?;
    place.recorded(&["-f", "user", "sent.py"]).succeed()?;
    let calls = place.calls("out.instr")?;
    let own = calls.get("work") == Some(&1) && !calls.contains_key("json.other");
    ensure(own, || format!("{calls:?}"))
}

pub(super) fn c_functions() -> Check {
    for release in [DEBIAN, "3.13"] {
        if release != DEBIAN && (pyenv(release).is_none() || wheels().is_err()) {
            continue;
        }
        let place = Place::new(release)?;
        place.write("app.py", "import math\n\ndef work(n):\n    a = []\n    a.append(math.sqrt(n))\n    try:\n        math.sqrt(-n - 1)\n    except ValueError:\n        a.append(len(a))\n\nfor n in range(6): work(n)\n")?;
        place.recorded(&["-c", "-f", "work", "app.py"]).succeed()?;
        let calls = place.calls("out.instr")?;
        let expected = [
            ("builtins.len", 6),
            ("math.sqrt", 12),
            ("list.append", 12),
            ("work", 6),
        ];
        for (name, n) in expected {
            ensure(calls.get(name) == Some(&n), || {
                format!("{release}, {name}: {calls:?}")
            })?;
        }
        // Those that end by an exception end.
        let all = sequences(&place.at("out.instr"))?
            .into_values()
            .next()
            .unwrap_or_default();
        let count = |how: &str| all.iter().filter(|row| row[0] == how).count();
        let found = [count("begin"), count("end"), count("unwind")];
        ensure(found[0] == 36 && found[2] == 6 && found[1] == 30, || {
            format!("{release}: {found:?}")
        })?;
    }
    Ok(())
}

/// The list can be given back.
pub(super) fn list() -> Check {
    let place = Place::new(DEBIAN)?;
    place.write("app.py", "import time\n\ndef often(): pass\n\ndef slow(): time.sleep(0.003)\n\nfor _ in range(50): often()\nslow(); slow()\n")?;
    let shown = place
        .run(&["-m", "instr", "functions", "app.py"])
        .succeed()?
        .text();
    let has = |words: &str| shown.lines().any(|line| line.contains(words));
    ensure(has("# often: 50 calls") && has("# slow: 2 calls"), || {
        shown.clone()
    })?;
    place
        .run(&[
            "-m",
            "instr",
            "functions",
            "--min-time",
            "1000",
            "-f",
            "!<module>",
            "-o",
            "list.txt",
            "app.py",
        ])
        .succeed()?;
    place.recorded(&["-f", "@list.txt", "app.py"]).succeed()?;
    let calls = place.calls("out.instr")?;
    ensure(calls == BTreeMap::from([("slow".to_owned(), 2)]), || {
        format!("{calls:?}")
    })
}
