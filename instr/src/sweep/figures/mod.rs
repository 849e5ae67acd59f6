//! What the runs of a sweep say: medians with intervals, speedup and efficiency of the program and of each region, laws, predictions.

mod fits;
mod model;
mod pareto;
mod point;
mod weak;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use instr_analysis::scaling::Observation;
use instr_analysis::scaling::law;
use instr_analysis::scaling::metrics;
use instr_analysis::statistics::location;
use instr_cc::parallel;

use self::fits::{best_law, terms};
pub(super) use self::model::*;
use self::pareto::pareto;
use self::point::{figure, relate};
use self::weak::weak;
use super::config::{Config, Measure};
use super::plan::Point;
use super::record::Record;
use super::region_path::RegionPath;
use super::run::{Region, Run};

/// Version of the JSON form.
const FORMAT: u32 = 1;

/// Computes everything; `ask`: numbers of threads to predict.
pub(super) fn of(record: &Record, ask: &[u32]) -> Figures {
    let good: Vec<&Run> = record
        .runs()
        .iter()
        .filter(|run| run.failure.is_none())
        .collect();
    let mut failures = BTreeMap::new();
    let mut failed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for run in record.runs() {
        if let Some(failure) = &run.failure {
            *failures.entry(failure.clone()).or_insert(0) += 1;
            let points = failed.entry(failure.clone()).or_default();
            points.insert(run.point.name());
        }
    }
    let runs = in_series(&good, record.config());
    let program: Vec<Sample<'_>> = runs
        .iter()
        .map(|(series, run)| Sample {
            series: *series,
            run,
            region: None,
            seconds: run.seconds,
        })
        .collect();
    let threads = runs.iter().map(|(_, run)| run.point.threads);
    let fewest = threads.min().unwrap_or(1);
    let frame = Frame {
        config: record.config(),
        ask,
        fewest,
        whole: None,
    };
    let mut subjects = vec![subject(Vec::new(), &program, frame)];
    let regions = regions(&runs);
    let whole = Some(&subjects[0]);
    // Each by itself, on as many threads as there are processors.
    let of_regions = parallel::map(&regions, 1, |(path, samples)| {
        subject(path.to_vec(), samples, Frame { whole, ..frame })
    });
    subjects.extend(of_regions);
    let (deviation, noise) = variation(&program);
    let mut not_counted = BTreeMap::new();
    for run in &good {
        not_counted.extend(run.counted.not_counted.clone());
    }
    let modelled = |run: &&Run| run.energy.is_some_and(|it| it.joules_are_modelled);
    let pareto = pareto(&subjects[0]);
    Figures {
        format: FORMAT,
        command: record.config().command.clone(),
        runs: good.len(),
        failures,
        failed,
        damaged: record.damaged(),
        deviation,
        noise,
        energy_is_modelled: good.iter().any(modelled),
        counters_are_estimates: good.iter().any(|run| run.counted.counters_are_estimates),
        not_counted,
        fewest,
        pareto,
        subjects,
    }
}

impl Figures {
    /// Leaves regions out that are nested deeper than this: those around them have their time.
    pub(super) fn fold(&mut self, level: usize) {
        self.subjects.retain(|subject| subject.path.len() <= level);
    }
}

/// What all figures of a sweep are seen against.
#[derive(Debug, Clone, Copy)]
struct Frame<'f> {
    config: &'f Config,
    /// Numbers of threads to predict.
    ask: &'f [u32],
    /// The fewest threads of all runs.
    fewest: u32,
    /// The program, of which a region is a part; [`None`]: it is the program.
    whole: Option<&'f Subject>,
}

/// A time of a run.
#[derive(Debug, Clone, Copy)]
struct Sample<'r> {
    /// Number of the run's series, in the order in which they are shown.
    series: u32,
    run: &'r Run,
    /// [`None`]: the whole program.
    region: Option<&'r Region>,
    seconds: f64,
}

impl Sample<'_> {
    fn joules(&self) -> Option<f64> {
        match self.region {
            Some(region) => region.joules,
            None => self.run.energy.map(|energy| energy.joules),
        }
    }

    fn counters(&self) -> &BTreeMap<String, u64> {
        self.region
            .map_or(&self.run.counted.counters, |region| &region.counters)
    }
}

