//! K-way merge of the streams of a trace in time order.

use crate::error::Error;
use crate::event::Event;
use crate::stream::StreamReader;

/// Time of an event and position of its stream.
type Key = (u64, u32);

/// A stream that is at its end, or is none: behind all events.
const END: Key = (u64::MAX, u32::MAX);

/// A tournament of streams: the one with the earliest event wins. Each inner node keeps the loser of its match, so that a stream that
/// goes on plays as many matches as the tree is deep, whatever the order of the events.
#[derive(Debug)]
struct Tournament {
    /// By number of the node: 1 is the final, 2n and 2n + 1 are the matches before n.
    losers: Vec<Key>,
    winner: Key,
}

impl Tournament {
    fn new(keys: &[Key]) -> Self {
        let width = keys.len().next_power_of_two();
        let mut winners = vec![END; 2 * width];
        winners[width..width + keys.len()].copy_from_slice(keys);
        let mut losers = vec![END; width];
        for node in (1..width).rev() {
            let (a, b) = (winners[2 * node], winners[2 * node + 1]);
            (winners[node], losers[node]) = (a.min(b), a.max(b));
        }
        let winner = winners[1];
        Self { losers, winner }
    }

    /// The last winner's stream has another key now.
    #[inline]
    fn replay(&mut self, position: usize, key: Key) {
        let mut winner = key;
        let mut node = (self.losers.len() + position) / 2;
        while let Some(loser) = self.losers.get_mut(node)
            && node > 0
        {
            if *loser < winner {
                std::mem::swap(loser, &mut winner);
            }
            node /= 2;
        }
        self.winner = winner;
    }
}

/// All events of a trace by time; at equal times by thread index, within a thread in recorded order.
#[derive(Debug)]
pub struct Merge<'t> {
    streams: Vec<StreamReader<'t>>,
    /// A stream that is not open yet is there with a time not later than its first event.
    tournament: Tournament,
    opened: Vec<bool>,
    /// The stream whose event was given out last.
    current: Option<usize>,
}

impl<'t> Merge<'t> {
    /// `streams` in order of their thread index.
    pub(crate) fn new(streams: Vec<StreamReader<'t>>) -> Self {
        let key = |(position, stream): (u32, &StreamReader<'_>)| {
            stream.earliest().map_or(END, |time| (time, position))
        };
        let keys: Vec<Key> = (0..).zip(&streams).map(key).collect();
        Self {
            opened: vec![false; streams.len()],
            streams,
            tournament: Tournament::new(&keys),
            current: None,
        }
    }

    /// The next event of all; `None` at the end. The event borrows this merge, so it is gone with the next call.
    #[allow(clippy::should_implement_trait, reason = "a lending iterator")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<Event<'_>>, Error> {
        Ok(match self.step()? {
            Some(position) => self.streams[position].current(),
            None => None,
        })
    }

    /// Position (in order of [`crate::Trace::threads`]) of the thread whose event [`Merge::next`] gave last. Threads of the runtime's own
    /// have positions behind those of the program.
    #[inline]
    pub fn position(&self) -> Option<usize> {
        self.current
    }

    /// Packets so far that ended in damage.
    pub fn damaged(&self) -> u64 {
        self.streams.iter().map(StreamReader::damaged).sum()
    }

    /// Bytes of the packets opened so far, of [`crate::Trace::bytes`] in all.
    pub fn read_bytes(&self) -> u64 {
        self.streams.iter().map(StreamReader::read_bytes).sum()
    }

    /// Moves to the next event and gives its time; [`Merge::current`] is then that event. Does as [`Merge::next`] and copies less.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    #[inline]
    pub fn advance(&mut self) -> Result<Option<u64>, Error> {
        Ok(self.step()?.map(|position| self.streams[position].time()))
    }

    /// The event that [`Merge::advance`] found.
    #[inline]
    pub fn current(&self) -> Option<Event<'_>> {
        self.streams[self.current?].current()
    }

    #[inline]
    fn step(&mut self) -> Result<Option<usize>, Error> {
        if let Some(position) = self.current {
            self.move_on(position)?;
        }
        loop {
            let position = self.tournament.winner.1 as usize;
            match self.opened.get_mut(position) {
                Some(true) => {
                    self.current = Some(position);
                    return Ok(self.current);
                }
                Some(opened) => *opened = true,
                None => {
                    self.current = None;
                    return Ok(None);
                }
            }
            self.move_on(position)?;
        }
    }

    /// The winner moves to its next event.
    #[inline]
    fn move_on(&mut self, position: usize) -> Result<(), Error> {
        let stream = &mut self.streams[position];
        let key = match stream.advance()? {
            true => (stream.time(), position as u32),
            false => END,
        };
        self.tournament.replay(position, key);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tournament_gives_the_keys_of_all_in_order() {
        let mut random = fastrand::Rng::with_seed(11);
        let mut below = |limit: u64| random.u64(..limit);
        for count in [0, 1, 2, 3, 4, 5, 8, 9, 33] {
            let mut lists: Vec<Vec<u64>> = (0..count)
                .map(|_| {
                    let mut list: Vec<u64> = (0..below(20)).map(|_| below(50)).collect();
                    list.sort_unstable_by(|a, b| b.cmp(a));
                    list
                })
                .collect();
            let mut expected: Vec<Key> = Vec::new();
            for (position, list) in (0..).zip(&lists) {
                expected.extend(list.iter().map(|time| (*time, position)));
            }
            expected.sort_unstable();
            let mut next = |position: u32| match lists[position as usize].pop() {
                Some(time) => (time, position),
                None => END,
            };
            let first: Vec<Key> = (0..count).map(&mut next).collect();
            let mut tournament = Tournament::new(&first);
            let mut found = Vec::new();
            while tournament.winner != END {
                let (_, position) = tournament.winner;
                found.push(tournament.winner);
                tournament.replay(position as usize, next(position));
            }
            assert_eq!(found, expected);
        }
    }
}
