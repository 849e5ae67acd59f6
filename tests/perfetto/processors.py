#!/usr/bin/env python3
"""Rebuilds from the scheduler's events of a Perfetto file who ran on which processor and who woke whom, as trace_processor does, and compares
it with what `instr processors --csv` and `instr processors --json` write.

    processors.py FILE.perfetto-trace RUNS.csv PROCESSORS.json METADATA

METADATA is that of the kernel's part: the table begins when the recording does, by the clock of the Perfetto file.

Prints how many runs and wake-ups there are; the first difference ends it with status 1.
"""

import csv
import json
import re
import sys
from collections import defaultdict

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

STATES = {0: "ready", 1: "blocked", 0x10: "ended", 0x8000: "unknown"}
MONOTONIC, BOOTTIME = 3, 6
HARD_INTERRUPT = 8

trace = Trace()
with open(sys.argv[1], "rb") as file:
    trace.ParseFromString(file.read())
events, groups, clocks, named = defaultdict(list), {}, {}, set()
for packet in trace.packet:
    for clock in packet.clock_snapshot.clocks:
        clocks[clock.clock_id] = clock.timestamp
    for process in packet.process_tree.processes:
        assert process.cmdline, process
    for thread in packet.process_tree.threads:
        groups[thread.tid] = thread.tgid
    if packet.HasField("ftrace_events"):
        bundle = packet.ftrace_events
        assert bundle.HasField("cpu") and bundle.cpu < 1024
        for event in bundle.event:
            assert not len(UnknownFieldSet(event)), f"unknown fields in {event}"
            events[bundle.cpu].append(event)
            if event.HasField("task_newtask"):
                named.add(event.task_newtask.pid)
# Readers take these times for those of the clock that goes on in sleep.
assert clocks[MONOTONIC] == clocks[BOOTTIME]

found = []
for cpu, of in events.items():
    assert [event.timestamp for event in of] == sorted(event.timestamp for event in of), f"processor {cpu} goes back in time"
    running = None
    for event in of:
        if not event.HasField("sched_switch"):
            continue
        switch = event.sched_switch
        if running is not None:
            begin, tid, name = running
            assert switch.prev_pid == tid, f"processor {cpu} leaves {switch.prev_pid}, and {tid} ran there"
            if tid:
                found.append((cpu, begin, event.timestamp, tid, name, STATES[switch.prev_state]))
        running = event.timestamp, switch.next_pid, switch.next_comm
        if switch.next_pid:
            assert switch.next_pid in groups or switch.next_pid in named, f"thread {switch.next_pid} is of no process"
    # What runs at the end has no end here.
    if running and running[1]:
        found.append((cpu, running[0], None, *running[1:], "unknown"))

with open(sys.argv[2], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
expected = sorted((int(row["processor"]), int(row["begin_ns"]), int(row["tid"]), row["then"]) for row in rows)
with open(sys.argv[4], encoding="utf-8", errors="replace") as file:
    zero = int(re.search(r"start_monotonic_ns = \"?(\d+)", file.read()).group(1))
ours = sorted((cpu, begin - zero, tid, then) for cpu, begin, _, tid, _, then in found)
if ours != expected:
    for mine, theirs in zip(ours, expected):
        if mine != theirs:
            sys.exit(f"{mine} in the Perfetto file, {theirs} in the table")
    sys.exit(f"{len(ours)} runs in the Perfetto file, {len(expected)} in the table")
ends = {(int(row["processor"]), int(row["begin_ns"])): int(row["end_ns"]) for row in rows}
for cpu, begin, end, *_ in found:
    if end is not None and end - zero != ends[cpu, begin - zero]:
        sys.exit(f"the run at {begin - zero} ends at {end - zero} in the Perfetto file, at {ends[cpu, begin - zero]} in the table")

# Who woke whom: a waking ends a thread's wait; of one that still runs, or can go on already, it says nothing.
states, wakes = {}, defaultdict(lambda: [0, 0])
in_order = sorted((event.timestamp, cpu, at) for cpu, of in events.items() for at, event in enumerate(of))
for time, cpu, at in in_order:
    event = events[cpu][at]
    if event.HasField("task_newtask"):
        states[event.task_newtask.pid] = "ready", time, None
    elif event.HasField("sched_switch"):
        switch = event.sched_switch
        state, since, pair = states.get(switch.next_pid, ("unknown", time, None))
        if pair:
            wakes[pair][1] += time - since
        states[switch.next_pid] = "running", time, None
        states[switch.prev_pid] = STATES[switch.prev_state], time, None
    elif event.HasField("sched_waking"):
        waking = event.sched_waking
        if states.get(waking.pid, ("unknown",))[0] in ("blocked", "unknown"):
            pair = waking.pid, None if event.common_flags & HARD_INTERRUPT else event.pid or None
            wakes[pair][0] += 1
            states[waking.pid] = "ready", time, pair
with open(sys.argv[3], encoding="utf-8") as file:
    told = json.load(file)["woken"]
table = {(wake["woken"]["tid"], (wake["by"] or {}).get("tid")): [wake["times"], wake["delay_ns"]] for wake in told}
if wakes != table:
    for pair in sorted(set(wakes) | set(table), key=str):
        if wakes.get(pair) != table.get(pair):
            sys.exit(f"who was woken, by whom {pair}: {wakes.get(pair)} in the Perfetto file, {table.get(pair)} in the table")
print(f"{len(found)} runs on {len(events)} processors, {sum(times for times, _ in wakes.values())} wake-ups")