/// The runs of each series beside each other, ordered by threads, with the number of the series: inputs in the order in which they were named.
fn in_series<'r>(runs: &[&'r Run], config: &Config) -> Vec<(u32, &'r Run)> {
    let place = |point: &Point| {
        let inputs = &mut config.inputs.iter();
        inputs.position(|input| point.input.as_ref() == Some(&input.name))
    };
    let mut by_series: BTreeMap<(Option<usize>, Point), Vec<&Run>> = BTreeMap::new();
    for run in runs {
        let key = (place(&run.point), run.point.with_threads(0));
        by_series.entry(key).or_default().push(run);
    }
    let numbered = (0..).zip(by_series.into_values());
    let ordered = numbered.flat_map(|(series, mut runs)| {
        runs.sort_by_key(|run| run.point.threads);
        runs.into_iter().map(move |run| (series, run))
    });
    ordered.collect()
}

/// Times of each region, those that took longest over all runs first.
fn regions<'r>(runs: &[(u32, &'r Run)]) -> Vec<(&'r RegionPath, Vec<Sample<'r>>)> {
    let mut by_path: HashMap<&RegionPath, usize> = HashMap::new();
    // Most paths are there once, and found without a look at their names.
    let mut by_address: HashMap<*const String, usize> = HashMap::new();
    let mut regions: Vec<(&RegionPath, Vec<Sample<'_>>)> = Vec::new();
    for (series, run) in runs {
        for region in run.regions.iter().filter(|region| region.seconds > 0.0) {
            let known = by_address.entry(region.path.address());
            let at = *known.or_insert_with(|| {
                *by_path.entry(&region.path).or_insert_with(|| {
                    regions.push((&region.path, Vec::new()));
                    regions.len() - 1
                })
            });
            regions[at].1.push(Sample {
                series: *series,
                run,
                region: Some(region),
                seconds: region.seconds,
            });
        }
    }
    let total = |samples: &[Sample<'_>]| samples.iter().map(|it| it.seconds).sum::<f64>();
    // Sums of times above 0 have the order of their bits.
    regions.sort_by_cached_key(|(path, samples)| (Reverse(total(samples).to_bits()), *path));
    regions
}

/// `samples`: those of a series beside each other, ordered by threads.
fn subject(path: Vec<String>, samples: &[Sample<'_>], frame: Frame<'_>) -> Subject {
    let series: Vec<Series> = samples
        .chunk_by(|a, b| a.series == b.series)
        .map(|samples| of_series(samples, frame))
        .collect();
    let weak = weak(&series);
    let speedups: Vec<(f64, f64)> = weak
        .iter()
        .map(|it| {
            (
                f64::from(it.threads),
                it.efficiency * f64::from(it.threads) * it.work,
            )
        })
        .collect();
    let gustafson = law::gustafson(&speedups)
        .ok()
        .map(|fitted| fitted.parameters()[0].estimate);
    let sizes: BTreeSet<u64> = series
        .iter()
        .filter_map(|series| series.size.map(f64::to_bits))
        .collect();
    let model = (sizes.len() >= 3).then(|| terms(&series)).flatten();
    Subject {
        path,
        series,
        weak,
        gustafson,
        model,
    }
}

/// `samples`: those of one series, ordered by threads.
fn of_series(samples: &[Sample<'_>], frame: Frame<'_>) -> Series {
    let Frame {
        config,
        ask,
        fewest,
        whole,
    } = frame;
    let point = &samples[0].run.point;
    let size = config.input(point).and_then(|input| input.size);
    // The time of a traced run is that of the trace; its processor time is that of `instr run` too.
    let has_processor_time = whole.is_none() && config.measure == Measure::Plain;
    let mut figures: Vec<Figure> = samples
        .chunk_by(|a, b| a.run.point.threads == b.run.point.threads)
        .filter_map(|samples| figure(samples, has_processor_time))
        .collect();
    // Against other numbers of threads than the other series, and against itself, a point would look better than it is.
    let is_comparable =
        |first: &&Figure| first.point.threads == fewest && (fewest == 1 || figures.len() > 1);
    let reference = figures
        .first()
        .filter(is_comparable)
        .map(|first| (f64::from(first.point.threads), first.seconds.value));
    if let Some(reference) = reference {
        figures
            .iter_mut()
            .for_each(|figure| relate(figure, reference));
    }
    let name = point.series();
    let same = whole.and_then(|whole| whole.series.iter().find(|series| series.name == name));
    for figure in &mut figures {
        let same = same.and_then(|series| {
            let points = &mut series.points.iter();
            points.find(|it| it.point.threads == figure.point.threads)
        });
        figure.share = same.map(|same| figure.seconds.value / same.seconds.value);
    }
    let observations: Vec<Observation> = samples
        .iter()
        .map(|sample| Observation {
            threads: f64::from(sample.run.point.threads),
            size,
            seconds: sample.seconds,
        })
        .collect();
    let times: Vec<(f64, f64)> = figures
        .iter()
        .map(|figure| (f64::from(figure.point.threads), figure.seconds.value))
        .collect();
    let (law, refused) = match best_law(&observations, &figures, ask) {
        Ok(law) => (Some(law), None),
        Err(refusal) => (None, Some(refusal.to_string())),
    };
    Series {
        name,
        size,
        points: figures,
        stops: metrics::stops_scaling(&times),
        law,
        refused,
        observations,
    }
}

/// How much repeats vary, and how much medians of halves do.
fn variation(samples: &[Sample<'_>]) -> (Option<f64>, Option<f64>) {
    let mut by_point: BTreeMap<&Point, Vec<Sample<'_>>> = BTreeMap::new();
    for sample in samples {
        by_point.entry(&sample.run.point).or_default().push(*sample);
    }
    let (mut deviations, mut halves) = (Vec::new(), Vec::new());
    for samples in by_point.values() {
        let of_half = |half: u32| {
            let of_it = samples.iter().filter(|it| it.run.repeat % 2 == half);
            let seconds: Vec<f64> = of_it.map(|it| it.seconds).collect();
            location::median(&seconds)
        };
        let all: Vec<f64> = samples.iter().map(|it| it.seconds).collect();
        let spread = location::spread(&all).filter(|_| all.len() >= 3);
        if let (Some(spread), Some(median)) = (spread, location::median(&all)) {
            deviations.push(spread / median);
        }
        if let (Some(even), Some(odd)) = (of_half(0), of_half(1)) {
            halves.push((even / odd - 1.0).abs());
        }
    }
    (location::median(&deviations), location::median(&halves))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sweep over threads and sizes with a region that has half of the time of one thread and does not scale.
    fn record(dir: &std::path::Path) -> Record {
        let text = "command = ['app']\nthreads = [1, 2, 4, 8]\ninputs = [100, 200, 400, 800]";
        let config: Config = toml::from_str(text).unwrap();
        let mut record = Record::begin(dir, &config).unwrap();
        for (threads, size) in [1, 2, 4, 8]
            .iter()
            .flat_map(|p| [100.0, 200.0, 400.0, 800.0].map(|n| (*p, n)))
        {
            for repeat in 0..5 {
                let noise = 1.0 + 0.001 * f64::from(repeat);
                let seconds = size / 100.0 * (0.5 + 0.5 / f64::from(threads)) * noise;
                let path = vec!["serial".to_owned()].into();
                let region = super::super::run::Region {
                    path,
                    count: 1,
                    seconds: size / 200.0 * noise,
                    own_seconds: 0.0,
                    executions: None,
                    joules: Some(1.0 * size),
                    counters: BTreeMap::new(),
                };
                record
                    .add(Run {
                        point: Point {
                            program: None,
                            input: Some(format!("{size}")),
                            environment: BTreeMap::new(),
                            placement: None,
                            frequency_khz: None,
                            smt: None,
                            threads,
                        },
                        repeat,
                        begin_ns: 1,
                        seconds,
                        user_seconds: seconds,
                        system_seconds: 0.0,
                        resident_bytes: Some(1 << 20),
                        // 20 W and 2 W a thread.
                        energy: Some(super::super::run::Energy {
                            joules: seconds * (20.0 + 2.0 * f64::from(threads)),
                            joules_are_modelled: false,
                        }),
                        counted: super::super::run::Counted::default(),
                        failure: None,
                        regions: vec![region],
                    })
                    .unwrap();
            }
        }
        record
    }

    #[test]
    fn a_known_law_gives_known_figures() {
        let dir = tempfile::tempdir().unwrap();
        let figures = of(&record(dir.path()), &[16, 1000]);
        let program = &figures.subjects[0];
        let series = &program.series[0];
        assert_eq!(
            (
                program.series.len(),
                series.name.as_str(),
                series.points.len()
            ),
            (4, "100", 4)
        );
        let four = &series.points[2];
        // T(4) = 0.625 of T(1): speedup 1.6, efficiency 0.4, Karp and Flatt 0.5.
        assert!(
            (four.speedup.unwrap() - 1.6).abs() < 1e-9
                && (four.efficiency.unwrap() - 0.4).abs() < 1e-9
        );
        assert!(
            (four.serial_fraction.unwrap() - 0.5).abs() < 1e-9
                && (four.speedup_loss.unwrap() - 2.4).abs() < 1e-9
        );
        // 0.625 of T(1), 28 W.
        let energy = four.energy.as_ref().unwrap();
        assert!((energy.watts - 28.0).abs() < 1e-9);
        assert!((energy.joules.value / (0.625 * 1.002 * 28.0) - 1.0).abs() < 1e-9);
        let delay = 0.625 * 1.002 * energy.joules.value;
        assert!((energy.energy_delay / delay - 1.0).abs() < 1e-9);
        // One thread takes 22 J, two 18, four 17.5, eight 20.25 in less time: four beat one and two.
        let front: Vec<_> = figures
            .pareto
            .iter()
            .map(|it| (it.series.as_str(), it.threads))
            .collect();
        assert_eq!(front[..2], [("100", 4), ("100", 8)], "{front:?}");
        assert_eq!(front.len(), 8, "two of each input");
        let law = series.law.as_ref().unwrap();
        assert_eq!(law.law, law::Law::Amdahl);
        assert!(
            (law.parameters[1].estimate.value - 0.5).abs() < 1e-3,
            "{law:?}"
        );
        let at_16 = law.predictions[0].seconds.unwrap().value;
        assert!(
            (at_16 / (0.5 + 0.5 / 16.0) / 1.002 - 1.0).abs() < 0.002,
            "{at_16}"
        );
        assert!(
            law.predictions[1]
                .refused
                .as_ref()
                .unwrap()
                .contains("beyond"),
            "{law:?}"
        );
        assert_eq!(
            series.stops,
            Some(1.0),
            "the step from 1 to 2 gains 1.33 of 2"
        );
        let region = &figures.subjects[1];
        assert_eq!(region.path, ["serial"]);
        assert!((region.series[0].points[0].share.unwrap() - 0.5).abs() < 1e-9);
        assert!((region.series[0].points[3].efficiency.unwrap() - 0.125).abs() < 1e-9);
        assert_eq!(
            program.model.as_ref().unwrap().text,
            "0.00501 * n * p^-1 + 0.00501 * n"
        );
        // Twice the input is twice the work: the 400 of 4 threads takes 4 * 0.625 times what 100 takes on one.
        let weak: Vec<_> = program
            .weak
            .iter()
            .map(|it| (it.threads, it.series.as_str()))
            .collect();
        assert_eq!(weak, [(1, "100"), (2, "200"), (4, "400"), (8, "800")]);
        assert!((program.weak[2].efficiency - 0.4).abs() < 1e-9);
        // The serial part grows with the input here, so that S = p / (0.5 p + 0.5) is no line: (p - S) / (p - 1) is 2/3, 4/5 and 8/9.
        let fraction = program.gustafson.unwrap().value;
        assert!(2.0 / 3.0 < fraction && fraction < 1.0, "{fraction}");
        assert!(figures.deviation.unwrap() < 0.01 && figures.noise.unwrap() < 0.01);
    }
}
