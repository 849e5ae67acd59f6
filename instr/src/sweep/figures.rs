//! What the runs of a sweep say: medians with intervals, speedup and efficiency of the program and of each region, laws, predictions.

use std::collections::{BTreeMap, BTreeSet};

use instr_analysis::scaling::law::{self, Law};
use instr_analysis::scaling::metrics;
use instr_analysis::scaling::normal_form;
use instr_analysis::scaling::{Estimate, LEVEL, Observation, Refusal};
use instr_analysis::statistics::{bootstrap, location};
use serde::Serialize;

use super::config::Config;
use super::plan::Point;
use super::record::{Record, Run};

/// Version of the JSON form.
const FORMAT: u32 = 1;
/// Distance from the median, in deviations, from which on a run is named as an outlier (Iglewicz & Hoaglin 1993).
const OUTLIER: f64 = 3.5;
/// Fewer runs than this have no outliers.
const LEAST_FOR_OUTLIERS: usize = 5;

/// Everything.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    /// Version of this form.
    pub(super) format: u32,
    /// The command with its placeholders.
    pub(super) command: Vec<String>,
    /// Runs that count.
    pub(super) runs: usize,
    /// Runs that do not, by reason.
    pub(super) failures: BTreeMap<String, usize>,
    /// Lines of the record that were damaged.
    pub(super) damaged: usize,
    /// How much repeats of a point vary: the median over points of their robust deviation, as a share. [`None`] without repeats.
    pub(super) deviation: Option<f64>,
    /// A/A: how far the medians of the even and of the odd repeats of a point are apart, the median over points, as a share.
    pub(super) noise: Option<f64>,
    /// The program, then its regions.
    pub(super) subjects: Vec<Subject>,
}

/// The whole program, or a region.
#[derive(Debug, Serialize)]
pub(super) struct Subject {
    /// Names from the outermost region to this one; empty: the program.
    pub(super) path: Vec<String>,
    /// What was measured, by series and threads.
    pub(super) series: Vec<Series>,
    /// Larger inputs on more threads; nothing where no inputs fit.
    pub(super) weak: Vec<Weak>,
    /// Gustafson's serial fraction from these.
    pub(super) gustafson: Option<Estimate>,
    /// Terms of threads and size together, where both vary.
    pub(super) model: Option<TermModel>,
}

/// Points that differ in threads alone.
#[derive(Debug, Serialize)]
pub(super) struct Series {
    /// What they have in common, for people.
    pub(super) name: String,
    /// Size of the input.
    pub(super) size: Option<f64>,
    /// Ordered by threads.
    pub(super) points: Vec<Figure>,
    /// The most threads that still gain at least half of what they could; [`None`]: all that were measured.
    pub(super) stops: Option<f64>,
    /// The law that fits best, of Amdahl's and Gunther's.
    pub(super) law: Option<LawFit>,
    /// Why there is no law.
    pub(super) refused: Option<String>,
    #[serde(skip)]
    observations: Vec<Observation>,
}

/// One point.
#[derive(Debug, Serialize)]
pub(super) struct Figure {
    /// What was run.
    #[serde(flatten)]
    pub(super) point: Point,
    /// Runs.
    pub(super) runs: usize,
    /// The median of their times, s; without an interval where there is one run.
    pub(super) seconds: Estimate,
    /// Runs far from the others: repeat and seconds.
    pub(super) outliers: Vec<(u32, f64)>,
    /// Median processor time of the whole program, s.
    pub(super) processor_seconds: Option<f64>,
    /// The largest resident set of the whole program, bytes.
    pub(super) resident_bytes: Option<u64>,
    /// Against the fewest threads of the series, times these.
    pub(super) speedup: Option<f64>,
    /// Speedup by threads.
    pub(super) efficiency: Option<f64>,
    /// What is missing to the ideal speedup.
    pub(super) speedup_loss: Option<f64>,
    /// The serial fraction of Karp and Flatt.
    pub(super) serial_fraction: Option<f64>,
    /// Of the program's time, in this region.
    pub(super) share: Option<f64>,
}

