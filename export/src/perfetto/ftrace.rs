//! The messages of Perfetto for what a kernel's scheduler does, with the fields that are used: `protos/perfetto/trace/ftrace/ftrace_event_bundle.proto`,
//! `ftrace_event.proto`, `sched.proto`, `task.proto`, and `protos/perfetto/trace/ps/process_tree.proto` in its sources have their names and numbers.

use prost::Message;

/// `prev_state` as Linux tells it since 4.14: `TASK_RUNNING`, `TASK_INTERRUPTIBLE`, `EXIT_DEAD`; and one that means nothing, which readers show as `?`.
pub(super) const READY: i64 = 0;
pub(super) const BLOCKED: i64 = 1;
pub(super) const ENDED: i64 = 0x10;
pub(super) const UNKNOWN: i64 = 0x8000;
/// `CLONE_THREAD`: of the same process.
pub(super) const CLONE_THREAD: u64 = 0x10000;
/// `TRACE_FLAG_HARDIRQ`, of `common_flags`: an interrupt did it, not the thread that ran.
pub(super) const INTERRUPT: u32 = 0x08;

#[derive(Clone, PartialEq, Message)]
pub(super) struct FtraceEventBundle {
    #[prost(uint32, optional, tag = "1")]
    pub(super) cpu: Option<u32>,
    #[prost(message, repeated, tag = "2")]
    pub(super) event: Vec<FtraceEvent>,
    #[prost(bool, optional, tag = "3")]
    pub(super) lost_events: Option<bool>,
}

/// One of the four; `pid` is the thread that runs there.
#[derive(Clone, PartialEq, Message)]
pub(super) struct FtraceEvent {
    #[prost(uint64, optional, tag = "1")]
    pub(super) timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "2")]
    pub(super) pid: Option<u32>,
    #[prost(message, optional, tag = "4")]
    pub(super) sched_switch: Option<SchedSwitch>,
    #[prost(uint32, optional, tag = "5")]
    pub(super) common_flags: Option<u32>,
    #[prost(message, optional, tag = "20")]
    pub(super) sched_waking: Option<SchedWaking>,
    #[prost(message, optional, tag = "235")]
    pub(super) task_newtask: Option<TaskNewtask>,
    #[prost(message, optional, tag = "236")]
    pub(super) task_rename: Option<TaskRename>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SchedSwitch {
    #[prost(string, optional, tag = "1")]
    pub(super) prev_comm: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) prev_pid: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub(super) prev_prio: Option<i32>,
    #[prost(int64, optional, tag = "4")]
    pub(super) prev_state: Option<i64>,
    #[prost(string, optional, tag = "5")]
    pub(super) next_comm: Option<String>,
    #[prost(int32, optional, tag = "6")]
    pub(super) next_pid: Option<i32>,
    #[prost(int32, optional, tag = "7")]
    pub(super) next_prio: Option<i32>,
}

/// The thread `pid` can go on.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SchedWaking {
    #[prost(string, optional, tag = "1")]
    pub(super) comm: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) pid: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub(super) prio: Option<i32>,
    #[prost(int32, optional, tag = "4")]
    pub(super) success: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TaskNewtask {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(string, optional, tag = "2")]
    pub(super) comm: Option<String>,
    #[prost(uint64, optional, tag = "3")]
    pub(super) clone_flags: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TaskRename {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(string, optional, tag = "2")]
    pub(super) oldcomm: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(super) newcomm: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ProcessTree {
    #[prost(message, repeated, tag = "1")]
    pub(super) processes: Vec<Process>,
    #[prost(message, repeated, tag = "2")]
    pub(super) threads: Vec<Thread>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Process {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(string, repeated, tag = "3")]
    pub(super) cmdline: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Thread {
    #[prost(int32, optional, tag = "1")]
    pub(super) tid: Option<i32>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(int32, optional, tag = "3")]
    pub(super) tgid: Option<i32>,
}
