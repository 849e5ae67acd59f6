//! Measurements that vary: how large something is, how much it varies, and whether two groups of runs differ.
//!
//! Nothing here assumes a normal distribution: times of programs have long tails, drifts and bursts. What is tested is exact for any distribution,
//! as long as the runs of a block could have come in any order. `docs/decisions/0042-differences-of-runs.md` says why these methods.
//!
//! | module | what for | source |
//! |---|---|---|
//! | [`location`] | median, quantile, spread by the median absolute deviation | Hyndman & Fan 1996; Hampel 1974 |
//! | [`design`] | groups and blocks of runs, from the order in which they were made | Fisher 1935 |
//! | [`rank`] | do the groups differ? Exact test of aligned ranks; in one block that of Wilcoxon, Mann and Whitney | Hodges & Lehmann 1962 |
//! | [`shift`] | by how much? Estimate, interval and noise | Hodges & Lehmann 1963; Bauer 1972 |
//! | [`holm`] | many tests at once | Holm 1979 |
//! | [`limits`] | between which limits the median of one group lies | Hettmansperger & Sheather 1986; Student 1908 |
//!
//! Two groups of runs, made in turn:
//!
//! ```
//! use instr_analysis::statistics::{Design, rank, shift};
//!
//! // Time of the run's begin, and whether it belongs to the second group.
//! let design = Design::by_time(&[
//!     (1, false), (2, true), (3, true), (4, false), (5, false), (6, true),
//!     (7, true), (8, false), (9, false), (10, true), (11, true), (12, false),
//! ]);
//! let seconds: [f64; 12] = [1.00, 1.06, 1.05, 1.01, 1.02, 1.07, 1.38, 1.31, 1.30, 1.37, 1.39, 1.32];
//! let logarithms = seconds.map(f64::ln);
//! assert!(rank::p_value(&design, &logarithms) < 0.006); // 2 of 20 * 20 arrangements are as extreme
//! let ratio = shift::estimate(&design, &logarithms).unwrap().exp();
//! assert!((ratio - 1.05).abs() < 0.005);
//! ```

pub mod design;
pub mod holm;
pub mod limits;
pub mod location;
pub mod rank;
pub mod shift;
#[cfg(test)]
mod simulation;

pub use design::Design;
