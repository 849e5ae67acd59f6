//! Which run belongs to which of two groups, and which runs may be compared with each other.
//!
//! A machine is not the same all day: other work comes and goes, it gets warm. Runs that were made one after the other had nearly the same machine, so they make a *block*, and runs are
//! compared inside of their block alone. A drift that is slow beside a block then hurts neither the level nor the power of what is found.

/// No fewer runs are a block. Shorter ones follow a drift more closely, but have fewer arrangements, which one wild run spoils: with six, a simulation finds most (docs/decisions).
const LEAST: usize = 6;

/// Two groups of runs in blocks. All functions of this module take values in the order in which the runs were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    /// For each run, whether it is of the second group.
    second: Vec<bool>,
    /// Runs by block.
    blocks: Vec<Vec<usize>>,
    in_turn: bool,
}

impl Design {
    /// All runs are one block: nothing is known of their order.
    pub fn of_groups(second: &[bool]) -> Self {
        Self {
            second: second.to_vec(),
            blocks: vec![(0..second.len()).collect()],
            in_turn: false,
        }
    }

    /// Blocks from when each run began (in any unit) and whether it is of the second group: in order of time, a block ends as soon as it has six runs or more, as many of one group as of
    /// the other. What is left at the end belongs to the last block. Groups that were made one after the other are one block.
    pub fn by_time(runs: &[(u64, bool)]) -> Self {
        let mut order: Vec<usize> = (0..runs.len()).collect();
        order.sort_by_key(|run| runs[*run].0);
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        let mut open = Vec::new();
        let (mut balance, mut largest) = (0_i64, 0);
        for run in order {
            open.push(run);
            balance += if runs[run].1 { 1 } else { -1 };
            largest = largest.max(balance.unsigned_abs() as usize);
            if balance == 0 && open.len() >= LEAST {
                blocks.push(std::mem::take(&mut open));
            }
        }
        match blocks.last_mut() {
            Some(last) => last.extend(open),
            None => blocks.push(open),
        }
        let second = runs.iter().filter(|run| run.1).count();
        Self {
            second: runs.iter().map(|run| run.1).collect(),
            blocks,
            in_turn: 2 * largest <= second.min(runs.len() - second),
        }
    }

    /// Runs of all blocks.
    pub fn runs(&self) -> usize {
        self.second.len()
    }

    /// Whether a run is of the second group.
    pub fn is_second(&self, run: usize) -> bool {
        self.second[run]
    }

    /// Runs by block.
    pub fn blocks(&self) -> &[Vec<usize>] {
        &self.blocks
    }

    /// Whether the groups were made in turn: at no time there were more runs of one than of the other by more than half of the smaller group.
    pub fn is_in_turn(&self) -> bool {
        self.in_turn
    }

    /// Whether each group has more than one run: without, nothing can be said about noise.
    pub fn has_repeats(&self) -> bool {
        let second = self.second.iter().filter(|is| **is).count();
        second >= 2 && self.runs() - second >= 2
    }

    /// Ways to choose the second group's runs with as many of them in each block as there are. Inexact above 2⁵³.
    pub fn arrangements(&self) -> f64 {
        let of_block = |block: &Vec<usize>| {
            let chosen = block.iter().filter(|run| self.second[**run]).count();
            let factor = |at: usize| (block.len() - at) as f64 / (at + 1) as f64;
            (0..chosen).map(factor).product::<f64>()
        };
        self.blocks.iter().map(of_block).product()
    }

    /// The smallest p-value that a two-sided test can have.
    pub fn least_p(&self) -> f64 {
        (2.0 / self.arrangements()).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(letters: &str) -> Design {
        let run = |(at, letter): (usize, char)| (at as u64, letter == 'B');
        let runs: Vec<_> = letters.chars().enumerate().map(run).collect();
        Design::by_time(&runs)
    }

    fn blocks(letters: &str) -> Vec<String> {
        let design = design(letters);
        let letters: Vec<char> = letters.chars().collect();
        let text = |block: &Vec<usize>| block.iter().map(|at| letters[*at]).collect();
        design.blocks().iter().map(text).collect()
    }

    #[test]
    fn blocks_are_short_where_runs_were_made_in_turn() {
        assert_eq!(blocks("ABBAABBAABBA"), ["ABBAAB", "BAABBA"]);
        assert_eq!(blocks("ABABABABAB"), ["ABABABABAB"]);
        assert_eq!(blocks("AABABBABABAB"), ["AABABB", "ABABAB"]);
        assert_eq!(blocks("AAAABBBB"), ["AAAABBBB"]);
        assert_eq!(blocks("AAAA"), ["AAAA"]);
        assert_eq!(blocks("ABABABAAA"), ["ABABABAAA"]);
        assert_eq!(blocks(""), [""]);
    }

    #[test]
    fn groups_one_after_the_other_are_not_in_turn() {
        for (letters, is) in [
            ("ABBA", true),
            ("ABAB", true),
            ("ABBAABBAABBA", true),
            ("AABB", false),
            ("AAABBB", false),
            ("BBBBAAAA", false),
            ("ABBBBAAA", false),
        ] {
            assert_eq!(design(letters).is_in_turn(), is, "{letters}");
        }
        assert!(!Design::of_groups(&[false, true, true, false]).is_in_turn());
    }

    #[test]
    fn the_order_is_that_of_time_whatever_the_order_of_the_list() {
        let design = Design::by_time(&[(40, true), (10, false), (30, false), (20, true)]);
        assert_eq!(design.blocks(), [vec![1, 3, 2, 0]]);
        assert!(design.is_second(0) && !design.is_second(1));
    }

    #[test]
    fn arrangements_are_binomial_in_each_block() {
        assert_eq!(design("ABBAABBAABBA").arrangements(), 400.0);
        assert!((design("AAAAAAAAAABBBBBBBBBB").arrangements() - 184_756.0).abs() < 1e-6);
        assert_eq!(design("AAABBB").least_p(), 0.1);
        assert_eq!(design("AB").least_p(), 1.0);
        assert!(!design("ABB").has_repeats() && design("AABB").has_repeats());
    }
}
