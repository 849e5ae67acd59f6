//! What a thread does by itself.

use super::program::{Program, function, name, object};
use crate::synth::Body;

impl Program {
    /// One thing of many.
    pub(super) fn leaf(&mut self, thread: usize) {
        let (kind, number) = (self.random.u32(..5), self.random.u64(..4));
        match self.random.u8(..22) {
            0 | 1 => self.put(thread, 8, |body| _ = body.u32(1000 + kind).u64(number)),
            2 => self.around(thread, name(number)),
            3 => self.put(thread, 11, |body| {
                _ = body.addr(name(number)).i64(i64::from(kind) - 2)
            }),
            4 => self.call(thread, name(number)),
            5..=7 => self.heap(thread),
            8 => self.pages(thread),
            9 => self.allocator(thread),
            10 | 11 => self.lock(thread),
            12 => self.flush(thread),
            13 => self.sample(thread),
            14 => self.target(thread, kind),
            15 => {
                self.put(thread, 32, |body| _ = body.u32(6));
                self.put(thread, 33, |body| _ = body.u32(6));
            }
            16 => self.put(thread, 27, |body| _ = body.addr(function(number) + 4)),
            17 => {
                let cancelled = [1, 2, 4, 8][number as usize];
                self.put(thread, 38, |body| _ = body.u32(cancelled).u32(kind % 4));
            }
            18 => {
                let values = (self.random.i64(..1000), self.random.i64(..1000));
                self.put(thread, 66, |body| {
                    _ = body.u32(0).u32(2).i64(values.0).i64(values.1)
                });
            }
            19 => self.lock_of_threads(thread),
            20 => self.wait_of_threads(thread, kind),
            _ => self.pause(thread),
        }
    }

    /// A region of the program's own.
    fn around(&mut self, thread: usize, name: u64) {
        self.put(thread, 9, |body| _ = body.addr(name));
        self.heap(thread);
        self.put(thread, 10, |_| {});
    }

    /// A call of a described function.
    fn call(&mut self, thread: usize, name: u64) {
        self.put(thread, 12, |body| _ = body.addr(name).u32(2).u64(1).u64(2));
        self.put(thread, 8, |body| _ = body.u32(7).u64(1));
        self.put(thread, 13, |body| _ = body.u64(3));
    }

    /// An address and a size that nothing has.
    fn fresh(&mut self) -> (u64, u64) {
        let bytes = self.random.u64(1..5000);
        let address = self.next_address;
        self.next_address += bytes.next_multiple_of(4096) + 4096;
        (address, bytes)
    }

    /// A block of the heap is got, moved or given back.
    fn heap(&mut self, thread: usize) {
        let site = function(self.random.u64(..8)) + 8;
        let kind = self.random.u32(1..8);
        // Told by one event, as older runtimes do.
        let at_once = self.random.u8(..4) == 0;
        if self.blocks.is_empty() || self.random.bool() {
            let (address, bytes) = self.fresh();
            self.blocks.push((address, bytes));
            if at_once {
                return self.put(thread, 72, |body| {
                    _ = body.u32(kind).addr(address).u64(bytes).addr(site)
                });
            }
            self.put(thread, 67, |body| _ = body.u32(kind).u64(bytes).addr(site));
            return self.put(thread, 69, |body| _ = body.addr(address));
        }
        let at = self.random.usize(..self.blocks.len());
        let (old, _) = self.blocks.swap_remove(at);
        if self.random.bool() {
            if at_once {
                return self.put(thread, 73, |body| _ = body.u32(kind).addr(old));
            }
            self.put(thread, 70, |body| _ = body.u32(kind).addr(old));
            return self.put(thread, 71, |_| {});
        }
        let (address, bytes) = self.fresh();
        self.blocks.push((address, bytes));
        if at_once {
            return self.put(thread, 74, |body| {
                _ = body.addr(old).addr(address).u64(bytes).addr(site)
            });
        }
        self.put(thread, 68, |body| _ = body.addr(old).u64(bytes).addr(site));
        self.put(thread, 69, |body| _ = body.addr(address));
    }

    /// Pages are mapped, moved or given back.
    fn pages(&mut self, thread: usize) {
        let site = function(self.random.u64(..8)) + 12;
        let (address, bytes) = (self.fresh().0, 4096);
        if self.pages.is_empty() || self.random.bool() {
            self.pages.push((address, bytes));
            return self.put(thread, 75, |body| {
                _ = body.addr(address).u64(bytes).addr(site)
            });
        }
        let at = self.random.usize(..self.pages.len());
        let (old, size) = self.pages.swap_remove(at);
        if self.random.bool() {
            return self.put(thread, 76, |body| _ = body.addr(old).u64(size));
        }
        self.pages.push((address, bytes));
        self.put(thread, 77, |body| {
            _ = body.addr(old).u64(size).addr(address).u64(bytes).addr(site)
        });
    }

