#!/usr/bin/env python3
"""The profile of `instr summary` from the Parquet files of many processes, by Dask.

    python3 profile_dask.py FOLDER.tables...
"""

import json
import sys

import dask
import dask.dataframe as dd

# Names are categories in each file, of which every process has its own.
dask.config.set({"dataframe.convert-string": True})


def profile(folders):
    def table(name, columns, filters=None):
        parts = [dd.read_parquet(f"{folder}/{name}", columns=columns, filters=filters) for folder in folders]
        texts = {column: "string" for column in columns if column in ("name", "kind", "state")}
        return dd.concat([part.astype(texts) for part in parts])

    def grouped(frame, key):
        found = frame.groupby(key)["duration_ns"].agg(["count", "sum"]).compute()
        return {name: [int(row["count"]), int(row["sum"])] for name, row in found.iterrows() if row["count"]}

    tasks = table("tasks", ["name", "kind", "duration_ns"])
    tasks = tasks[tasks["duration_ns"].notnull() & (tasks["kind"] != "taskwait")]
    waits = table("sync", ["kind", "duration_ns", "what", "ended"]).astype({"what": "string", "ended": "string"})
    waits = waits[(waits["what"] == "wait") & (waits["ended"] == "event") & (waits["kind"] != "closing barrier")]
    states = grouped(table("states", ["state", "duration_ns"]), "state")
    return {
        "processes": sum(len(dd.read_parquet(f"{folder}/processes", columns=["pid"])) for folder in folders),
        "states": {state: total for state, (_, total) in states.items()},
        "regions": grouped(table("regions", ["name", "duration_ns"]), "name"),
        "tasks": grouped(tasks, "name"),
        "waits": grouped(waits, "kind"),
    }


if __name__ == "__main__":
    print(json.dumps(profile(sys.argv[1:]), indent=2, sort_keys=True))
