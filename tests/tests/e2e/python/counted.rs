//! What counters of threads count in functions of Python: against what the kernel tells the program itself.

use std::collections::BTreeMap;

use instr_tests::outcome::{Check, Stop, ensure};
use instr_tests::process::Run;
use instr_tests::toolchain::tools;
use instr_tests::workspace;
use serde_json::Value;

use super::frames::fits;
use super::place::{DEBIAN, Place, needs, pyenv};

/// Sums up what a file of Paraver says of a counter, by function: what it grew by belongs to the innermost function that was open since the event before.
const FROM_PARAVER: &str = "\
import collections, sys
labels = [line.split(None, 2) for line in open('out.pcf') if line[:1].isdigit()]
counter = next(int(words[1]) for words in labels if len(words) > 2 and words[2].startswith('page-faults'))
names = {int(words[0]): words[1] for words in labels if len(words) > 2 and '(counted.py:' in words[2]}
open_now, kept, found = collections.defaultdict(list), collections.Counter(), collections.Counter()
for line in open('out.prv'):
    if line.startswith('2:'):
        words = [int(word) for word in line.split(':')]
        stack = open_now[tuple(words[2:5])]
        row = tuple(words[2:5])
        for kind, value in zip(words[6::2], words[7::2]):
            if kind == 60000019 and value:
                stack.append(value)
            elif kind == 60000019 and stack:
                stack.pop()
                kept[row] = min(kept[row], len(stack))
            elif kind == counter:
                if kept[row]:
                    found[row[1], names.get(stack[kept[row] - 1])] += value
                kept[row] = len(stack)
for task, name in sorted(found, key=str):
    if name:
        print(task, name, found[task, name])
";

/// The example of docs/python.md, of which the calls of each function are summed up here.
const PER_CALL: &str = "\
SELECT s.name, s.begin_ns, sum(c.grown) AS faults FROM spans s JOIN sensors c
ON c.process = s.process AND c.thread = s.thread AND c.since_ns >= s.begin_ns AND c.time_ns <= s.end_ns
WHERE s.kind = 'function' AND c.sensor = 'page-faults' GROUP BY s.process, s.thread, s.name, s.begin_ns ORDER BY faults DESC
";

/// The six rows of the histogram of page faults against plain arithmetic on the functions of the processes.
const HISTOGRAM: &str = "\
import statistics
import instr
with instr.open('out.instr') as trace:
    functions = trace.functions().to_pylist()
    for of in ('page-faults', 'page-faults_total'):
        rows = {row['row']: row for row in trace.histogram(of).to_pylist()}
        each = [row[of] for row in functions if row['name'] == 'touch']
        assert len(each) == 2 and min(each) >= 100 and max(each) >= 300, each
        expected = {'Total': sum(each), 'Average': sum(each) / 2, 'Maximum': max(each), 'Minimum': min(each),
                    'StDev': statistics.pstdev(each), 'Avg/Max': sum(each) / 2 / max(each)}
        assert {name: rows[name]['touch'] for name in expected} == expected, rows
    spans = trace.spans
    assert set(spans['process'].to_pylist()) == {0, 1}
    pieces = spans['process'].chunks
    assert len({piece.buffers()[1].address for piece in pieces}) == 2
    try:
        trace.histogram('cycles')
    except ValueError as error:
        assert 'page-faults' in str(error), error
    else:
        raise AssertionError
print('fits')
";

/// Page faults of each function by its name: without and with what it calls.
fn faults(summary: &Value) -> BTreeMap<String, [u64; 2]> {
    let mut found = BTreeMap::new();
    for function in summary["functions"].as_array().into_iter().flatten() {
        let counters = function["counters"].as_array();
        let counter = counters
            .into_iter()
            .flatten()
            .find(|counter| counter["name"] == "page-faults");
        if let (Some(name), Some(counter)) = (function["name"].as_str(), counter) {
            let number = |of: &str| counter[of].as_u64().unwrap_or(u64::MAX);
            found.insert(name.to_owned(), [number("own"), number("total")]);
        }
    }
    found
}

