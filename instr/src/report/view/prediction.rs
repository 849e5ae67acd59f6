//! The curve of `instr predict`: how many times as fast with how many threads, with its error, both axes logarithmic.

use crate::page::Part;
use crate::predict::model::{Point, Prediction};
use crate::predict::table::in_report;

use super::parts;

/// Size of the drawing, without its labels.
const WIDE: f64 = 560.0;
const HIGH: f64 = 240.0;

/// The panel of a process.
pub(in super::super) struct PredictionView {
    /// In the page's list of processes, and its name.
    pub(in super::super) process: usize,
    pub(in super::super) program: String,
    /// Points of the curve, corners of its band, and ends of the line of programs that use all threads.
    pub(in super::super) curve: String,
    pub(in super::super) band: String,
    pub(in super::super) ideal: String,
    /// Places and texts of both axes.
    pub(in super::super) threads: Vec<(String, String)>,
    pub(in super::super) speedups: Vec<(String, String)>,
    /// Place of each point, and what it says.
    pub(in super::super) dots: Vec<(String, String, String)>,
    pub(in super::super) text: Vec<Part>,
}

/// The panels of the processes that have a prediction.
pub(in super::super) fn predictions(all: &[Option<Prediction>]) -> Vec<PredictionView> {
    let some = all.iter().enumerate();
    some.filter_map(|(process, prediction)| view(process, prediction.as_ref()?))
        .collect()
}

/// Where values are drawn.
struct Axes {
    threads: f64,
    least: f64,
    most: f64,
}

impl Axes {
    fn of(prediction: &Prediction) -> Option<Self> {
        let last = prediction.points.last()?.threads as f64;
        let speedups = prediction.points.iter().flat_map(|point| {
            let [low, high] = bounds(prediction, point);
            [low, high]
        });
        let (least, most) = speedups.fold((1.0, last), |(least, most): (f64, f64), speedup| {
            (least.min(speedup), most.max(speedup))
        });
        Some(Self {
            threads: last.max(2.0),
            least: least.max(1.0 / 16.0),
            most: most.clamp(2.0, 4.0 * last.max(2.0)),
        })
    }

    fn x(&self, threads: f64) -> f64 {
        WIDE * threads.log2() / self.threads.log2()
    }

    fn y(&self, speedup: f64) -> f64 {
        let within = speedup.clamp(self.least, self.most);
        HIGH * (1.0 - (within / self.least).log2() / (self.most / self.least).log2())
    }

    fn place(&self, threads: u64, speedup: f64) -> String {
        format!("{:.1},{:.1}", self.x(threads as f64), self.y(speedup))
    }
}

fn bounds(prediction: &Prediction, point: &Point) -> [f64; 2] {
    let alone = prediction.alone_ns as f64;
    [point.high_ns, point.low_ns].map(|ns| alone / ns.max(1) as f64)
}

fn view(process: usize, prediction: &Prediction) -> Option<PredictionView> {
    let axes = Axes::of(prediction)?;
    let points = &prediction.points;
    let join = |places: Vec<String>| places.join(" ");
    let curve = points
        .iter()
        .map(|point| axes.place(point.threads, point.speedup));
    let low = points
        .iter()
        .map(|point| axes.place(point.threads, bounds(prediction, point)[0]));
    let high = points
        .iter()
        .map(|point| axes.place(point.threads, bounds(prediction, point)[1]));
    let ticks = |value: &u64| value.is_power_of_two();
    let threads = points.iter().map(|point| point.threads).filter(ticks);
    let threads = threads.map(|threads| {
        (
            format!("{:.1}", axes.x(threads as f64)),
            threads.to_string(),
        )
    });
    let doublings = axes.least.log2().ceil() as i32..=axes.most.log2().floor() as i32;
    let speedups = doublings.map(|power| {
        let speedup = 2f64.powi(power);
        (format!("{:.1}", axes.y(speedup)), format!("{speedup}"))
    });
    let dots = points.iter().map(|point| {
        let [low, high] = bounds(prediction, point);
        let said = format!(
            "{} threads: {:.2} times as fast as one ({low:.2} to {high:.2})",
            point.threads, point.speedup
        );
        (
            format!("{:.1}", axes.x(point.threads as f64)),
            format!("{:.1}", axes.y(point.speedup)),
            said,
        )
    });
    Some(PredictionView {
        process,
        program: prediction.program.clone(),
        curve: join(curve.collect()),
        band: join(low.chain(high.rev()).collect()),
        ideal: join(vec![
            axes.place(1, 1.0),
            axes.place(axes.threads as u64, axes.threads),
        ]),
        threads: threads.collect(),
        speedups: speedups.collect(),
        dots: dots.collect(),
        text: parts(|page| in_report(prediction, page)),
    })
}
