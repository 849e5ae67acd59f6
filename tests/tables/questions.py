#!/usr/bin/env python3
"""Asks every question of `instr query --list` of a trace by `instr query`, and of its Parquet files by DuckDB: the answers must be equal. Then computes answers
from what babeltrace2 prints, without any code of ours, and compares those.

    questions.py INSTR TRACE PARQUET EXACT

EXACT is 1 where ticks are nanoseconds; else times may differ by what converts them.
"""

import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict

import duckdb

def rows_of(instr, trace, question):
    done = subprocess.run([instr, "query", trace, question, "--format", "json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{question}: {done.stderr}")
    return json.loads(done.stdout)


def plain(value):
    """A number as both print it."""
    if value is None or isinstance(value, str):
        return value
    return float(f"{float(value):.9g}")


def by_duckdb(parquet, instr):
    base = duckdb.connect()
    os.chdir(parquet)
    with open("duckdb.sql") as stream:
        base.execute(stream.read())

    def ask(sql):
        cursor = base.execute(sql)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row)) for row in cursor.fetchall()]

    return ask


def same_answers(instr, trace, parquet, questions):
    ask = by_duckdb(parquet, instr)
    answers = {}
    for name, sql in questions.items():
        ours, theirs = rows_of(instr, trace, name), ask(sql)
        one, other = ([{key: plain(value) for key, value in row.items()} for row in rows] for rows in (ours, theirs))
        if one != other:
            sys.exit(f"{name}: {one} by instr query, {other} by DuckDB")
        answers[name] = ours
    return answers


class Event:
    def __init__(self, ns, name, thread, fields, deps):
        self.ns, self.name, self.thread, self.fields, self.deps = ns, name, thread, fields, deps


def number(text):
    return int(text, 16) if "0x" in text else int(text)


def babeltrace(trace):
    """Events in order of time, as babeltrace2 prints them, ns."""
    command = ["babeltrace2", "--no-delta", "--clock-seconds", trace]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    events = []
    for line in text.splitlines():
        seconds, nanoseconds = line[1 : line.index("]")].split(".")
        head, context, payload = re.match(r"(.*?): \{ (.*?) \}, \{(.*)\}$", line).groups()
        fields = {key: number(value) for key, value in re.findall(r"(\w+) = (-?(?:0x)?[0-9A-Fa-f]+)", payload)}
        fields.update({key: value for key, value in re.findall(r'(\w+) = "([^"]*)"', payload)})
        deps = [(number(address), int(kind)) for address, kind in re.findall(r"address = (\w+), kind = (\d+)", payload)]
        thread = int(re.match(r"thread = (\d+)", context).group(1))
        events.append(Event(int(seconds) * 10**9 + int(nanoseconds), head.split()[-1], thread, fields, deps))
    return events


# Of docs/trace-format.md.
SYNC = {1: "barrier", 2: "work-sharing barrier", 3: "taskwait", 4: "taskwait depend", 5: "taskgroup"}
LOCK = {1: "critical", 2: "named critical", 3: "atomic", 4: "ordered", 5: "lock", 6: "nest lock"}


class Task:
    begin = end = thread = None

    def __init__(self, key, function, created):
        self.key, self.function, self.created, self.before = key, function, created, []


def tasks_of(events):
    """Tasks by key, with the tasks that they depend on: of the same parent, by the order of creation, OpenMP 5.2 section 15.9.5."""
    tasks, running, last = {}, defaultdict(list), {}
    for event in events:
        if event.name == "task_create":
            key = event.thread, event.fields["seq"]
            task = tasks[key] = Task(key, event.fields["function"], event.ns)
            for address, kind in event.deps:
                out, ins = last.setdefault(address, ([], []))
                if kind == 1:
                    task.before += out
                    ins.append(task)
                else:
                    task.before += ins or out
                    last[address] = [task], []
        elif event.name == "task_begin":
            task = tasks[event.fields["thread"], event.fields["seq"]]
            task.begin, task.thread = event.ns, event.thread
            running[event.thread].append(task)
        elif event.name == "task_end":
            running[event.thread].pop().end = event.ns
    for task in tasks.values():
        task.before = list({before.key: before for before in task.before if before is not task}.values())
        task.ready = max([task.created] + [before.end for before in task.before])
    return list(tasks.values())


def pairs(events, begin, end, key):
    """Begin, end, thread and key of what begins and ends on each thread, the innermost first."""
    open_ones, found = defaultdict(list), []
    for event in events:
        if event.name == begin:
            open_ones[event.thread].append(event)
        elif event.name == end and open_ones[event.thread]:
            first = open_ones[event.thread].pop()
            found.append((first.ns, event.ns, event.thread, key(first)))
    return found


