//! Many addresses at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::dwarf::Dwarf;
use crate::frames::Finder;
use crate::image::Image;
use crate::lookup::Lookup;

/// Fewer addresses than this are asked for one by one.
const WORTH_SORTING: usize = 32;

/// Fewer jobs than this are not worth another thread: a job is mostly a unit to be read.
const WORTH_A_THREAD: usize = 4;

/// How many threads at most.
const MAX_THREADS: usize = 16;

/// How many addresses of one unit a thread takes at once.
const MAX_JOB: usize = 2048;

/// Indices of sorted addresses that lie in one unit.
type Job = Vec<u32>;

/// An answer with the index of its address.
type Answer = (u32, Arc<Lookup>);

impl Image {
    /// Answers for many addresses at once, in their order.
    ///
    /// They are sorted, and each unit they fall into is read once and used by one thread after the other; the machine's
    /// cores share the work. Ask for as many at once as there are: a hundred
    /// thousand in a program of a thousand units cost little more than a thousand of them, one in each unit.
    ///
    /// ```
    /// # fn count(image: &instr_symtab::Image, samples: &[u64]) {
    /// // All samples of a profile: how often is each line hit?
    /// let mut lines = std::collections::BTreeMap::new();
    /// for answer in image.lookup_all(samples) {
    ///     *lines.entry((answer.file.clone(), answer.line)).or_insert(0) += 1;
    /// }
    /// # }
    /// ```
    pub fn lookup_all(&self, addresses: &[u64]) -> Vec<Arc<Lookup>> {
        if addresses.len() < WORTH_SORTING {
            return addresses
                .iter()
                .map(|&address| self.lookup(address))
                .collect();
        }
        let mut distinct = addresses.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let mut answers: Vec<Option<Arc<Lookup>>> = distinct
            .iter()
            .map(|&address| self.answers.get(address))
            .collect();
        for (index, answer) in self.answer_missing(&distinct, &answers) {
            self.answers.put(distinct[index as usize], &answer);
            answers[index as usize] = Some(answer);
        }
        let answer = |&address: &u64| {
            let known = distinct
                .binary_search(&address)
                .ok()
                .and_then(|index| answers[index].clone());
            known.unwrap_or_else(|| self.lookup(address))
        };
        addresses.iter().map(answer).collect()
    }

    /// Works out what is not known.
    fn answer_missing(&self, addresses: &[u64], known: &[Option<Arc<Lookup>>]) -> Vec<Answer> {
        let missing = || {
            let indices = (0u32..).zip(known);
            indices.filter_map(|(index, answer)| answer.is_none().then_some(index))
        };
        if missing().next().is_none() {
            return Vec::new();
        }
        self.store.with_dependent(|_, dwarf| {
            let jobs = jobs(dwarf, addresses, missing());
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let threads = cores
                .min(MAX_THREADS)
                .min(jobs.len().div_ceil(WORTH_A_THREAD));
            let next = AtomicUsize::new(0);
            let work = || self.work(dwarf, addresses, &jobs, &next);
            std::thread::scope(|scope| {
                let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
                let mut answers = work();
                for helper in helpers {
                    // A thread that panicked left its job undone: it is done by the caller, one by one.
                    answers.extend(helper.join().unwrap_or_default());
                }
                answers
            })
        })
    }

    /// Takes one job after the other until none is left.
    fn work<'d>(
        &self,
        dwarf: &Dwarf<'d>,
        addresses: &[u64],
        jobs: &[Job],
        next: &AtomicUsize,
    ) -> Vec<Answer> {
        let mut answers = Vec::new();
        let mut finder = Finder::new();
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            for &index in job {
                let answer = self.look_up(dwarf, &mut finder, addresses[index as usize]);
                answers.push((index, Arc::new(answer)));
            }
            dwarf.units.close_idle();
            dwarf.give_back(finder.unit().map(|unit| unit.number));
        }
        answers
    }
}

/// Sorts addresses by unit; the order in a unit stays.
fn jobs(dwarf: &Dwarf<'_>, addresses: &[u64], indices: impl Iterator<Item = u32>) -> Vec<Job> {
    dwarf.units.prepare(&dwarf.sections, dwarf.program);
    let unit_of = |index: u32| dwarf.units.likely(addresses[index as usize]);
    let mut by_unit: Vec<_> = indices.map(|index| (unit_of(index), index)).collect();
    by_unit.sort_unstable();
    by_unit
        .chunk_by(|(one, _), (other, _)| one == other)
        .flat_map(|unit| unit.chunks(MAX_JOB))
        .map(|job| job.iter().map(|(_, index)| *index).collect())
        .collect()
}
