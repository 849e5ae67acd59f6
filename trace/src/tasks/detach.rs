//! Events of tasks with a `detach` clause, and tasks that exclude each other.

use super::TaskSink;
use super::states::TaskStates;
use crate::event::TaskId;
use crate::task_map;

impl<S: TaskSink> TaskStates<S> {
    /// The event of a task with a `detach` clause has this handle.
    pub(super) fn tell_handle(&mut self, id: TaskId, handle: u64) {
        let Some(key) = self.live.find(id) else {
            return;
        };
        let Some(live) = self.live.get_mut(key) else {
            return;
        };
        if live.fulfilled.is_some() || live.record.complete.is_some() {
            return;
        }
        live.detached = true;
        if let Some(time) = self.early.remove(&handle) {
            self.fulfilled(key, time);
        } else {
            self.handles.insert(handle, id);
        }
    }

    pub(super) fn fulfill(&mut self, task: Option<TaskId>, handle: u64) {
        let told = self.handles.get(&handle).copied();
        if task.is_none() || task == told {
            self.handles.remove(&handle);
        }
        let now = self.now();
        match task.or(told) {
            Some(id) => {
                if let Some(key) = self.live.find(id) {
                    self.fulfilled(key, now);
                }
            }
            // The construct that tells whose handle it is has not returned.
            None => _ = self.early.insert(handle, now),
        }
    }

    pub(super) fn fulfilled(&mut self, key: task_map::Key, time: u64) {
        let Some(live) = self.live.get_mut(key) else {
            return;
        };
        live.fulfilled = Some(time);
        if live.record.end.is_some() {
            self.completing.push(key);
            self.complete_all();
        }
    }

    pub(super) fn begin_exclusive(&mut self, key: task_map::Key) {
        let now = self.now();
        let Some(live) = self.live.get(key) else {
            return;
        };
        let Some(parent) = live.record.parent else {
            return;
        };
        for address in &live.exclusive {
            let running = self.exclusive.entry((parent, *address)).or_default();
            if running.latest < now {
                (running.latest, running.at_latest) = (now, 0);
            }
            running.count += 1;
            running.at_latest += 1;
        }
    }

    /// Counts those that began before this one's end and run on.
    pub(super) fn end_exclusive(&mut self, key: task_map::Key) {
        let now = self.now();
        let Some(live) = self.live.get_mut(key) else {
            return;
        };
        let (Some(parent), Some(begin)) = (live.record.parent, live.record.begin) else {
            return;
        };
        for address in std::mem::take(&mut live.exclusive) {
            let Some(running) = self.exclusive.get_mut(&(parent, address)) else {
                continue;
            };
            running.count -= 1;
            if begin == running.latest {
                running.at_latest -= 1;
            }
            let began_now = match running.latest == now {
                true => running.at_latest,
                false => 0,
            };
            self.overlaps += running.count - began_now;
            if running.count == 0 {
                self.exclusive.remove(&(parent, address));
            }
        }
    }
}