def grouped(rows):
    """Key to how many, their sum, and the longest."""
    found = defaultdict(list)
    for key, value in rows:
        found[key].append(value)
    return {key: (len(values), sum(values), max(values)) for key, values in found.items()}


class Judge:
    """Compares numbers; times may differ by what converts ticks."""

    def __init__(self, exact):
        self.exact, self.compared = exact, 0

    def same(self, what, found, expected, times=()):
        """Two dictionaries from keys to tuples; `times` are the places of times in those."""
        if found.keys() != expected.keys():
            sys.exit(f"{what}: {sorted(found, key=str)} by instr query, {sorted(expected, key=str)} expected")
        for key, values in expected.items():
            for at, (one, other) in enumerate(zip(found[key], values, strict=True)):
                self.compared += 1
                slack = 0 if self.exact or at not in times else 50 + abs(other) / 200
                if abs(one - other) > slack:
                    sys.exit(f"{what}, {key}: {found[key]} by instr query, {values} expected")


def independent(answers, events, instr, trace, exact):
    judge = Judge(exact)
    # The trace has the low 32 bits of an address in the program.
    names = {row["address"] & 0xFFFFFFFF: row["name"] for row in rows_of(instr, trace, "SELECT DISTINCT address, name FROM tasks UNION SELECT DISTINCT address, name FROM regions")}

    def table(question, keys, values):
        keyed = lambda row: tuple(row[key] for key in keys) if len(keys) > 1 else row[keys[0]]
        return {keyed(row): tuple(row[value] for value in values) for row in answers[question]}

    tasks = tasks_of(events)
    ran = [task for task in tasks if task.begin]
    by_name = lambda value: grouped((names[task.function], value(task)) for task in ran)
    judge.same("task-work", table("task-work", ["name"], ["tasks", "work_ns", "longest_ns"]), by_name(lambda task: task.end - task.begin), (1, 2))
    waited = by_name(lambda task: max(task.begin - task.ready, 0))
    judge.same("waiting-tasks", table("waiting-tasks", ["name"], ["tasks", "waited_ns", "longest_ns"]), waited, (1, 2))
    depended = by_name(lambda task: task.ready - task.created)
    judge.same("dependent-tasks", table("dependent-tasks", ["name"], ["tasks", "waited_ns", "longest_ns"]), depended, (1, 2))
    longest = sorted((task.end - task.begin for task in ran), reverse=True)[:10]
    found = [row["duration_ns"] for row in answers["longest-tasks"]]
    judge.same("longest-tasks", dict(enumerate(zip(found))), dict(enumerate(zip(longest))), (0,))
    moved = Counter((0, task.key[0], task.thread) for task in ran)
    judge.same("moved-tasks", table("moved-tasks", ["process", "creator", "thread"], ["tasks"]), {key: (count,) for key, count in moved.items()})
    edges = Counter((names[before.function], names[task.function]) for task in tasks for before in task.before)
    judge.same("dependences", table("dependences", ["first", "waits"], ["edges"]), {key: (count,) for key, count in edges.items()})

    regions = pairs(events, "parallel_begin", "parallel_end", lambda event: (event.fields["function"], event.thread, event.fields["seq"]))
    by_name = grouped((names[key[0]], end - begin) for begin, end, _, key in regions)
    judge.same("regions", table("regions", ["name"], ["times", "total_ns", "longest_ns"]), by_name, (1, 2))
    closing = defaultdict(list)
    last = {event.thread: event.ns for event in events if event.name not in ("scheduled", "clock_sync")}
    implicit = defaultdict(list)
    ends = {key[1:]: (end, names[key[0]]) for _, end, _, key in regions}
    for event in events:
        if event.name == "implicit_begin":
            implicit[event.thread].append((event.fields["region_thread"], event.fields["region_seq"]))
        elif event.name == "implicit_end":
            end, name = ends[implicit[event.thread].pop()]
            # A thread of an inner region may end before that; it does not wait longer.
            closing[name, 0, event.thread].append(min(end, last[event.thread]) - event.ns)
    expected = {key: (len(waits), sum(waits)) for key, waits in closing.items()}
    judge.same("closing-waits", table("closing-waits", ["name", "process", "thread"], ["waits", "waited_ns"]), expected, (1,))

    waits = pairs(events, "sync_begin", "sync_end", lambda event: SYNC[event.fields["kind"]])
    by_kind = grouped((kind, end - begin) for begin, end, _, kind in waits)
    found = {kind: row for kind, row in table("waits", ["kind"], ["waits", "waited_ns", "longest_ns"]).items() if kind != "closing barrier"}
    judge.same("waits", found, by_kind, (1, 2))
    lock = lambda event: (event.fields["object"], LOCK[event.fields["kind"]])
    asked, held = pairs(events, "mutex_acquire", "mutex_acquired", lock), pairs(events, "mutex_acquired", "mutex_released", lock)
    expected = defaultdict(lambda: [0, 0, 0])
    for begin, end, _, kind in asked:
        expected[kind][0] += end - begin
    for begin, end, _, kind in held:
        expected[kind][1] += 1
        expected[kind][2] += end - begin
    judge.same("locks", table("locks", ["object", "kind"], ["waited_ns", "holds", "held_ns"]), {kind: tuple(row) for kind, row in expected.items()}, (0, 2))
    holders = defaultdict(lambda: [0, 0])
    for begin, end, thread, key in asked:
        for since, until, holder, other in held:
            if key == other and holder != thread and since < end and until > begin:
                holders[thread, holder, key][0] += 1
                holders[thread, holder, key][1] += min(end, until) - max(begin, since)
    kinds = {row["object"]: row["kind"] for row in answers["locks"]}
    found = {(row["thread"], row["holder"], (row["object"], kinds[row["object"]])): (row["held_ns"],) for row in answers["lock-holders"]}
    # Where both ends are nearly the same, which is first may depend on the conversion of ticks.
    expected = {key: (ns,) for key, (_, ns) in holders.items() if exact or ns > 100}
    judge.same("lock-holders", {key: value for key, value in found.items() if exact or value[0] > 100}, expected, (0,))

    texts = {event.fields["address"]: event.fields["text"] for event in events if event.name == "string"}
    own = grouped((("region", texts[name]), end - begin) for begin, end, _, name in pairs(events, "region_begin", "region_end", lambda event: event.fields["name"]))
    found = {key: row for key, row in table("user-regions", ["kind", "name"], ["times", "total_ns", "longest_ns"]).items() if key[0] == "region"}
    judge.same("user-regions", found, own, (1, 2))
    values = defaultdict(list)
    for event in events:
        if event.name == "user_event":
            values["user event", None, event.fields["kind"] if "kind" in event.fields else event.fields["type"]].append(event.fields["value"])
        elif event.name == "counter":
            values["counter", texts[event.fields["name"]], None].append(event.fields["value"])
    expected = {key: (len(all), min(all), max(all)) for key, all in values.items()}
    judge.same("user-events", table("user-events", ["kind", "name", "type"], ["events", "least", "most"]), expected)

    lives = defaultdict(list)
    for event in events:
        if event.name not in ("scheduled", "clock_sync"):
            lives[event.thread].append(event.ns)
    states = Counter()
    for row in answers["states"]:
        states[row["thread"]] += row["total_ns"]
    expected = {thread: (max(times) - min(times),) for thread, times in lives.items()}
    judge.same("states", {thread: (ns,) for thread, ns in states.items()}, expected, (0,))
    # The end of a call tells the address; 0: refused. What a call inside of another one got is told by itself.
    asked, bytes_of = defaultdict(list), []
    for event in events:
        if event.name in ("mem_get", "mem_move"):
            asked[event.thread].append(event.fields["bytes"])
        elif event.name == "mem_got":
            size = asked[event.thread].pop()
            bytes_of += [size] if event.fields["address"] else []
        elif event.name in ("mem_alloc", "mem_realloc") and event.fields["address"]:
            bytes_of.append(event.fields["bytes"])
    found = sum(row["blocks"] for row in answers["allocations"]), sum(row["bytes"] for row in answers["allocations"])
    judge.same("allocations", {"all": found}, {"all": (len(bytes_of), sum(bytes_of))})
    samples = sum(event.fields["weight"] for event in events if event.name in ("sample", "sample_stack"))
    judge.same("functions", {"all": (sum(row["periods"] for row in answers["functions"]),)}, {"all": (samples,)})
    return judge.compared


def main(instr, trace, parquet, exact):
    instr, trace, parquet = map(os.path.abspath, (instr, trace, parquet))
    listed = subprocess.run([instr, "query", "--list"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.split("\n\n")[0].splitlines()]
    document = open(os.path.join(os.path.dirname(__file__), "../../docs/query.md")).read()
    questions = dict(re.findall(r"^### `([a-z-]+)`\n.*?```sql\n(.*?)\n```", document, re.M | re.S))
    if list(questions) != names:
        sys.exit(f"docs/query.md has {list(questions)}, instr query --list {names}")
    answers = same_answers(instr, trace, parquet, questions)
    compared = independent(answers, babeltrace(trace), instr, trace, exact == "1")
    print(len(answers), "questions,", sum(map(len, answers.values())), "rows,", compared, "numbers computed otherwise")


if __name__ == "__main__":
    main(*sys.argv[1:])
