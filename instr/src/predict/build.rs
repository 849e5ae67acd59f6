//! A forecast with names.

use instr_analysis::predict::costs::{COSTS, UNKNOWN_NS, UNKNOWN_START_NS};
use instr_analysis::predict::forecast::{self, Forecast, Question};
use instr_trace::Trace;

use super::First;
use super::model::{CostRow, FORMAT, Gain, Point, Prediction, Unmodelled};
use super::names::{self, Namer, cost_name};
use crate::summary::units::{count, counted, percent, time};

/// Shares of the run below this are not worth a sentence.
const WORTH_SAYING: f64 = 0.005;

pub(super) fn prediction(
    trace: &Trace,
    found: &First,
    others: &[&First],
    question: &Question,
    forecast: &Forecast,
    namer: &Namer<'_>,
) -> Prediction {
    let point = |point: &forecast::Point| self::point(point, found, others, forecast, namer);
    let points: Vec<Point> = forecast.points.iter().map(point).collect();
    let before = points.last().map_or(0, |point| point.time_ns);
    let gains = forecast.gains.iter().map(|gain| {
        let (what, kind) = namer.lever(gain.lever);
        Gain {
            what,
            kind,
            half_ns: gain.half,
            gone_ns: gain.gone,
            saved: 1.0 - ratio(gain.half, before),
        }
    });
    let costs = COSTS.iter().zip(&found.survey.costs).zip(&question.several);
    let costs = costs.map(|((cost, measure), several)| CostRow {
        what: cost_name(*cost),
        several_ns: (several.count > 0).then_some(several.mean_ns),
        count: measure.count,
        mean_ns: measure.mean_ns,
        median_ns: measure.median_ns,
        p95_ns: measure.p95_ns,
    });
    let unmodelled = forecast::unmodelled(&found.survey, forecast).into_iter();
    let unmodelled = unmodelled.map(|(why, count, ns)| Unmodelled {
        what: names::why(why).to_owned(),
        count,
        ns,
    });
    Prediction {
        format: FORMAT,
        program: trace.metadata().program.clone(),
        recorded_threads: forecast.team as u64,
        recorded_ns: forecast.elapsed,
        simulated_ns: forecast.simulated,
        changes: changes(question, namer),
        alone_ns: forecast.alone,
        limit: point(&forecast.limit),
        points,
        gains: gains.collect(),
        costs: costs
            .filter(|row| row.count > 0 || row.several_ns.is_some())
            .collect(),
        unmodelled: unmodelled.collect(),
        notes: notes(found, others, question, forecast),
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn point(
    point: &forecast::Point,
    found: &First,
    others: &[&First],
    forecast: &Forecast,
    namer: &Namer<'_>,
) -> Point {
    let account = &point.account;
    let all = account.elapsed * point.threads as u64;
    let largest = account.largest();
    let measured = std::iter::once(found).chain(others.iter().copied());
    let measured = measured.filter(|first| first.survey.team == point.threads);
    Point {
        threads: point.threads as u64,
        time_ns: account.elapsed,
        low_ns: point.low,
        high_ns: point.high,
        unchanged_ns: point.unchanged,
        speedup: ratio(forecast.alone, account.elapsed),
        efficiency: ratio(account.work, all).min(1.0),
        loss: largest.map(|(loss, _)| namer.loss(loss).0),
        loss_place: largest.map_or(String::new(), |(loss, _)| namer.loss(loss).1),
        loss_share: largest.map_or(0.0, |(_, ns)| ratio(ns, all)),
        measured_ns: measured.map(|first| first.survey.elapsed).collect(),
    }
}

fn changes(question: &Question, namer: &Namer<'_>) -> Vec<String> {
    let faster = question.faster.iter().map(|(spot, factor)| match factor {
        0.0 => format!("{} takes no time", namer.spot(*spot)),
        _ => format!("{} is {} times as fast", namer.spot(*spot), 1.0 / factor),
    });
    let without = question.without.iter();
    let without = without.map(|lock| format!("there is no {}", namer.lock(*lock)));
    let chunk = question.chunk.iter();
    let chunk = chunk.map(|chunk| format!("chunks of loops have {}", counted(*chunk, "iteration")));
    faster.chain(without).chain(chunk).collect()
}

/// What the error has in it, and what not.
fn notes(
    found: &First,
    others: &[&First],
    question: &Question,
    forecast: &Forecast,
) -> Vec<String> {
    let (survey, totals) = (&found.survey, &found.totals);
    let mut notes = Vec::new();
    let all = totals.work().max(1);
    let share = ratio(totals.divided, all);
    if share > WORTH_SAYING {
        notes.push(format!(
            "{} of the work follows the begin of a static loop whose end is not recorded (GCC), or a question for the thread's number: it is taken to be divided among the threads.",
            percent(share)
        ));
    }
    let share = ratio(totals.undetermined, all);
    if share > WORTH_SAYING {
        notes.push(format!(
            "{} of the work is what threads do by themselves. Each of more threads is taken to do as much; the error covers that they divide it.",
            percent(share)
        ));
    }
    if !forecast.unknown_costs.is_empty() {
        let costs: Vec<&str> = forecast
            .unknown_costs
            .iter()
            .map(|cost| cost_name(*cost))
            .collect();
        notes.push(format!(
            "Not measured, since the trace has no such case: {}. The prediction counts nothing for it, the error {} each time ({} for starting threads), or as much as the dearest cost that was measured. A trace of 2 threads or more has it: --costs TRACE takes it from one of any program.",
            costs.join(", "),
            time(UNKNOWN_NS as u64),
            time(UNKNOWN_START_NS as u64)
        ));
    }
    let (regions, run) = forecast.sampled;
    if run < regions {
        notes.push(format!(
            "Of {} regions, {} were run again: all that take long, and a part of the others, drawn by chance, which stands for the rest. The error has what that may be off.",
            count(regions),
            count(run)
        ));
    }
    let waited = survey.ready_inside + survey.ready_outside;
    if survey.has_switches && ratio(waited, survey.elapsed) > WORTH_SAYING {
        notes.push(format!(
            "Threads waited {} for a processor while they had work. That is not in the prediction, which is for a machine with a processor for each thread{}.",
            time(waited),
            match survey.is_contended {
                true => "; of what waking up and barriers cost, it has the time on processors alone",
                false => "",
            }
        ));
    }
    if ratio(survey.elsewhere, survey.elapsed) > 0.05 {
        notes.push(format!(
            "Threads outside of OpenMP's regions worked {}: they are not modelled.",
            time(survey.elsewhere)
        ));
    }
    let same = others
        .iter()
        .filter(|other| other.survey.team == survey.team)
        .count();
    notes.push(match others.len() - same {
        0 => "That work itself takes longer with more threads (caches, memory, clock) is not in one trace: traces of other numbers of threads, named behind the first, show it.".to_owned(),
        _ => format!(
            "With twice as many threads, work takes {} as long ({}): half of what that changes is part of the error.",
            percent(1.0 + question.inflation),
            counted((others.len() - same) as u64, "other trace")
        ),
    });
    notes
}
