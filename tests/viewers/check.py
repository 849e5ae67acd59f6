#!/usr/bin/env python3
"""Reads what `instr export` wrote in a format with readers that are not ours, and compares it with `instr summary --json` of the same traces.

    check.py FORMAT FILE SUMMARY.json [SCHEMA.json]

FORMAT: chrome, folded, pprof, speedscope. The schema is that of speedscope's own package. Prints one line of counts; the first difference ends it
with status 1.
"""

import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from decimal import Decimal

from expected import Summaries, same

# What events of Chrome's format have to have, by phase ("Trace Event Format").
KEYS = {
    "B": {"name", "cat"},
    "E": set(),
    "X": {"name", "cat", "dur"},
    "i": {"name", "cat", "s"},
    "C": {"name", "args"},
    "M": {"name", "args"},
    "s": {"name", "cat", "id"},
    "f": {"name", "cat", "id", "bp"},
    "b": {"name", "cat", "id2"},
    "e": {"name", "cat", "id2"},
}
METADATA = {"process_name": "name", "thread_name": "name", "thread_sort_index": "sort_index"}


def ns(microseconds):
    """Decimals, which are exact."""
    time = microseconds * 1000
    assert time == int(time), f"{microseconds} us is no whole number of ns"
    return int(time)


class Tracks:
    """Slices of all tracks of a Chrome file."""

    def __init__(self, events):
        self.open, self.slices = defaultdict(list), defaultdict(list)
        self.flows, self.ends, self.lives, self.count = {}, {}, {}, Counter()
        self.names, self.marks, self.lasts = {}, [], {}
        for event in events:
            self.event(event)
        for track, stack in self.open.items():
            assert not stack, f"{len(stack)} slices of {track} have no end"
        assert not self.lives, f"{len(self.lives)} tasks have no end"

    def event(self, event):
        phase = event["ph"]
        missing = ({"ph", "pid", "tid", "ts"} | KEYS[phase]) - set(event)
        assert not missing, f"{event} lacks {missing}"
        track, time = (event["pid"], event["tid"]), ns(event["ts"])
        self.count[phase] += 1
        if phase == "B":
            assert time >= self.lasts.get(track, 0), f"{event} goes back in time"
            self.open[track].append((time, event["name"], event["cat"]))
        elif phase == "E":
            begin, name, category = self.open[track].pop()
            assert begin <= time
            self.slices[category].append((name, time - begin, track))
        elif phase == "X":
            self.slices[event["cat"]].append((event["name"], ns(event["dur"]), track))
        elif phase == "M":
            assert METADATA[event["name"]] in event["args"]
            if event["name"] == "thread_name":
                self.names[track] = event["args"]["name"]
        elif phase in "sf":
            table = self.flows if phase == "s" else self.ends
            assert event["id"] not in table, f"flow {event['id']} twice"
            table[event["id"]] = time
        elif phase == "b":
            assert event["id2"]["local"] not in self.lives
            self.lives[event["id2"]["local"]] = time
        elif phase == "e":
            assert self.lives.pop(event["id2"]["local"]) <= time
        elif phase == "i":
            self.marks.append((event["name"], event["cat"]))
        elif phase == "C":
            assert all(isinstance(value, (int, Decimal)) for value in event["args"].values())
        if phase in "BE":
            self.lasts[track] = time


def by_name(slices):
    found = defaultdict(lambda: (0, 0))
    for name, time, _ in slices:
        count, total = found[name]
        found[name] = count + 1, total + time
    return dict(found)


def chrome(path, summary):
    with open(path, encoding="utf-8") as file:
        document = json.load(file, parse_float=Decimal)
    tracks = Tracks(document["traceEvents"])
    assert document["displayTimeUnit"] == "ns"
    slices = tracks.slices
    same("time in states", sum(time for _, time, _ in slices["state"]), summary.total_ns())
    user = Counter(name for name, category in tracks.marks if category == "user event")
    same("user events", dict(user), summary.user_events())
    if summary.whole:
        pieces = sum(category == "task creation" for _, category in tracks.marks)
        same("tasks created", len(slices["task creation"]) + pieces, summary.created())
        same("lives of tasks", tracks.count["b"], tracks.count["e"])
        same("lives of tasks", tracks.count["b"], summary.created())
        same("begun tasks", len(slices["task"]) - summary.suspended(), summary.executed())
        same("parallel regions", len(slices["parallel"]), summary.parallel())
        same("regions", by_name(slices["region"]), summary.spans("regions"))
        same("calls", by_name(slices["call"]), summary.spans("calls"))
        if not summary.suspended():
            same("locks held", len(slices["lock held"]), summary.locks())
        assert set(tracks.ends) <= set(tracks.flows)
    return f"{sum(map(len, slices.values()))} slices, {len(tracks.flows)} flows"


def times(summary):
    """Time that profiles have in all."""
    sampled = summary.sampled_ns()
    return summary.total_ns() if sampled is None else sampled


def folded(path, summary):
    total, idle, stacks = 0, 0, set()
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, value = re.fullmatch(r"(\S.*) (\d+)\n", line).groups()
            assert stack not in stacks and all(stack.split(";")), line
            stacks.add(stack)
            total += int(value)
            idle += int(value) * (stack.split(";")[-1] == "idle")
    same("time of all stacks", total, times(summary))
    if summary.sampled_ns() is None:
        same("idle time", idle, summary.idle_ns())
    return f"{len(stacks)} stacks"


