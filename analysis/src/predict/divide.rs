//! Work that was done in some pieces, in other pieces: for other numbers of threads and other sizes of chunks.
//!
//! A recorded chunk of 10 iterations that took 50 us counts 5 us for each iteration. A piece of 4 iterations of it takes 20 us; one that goes on in
//! the next chunk has a part of both. A lock that a piece takes is given back in the same piece.
//!
//! Time in which the chunk's thread had no processor is no work: where it lies among the steps decides nothing. Pieces have parts of it as large as their parts of the iterations.

use super::model::{NO_PROCESSOR, Region, Step};

/// Cuts `sources`, each with the number of its units (not 0), into pieces of so many units as `sizes` gives, one after the other. What is left when `sizes`
/// ends is one more piece. Each piece is given to `out`.
pub(super) fn divide<'s>(
    sources: impl IntoIterator<Item = (&'s [Step], u64)>,
    sizes: impl IntoIterator<Item = u64>,
    mut out: impl FnMut(&[Step]),
) {
    let mut sizes = sizes.into_iter().filter(|size| *size > 0);
    let Some(first) = sizes.next() else { return };
    let mut cut = Cut {
        left: first,
        piece: Vec::new(),
        held: 0,
    };
    let mut whole = false;
    for (steps, units) in sources {
        let part =
            |of: u64, upto: u64| (u128::from(of) * u128::from(upto) / u128::from(units)) as u64;
        let work = Region::work(steps);
        let waited = Region::waited(steps);
        let (mut done, mut units_left) = (0u64, units);
        let mut unwaited = steps.iter().copied().filter(|step| !step.is_waiting());
        let mut rest = unwaited.next();
        while units_left > 0 || rest.is_some() {
            if cut.left == 0 && cut.held == 0 && !whole {
                out(&cut.piece);
                cut.piece.clear();
                match sizes.next() {
                    Some(size) => cut.left = size,
                    None => whole = true,
                }
            }
            let take = if whole {
                units_left
            } else {
                units_left.min(cut.left)
            };
            let before = units - units_left;
            units_left -= take;
            cut.left -= take.min(cut.left);
            if take == units {
                // It stays in one piece: what waited with a lock does so again.
                cut.piece.extend_from_slice(steps);
                break;
            }
            let after = units - units_left;
            rest = cut.fill(
                rest,
                &mut unwaited,
                &mut done,
                part(work, after),
                units_left == 0,
            );
            let ns = part(waited, after) - part(waited, before);
            if ns > 0 {
                cut.piece.push(Step::Work {
                    spot: NO_PROCESSOR,
                    ns,
                });
            }
        }
    }
    out(&cut.piece);
}

struct Cut {
    /// Units that the piece has room for.
    left: u64,
    piece: Vec<Step>,
    /// Locks that it holds.
    held: u32,
}

impl Cut {
    /// Moves steps into the piece until the source's work reaches `upto`, and on while a lock is held; all of them if it is the `last` part. What
    /// is left of the step that was cut comes back.
    fn fill(
        &mut self,
        first: Option<Step>,
        steps: &mut impl Iterator<Item = Step>,
        done: &mut u64,
        upto: u64,
        last: bool,
    ) -> Option<Step> {
        let mut next = first;
        while let Some(step) = next {
            match step {
                Step::Work { spot, ns } => {
                    let room = upto.saturating_sub(*done);
                    if ns > room && self.held == 0 && !last {
                        if room > 0 {
                            self.piece.push(Step::Work { spot, ns: room });
                            *done += room;
                        }
                        return Some(Step::Work {
                            spot,
                            ns: ns - room,
                        });
                    }
                    *done += ns;
                }
                Step::Acquire(_) => {
                    if *done >= upto && self.held == 0 && !last {
                        return Some(step);
                    }
                    self.held += 1;
                }
                Step::Release(_) => self.held = self.held.saturating_sub(1),
                _ => {}
            }
            self.piece.push(step);
            next = steps.next();
        }
        // A lock that the source does not give back is none of the next one's.
        self.held = 0;
        None
    }
}

