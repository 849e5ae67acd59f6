#!/usr/bin/env python3
"""Reads a Perfetto file with Perfetto's own classes and compares it with `instr summary --json` of the same traces.

    check.py FILE.perfetto-trace SUMMARY.json

Slices must nest on every track, and every begin must have its end. Prints one line of counts; the first difference ends it with status 1.
"""

import json
import sys
from collections import Counter, defaultdict

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import ClockSnapshot, Trace, TrackEvent

MONOTONIC = 3
STATES = {
    "useful": "useful_ns",
    "synchronization": "sync_ns",
    "scheduling": "sched_ns",
    "idle": "idle_ns",
    "flush": "flush_ns",
}


def same(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found} in the Perfetto file, {expected} in the summary")


class Process:
    """What one sequence of packets holds."""

    def __init__(self):
        self.names, self.categories, self.notes = {}, {}, {}
        self.tracks = {}
        self.pid = None
        self.events = []

    def packet(self, order, packet):
        data = packet.interned_data
        for table, entries in (
            (self.names, data.event_names),
            (self.categories, data.event_categories),
            (self.notes, data.debug_annotation_names),
        ):
            for entry in entries:
                assert entry.iid not in table, f"name {entry.iid} is given twice"
                table[entry.iid] = entry.name
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in self.tracks
            self.tracks[track.uuid] = track
            if track.HasField("process"):
                self.pid = track.process.pid
        if packet.HasField("track_event"):
            assert packet.sequence_flags == 2
            event = packet.track_event
            assert event.track_uuid in self.tracks, f"no track {event.track_uuid}"
            name = self.names[event.name_iid] if event.name_iid else None
            category = self.categories[event.category_iids[0]] if event.category_iids else None
            self.events.append((packet.timestamp, order, event, name, category))

    def follow(self):
        """All events in order of time: slices with begin, end, name, category, track."""
        self.events.sort(key=lambda event: event[:2])
        stacks, self.slices, self.instants = defaultdict(list), [], []
        self.values, self.flows, self.ends = defaultdict(list), {}, {}
        for time, _, event, name, category in self.events:
            for flow in event.flow_ids:
                assert flow not in self.flows, f"flow {flow} begins twice"
                self.flows[flow] = time, category
            for flow in event.terminating_flow_ids:
                assert flow not in self.ends, f"flow {flow} ends twice"
                self.ends[flow] = time
            track, stack = event.track_uuid, stacks[event.track_uuid]
            if event.type == TrackEvent.TYPE_SLICE_BEGIN:
                stack.append((time, name, category))
            elif event.type == TrackEvent.TYPE_SLICE_END:
                assert stack, f"an end without a begin on track {track} at {time}"
                begin, name, category = stack.pop()
                self.slices.append((begin, time, name, category, track))
            elif event.type == TrackEvent.TYPE_INSTANT:
                self.instants.append((time, name, category, event))
            elif event.type == TrackEvent.TYPE_COUNTER:
                value = event.counter_value
                if event.HasField("double_counter_value"):
                    value = event.double_counter_value
                self.values[track].append(value)
            else:
                sys.exit(f"type {event.type}")
        for track, stack in stacks.items():
            assert not stack, f"{len(stack)} slices of track {track} have no end"

    def counters(self, process):
        """Values of counter tracks by name, of the process or of all its threads."""
        found = defaultdict(list)
        for track, values in self.values.items():
            descriptor = self.tracks[track]
            parent = self.tracks[descriptor.parent_uuid]
            if parent.HasField("process") == process:
                found[descriptor.name].append(values)
        return found


def times(slices):
    return len(slices), sum(end - begin for begin, end, *_ in slices)


