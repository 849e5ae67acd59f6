//! Samples: where a thread was at the end of a period.

use crate::event::{Addresses, Payload, SamplingClock};

use super::sink::{At, Sink};

/// What a thread's sampling gives at a moment.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Sample<'a> {
    /// Sampling of the thread begins.
    Begins {
        /// What ends the periods.
        clock: SamplingClock,
        /// Length of a period, ns.
        period_ns: u64,
    },
    /// The thread was here.
    Taken {
        /// Where.
        frames: Frames<'a>,
        /// Periods that the sample stands for, at least 1.
        periods: u32,
    },
    /// Periods without a sample.
    Lost {
        /// How many.
        periods: u32,
    },
}

/// Where a thread was, as the runtime recorded it: [`crate::samples::Chain`] finds the calls by which it came there.
#[derive(Clone, Copy, Debug)]
pub struct Frames<'a> {
    /// The instruction.
    pub pc: u64,
    pub(crate) sp: u64,
    /// How many of the words are registers; the others are a copy of the stack. `None`: return addresses.
    pub(crate) registers: Option<u32>,
    pub(crate) words: Addresses<'a>,
}

/// Gives what the event tells of samples.
pub(super) fn sample<S: Sink>(at: At, payload: &Payload<'_>, sink: &mut S) {
    let (pc, sp, weight, registers, words) = match *payload {
        Payload::Sampling {
            source, period_ns, ..
        } => {
            let clock = source;
            return sink.sample(at, &Sample::Begins { clock, period_ns });
        }
        Payload::SampleLost { count: periods } => {
            return sink.sample(at, &Sample::Lost { periods });
        }
        Payload::Sample {
            pc,
            sp,
            weight,
            stack: words,
        } => (pc, sp, weight, None, words),
        Payload::SampleStack {
            pc,
            sp,
            weight,
            registers,
            words,
        } => (pc, sp, weight, Some(registers), words),
        _ => return,
    };
    let frames = Frames {
        pc,
        sp,
        registers,
        words,
    };
    let periods = weight.max(1);
    sink.sample(at, &Sample::Taken { frames, periods });
}
