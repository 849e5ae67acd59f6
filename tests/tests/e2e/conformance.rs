//! The programs with directives in `tests/conformance`: one small program for each construct; the table that is written from them.

use instr_tests::cases;
use instr_tests::conformance::matrix;
use instr_tests::outcome::{Check, ensure, stopped, trial};
use instr_tests::workspace;
use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("conformance::every-construct-is-told", told),
        trial("conformance::support-matrix-is-up-to-date", support_matrix),
    ];
    match cases::conformance() {
        Ok(cases) => {
            let pairs = cases::conformance_pairs(&cases);
            let linkages = cases::conformance_linkages(&cases);
            let run = |case: cases::Case| trial(case.name.clone(), move || case.run());
            trials.extend(cases.into_iter().map(run));
            // Behind the cases, whose traces they compare.
            let agree = |(name, cases): (String, Vec<cases::Case>)| {
                trial(name, move || cases::agree(&cases))
            };
            trials.extend(pairs.into_iter().map(agree));
            let alike = |(name, cases): (String, Vec<cases::Case>)| {
                trial(name, move || cases::alike(&cases))
            };
            trials.extend(linkages.into_iter().map(alike));
        }
        Err(stop) => trials.push(stopped("conformance::directives", stop)),
    }
    trials
}

/// Every construct has a program or a reason, and every pair of compiler and library says what it cannot show.
fn told() -> Check {
    let gaps = matrix::gaps(&cases::conformance_programs()?);
    ensure(gaps.is_empty(), || gaps.join("\n"))
}

/// The table in the document is the one that the directives make; `INSTR_GOLDEN=1` writes it.
fn support_matrix() -> Check {
    let path = workspace::root()?.join("docs/support-matrix.md");
    let document = std::fs::read_to_string(&path)?;
    let table = matrix::render(&cases::conformance_programs()?);
    let right = matrix::insert(&document, &table)?;
    if std::env::var_os("INSTR_GOLDEN").is_some_and(|value| value == "1") {
        std::fs::write(&path, &right)?;
        return Ok(());
    }
    ensure(document == right, || {
        "docs/support-matrix.md does not say what tests/conformance says: run `make golden`".into()
    })
}
