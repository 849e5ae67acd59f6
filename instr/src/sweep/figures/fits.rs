//! Laws and terms that fit the runs.

use instr_analysis::scaling::law::{self, Law, Median};
use instr_analysis::scaling::normal_form::{self, Term};
use instr_analysis::scaling::{Observation, Refusal};

use super::model::{Figure, LawFit, Prediction, Series, Summand, TermModel};

/// The law of Amdahl, or Gunther's where its coherency is above 0 for sure or where Amdahl's does not fit and Gunther's does.
/// `points`: the medians of the observations.
pub(super) fn best_law(
    observations: &[Observation],
    points: &[Figure],
    ask: &[u32],
) -> Result<LawFit, Refusal> {
    let medians: Vec<Median> = points
        .iter()
        .map(|figure| Median {
            threads: f64::from(figure.point.threads),
            seconds: figure.seconds,
            runs: figure.runs,
        })
        .collect();
    let checked = |fitted: law::Fitted| {
        let misses = fitted.misses(&medians);
        (fitted, misses)
    };
    let amdahl = checked(Law::Amdahl.fit(observations)?);
    let universal = Law::Universal.fit(observations).ok().map(checked);
    let is_better = |(fitted, misses): &(law::Fitted, Option<Refusal>)| {
        fitted.is_coherent() || amdahl.1.is_some() && misses.is_none()
    };
    let (fitted, misses) = universal.filter(is_better).unwrap_or(amdahl);
    let predict = |threads: &u32| {
        let predicted = match &misses {
            Some(misses) => Err(*misses),
            None => fitted.predict(f64::from(*threads)),
        };
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
        misses: misses.map(|misses| misses.to_string()),
        best_threads: fitted.best_threads(),
        predictions: ask.iter().map(predict).collect(),
        fitted,
    })
}

pub(super) fn terms(series: &[Series]) -> Option<TermModel> {
    let all: Vec<Observation> = series
        .iter()
        .flat_map(|series| &series.observations)
        .filter(|it| it.size.is_some())
        .copied()
        .collect();
    let model = normal_form::search(&all).ok()?;
    let mut coefficients = model.coefficients().into_iter();
    let constant = coefficients.next()?;
    let terms = model.terms().iter().zip(coefficients);
    let terms = terms.filter(|(_, coefficient)| coefficient.value > 0.0);
    let summand = |(term, coefficient): (&Term, _)| Summand {
        coefficient,
        size: term.size.into(),
        threads: term.threads.into(),
    };
    Some(TermModel {
        text: model.text(),
        error: model.error,
        constant,
        terms: terms.map(summand).collect(),
    })
}