/// What the kernel told the program: for each factor, what to find in each function.
fn bounds(said: &str) -> BTreeMap<(u64, String), [u64; 2]> {
    let line = |line: &str| {
        let mut words = line.split(' ');
        let number = |word: Option<&str>| word.and_then(|word| word.parse::<u64>().ok());
        let (factor, name) = (number(words.next())?, words.next()?.to_owned());
        Some((
            (factor, name),
            [number(words.next())?, number(words.next())?],
        ))
    };
    said.lines().filter_map(line).collect()
}

/// Recursion, a generator that is suspended, an exception, a forked child. The same from the files for Paraver, and as a histogram.
pub(super) fn functions() -> Check {
    let newer = ["3.13", "3.12"]
        .into_iter()
        .find(|one| pyenv(one).is_some());
    for release in std::iter::once(DEBIAN).chain(newer) {
        let place = Place::new(release)?;
        let words = ["-f", "user", "-f", "!gc", "-f", "!imports"];
        let program = place.program("counted.py");
        let said = place
            .recorded(&[&words[..], &[&program]].concat())
            .env("INSTR_COUNTERS", "page-faults,task-clock")
            .env("INSTR_SENSORS_AT", "functions")
            .succeed()?;
        let summary = place.summary("out.instr")?;
        if faults(&summary).is_empty() {
            let troubles = summary["sensors_missing"].to_string();
            return Err(Stop::NotAllowed(format!("nothing is counted: {troubles}")));
        }
        let bounds = bounds(&said.text());
        ensure(bounds.len() == 10, || said.text())?;
        let mut owns = Vec::new();
        for (task, factor, of) in [(1, 1, &summary), (2, 3, &summary["children"][0])] {
            let found = faults(of);
            for ((_, name), [least, most]) in bounds.iter().filter(|(key, _)| key.0 == factor) {
                let [own, _] = found.get(name).copied().unwrap_or_default();
                ensure((least..=most).contains(&&own), || {
                    format!("{release}: {name}: {own}, expected {least} to {most}: {found:?}")
                })?;
                owns.push(format!("{task} {name} {own}"));
            }
            let total = |name: &str| found.get(name).map_or(0, |counted| counted[1]);
            let parts = ["touch", "down", "fails", "pages"].map(total);
            let [own, all] = found.get("outer").copied().unwrap_or_default();
            ensure(all == own + parts.iter().sum::<u64>(), || {
                format!("{release}: {all} and {own}, {parts:?}")
            })?;
            let down = found.get("down").copied().unwrap_or_default();
            ensure(down[0] == down[1], || format!("{release}: {down:?}"))?;
        }
        let instr = |words: &[&str]| {
            let run = Run::new(&tools()?.instr).args(words).dir(place.dir.path());
            run.succeed()
        };
        instr(&["merge", "out.instr", "-o", "out"])?;
        let shown = Run::new("python3")
            .args(["-c", FROM_PARAVER])
            .dir(place.dir.path())
            .succeed()?
            .text();
        for own in owns {
            ensure(shown.lines().any(|line| line == own), || {
                format!("{release}: no {own:?} in\n{shown}")
            })?;
        }
        let documented = std::fs::read_to_string(workspace::root()?.join("docs/python.md"))?;
        ensure(documented.contains(PER_CALL), || {
            "the example is another".to_owned()
        })?;
        let answer = instr(&["query", "out.instr", PER_CALL, "--format", "json"])?.text();
        let rows: Vec<Value> = serde_json::from_str(&answer).map_err(|error| error.to_string())?;
        let calls = rows.iter().filter(|row| row["name"] == "touch");
        let found: Vec<f64> = calls.filter_map(|row| row["faults"].as_f64()).collect();
        let children = [&summary["children"][0], &summary];
        let expected =
            children.map(|of| faults(of).get("touch").map_or(0, |counted| counted[1]) as f64);
        ensure(found == expected, || format!("{found:?}, not {expected:?}"))?;
        let tables = instr(&["summary", "out.instr", "--functions"])?.text();
        ensure(tables.contains("page-faults in"), || tables.clone())?;
        if release == DEBIAN {
            let histogram = Run::new(needs("pyarrow")?).args(["-c", HISTOGRAM]);
            fits(&place, histogram)?;
        }
    }
    Ok(())
}