def profile_class():
    """`perftools.profiles.Profile`, by a descriptor written from pprof's proto/profile.proto."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = {"i": 3, "u": 4, "b": 8, "s": 9}
    messages = {
        "ValueType": "type:1:i unit:2:i",
        "Label": "key:1:i str:2:i num:3:i num_unit:4:i",
        "Sample": "location_id:1:u* value:2:i* label:3:Label*",
        "Mapping": "id:1:u memory_start:2:u memory_limit:3:u file_offset:4:u filename:5:i build_id:6:i has_functions:7:b"
        " has_filenames:8:b has_line_numbers:9:b has_inline_frames:10:b",
        "Line": "function_id:1:u line:2:i column:3:i",
        "Location": "id:1:u mapping_id:2:u address:3:u line:4:Line* is_folded:5:b",
        "Function": "id:1:u name:2:i system_name:3:i filename:4:i start_line:5:i",
        "Profile": "sample_type:1:ValueType* sample:2:Sample* mapping:3:Mapping* location:4:Location* function:5:Function*"
        " string_table:6:s* drop_frames:7:i keep_frames:8:i time_nanos:9:i duration_nanos:10:i period_type:11:ValueType"
        " period:12:i comment:13:i* default_sample_type:14:i",
    }
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="p", syntax="proto3")
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for field in fields.split():
            label, number, kind = field.split(":")
            added = message.field.add(name=label, number=int(number), label=3 if kind[-1] == "*" else 1)
            kind = kind.rstrip("*")
            added.type = kinds.get(kind, 11)
            if kind not in kinds:
                added.type_name = f".p.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("p.Profile"))


def pprof(path, summary):
    from google.protobuf.unknown_fields import UnknownFieldSet

    with gzip.open(path) as file:
        profile = profile_class().FromString(file.read())
    for message in [profile, *profile.sample, *profile.location, *profile.function, *profile.mapping]:
        assert not len(UnknownFieldSet(message)), f"unknown fields in {message}"
    text = profile.string_table
    assert text[0] == ""
    functions = {one.id: one for one in profile.function}
    mappings = {one.id: one for one in profile.mapping}
    locations = {one.id: one for one in profile.location}
    assert 0 not in functions and 0 not in locations and 0 not in mappings
    assert (len(functions), len(locations)) == (len(profile.function), len(profile.location))
    for location in profile.location:
        assert location.mapping_id in {0, *mappings}
        if location.mapping_id:
            of = mappings[location.mapping_id]
            assert of.memory_start <= location.address < of.memory_limit
        assert all(line.function_id in functions for line in location.line) and location.line
    kinds = [(text[kind.type], text[kind.unit]) for kind in profile.sample_type]
    sampled = summary.sampled_ns() is not None
    assert kinds[0] == ("samples" if sampled else "spans", "count") and kinds[1][1] == "nanoseconds"
    threads = {thread["name"] for thread in summary.threads()}
    for sample in profile.sample:
        assert all(location in locations for location in sample.location_id)
        assert text[sample.label[0].key] == "thread" and text[sample.label[0].str] in threads
    same("time of all samples", sum(sample.value[1] for sample in profile.sample), times(summary))
    if sampled:
        same("samples", sum(sample.value[0] for sample in profile.sample), summary.samples())
    elif summary.whole:
        # Each execution of a task counts where it begins, and each region.
        names = lambda sample: text[functions[locations[sample.location_id[0]].line[0].function_id].name]
        counts = Counter()
        for sample in profile.sample:
            counts[names(sample).split(" [")[0] if "[omp task" in names(sample) else ""] += sample.value[0]
    return f"{len(profile.sample)} samples, {len(functions)} functions"


def speedscope(path, summary, schema):
    import jsonschema

    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    with open(schema, encoding="utf-8") as file:
        jsonschema.Draft7Validator(json.load(file)).validate(document)
    frames, counts = document["shared"]["frames"], Counter()
    same("threads", len(document["profiles"]), len(summary.threads()))
    length = 0
    for profile in document["profiles"]:
        stack, last = [], profile["startValue"]
        for event in profile["events"]:
            assert event["at"] >= last, f"{profile['name']} goes back in time at {event}"
            last = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
                counts[frames[event["frame"]]["name"]] += 1
            else:
                assert stack.pop() == event["frame"], f"{profile['name']}: {event} closes another frame"
        assert not stack and last <= profile["endValue"]
        length += profile["endValue"] - profile["startValue"]
    same("time of all threads", length, summary.total_ns())
    if summary.whole and not summary.suspended():
        creations = sum(count for name, count in counts.items() if name.startswith("create: "))
        assert creations <= summary.created(), "a taskloop creates some"
        for name, (count, _) in summary.syncs().items():
            assert counts[name] >= count, f"{counts[name]} of {count} {name}"
    return f"{sum(counts.values())} frames opened"


def main(form, path, summary, *more):
    print(form, globals()[form](path, Summaries(summary), *more))


if __name__ == "__main__":
    main(*sys.argv[1:])
