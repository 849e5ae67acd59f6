#!/usr/bin/env python3
"""Reads the tables of `instr export --format parquet` and `--format arrow` with pyarrow, pandas, polars, DuckDB and Dask, and compares them with
`instr summary --json` of the same traces.

    check.py PARQUET ARROW SUMMARY.json

Prints a line of counts; the first difference ends it with status 1.
"""

import glob
import json
import os
import sys

import duckdb
import pandas
import polars
import pyarrow.dataset
import pyarrow.parquet

STATES = {
    "useful": "useful_ns",
    "synchronization": "sync_ns",
    "scheduling": "sched_ns",
    "idle": "idle_ns",
    "flush": "flush_ns",
}


def same(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found} in the tables, {expected} expected")


def flat(summaries):
    for summary in summaries:
        yield summary
        yield from flat(summary.get("children") or [])


def readers(parquet, arrow):
    """Each reader's number of rows of each table, which must be what `tables.json` says; the columns are those that it lists."""
    with open(os.path.join(parquet, "tables.json")) as stream:
        tables = json.load(stream)["tables"]
    base = duckdb.connect()
    os.chdir(parquet)
    with open("duckdb.sql") as stream:
        base.execute(stream.read())
    for table in tables:
        name, rows = table["name"], table["rows"]
        columns = [column["name"] for column in table["columns"]]
        same(f"{name}: rows in DuckDB", base.execute(f"SELECT count(*) FROM {name}").fetchone()[0], rows)
        described = [row[0] for row in base.execute(f"DESCRIBE {name}").fetchall()]
        same(f"{name}: columns in DuckDB", sorted(described), sorted(columns))
        whole = pyarrow.parquet.read_table(f"{parquet}/{name}")
        same(f"{name}: rows in pyarrow", whole.num_rows, rows)
        same(f"{name}: columns in pyarrow", sorted(whole.column_names), sorted(columns))
        for column in table["columns"][1:]:
            field = whole.schema.field(column["name"])
            same(f"{name}.{field.name}", field.metadata[b"about"].decode(), column["about"])
            if not column["nullable"]:
                same(f"missing values of {name}.{field.name}", whole.column(field.name).null_count, 0)
        same(f"{name}: rows in pandas", len(pandas.read_parquet(f"{parquet}/{name}")), rows)
        lazy = polars.scan_parquet(f"{parquet}/{name}/**/*.parquet", hive_partitioning=True)
        same(f"{name}: rows in polars", lazy.select(polars.len()).collect().item(), rows)
        same(f"{name}: columns in polars", sorted(lazy.collect_schema().names()), sorted(columns))
        files = pyarrow.dataset.dataset(f"{arrow}/{name}", format="ipc", partitioning="hive").to_table()
        same(f"{name}: rows of the Arrow files", files.num_rows, rows)
        order = [(column, "ascending") for column in columns]
        plain = pyarrow.schema([(column["name"], pyarrow.string() if column["type"] == "string" else column["type"]) for column in table["columns"]])
        one, other = (data.select(columns).cast(plain).sort_by(order) for data in (whole, files))
        same(f"{name}: values of both", one.equals(other), True)
        polars.read_ipc(glob.glob(f"{arrow}/{name}/*/*.arrow")[0])
    return base, {table["name"]: table["rows"] for table in tables}


