#!/usr/bin/env python3
"""Compares the profile that a program of examples/cluster prints with `instr summary --json` of the same traces.

    cluster.py PROFILE.json SUMMARY.json...
"""

import json
import sys
from collections import defaultdict

STATES = {
    "useful": "useful_ns",
    "synchronization": "sync_ns",
    "scheduling": "sched_ns",
    "idle": "idle_ns",
    "flush": "flush_ns",
}


def flat(summaries):
    for summary in summaries:
        yield summary
        yield from flat(summary.get("children") or [])


def expected(summaries):
    found = {"processes": len(summaries), "states": defaultdict(int)}
    for name in "regions", "tasks", "waits":
        found[name] = defaultdict(lambda: [0, 0])

    def add(table, key, count, total):
        if count:
            found[table][key][0] += count
            found[table][key][1] += total

    for summary in summaries:
        for thread in summary["threads"]:
            for state, field in STATES.items():
                found["states"][state] += thread[field]
        for region in summary["parallel_regions"]:
            add("regions", region["label"], region["count"], region["total_ns"])
        for task in summary["task_functions"]:
            add("tasks", task["label"], task["executed"], task["total_ns"])
        for sync in summary["syncs"]:
            add("waits", sync["kind"], sync["count"], sync["total_ns"])
    found["states"] = {state: ns for state, ns in found["states"].items() if ns}
    return json.loads(json.dumps(found))


def main(profile, *files):
    with open(profile) as stream:
        profile = json.load(stream)
    summaries = []
    for file in files:
        with open(file) as stream:
            found = json.load(stream)
        summaries += flat(found if isinstance(found, list) else [found])
    if profile != expected(summaries):
        sys.exit(f"{profile}\nby the program, expected\n{expected(summaries)}")
    print(len(summaries), "processes,", len(profile["regions"]), "regions,", len(profile["tasks"]), "task functions")


if __name__ == "__main__":
    main(*sys.argv[1:])