def compare(process, summary):
    process.follow()
    by_category = defaultdict(list)
    for slice in process.slices:
        by_category[slice[3]].append(slice)
    whole = not (summary["discarded"] or summary["truncated_streams"])

    threads = [track for track in process.tracks.values() if track.HasField("thread")]
    same("threads", len(threads), len(summary["threads"]))
    for track, thread in zip(threads, summary["threads"]):
        same("name", track.thread.thread_name, thread["name"])
        spent = Counter()
        for begin, end, name, _, of in by_category["state"]:
            if process.tracks[of].parent_uuid == track.uuid:
                spent[STATES[name]] += end - begin
        for state in STATES.values():
            same(f"{state} of {thread['name']}", spent[state], thread[state])

    tasks = summary["tasks"]
    pieces = [instant for instant in process.instants if instant[2] == "task creation"]
    created = [slice for slice in by_category["task creation"]]
    creations = {flow for flow, (_, kind) in process.flows.items() if kind == "task creation"}
    edges = set(process.flows) - creations
    parallel = sum(region["count"] for region in summary["parallel_regions"])
    if whole:
        same("tasks created", len(created) + len(pieces), tasks["created"])
        same("flows from creations", len(creations), tasks["created"])
        same("begun tasks", len(by_category["task"]) - tasks["suspended"], tasks["executed"])
        same("flows to begins", len(creations & set(process.ends)), tasks["executed"])
        same("parallel regions", len(by_category["parallel"]), parallel)
    # A `taskwait nowait depend` has no flows, and a task that was discarded gives none.
    if whole and not tasks["taskwaits_depend"] and not tasks["discarded"]:
        ended = edges | {flow for flow in process.ends if flow not in creations}
        same("dependences", len(ended), tasks["edges"])
        same("dependences with both ends", len(edges & set(process.ends)), tasks["edges"])
    for flow in set(process.flows) & set(process.ends):
        # A library may run a task before one that it depends on (libgomp 12 with `omp_all_memory`).
        if flow in creations:
            assert process.flows[flow][0] <= process.ends[flow], f"flow {flow} goes back in time"

    waits = defaultdict(list)
    for slice in by_category["wait"]:
        waits[slice[2]].append(slice)
    if whole and not tasks["suspended"]:
        for sync in summary["syncs"]:
            kind = sync["kind"]
            found, expected = times(waits.pop(kind)), (sync["count"], sync["total_ns"])
            # What the end of the program cuts is a slice here, and not timed there.
            if found[0] <= expected[0]:
                same(f"waits of {kind}", found, expected)
        waits.pop("closing barrier", None)
        same("further waits", dict(waits), {})
        locks = sum(lock["acquired"] if "acquired" in lock else lock["count"] for lock in summary["criticals"])
        same("locks held", len(by_category["lock held"]), locks)

    for kind in "region", "call":
        spans = defaultdict(list)
        for slice in by_category[kind]:
            spans[slice[2]].append(slice)
        found = {name: times(slices) for name, slices in spans.items()}
        expected = {one["name"]: (one["count"], one["total_ns"]) for one in summary[f"{kind}s"]}
        if whole:
            same(f"{kind}s", found, expected)

    user = Counter(name for _, name, category, _ in process.instants if category == "user event")
    same("user events", dict(user), {f"event {one['type']}": one["count"] for one in summary["user_events"]})
    of_threads, of_process = process.counters(False), process.counters(True)
    for counter in summary["counters"]:
        values = of_threads[counter["name"]]
        if counter["source"] == "program":
            values = [value for track in values for value in track]
            found = len(values), min(values), max(values)
            same(counter["name"], found, (counter["count"], counter["min"], counter["max"]))
        elif counter["total"] is not None:
            same(counter["name"], sum(track[-1] for track in values), counter["total"])
    memory = summary["memory"]
    for name, most in ("heap in use", "live_high_water_bytes"), ("mapped pages", None):
        if name in of_process:
            expected = memory[most] if most else memory["mapped"]["high_water_bytes"]
            same(name, max(of_process[name][0]), expected)
    cancels = sum(1 for _, _, category, _ in process.instants if category == "cancellation")
    return (
        len(process.slices),
        len(process.instants),
        len(process.flows),
        sum(len(values) for values in process.values.values()),
        cancels,
    )


def flat(summaries):
    for summary in summaries:
        yield summary
        yield from flat(summary.get("children") or [])


def main(file, summary):
    with open(file, "rb") as stream:
        trace = Trace.FromString(stream.read())
    with open(summary) as stream:
        summaries = json.load(stream)
    processes, clock = {}, None
    for order, packet in enumerate(trace.packet):
        for message in packet, packet.track_event, packet.track_descriptor, packet.interned_data:
            assert not len(UnknownFieldSet(message)), f"unknown fields in {message}"
        if packet.HasField("clock_snapshot"):
            clock = packet.clock_snapshot
            continue
        if packet.HasField("ftrace_events") or packet.HasField("process_tree"):
            continue  # processors: processors.py
        sequence = packet.trusted_packet_sequence_id
        if packet.HasField("trace_packet_defaults"):
            assert packet.sequence_flags == 1 and sequence not in processes
            assert packet.trace_packet_defaults.timestamp_clock_id == MONOTONIC
            processes[sequence] = Process()
        processes[sequence].packet(order, packet)
    assert isinstance(clock, ClockSnapshot) and clock.primary_trace_clock == MONOTONIC
    summaries = list(flat(summaries if isinstance(summaries, list) else [summaries]))
    same("processes", len(processes), len(summaries))
    summaries = {summary["pid"]: summary for summary in summaries}
    total = [0] * 5
    for process in processes.values():
        found = compare(process, summaries[process.pid])
        total = [a + b for a, b in zip(total, found)]
    print("{} slices, {} instants, {} flows, {} values, {} cancellations".format(*total))


if __name__ == "__main__":
    main(*sys.argv[1:])
