#!/usr/bin/env python3
"""Reads an OTF2 archive with OTF2's own Python module and compares it with `instr summary --json` of the same traces.

    otf2_check.py FOLDER/traces.otf2 SUMMARY.json

Prints one line of counts; the first difference ends it with status 1.
"""

import sys
from collections import Counter, defaultdict

import otf2
from otf2 import events

from expected import Summaries, same

summary = Summaries(sys.argv[2])
stacks, lasts, counts, of_location = defaultdict(list), {}, Counter(), Counter()
spans, tasks, locks, runs = defaultdict(list), Counter(), {}, {}
with otf2.reader.open(sys.argv[1]) as trace:
    assert trace.timer_resolution == 1_000_000_000
    threads = [one for one in trace.definitions.locations if one.type == otf2.LocationType.CPU_THREAD]
    names = [one.name for one in threads]
    same("threads", sorted(names), sorted(thread["name"] for thread in summary.threads()))
    same("processes", len(trace.definitions.location_groups), len(summary.all))
    for location, event in trace.events:
        counts[type(event).__name__] += 1
        of_location[location] += 1
        assert event.time >= lasts.get(location, 0), f"{location.name} goes back in time"
        lasts[location] = event.time
        if isinstance(event, events.Enter):
            stacks[location].append((event.time, event.region))
        elif isinstance(event, events.Leave):
            begin, region = stacks[location].pop()
            assert region == event.region, f"{location.name} leaves {event.region.name}, not {region.name}"
            spans[region.description].append((region.name, event.time - begin, region))
        elif isinstance(event, events.ThreadTaskCreate):
            task = event.creating_thread, event.generation_number, event.thread_team
            assert event.generation_number > 0
            tasks[task] += 1
        elif isinstance(event, events.ThreadTaskSwitch):
            runs[location] = event.creating_thread, event.generation_number, event.thread_team
        elif isinstance(event, events.ThreadTaskComplete):
            same("the task that ends", runs[location], (event.creating_thread, event.generation_number, event.thread_team))
        elif isinstance(event, events.ThreadAcquireLock):
            assert event.acquisition_order not in locks.get(event.lock_id, set())
            locks.setdefault(event.lock_id, set()).add(event.acquisition_order)
        elif isinstance(event, events.ThreadReleaseLock):
            locks[event.lock_id].remove(event.acquisition_order)
    for location, stack in stacks.items():
        assert not stack, f"{location.name} does not leave {len(stack)} regions"
    for location in threads:
        same(f"events of {location.name}", location.number_of_events, of_location[location])

if summary.whole:
    same("regions forked", counts["ThreadFork"], summary.parallel())
    same("regions joined", counts["ThreadJoin"], summary.parallel())
    same("parallel regions", len(spans["parallel"]), summary.parallel())
    same("teams ended", counts["ThreadTeamEnd"], counts["ThreadTeamBegin"])
    same("tasks created", counts["ThreadTaskCreate"], summary.created())
    same("tasks of one name", max(tasks.values(), default=1), 1)
    same("tasks completed", counts["ThreadTaskComplete"], summary.executed())
    same("tasks begun", len(spans["task"]) - summary.suspended(), summary.executed())
    if not summary.suspended():
        same("locks had", counts["ThreadAcquireLock"], summary.locks())
    for kind in "region", "call":
        found = {}
        for name, time, _ in spans[kind]:
            count, total = found.get(name, (0, 0))
            found[name] = count + 1, total + time
        same(f"{kind}s", found, summary.spans(f"{kind}s"))
    waits = defaultdict(lambda: (0, 0))
    for name, time, _ in spans["wait"]:
        count, total = waits[name]
        waits[name] = count + 1, total + time
    if not summary.suspended():
        for name, (count, total) in summary.syncs().items():
            if waits[name][0] <= count:
                same(f"waits of {name}", waits[name], (count, total))
print(f"otf2 {sum(counts.values())} records of {len(threads)} threads")
