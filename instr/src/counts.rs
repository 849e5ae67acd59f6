//! Numbers of threads as they are typed: `1,2,4`, `1:8`, `2:16:2` (with a step).

use std::str::FromStr;

/// Numbers of a range at most.
const MOST: u32 = 100_000;
/// Threads that a run can be predicted for.
const PREDICTED: std::ops::RangeInclusive<u32> = 1..=1024;

/// A list of numbers, in the order in which they were typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts(pub Vec<u32>);

impl FromStr for Counts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no list of numbers of threads, such as 1,2,4 or 1:8");
        let mut counts = Vec::new();
        for part in text.split(',') {
            let bounds: Vec<u32> = part
                .split(':')
                .map(|word| word.trim().parse())
                .collect::<Result<_, _>>()
                .map_err(|_| wrong())?;
            let (first, last, step) = match bounds[..] {
                [one] => (one, one, 1),
                [first, last] => (first, last, 1),
                [first, last, step] if step > 0 => (first, last, step),
                _ => return Err(wrong()),
            };
            if last < first || (last - first) / step > MOST {
                return Err(wrong());
            }
            counts.extend((first..=last).step_by(step as usize));
        }
        match counts.contains(&0) {
            true => Err(format!(
                "`{text}` has a 0: a program has at least one thread"
            )),
            false => Ok(Self(counts)),
        }
    }
}

impl Counts {
    /// A list of numbers of threads that a run can be predicted for.
    ///
    /// # Errors
    ///
    /// What is no such list, as a sentence.
    pub fn predicted(text: &str) -> Result<Self, String> {
        let counts: Self = text.parse()?;
        match counts.0.iter().find(|count| !PREDICTED.contains(count)) {
            Some(count) => Err(format!(
                "{count} is not in {}..={}",
                PREDICTED.start(),
                PREDICTED.end()
            )),
            None => Ok(counts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_lists_and_ranges() {
        let parsed = |text: &str| text.parse::<Counts>().map(|counts| counts.0);
        assert_eq!(parsed("1,2,4").unwrap(), [1, 2, 4]);
        assert_eq!(parsed("1:4").unwrap(), [1, 2, 3, 4]);
        assert_eq!(parsed("2:8:3, 16").unwrap(), [2, 5, 8, 16]);
        for wrong in [
            "",
            "a",
            "4:1",
            "1:9:0",
            "1:2:3:4",
            "1:4000000000",
            "1,,2",
            "-1",
        ] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn predictions_are_for_some_threads_and_not_too_many() {
        assert_eq!(Counts::predicted("1,1024").unwrap().0, [1, 1024]);
        assert!(Counts::predicted("0:2").unwrap_err().contains("has a 0"));
        assert!(Counts::predicted("4,1025").unwrap_err().contains("1025"));
        assert!(Counts::predicted("two").unwrap_err().contains("no list"));
    }
}