/// Sizes of a guided loop of `iterations` for so many threads, none below `least`: what libgomp hands out.
pub(super) fn guided(iterations: u64, threads: u64, least: u64) -> impl Iterator<Item = u64> {
    let (threads, least) = (threads.max(1), least.max(1));
    let mut left = iterations;
    std::iter::from_fn(move || {
        let size = left.div_ceil(threads).max(least).min(left);
        left -= size;
        (size > 0).then_some(size)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(ns: u64) -> Step {
        Step::Work { spot: 1, ns }
    }

    fn waiting(ns: u64) -> Step {
        Step::Work {
            spot: NO_PROCESSOR,
            ns,
        }
    }

    fn cut(sources: &[(&[Step], u64)], sizes: &[u64]) -> Vec<Vec<Step>> {
        let mut pieces = Vec::new();
        let sources = sources.iter().copied();
        divide(sources, sizes.iter().copied(), |piece| {
            pieces.push(piece.to_vec())
        });
        pieces
    }

    #[test]
    fn work_goes_with_its_iterations() {
        let (a, b) = ([work(50)], [work(20)]);
        let pieces = cut(&[(&a, 10), (&b, 2)], &[4, 4, 4]);
        assert_eq!(
            pieces,
            [vec![work(20)], vec![work(20)], vec![work(10), work(20)]]
        );
    }

    #[test]
    fn waiting_for_a_processor_is_no_work() {
        // As the collector writes it: behind all work of the chunk.
        let a = [work(80), waiting(40)];
        let piece = vec![work(20), waiting(10)];
        assert_eq!(cut(&[(&a, 8)], &[2; 4]), vec![piece; 4]);
        let held = [
            work(2),
            Step::Acquire(0),
            work(2),
            waiting(9),
            Step::Release(0),
        ];
        assert_eq!(
            cut(&[(&held, 2)], &[2]),
            [held.to_vec()],
            "a piece that is not cut stays as it is"
        );
    }

    #[test]
    fn what_is_left_is_one_more_piece() {
        let a = [work(9)];
        assert_eq!(
            cut(&[(&a, 9)], &[1, 1]).len(),
            3,
            "a third one for the rest"
        );
        assert_eq!(cut(&[(&a, 9)], &[20]), [vec![work(9)]]);
    }

    #[test]
    fn locks_are_given_back_where_they_are_taken() {
        let a = [
            work(2),
            Step::Acquire(0),
            work(6),
            Step::Release(0),
            work(2),
        ];
        for piece in cut(&[(&a, 10)], &[1; 10]) {
            let taken = piece
                .iter()
                .filter(|step| matches!(step, Step::Acquire(_)))
                .count();
            let given = piece
                .iter()
                .filter(|step| matches!(step, Step::Release(_)))
                .count();
            assert_eq!(taken, given, "{piece:?}");
        }
    }

    #[test]
    fn nothing_is_lost_or_made() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..500 {
            let sources: Vec<(Vec<Step>, u64)> = (0..1 + random.usize(..5))
                .map(|_| {
                    let mut steps = Vec::new();
                    for at in 0..random.u32(..4) {
                        steps.push(work(random.u64(..50)));
                        steps.push(waiting(random.u64(1..50)));
                        if random.bool() {
                            steps.extend([
                                Step::Acquire(at),
                                work(random.u64(..9)),
                                Step::Release(at),
                            ]);
                        }
                    }
                    (steps, 1 + random.u64(..20))
                })
                .collect();
            let all: u64 = sources.iter().map(|(_, units)| units).sum();
            let size = 1 + random.u64(..9);
            let sizes = std::iter::repeat_n(size, all.div_ceil(size) as usize);
            let mut pieces = Vec::new();
            let given = sources
                .iter()
                .map(|(steps, units)| (steps.as_slice(), *units));
            divide(given, sizes, |piece| pieces.push(piece.to_vec()));
            for sum in [Region::work, Region::waited] {
                let before: u64 = sources.iter().map(|(steps, _)| sum(steps)).sum();
                assert_eq!(pieces.iter().map(|piece| sum(piece)).sum::<u64>(), before);
            }
            let other = |steps: &[Step]| {
                steps
                    .iter()
                    .filter(|step| !matches!(step, Step::Work { .. }))
                    .count()
            };
            let before: usize = sources.iter().map(|(steps, _)| other(steps)).sum();
            assert_eq!(
                pieces.iter().map(|piece| other(piece)).sum::<usize>(),
                before
            );
            assert!(pieces.len() as u64 <= all.div_ceil(size));
        }
    }

    #[test]
    fn guided_pieces_cover_the_loop() {
        for (iterations, threads, least) in [(1000, 4, 1), (7, 64, 1), (100, 3, 10), (0, 2, 1)] {
            let sizes: Vec<u64> = guided(iterations, threads, least).collect();
            assert_eq!(sizes.iter().sum::<u64>(), iterations);
            assert!(sizes.is_sorted_by(|a, b| a >= b));
        }
        assert_eq!(guided(100, 4, 10).next(), Some(25));
    }
}
