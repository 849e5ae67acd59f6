"""What `instr summary --json` says of traces, as the checks of other formats need it."""

import json
import sys

STATES = "useful_ns", "sync_ns", "sched_ns", "idle_ns", "flush_ns"


def same(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found} in the export, {expected} in the summary")


def flat(summaries):
    for summary in summaries:
        yield summary
        yield from flat(summary.get("children") or [])


class Summaries:
    """The summaries of all processes."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        self.all = list(flat(found if isinstance(found, list) else [found]))
        self.whole = not any(one["discarded"] or one["truncated_streams"] for one in self.all)

    def sum(self, of):
        return sum(of(one) for one in self.all)

    def threads(self):
        return [thread for one in self.all for thread in one["threads"]]

    def total_ns(self):
        """The time of all threads."""
        return sum(thread[state] for thread in self.threads() for state in STATES)

    def idle_ns(self):
        return sum(thread["idle_ns"] for thread in self.threads())

    def created(self):
        return self.sum(lambda one: one["tasks"]["created"])

    def executed(self):
        return self.sum(lambda one: one["tasks"]["executed"])

    def suspended(self):
        return self.sum(lambda one: one["tasks"]["suspended"])

    def parallel(self):
        return self.sum(lambda one: sum(region["count"] for region in one["parallel_regions"]))

    def locks(self):
        count = lambda lock: lock["acquired"] if "acquired" in lock else lock["count"]
        return self.sum(lambda one: sum(count(lock) for lock in one["criticals"]))

    def spans(self, kind):
        """Counts and times of the program's own regions (`regions`) or calls (`calls`), by name."""
        found = {}
        for one in self.all:
            for span in one[kind]:
                count, total = found.get(span["name"], (0, 0))
                found[span["name"]] = count + span["count"], total + span["total_ns"]
        return found

    def syncs(self):
        """Counts and times of waits, by kind."""
        found = {}
        for one in self.all:
            for sync in one["syncs"]:
                count, total = found.get(sync["kind"], (0, 0))
                found[sync["kind"]] = count + sync["count"], total + sync["total_ns"]
        return found

    def user_events(self):
        found = {}
        for one in self.all:
            for event in one["user_events"]:
                name = f"event {event['type']}"
                found[name] = found.get(name, 0) + event["count"]
        return found

    def sampled_ns(self):
        """Time that samples stand for; `None`: there are none."""
        samples = [one["samples"] for one in self.all if one["samples"]]
        return sum(one["periods"] * one["period_ns"] for one in samples) if samples else None

    def samples(self):
        return sum(one["samples"]["taken"] for one in self.all if one["samples"])
