//! The programs with directives in `tests/conformance`: one small program for each construct.

use instr_tests::cases;
use instr_tests::outcome::trial;
use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    match cases::conformance() {
        Ok(cases) => cases
            .into_iter()
            .map(|case| trial(case.name.clone(), move || case.run()))
            .collect(),
        Err(stop) => vec![trial("conformance::directives", move || Err(stop))],
    }
}
