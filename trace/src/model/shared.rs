//! What the threads of a process share.

use hashbrown::HashMap;

use crate::event::{RegionId, TaskId};
use crate::recent::Recent;
use crate::task_map::{self, TaskMap};
use crate::task_set::TaskSet;

use super::body::Body;
use super::heap::Heap;
use super::region::Region;
use super::sensor::Sensors;
use super::span::Code;

/// What the threads of a process share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Regions that run.
    pub(super) regions: HashMap<RegionId, Region>,
    /// Bodies of taskloops: their tasks may begin behind the end of the call.
    pub(super) taskloops: Recent<Code>,
    /// Tasks of any kind that were created or have begun, that have begun, and that have ended.
    pub(super) created: TaskSet,
    pub(super) begun: TaskSet,
    pub(super) ended: TaskSet,
    /// Bodies of tasks that have not begun, where a sink wants them.
    pub(super) codes: TaskMap<Code>,
    /// Tasks that left their thread before their end.
    pub(super) suspended: HashMap<TaskId, Box<Body>>,
    /// Empty bodies, to be used again.
    pub(super) spare: Vec<Box<Body>>,
    /// Numbers of bodies so far.
    pub(super) bodies: u32,
    pub(super) heap: Heap,
    pub(super) sensors: Sensors,
}

impl task_map::Value for Code {
    fn clear(&mut self) {}
}

impl Shared {
    /// A task begins; false when it has done so before. What creates it does not come any more.
    pub(super) fn begins(&mut self, task: TaskId) -> bool {
        self.created.insert(task);
        self.begun.insert(task)
    }

    /// A task with this body has been created.
    pub(super) fn set_code(&mut self, task: TaskId, code: Code) {
        let key = self.codes.insert(task);
        if let Some(place) = self.codes.get_mut(key) {
            *place = code;
        }
    }

    /// The body of a task that begins.
    pub(super) fn take_code(&mut self, task: TaskId) -> Code {
        let Some(key) = self.codes.find(task) else {
            return Code::default();
        };
        let code = self.codes.get(key).copied();
        self.codes.remove(key);
        code.unwrap_or_default()
    }

    /// A body with nothing in it.
    pub(super) fn body(&mut self) -> Box<Body> {
        self.spare.pop().unwrap_or_else(|| {
            self.bodies += 1;
            Body::new(self.bodies - 1)
        })
    }
}
