//! The command line of `instr predict`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::SymbolOptions;
use crate::counts::Counts;

/// Options of `instr predict`.
#[derive(Debug, Args)]
pub struct PredictOptions {
    /// The trace (NAME.instr) to predict from, or the program beside it; further ones of the same work with other numbers of threads show how much longer work takes then
    #[arg(default_value = ".", value_name = "DIR")]
    pub traces: Vec<PathBuf>,
    /// Numbers of threads, from 1 to 1024: 1,2,4 or 1:8 [default: 1,2,4,8,16,32,64]
    #[arg(long, value_name = "LIST", value_parser = Counts::predicted)]
    pub threads: Vec<Counts>,
    /// What if FUNCTION (a task, region or loop, by its name, file:line or label; "serial": all outside of regions) took half the time? 0 in place of 2x: no time
    #[arg(long, value_name = "FUNCTION=2x", value_parser = factor)]
    pub faster: Vec<(String, f64)>,
    /// What if there were no lock of this name, or at this address?
    #[arg(long, value_name = "NAME")]
    pub without_lock: Option<String>,
    /// What if chunks of loops had N iterations?
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub chunk: Option<u64>,
    /// A trace of any program with several threads on that machine: its costs of starting threads, waking them up and so on are taken where the predicted run
    /// has one thread and cannot show them (docs/predict.md)
    #[arg(long, value_name = "DIR")]
    pub costs: Vec<PathBuf>,
    /// Print JSON (docs/predict.md)
    #[arg(long)]
    pub json: bool,
    /// Where names come from.
    #[command(flatten)]
    pub symbols: SymbolOptions,
}

/// A function and by what its time is multiplied.
fn factor(text: &str) -> Result<(String, f64), String> {
    let (name, times) = text.rsplit_once('=').ok_or("not FUNCTION=2x")?;
    let number: Option<f64> = times.trim().trim_end_matches(['x', 'X']).parse().ok();
    let number = number.filter(|number| number.is_finite() && (0.0..=1e6).contains(number));
    match number {
        _ if name.is_empty() => Err("there is no function before the =".to_owned()),
        Some(0.0) => Ok((name.to_owned(), 0.0)),
        Some(number) if number >= 1e-3 => Ok((name.to_owned(), 1.0 / number)),
        _ => Err("behind the = is no factor, such as 2x, 1.5x or 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_factors() {
        assert_eq!(factor("f=2x"), Ok(("f".to_owned(), 0.5)));
        assert_eq!(
            factor("operator==(A, B)=4"),
            Ok(("operator==(A, B)".to_owned(), 0.25))
        );
        assert_eq!(factor("f=0"), Ok(("f".to_owned(), 0.0)));
        for text in [
            "f", "=2x", "f=", "f=x", "f=-1x", "f=nan", "f=infx", "f=1e-9x",
        ] {
            assert!(factor(text).is_err(), "{text}");
        }
    }
}