/// A law with its parameters.
#[derive(Debug, Serialize)]
pub(super) struct LawFit {
    /// Which one.
    pub(super) law: Law,
    /// Its parameters.
    pub(super) parameters: Vec<law::Parameter>,
    /// How far runs are from it, as a share.
    pub(super) deviation: f64,
    /// Threads beyond which it gets slower.
    pub(super) best_threads: Option<f64>,
    /// Times at numbers of threads that were asked for.
    pub(super) predictions: Vec<Prediction>,
}

/// A time that was not measured.
#[derive(Debug, Serialize)]
pub(super) struct Prediction {
    /// Threads.
    pub(super) threads: u32,
    /// The time of a run, s.
    pub(super) seconds: Option<Estimate>,
    /// Why there is none.
    pub(super) refused: Option<String>,
}

/// An input with as many times the work on as many times the threads.
#[derive(Debug, Serialize)]
pub(super) struct Weak {
    /// Threads.
    pub(super) threads: u32,
    /// The series of the input.
    pub(super) series: String,
    /// Its work against the wanted one.
    pub(super) work: f64,
    /// Its median, s.
    pub(super) seconds: f64,
    /// Time of the first input on the fewest threads by this one.
    pub(super) efficiency: f64,
}

/// A model of terms.
#[derive(Debug, Serialize)]
pub(super) struct TermModel {
    /// For people: n is the size, p the threads.
    pub(super) text: String,
    /// What it misses at points that it was not fitted to, as a share.
    pub(super) error: f64,
}

/// Computes everything; `ask`: numbers of threads to predict.
pub(super) fn of(record: &Record, ask: &[u32]) -> Figures {
    let good: Vec<&Run> = record
        .runs()
        .iter()
        .filter(|run| run.failure.is_none())
        .collect();
    let mut failures = BTreeMap::new();
    for failure in record.runs().iter().filter_map(|run| run.failure.clone()) {
        *failures.entry(failure).or_insert(0) += 1;
    }
    let program: Vec<Sample<'_>> = good
        .iter()
        .map(|run| Sample {
            run,
            seconds: run.seconds,
        })
        .collect();
    let mut subjects = vec![subject(Vec::new(), &program, record.config(), ask, None)];
    for (path, samples) in regions(&good) {
        let whole = &subjects[0];
        let region = subject(path.clone(), &samples, record.config(), ask, Some(whole));
        subjects.push(region);
    }
    let (deviation, noise) = variation(&program);
    Figures {
        format: FORMAT,
        command: record.config().command.clone(),
        runs: good.len(),
        failures,
        damaged: record.damaged(),
        deviation,
        noise,
        subjects,
    }
}

/// A time of a run.
#[derive(Debug, Clone, Copy)]
struct Sample<'r> {
    run: &'r Run,
    seconds: f64,
}

