//! Orders of the rows of a table by one or more columns. SQLite finds rows in them by halves, and takes groups and sorted rows from them as they come.

use std::rc::Rc;

use crate::store::{Column, Loaded, Values};

/// A column of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// Its place in the table.
    pub(crate) column: usize,
    /// From the largest on.
    pub(crate) descending: bool,
}

/// Rows in an order; those with equal keys as they stand in the table. A missing value is smaller than all others.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) rows: Vec<u32>,
}

/// A number that orders values as SQLite does; texts by their rank. A missing one is smaller than all.
#[inline]
fn order(column: &Column, ranks: &[u32], row: usize) -> i64 {
    // Times and addresses never come near the smallest number.
    match (&column.values, column.int(row)) {
        (_, None) => i64::MIN,
        (Values::Text(_), Some(number)) => ranks[number as usize].into(),
        (_, Some(number)) => number,
    }
}

impl Index {
    /// Bytes of one for so many rows.
    pub(crate) fn bytes_for(rows: usize) -> u64 {
        4 * rows as u64
    }

    pub(crate) fn bytes(&self) -> usize {
        self.rows.capacity() * 4
    }

    /// Sorts by the last key first, each time keeping the order of equal ones.
    pub(crate) fn new(loaded: &Loaded, keys: &[Key], ranks: &[u32]) -> Option<Self> {
        let count = u32::try_from(loaded.rows?).ok()?;
        let mut rows: Vec<u32> = (0..count).collect();
        for key in keys.iter().rev() {
            let column = loaded.columns.get(key.column)?.as_ref()?;
            let value = |row: u32| order(column, ranks, row as usize);
            sort(&mut rows, value, key.descending);
        }
        Some(Self { rows })
    }
}

/// Values that are counted rather than compared.
const FEW: usize = 1 << 16;

fn sort(rows: &mut Vec<u32>, value: impl Fn(u32) -> i64, descending: bool) {
    let values: Vec<i64> = rows.iter().map(|row| value(*row)).collect();
    let sorted = match descending {
        true => values.is_sorted_by(|a, b| a >= b),
        false => values.is_sorted(),
    };
    if sorted {
        return;
    }
    let present = values.iter().copied().filter(|value| *value != i64::MIN);
    let (least, most) = present.fold((i64::MAX, i64::MIN), |(least, most), value| {
        (least.min(value), most.max(value))
    });
    let range = most
        .checked_sub(least)
        .and_then(|range| usize::try_from(range).ok());
    match range.filter(|range| *range < FEW) {
        Some(range) => count_sort(rows, &values, least, range + 2, descending),
        None => {
            let mut pairs: Vec<(i64, u32)> = values.into_iter().zip(rows.drain(..)).collect();
            match descending {
                true => pairs.sort_by_key(|pair| std::cmp::Reverse(pair.0)),
                false => pairs.sort_by_key(|pair| pair.0),
            }
            rows.extend(pairs.into_iter().map(|(_, row)| row));
        }
    }
}

/// For values from `least` on, of which there are `places` with the missing one.
fn count_sort(rows: &mut Vec<u32>, values: &[i64], least: i64, places: usize, descending: bool) {
    let place = |value: i64| {
        let at = match value {
            i64::MIN => 0,
            value => (value - least) as usize + 1,
        };
        if descending { places - 1 - at } else { at }
    };
    let mut next = vec![0usize; places + 1];
    values.iter().for_each(|value| next[place(*value) + 1] += 1);
    for at in 0..places {
        next[at + 1] += next[at];
    }
    let mut sorted = vec![0; rows.len()];
    for (row, value) in rows.iter().zip(values) {
        let to = &mut next[place(*value)];
        sorted[*to] = *row;
        *to += 1;
    }
    *rows = sorted;
}

/// A bound for the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Values from here on,
    pub(crate) from: i64,
    /// up to here.
    pub(crate) to: i64,
}

/// The stretch of an index whose rows have these values: one for each of the keys that it begins with, which are ascending.
pub(crate) fn stretch(
    index: &Rc<Index>,
    loaded: &Loaded,
    keys: &[Key],
    bounds: &[Bounds],
    ranks: &[u32],
) -> (usize, usize) {
    let (mut low, mut high) = (0, index.rows.len());
    for (key, bounds) in keys.iter().zip(bounds) {
        let Some(column) = loaded.columns.get(key.column).and_then(Option::as_ref) else {
            break;
        };
        let part = &index.rows[low..high];
        let value = |row: &u32| order(column, ranks, *row as usize);
        let first = part.partition_point(|row| value(row) < bounds.from);
        let behind = first + part[first..].partition_point(|row| value(row) <= bounds.to);
        (low, high) = (low + first, low + behind);
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(values: &[Option<i64>], descending: bool) -> Vec<u32> {
        let mut rows: Vec<u32> = (0..values.len() as u32).collect();
        sort(
            &mut rows,
            |row| values[row as usize].unwrap_or(i64::MIN),
            descending,
        );
        rows
    }

    #[test]
    fn both_ways_of_sorting_are_stable_and_put_missing_values_where_sqlite_does() {
        for wide in [0, 1 << 40] {
            let values = [
                Some(3 + wide),
                None,
                Some(1),
                Some(3 + wide),
                Some(2),
                None,
                Some(1),
            ];
            assert_eq!(sorted(&values, false), [1, 5, 2, 6, 4, 0, 3], "{wide}");
            assert_eq!(sorted(&values, true), [0, 3, 4, 2, 6, 1, 5], "{wide}");
        }
        assert_eq!(sorted(&[None, None], true), [0, 1]);
        assert_eq!(sorted(&[], false), [0u32; 0]);
    }
}
