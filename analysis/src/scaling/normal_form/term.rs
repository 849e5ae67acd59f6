//! Terms: products of powers of the threads and of the size, and which of them a search tries.

/// Exponents in twelfths, as Extra-P has them, up to 3.
const POWERS: [i32; 19] = [
    0, 3, 4, 6, 8, 9, 12, 15, 16, 18, 20, 21, 24, 27, 28, 30, 32, 33, 36,
];
/// Exponents where size and threads both vary: there are many more terms.
const FEW: [i32; 8] = [0, 6, 8, 12, 16, 18, 24, 36];

/// A power of one variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Power {
    /// Exponent in twelfths.
    pub twelfths: i32,
    /// Exponent of the logarithm to base 2.
    pub logarithm: u32,
}

impl Power {
    pub(super) fn of(self, x: f64) -> f64 {
        x.powf(f64::from(self.twelfths) / 12.0) * x.log2().powi(self.logarithm as i32)
    }

    /// Whether it grows with its variable.
    pub(super) fn grows(self) -> bool {
        self.twelfths > 0 || self.twelfths == 0 && self.logarithm > 0
    }

    /// Whether algorithms have it: logarithms come with roots, whole and half powers, not with others (the terms that Extra-P tries by default are the same, but for n^(4/5)).
    fn is_usual(self) -> bool {
        let twelfths = self.twelfths.abs();
        match self.logarithm {
            0 => true,
            1 => [0, 3, 4, 6, 8, 9, 12, 15, 16, 18, 24, 30, 36].contains(&twelfths),
            _ => [0, 3, 4, 6, 8, 9, 12, 18, 24, 30].contains(&twelfths),
        }
    }

    /// How many things a reader has to take in.
    fn complexity(self) -> u32 {
        let whole = u32::from(self.twelfths % 12 != 0) + u32::from(self.twelfths % 6 != 0);
        u32::from(self.twelfths != 0) + whole + 2 * self.logarithm
    }

    fn text(self, name: &str) -> Option<String> {
        let power = match self.twelfths {
            0 => None,
            12 => Some(name.to_owned()),
            t if t % 12 == 0 => Some(format!("{name}^{}", t / 12)),
            t => {
                let common = [6, 4, 3, 2, 1]
                    .into_iter()
                    .find(|d| t % d == 0 && 12 % d == 0)
                    .unwrap_or(1);
                Some(format!("{name}^({}/{})", t / common, 12 / common))
            }
        };
        let logarithm = match self.logarithm {
            0 => None,
            1 => Some(format!("log2({name})")),
            n => Some(format!("log2({name})^{n}")),
        };
        match (power, logarithm) {
            (Some(a), Some(b)) => Some(format!("{a} * {b}")),
            (a, b) => a.or(b),
        }
    }
}

/// A product of powers of the threads and of the size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Term {
    /// Of the threads.
    pub threads: Power,
    /// Of the size.
    pub size: Power,
}

impl Term {
    pub(super) fn of(&self, threads: f64, size: f64) -> f64 {
        self.threads.of(threads) * self.size.of(size)
    }

    pub(super) fn complexity(&self) -> u32 {
        self.threads.complexity() + self.size.complexity()
    }

    pub(super) fn text(&self) -> String {
        let parts = [self.size.text("n"), self.threads.text("p")];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" * ")
    }
}

/// All terms but the constant. A variable with one value has none; the exponents of the threads may be negative.
pub(super) fn candidates(by_threads: bool, by_size: bool) -> Vec<Term> {
    let powers: &[i32] = if by_threads && by_size { &FEW } else { &POWERS };
    let logarithms = if by_threads && by_size { 0..=1 } else { 0..=2 };
    let all = |is: bool, negative: bool| -> Vec<Power> {
        if !is {
            return vec![Power::default()];
        }
        let signs: &[i32] = if negative { &[1, -1] } else { &[1] };
        let mut found = Vec::new();
        for sign in signs {
            for power in powers {
                for logarithm in logarithms.clone() {
                    found.push(Power {
                        twelfths: sign * power,
                        logarithm,
                    });
                }
            }
        }
        found.retain(|power| power.is_usual());
        found.sort_unstable();
        found.dedup();
        found
    };
    let (threads, sizes) = (all(by_threads, true), all(by_size, false));
    let mut terms: Vec<Term> = threads
        .iter()
        .flat_map(|threads| {
            sizes.iter().map(|size| Term {
                threads: *threads,
                size: *size,
            })
        })
        .filter(|term| *term != Term::default())
        .collect();
    terms.sort_by_key(|term| (term.complexity(), *term));
    terms
}
