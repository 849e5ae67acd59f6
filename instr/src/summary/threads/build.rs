//! Numbers by address to the section.

use std::cmp::Reverse;

use instr_analysis::counts::{Code, mutex_name, sync_name};
use instr_analysis::threads::{self, LockCount, Object, Report};
use instr_symtab::critical_name;
use instr_trace::Names;
use instr_trace::names::CodeRole;

use super::super::model::{Place, Summary};
use super::model::{Birth, LockCall, WaitCall};

/// The symbol of a lock or another object of the program, or its address.
pub fn object_name(names: &dyn Names, address: u64) -> String {
    match names.resolve(address).and_then(|name| name.function) {
        Some(symbol) => critical_name(&symbol).unwrap_or(&symbol).to_owned(),
        None => format!("{address:#x}"),
    }
}

/// Fills the births of threads, the calls of locks, and those that wait; the locks themselves must be there.
pub fn fill(summary: &mut Summary, report: Report, names: &dyn Names) {
    for (thread, birth) in summary.threads.iter_mut().zip(&report.births) {
        thread.birth = birth.map(|birth| self::birth(birth, names));
    }
    summary.threads_not_made = report.not_made;
    for ((kind, object, site), count) in &report.locks {
        let (kind, name) = (mutex_name(*kind), object_name(names, *object));
        let mut of = summary.criticals.iter_mut();
        // Objects of one name, in different places of memory, have a row each.
        if let Some(lock) =
            of.find(|item| item.kind == kind && item.address == Some(*object) && item.name == name)
        {
            lock.calls.push(lock_call(*site, count, names));
        }
    }
    for lock in &mut summary.criticals {
        lock.calls.sort_by_key(|call| {
            (
                Reverse(call.wait_ns),
                Reverse(call.count),
                call.place.address,
            )
        });
    }
    let wait = |((kind, object, site), times): (&threads::WaitCall, &_)| WaitCall {
        kind: sync_name(*kind),
        object: match object {
            Object::Thread(index) => format!("thread {index}"),
            Object::Address(address) => object_name(names, *address),
        },
        place: call(*site, names),
        times: *times,
    };
    summary.waits = report.waits.iter().map(wait).collect();
    summary
        .waits
        .sort_by_key(|wait| (Reverse(wait.times.total_ns), wait.place.address));
}

fn call(site: u64, names: &dyn Names) -> Place {
    Place::of(names, Some(Code::new(site, true)), CodeRole::Function)
}

fn birth(birth: threads::Birth, names: &dyn Names) -> Birth {
    Birth {
        creator: birth.creator,
        function: Place::of(names, Some(birth.function), CodeRole::Function),
        call: birth.site.map(|site| call(site, names)),
    }
}

fn lock_call(site: u64, count: &LockCount, names: &dyn Names) -> LockCall {
    LockCall {
        place: call(site, names),
        count: count.count,
        contended: count.contended,
        failed: count.failed,
        wait_ns: count.wait_ns,
        wait_max_ns: count.wait_max_ns,
        held_ns: count.held_ns,
        held_max_ns: count.held_max_ns,
    }
}