/// Times of each region, those that took longest over all runs first.
fn regions<'r>(runs: &[&'r Run]) -> Vec<(&'r Vec<String>, Vec<Sample<'r>>)> {
    let mut by_path: BTreeMap<&Vec<String>, Vec<Sample<'_>>> = BTreeMap::new();
    for run in runs {
        for region in run.regions.iter().filter(|region| region.seconds > 0.0) {
            let seconds = region.seconds;
            let samples = by_path.entry(&region.path).or_default();
            samples.push(Sample { run, seconds });
        }
    }
    let total = |samples: &[Sample<'_>]| samples.iter().map(|it| it.seconds).sum::<f64>();
    let mut regions: Vec<_> = by_path.into_iter().collect();
    regions.sort_by(|a, b| total(&b.1).total_cmp(&total(&a.1)));
    regions
}

fn subject(
    path: Vec<String>,
    samples: &[Sample<'_>],
    config: &Config,
    ask: &[u32],
    whole: Option<&Subject>,
) -> Subject {
    let mut by_series: BTreeMap<Point, BTreeMap<u32, Vec<Sample<'_>>>> = BTreeMap::new();
    for sample in samples {
        let series = by_series
            .entry(sample.run.point.with_threads(0))
            .or_default();
        series
            .entry(sample.run.point.threads)
            .or_default()
            .push(*sample);
    }
    let size = |point: &Point| config.input(point)?.size;
    let series: Vec<Series> = by_series
        .iter()
        .map(|(key, points)| of_series(key, size(key), points, ask, whole))
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

fn of_series(
    key: &Point,
    size: Option<f64>,
    points: &BTreeMap<u32, Vec<Sample<'_>>>,
    ask: &[u32],
    whole: Option<&Subject>,
) -> Series {
    let mut figures: Vec<Figure> = points
        .values()
        .filter_map(|samples| figure(samples, whole.is_none()))
        .collect();
    figures.sort_by_key(|figure| figure.point.threads);
    let reference = figures
        .first()
        .map(|first| (f64::from(first.point.threads), first.seconds.value));
    if let Some(reference) = reference {
        figures
            .iter_mut()
            .for_each(|figure| relate(figure, reference));
    }
    let name = key.series();
    for figure in &mut figures {
        let same = whole.and_then(|whole| whole.series.iter().find(|series| series.name == name));
        let same = same.and_then(|series| {
            series
                .points
                .iter()
                .find(|it| it.point.threads == figure.point.threads)
        });
        figure.share = same.map(|same| figure.seconds.value / same.seconds.value);
    }
    let observations: Vec<Observation> = points
        .iter()
        .flat_map(|(threads, samples)| {
            samples.iter().map(move |sample| Observation {
                threads: f64::from(*threads),
                size,
                seconds: sample.seconds,
            })
        })
        .collect();
    let times: Vec<(f64, f64)> = figures
        .iter()
        .map(|figure| (f64::from(figure.point.threads), figure.seconds.value))
        .collect();
    let (law, refused) = match best_law(&observations, ask) {
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

/// The law of Amdahl, or Gunther's where its coherency is above 0 for sure.
fn best_law(observations: &[Observation], ask: &[u32]) -> Result<LawFit, Refusal> {
    let amdahl = Law::Amdahl.fit(observations)?;
    let universal = Law::Universal.fit(observations).ok();
    let coherency = |fitted: &law::Fitted| fitted.parameters()[2].estimate.low > 0.0;
    let fitted = universal.filter(coherency).unwrap_or(amdahl);
    let predict = |threads: &u32| {
        let predicted = fitted.predict(f64::from(*threads));
        Prediction {
            threads: *threads,
            seconds: predicted.ok(),
            refused: predicted.err().map(|refusal| refusal.to_string()),
        }
    };
    Ok(LawFit {
        law: fitted.law(),
        parameters: fitted.parameters(),
        deviation: fitted.deviation(),
        best_threads: fitted.best_threads(),
        predictions: ask.iter().map(predict).collect(),
    })
}

fn figure(samples: &[Sample<'_>], is_program: bool) -> Option<Figure> {
    let seconds: Vec<f64> = samples.iter().map(|sample| sample.seconds).collect();
    let median = location::median(&seconds)?;
    let (low, high) =
        bootstrap::interval(&seconds, location::median, LEVEL, 1).unwrap_or((median, median));
    let spread = location::spread(&seconds).unwrap_or(0.0);
    let is_far = |sample: &&Sample<'_>| {
        seconds.len() >= LEAST_FOR_OUTLIERS
            && (sample.seconds - median).abs() > OUTLIER * spread
            && spread > 0.0
    };
    let outliers = samples
        .iter()
        .filter(is_far)
        .map(|sample| (sample.run.repeat, sample.seconds))
        .collect();
    let times: Vec<f64> = samples
        .iter()
        .map(|sample| sample.run.user_seconds + sample.run.system_seconds)
        .collect();
    Some(Figure {
        point: samples[0].run.point.clone(),
        runs: seconds.len(),
        seconds: Estimate {
            value: median,
            low,
            high,
        },
        outliers,
        processor_seconds: location::median(&times).filter(|_| is_program),
        resident_bytes: samples
            .iter()
            .map(|sample| sample.run.resident_bytes)
            .max()
            .filter(|_| is_program),
        speedup: None,
        efficiency: None,
        speedup_loss: None,
        serial_fraction: None,
        share: None,
    })
}

/// Relates a point to that with the fewest threads.
fn relate(figure: &mut Figure, (threads, seconds): (f64, f64)) {
    let own = f64::from(figure.point.threads);
    let efficiency = metrics::efficiency((threads, seconds), own, figure.seconds.value);
    let speedup = efficiency * own;
    figure.efficiency = Some(efficiency);
    figure.speedup = Some(speedup);
    figure.speedup_loss = Some(metrics::speedup_loss(own, speedup));
    // It is defined against one thread.
    figure.serial_fraction = metrics::karp_flatt(own, speedup).filter(|_| threads == 1.0);
}

/// Finds inputs whose work grows with the threads. Only where nothing else than inputs and threads varies.
fn weak(series: &[Series]) -> Vec<Weak> {
    let mut by_work: Vec<&Series> = series
        .iter()
        .filter(|series| !series.points.is_empty())
        .collect();
    let plain = |series: &&Series| {
        let point = &series.points[0].point;
        point.environment.is_empty()
            && point.program.is_none()
            && point.placement.is_none()
            && point.frequency_khz.is_none()
    };
    if by_work.len() < 2 || !by_work.iter().all(plain) {
        return Vec::new();
    }
    by_work.sort_by(|a, b| {
        a.points[0]
            .seconds
            .value
            .total_cmp(&b.points[0].seconds.value)
    });
    let counts: Vec<f64> = by_work[0]
        .points
        .iter()
        .map(|figure| f64::from(figure.point.threads))
        .collect();
    let fewest = by_work[0].points[0].point.threads;
    if by_work
        .iter()
        .any(|series| series.points[0].point.threads != fewest)
    {
        return Vec::new();
    }
    let on_fewest: Vec<f64> = by_work
        .iter()
        .map(|series| series.points[0].seconds.value)
        .collect();
    let found = metrics::weak_inputs(&counts, &on_fewest);
    let first = on_fewest[0];
    let matched = counts.iter().zip(found).filter_map(|(count, found)| {
        let (at, work) = found?;
        let figure = by_work[at]
            .points
            .iter()
            .find(|figure| f64::from(figure.point.threads) == *count)?;
        let seconds = figure.seconds.value;
        Some(Weak {
            threads: figure.point.threads,
            series: by_work[at].name.clone(),
            work,
            seconds,
            efficiency: first / seconds,
        })
    });
    let matched: Vec<Weak> = matched.collect();
    match matched.len() {
        0 | 1 => Vec::new(),
        _ => matched,
    }
}

fn terms(series: &[Series]) -> Option<TermModel> {
    let all: Vec<Observation> = series
        .iter()
        .flat_map(|series| &series.observations)
        .filter(|it| it.size.is_some())
        .copied()
        .collect();
    let model = normal_form::search(&all).ok()?;
    Some(TermModel {
        text: model.text(),
        error: model.error,
    })
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
                let path = vec!["serial".to_owned()];
                let region = super::super::record::Region {
                    path,
                    count: 1,
                    seconds: size / 200.0 * noise,
                    own_seconds: 0.0,
                };
                record
                    .add(Run {
                        point: Point {
                            program: None,
                            input: Some(format!("{size}")),
                            environment: BTreeMap::new(),
                            placement: None,
                            frequency_khz: None,
                            threads,
                        },
                        repeat,
                        begin_ns: 1,
                        seconds,
                        user_seconds: seconds,
                        system_seconds: 0.0,
                        resident_bytes: 1 << 20,
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
        let law = series.law.as_ref().unwrap();
        assert_eq!(law.law, Law::Amdahl);
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
