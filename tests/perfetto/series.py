#!/usr/bin/env python3
"""Compares the counters of a Perfetto file with the values that `instr processors --series` writes.

    series.py FILE.perfetto-trace VALUES.csv

Prints how many series and values there are; the first difference ends it with status 1.
"""

import csv
import sys
from collections import defaultdict

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

expected = defaultdict(list)
with open(sys.argv[2], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        number = {"process": "", "machine": "", "tree": ""}.get(row["scope"], " " + row["number"])
        name = f"{row['series']}, {row['scope']}{number}"
        expected[name].append(int(row["value"]))

trace = Trace()
with open(sys.argv[1], "rb") as file:
    trace.ParseFromString(file.read())
names, found, times = {}, defaultdict(list), defaultdict(list)
for packet in trace.packet:
    track = packet.track_descriptor
    if track.HasField("counter"):
        names[track.uuid] = track.name
    event = packet.track_event
    name = names.get(event.track_uuid)
    if packet.HasField("track_event") and name in expected:
        found[name].append(event.counter_value)
        times[name].append(packet.timestamp)
if found != expected:
    for name in sorted(set(found) | set(expected)):
        if found[name] != expected[name]:
            sys.exit(f"{name}: {found[name][:9]} in the Perfetto file, {expected[name][:9]} in the table")
for name, of in times.items():
    if of != sorted(of):
        sys.exit(f"{name}: times go back")
print(f"{len(found)} series, {sum(map(len, found.values()))} values")
