//! Numbers of locks, and of who had them in which order.

use hashbrown::HashMap;

use super::World;

/// The locks of a process.
#[derive(Debug, Default)]
pub(super) struct Locks {
    /// Number, and how often it was had, by address.
    known: HashMap<u64, (u32, u32)>,
    /// The orders in which a body has a lock.
    held: HashMap<(u32, u64), Vec<u32>>,
}

impl Locks {
    /// A body gets a lock: the lock's number, and how many had it before and with this.
    pub(super) fn get(&mut self, world: &mut World, body: u32, object: u64) -> (u32, u32) {
        let lock = self.known.entry(object).or_insert_with(|| {
            world.locks = world.locks.wrapping_add(1);
            (world.locks - 1, 0)
        });
        lock.1 = lock.1.wrapping_add(1);
        self.held.entry((body, object)).or_default().push(lock.1);
        *lock
    }

    /// It gives it back; `None`: it was not seen to get it.
    pub(super) fn give(&mut self, body: u32, object: u64) -> Option<(u32, u32)> {
        let orders = self.held.get_mut(&(body, object))?;
        let order = orders.pop();
        if orders.is_empty() {
            self.held.remove(&(body, object));
        }
        Some((self.known.get(&object)?.0, order?))
    }
}