def compare(ask, summary, number):
    where = f"process = {number}"
    whole = not (summary["discarded"] or summary["truncated_streams"])
    (events,) = ask(f"SELECT events FROM processes WHERE {where}")[0]
    same("events", events, summary["events"])
    threads = ask(f"SELECT thread, name FROM threads WHERE {where} ORDER BY thread")
    same("threads", [name for _, name in threads], [thread["name"] for thread in summary["threads"]])
    for (index, name), thread in zip(threads, summary["threads"]):
        found = dict(ask(f"SELECT state, sum(duration_ns) FROM states WHERE {where} AND thread = {index} GROUP BY state"))
        for state, field in STATES.items():
            same(f"{state} of {name}", found.get(state, 0), thread[field])
    if not whole:
        return
    tasks = summary["tasks"]
    (begun,) = ask(f"SELECT count(*) FROM tasks WHERE {where} AND begin_ns IS NOT NULL AND kind <> 'taskwait'")[0]
    same("executed tasks", begun, tasks["executed"])
    (edges,) = ask(f"SELECT count(*) FROM edges WHERE {where}")[0]
    same("dependences", edges, tasks["edges"])
    query = "SELECT name, count(*), sum(duration_ns) FROM tasks WHERE {} AND begin_ns IS NOT NULL AND kind <> 'taskwait' GROUP BY name"
    found = {name: (count, int(total)) for name, count, total in ask(query.format(where))}
    by_name = {}
    for task in summary["task_functions"]:
        count, total = by_name.get(task["label"], (0, 0))
        if task["executed"]:
            by_name[task["label"]] = count + task["executed"], total + task["total_ns"]
    same("tasks by function", found, by_name)
    query = f"SELECT name, count(*), sum(duration_ns) FROM regions WHERE {where} GROUP BY name"
    found = {name: (count, int(total)) for name, count, total in ask(query)}
    by_name = {}
    for region in summary["parallel_regions"]:
        count, total = by_name.get(region["label"], (0, 0))
        by_name[region["label"]] = count + region["count"], total + region["total_ns"]
    same("parallel regions", found, by_name)
    query = f"SELECT kind, count(*), sum(duration_ns) FROM sync WHERE {where} AND what = 'wait' AND ended = 'event' AND kind <> 'closing barrier' GROUP BY kind"
    found = {kind: (count, int(total)) for kind, count, total in ask(query)}
    same("waits", found, {sync["kind"]: (sync["count"], sync["total_ns"]) for sync in summary["syncs"]})
    query = f"SELECT object_name, kind, count(*) FROM sync WHERE {where} AND what = 'hold' GROUP BY object_name, kind"
    found = {(name, kind): count for name, kind, count in ask(query)}
    expected = {(lock["name"], lock["kind"]): lock["count"] for lock in summary["criticals"] if lock["count"]}
    same("locks", found, expected)
    query = f"SELECT name, count(*), sum(end_ns - first_ns) FROM spans WHERE {where} AND kind = 'region' GROUP BY name"
    found = {name: (count, int(total)) for name, count, total in ask(query)}
    same("own regions", found, {one["name"]: (one["count"], one["total_ns"]) for one in summary["regions"]})
    found = dict(ask(f"SELECT number, count(*) FROM events WHERE {where} AND kind = 'user event' GROUP BY number"))
    same("user events", found, {one["type"]: one["count"] for one in summary["user_events"]})
    query = f"SELECT name, count(*), min(value), max(value) FROM events WHERE {where} AND kind = 'counter' GROUP BY name"
    found = {name: tuple(rest) for name, *rest in ask(query)}
    expected = {one["name"]: (one["count"], one["min"], one["max"]) for one in summary["counters"] if one["source"] == "program"}
    same("counters", found, expected)
    query = f"SELECT count(*), max(bytes_in_use) FROM memory WHERE {where} AND call NOT IN ('mmap', 'munmap', 'mremap', 'heap', 'stack')"
    calls, most = ask(query)[0]
    if calls:
        same("most bytes in use", most, summary["memory"]["live_high_water_bytes"])


def main(parquet, arrow, summary):
    parquet, arrow, summary = map(os.path.abspath, (parquet, arrow, summary))
    with open(summary) as stream:
        summaries = json.load(stream)
    summaries = list(flat(summaries if isinstance(summaries, list) else [summaries]))
    base, rows = readers(parquet, arrow)
    pids = base.execute("SELECT pid FROM processes ORDER BY process").fetchall()
    same("processes", [pid for (pid,) in pids], [summary["pid"] for summary in summaries])
    for number, of in enumerate(summaries):
        compare(lambda sql: base.execute(sql).fetchall(), of, number)
    print("{spans} spans, {tasks} tasks, {states} states, {sync} waits".format(**rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
