//! Time of groups in the cells of a picture: a row for each processor, columns of time.

use std::collections::BTreeMap;

use anyhow::Result;
use instr_trace::kernel::Part;

use super::groups::{Groups, Piece};
use super::slices;
use crate::report::timeline::part::{MOST_CELLS, Window};

/// Groups that are told apart in a cell. Of more, those with least time are forgotten.
const FOLLOWED: usize = 64;

/// Time of groups in the cells of one processor.
type Row = Vec<Vec<(usize, u64)>>;

/// Who ran where.
pub(crate) struct Grid {
    pub(crate) window: Window,
    /// Of each group on all processors in the window.
    pub(crate) time: Vec<u64>,
    /// By number of the processor.
    pub(crate) rows: BTreeMap<u32, Row>,
    /// Events that were lost.
    pub(crate) lost: u64,
    /// Processors that found no room.
    pub(crate) left_out: usize,
    /// Processors in use on average, in equal parts of the whole time.
    pub(crate) in_use: Vec<f64>,
}

impl Grid {
    /// Reads who ran on which processor.
    ///
    /// # Errors
    ///
    /// Streams that cannot be read.
    pub(crate) fn read(parts: &[&Part], groups: &mut Groups, window: Window) -> Result<Self> {
        let mut grid = Self {
            window,
            time: Vec::new(),
            rows: BTreeMap::new(),
            lost: 0,
            left_out: 0,
            in_use: Vec::new(),
        };
        let used = window.used();
        let mut numbers: Vec<u32> = parts.iter().flat_map(|part| part.processors()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let room = MOST_CELLS / used;
        grid.left_out = numbers.len().saturating_sub(room);
        for number in numbers.into_iter().take(room) {
            grid.rows.insert(number, vec![Vec::new(); used]);
        }
        let found = slices(parts, &mut |slice| {
            if slice.end_ns <= window.from || slice.begin_ns >= window.to {
                return Ok(());
            }
            groups.divide(slice, &mut |piece| {
                grid.add(piece);
                Ok(())
            })
        })?;
        grid.time.resize(groups.names.len(), 0);
        grid.lost = found.lost;
        grid.in_use = found.in_use;
        Ok(grid)
    }

    fn add(&mut self, piece: Piece<'_, '_>) {
        let (window, width) = (self.window, self.window.width());
        let (begin, end) = (piece.begin.max(window.from), piece.end.min(window.to));
        if begin >= end {
            return;
        }
        let group = piece.group;
        if self.time.len() <= group {
            self.time.resize(group + 1, 0);
        }
        self.time[group] = self.time[group].saturating_add(end - begin);
        let Some(row) = self.rows.get_mut(&piece.slice.processor) else {
            return;
        };
        for column in window.columns_of(begin, end).into_iter().flatten() {
            let from = window.from.saturating_add(column as u64 * width);
            let ns = end
                .min(from.saturating_add(width))
                .saturating_sub(begin.max(from));
            let cell = &mut row[column];
            match cell.iter_mut().find(|(other, _)| *other == group) {
                Some((_, sum)) => *sum = sum.saturating_add(ns),
                None => {
                    if cell.len() == FOLLOWED {
                        let least = (0..FOLLOWED).min_by_key(|at| cell[*at].1);
                        cell.swap_remove(least.unwrap_or(0));
                    }
                    cell.push((group, ns));
                }
            }
        }
    }

    /// Rank of each group by its time.
    pub(crate) fn ranks(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.time.len()).collect();
        order.sort_by_key(|program| std::cmp::Reverse(self.time[*program]));
        let mut ranks = vec![0; order.len()];
        for (rank, program) in order.into_iter().enumerate() {
            ranks[program] = rank;
        }
        ranks
    }
}

/// Busy time of a cell, and who ran longest.
pub(crate) fn cell(cell: &[(usize, u64)]) -> (u64, Option<usize>) {
    let busy = cell
        .iter()
        .fold(0u64, |sum, (_, ns)| sum.saturating_add(*ns));
    let longest = cell
        .iter()
        .max_by_key(|(program, ns)| (*ns, std::cmp::Reverse(*program)));
    (busy, longest.map(|(program, _)| *program))
}

/// The time of all recordings, ns.
pub(crate) fn length(parts: &[&Part]) -> u64 {
    let infos = parts.iter().map(|part| part.info());
    let begin = infos.clone().map(|info| info.start_monotonic_ns).min();
    let end = infos.map(|info| info.end_monotonic_ns).max();
    end.unwrap_or(0).saturating_sub(begin.unwrap_or(0))
}
