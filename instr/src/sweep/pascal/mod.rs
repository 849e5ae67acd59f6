//! The file of PaScal Analyzer (da Silva et al. 2022, section 3.4 and listing 3): written, for its viewer and scripts, and read.
//!
//! ```json
//! {"config": {"pkg": "./app", "arguments": ["100", "200"], "data_descriptor": {"keys": ["cores", "input", "repetitions"], "values": ["start_time", "stop_time"],
//!    "extras": {"regions": {"values": ["start_time", "stop_time", "start_line", "stop_line", "thread_id", "filename"]}, "rapl": {"values": ["region_energy"]}}}},
//!  "data": {"4;0;1": {"start_time": 0.0, "stop_time": 2.5, "regions": {"1": [[0.5, 1.5, 0, 0, 0, "solve"]], "1.1": []}, "rapl": {"0": 50.0, "1": 20.0}}}}
//! ```
//!
//! A key is the number of cores, the number of the input from 0 (missing where there is one input), and the repetition from 1. Regions that are nested have numbers such as `1.2.3`.

mod energy;
mod read;
mod write;

use std::path::Path;

pub(super) use self::read::read;
pub(super) use self::write::write;

/// Whether a file's name says that it is one.
pub(super) fn is(file: &Path) -> bool {
    file.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::read::of_document;
    use super::*;
    use crate::sweep::record::Record;

    /// Two inputs on one and two cores. Region 1 is on two threads, which overlap: 0.5 to 1.5 and 1 to 2; region 1.1 is inside of it. Power is 50 W, and 100 W from 1 s on, by samples before and behind the step.
    fn document() -> Value {
        let run = |seconds: f64| {
            json!({
                "start_time": 10.0,
                "stop_time": 10.0 + seconds,
                "regions": {
                    "1": [[10.5, 11.5, 3, 9, 0, "a.c"], [11.0, 12.0, 3, 9, 1, "a.c"]],
                    "1.1": [[10.5, 10.75, 5, 6, 0, "a.c"]],
                },
                "sensors": { "rapl_sample-sysfs": [[50.0, 10.0], [50.0, 10.999_999], [100.0, 11.0], [100.0, 12.0], [100.0, 14.0]] },
            })
        };
        let keys = ["cores", "input", "repetitions"];
        json!({
            "config": { "pkg": "./app", "arguments": ["small", "large"], "data_descriptor": { "keys": keys } },
            "data": { "1;0;1": run(4.0), "1;0;2": run(4.0), "2;0;1": run(2.0), "1;1;1": run(4.0) },
        })
    }

    #[test]
    fn regions_and_energy_of_a_file_are_known() {
        let (config, runs) = of_document(&document()).unwrap();
        assert_eq!(
            (config.command[0].as_str(), &config.threads[..]),
            ("./app", &[1, 2][..])
        );
        let names: Vec<&str> = config
            .inputs
            .iter()
            .map(|input| input.name.as_str())
            .collect();
        assert_eq!(names, ["small", "large"]);
        assert_eq!(runs.len(), 4);
        let run = runs.iter().find(|run| run.point.threads == 2).unwrap();
        assert_eq!(
            (run.point.input.as_deref(), run.repeat, run.seconds),
            (Some("small"), 0, 2.0)
        );
        let [outer, inner] = &run.regions[..] else {
            panic!("{:?}", run.regions)
        };
        assert_eq!((&outer.path[..], outer.count), (&["1".to_owned()][..], 2));
        assert!((outer.seconds - 1.5).abs() < 1e-9 && (outer.own_seconds - 1.25).abs() < 1e-9);
        assert_eq!(inner.path[..], ["1", "1.1"]);
        // A second at 50 W and one at 100; half a second and one of the region; a quarter.
        let close = |found: Option<f64>, expected: f64| {
            let found = found.unwrap();
            assert!(
                (found / expected - 1.0).abs() < 1e-4,
                "{found} J, not {expected}"
            );
        };
        close(run.energy.map(|energy| energy.joules), 150.0);
        close(outer.joules, 125.0);
        close(inner.joules, 12.5);
    }

    #[test]
    fn energies_that_a_file_says_are_taken() {
        let mut document = document();
        let run = &mut document["data"]["2;0;1"];
        run["rapl-sysfs"] = 160.0.into();
        run["rapl-package"] = json!({ "1": 77.0 });
        let (_, runs) = of_document(&document).unwrap();
        let run = runs.iter().find(|run| run.point.threads == 2).unwrap();
        assert_eq!(run.energy.map(|energy| energy.joules), Some(160.0));
        assert_eq!(run.regions[0].joules, Some(77.0));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let (config, runs) = of_document(&document()).unwrap();
        let record = Record::imported(Path::new("x.json"), config, runs);
        let mut out = Vec::new();
        write(&record, &mut out).unwrap();
        let written: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(
            written["config"]["data_descriptor"]["extras"]["rapl"]["values"][0],
            "region_energy"
        );
        let (config, runs) = of_document(&written).unwrap();
        assert_eq!(config.inputs, record.config().inputs);
        for (run, before) in runs.iter().zip(record.runs()) {
            assert_eq!((&run.point, run.repeat), (&before.point, before.repeat));
            assert!((run.seconds - before.seconds).abs() < 1e-9);
            assert_eq!(run.energy, before.energy);
            assert_eq!(run.regions.len(), 2);
            assert!((run.regions[0].seconds - before.regions[0].seconds).abs() < 1e-9);
            assert_eq!(run.regions[1].joules, before.regions[1].joules);
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_run() {
        let cases: [(&str, Value, &str); 7] = [
            ("stop_time", json!(9.0), "stops before it starts"),
            ("stop_time", json!("x"), "no start or no stop"),
            ("start_time", json!(14.0), "takes no time"),
            ("regions", json!({ "a.b": [] }), "is no number such as 1.2"),
            (
                "regions",
                json!({ "1": [[2.0, 1.0]] }),
                "stops before it starts",
            ),
            ("regions", json!({ "1": [[2.0]] }), "no start or no stop"),
            (
                "sensors",
                json!({ "rapl": [[1.0]] }),
                "no pair of power and time",
            ),
        ];
        for (field, value, expected) in cases {
            let mut document = document();
            document["data"]["1;1;1"][field] = value;
            let error = format!("{:#}", of_document(&document).unwrap_err());
            assert!(
                error.contains("\"1;1;1\"") && error.contains(expected),
                "{error}"
            );
        }
        for key in ["1;0", "x;0;1", "0;0;1", "1;0;y", ""] {
            let mut document = document();
            let run = document["data"]["1;1;1"].clone();
            document["data"][key] = run;
            let error = format!("{:#}", of_document(&document).unwrap_err());
            assert!(error.contains(&format!("{key:?}")), "{key}: {error}");
        }
        assert!(of_document(&json!([])).is_err() && of_document(&json!({ "data": {} })).is_err());
    }
}
