//! The programs with directives in `tests/sources`.

use instr_tests::cases;
use instr_tests::outcome::{stopped, trial};
use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    match cases::discover() {
        Ok(cases) => cases
            .into_iter()
            .map(|case| trial(case.name.clone(), move || case.run()))
            .collect(),
        Err(stop) => vec![stopped("program::directives", stop)],
    }
}