    /// Memory of an OpenMP allocator.
    fn allocator(&mut self, thread: usize) {
        match self.omp.pop() {
            Some(address) if self.random.bool() => {
                self.put(thread, 57, |body| _ = body.u32(1).addr(address));
            }
            kept => {
                self.omp.extend(kept);
                let (address, bytes) = self.fresh();
                self.omp.push(address);
                self.put(thread, 56, |body| {
                    _ = body.u32(1).addr(address).u64(bytes).addr(3)
                });
            }
        }
    }

    /// A lock is got, or found taken. No two threads have it at a time.
    pub(super) fn lock(&mut self, thread: usize) {
        let number = self.random.usize(..4);
        let (kind, object) = ([1, 2, 5, 6][number], object(number as u64));
        self.put(thread, 34, |body| _ = body.u32(kind).addr(object));
        if kind >= 5 && self.random.u8(..4) == 0 {
            return self.put(thread, 37, |body| _ = body.u32(kind).addr(object));
        }
        self.not_before(thread, self.locks[number]);
        self.put(thread, 35, |body| _ = body.u32(kind).addr(object));
        self.put(thread, 8, |body| _ = body.u32(9).u64(1));
        self.put(thread, 36, |body| _ = body.u32(kind).addr(object));
        self.locks[number] = self.threads[thread].now;
    }

    /// The same by calls of POSIX threads, which say whether it was free.
    fn lock_of_threads(&mut self, thread: usize) {
        let number = self.random.usize(..4);
        let (kind, object) = (7 + number as u32, object(4 + number as u64));
        let site = function(self.random.u64(..8)) + 8;
        let call = |body: &mut Body| _ = body.u32(kind).addr(object).addr(site);
        let free = self.locks[4 + number];
        let how = self.random.u8(..5);
        if how == 0 {
            return self.put(thread, 100, call);
        }
        if how == 1 {
            self.not_before(thread, free);
            self.put(thread, 97, call);
        } else {
            self.put(thread, 98, call);
            if how == 2 {
                return self.put(thread, 37, |body| _ = body.u32(kind).addr(object));
            }
            self.not_before(thread, free);
            let id = if how == 3 { 99 } else { 35 };
            self.put(thread, id, |body| _ = body.u32(kind).addr(object));
        }
        self.put(thread, 8, |body| _ = body.u32(9).u64(2));
        if how != 3 {
            // A read-write lock is given back without a word on what it was taken for.
            let kind = if kind == 9 { 8 } else { kind };
            self.put(thread, 36, |body| _ = body.u32(kind).addr(object));
        }
        self.locks[4 + number] = self.threads[thread].now;
    }

    /// A wait by a call of POSIX threads, or a thread that is made; each of those that there are may say who made it.
    fn wait_of_threads(&mut self, thread: usize, number: u32) {
        let site = function(u64::from(number)) + 16;
        if number == 4 {
            let seq = self.random.u32(..3);
            self.put(thread, 93, |body| {
                _ = body.u32(seq).addr(function(0)).addr(site)
            });
            self.put(thread, 94, |body| _ = body.u32(seq % 2));
            return self.put(thread, 95, |body| {
                _ = body.u32(0).u32(seq).addr(function(0)).addr(0x7F70)
            });
        }
        let kind = 11 + self.random.u32(..6);
        let object = object(u64::from(number));
        self.put(thread, 96, |body| {
            _ = body.u32(kind).addr(object).addr(site)
        });
        self.put(thread, 33, |body| _ = body.u32(kind));
    }

    /// The tracer writes for a while.
    fn flush(&mut self, thread: usize) {
        let begin = self.threads[thread].now + 1;
        self.not_before(thread, begin + 20);
        self.put(thread, 4, |body| _ = body.u64(begin).u32(4096));
        self.synchronise(thread);
    }

    fn sample(&mut self, thread: usize) {
        let pc = function(self.random.u64(..8)) + 20;
        if self.random.bool() {
            self.put(thread, 83, |body| _ = body.u32(2));
        }
        if self.random.bool() {
            return self.put(thread, 82, |body| {
                _ = body
                    .addr(pc)
                    .addr(0x7F70_0000)
                    .u32(1)
                    .u32(1)
                    .u32(2)
                    .addr(5)
                    .addr(pc)
            });
        }
        self.put(thread, 81, |body| {
            _ = body
                .addr(pc)
                .addr(0x7F70_0000)
                .u32(1)
                .u32(2)
                .addr(pc + 4)
                .addr(function(0))
        });
    }

    /// A device construct; the host runs the body of a `target`.
    fn target(&mut self, thread: usize, kind: u32) {
        self.put(thread, 54, |body| {
            _ = body.u32(kind).addr(function(3)).u32(0).u32(0)
        });
        self.put(thread, 8, |body| _ = body.u32(8).u64(1));
        self.put(thread, 55, |body| _ = body.u32(kind));
    }

    /// The initial thread records nothing for a while; others turn to another processor.
    fn pause(&mut self, thread: usize) {
        if thread > 0 {
            let processor = self.random.u32(..4);
            return self.put(thread, 89, |body| _ = body.u32(processor));
        }
        self.put(thread, 5, |_| {});
        self.not_before(thread, self.threads[thread].now + 50);
        self.put(thread, 6, |_| {});
    }
}
