"""`frames.py TRACE SWEEP PROCESSES`: what instr.open and instr.sweep give, against what app.py did and against plain arithmetic."""

import json
import os
import statistics
import sys

import instr
import pandas
import polars
import pyarrow


def maps():
    """Parts of memory that are files."""
    found = []
    with open("/proc/self/maps") as file:
        for line in file:
            words = line.split()
            if len(words) > 5 and words[5].endswith(".arrow"):
                found.append(tuple(int(end, 16) for end in words[0].split("-")))
    return found


def is_mapped(array):
    address = array.buffers()[1].address
    return any(begin <= address < end for begin, end in maps())


def frames(trace):
    spans = trace.spans
    functions = pandas.DataFrame(spans.to_pandas()).query("kind == 'function'")
    calls = functions.groupby("name", observed=True).size()
    assert calls["inner"] == 21 and calls["outer"] == 7, calls
    assert (functions[functions.name == "inner"].line == 1).all()
    same = polars.DataFrame(spans)
    assert same.height == len(spans) and same["duration_ns"].sum() == sum(spans["duration_ns"].to_pylist())
    assert pyarrow.table(spans).column_names == spans.columns
    # No copies: numbers lie in the files, also those of a frame of pandas.
    assert is_mapped(spans["begin_ns"].chunk(0)), maps()
    column = spans.to_pandas()["begin_ns"].array.__arrow_array__()
    assert is_mapped(column.chunk(0) if isinstance(column, pyarrow.ChunkedArray) else column)
    rows = {row["name"]: row for row in trace.functions().to_pylist()}
    assert rows["inner"]["calls"] == 21 and rows["outer"]["calls"] == 7
    assert trace.query("SELECT count(*) AS n FROM spans WHERE name = 'inner'").to_pylist() == [{"n": 21}]
    assert trace.query("SELECT name FROM spans WHERE name = 'nobody'").to_pylist() == []
    assert trace.summary()["functions"][0]["calls"] > 0
    begin = spans["begin_ns"].to_pylist()
    trace.close()
    assert spans["begin_ns"].to_pylist() == begin
    assert len(trace.states) > 0  # written once more
    assert "<iframe" in trace.report()._repr_html_()


def histogram(path):
    """Of a program that calls work 10, 20 and 60 times in three processes."""
    with instr.open(path) as trace:
        table = trace.histogram("calls").to_pylist()
    rows = {row["row"]: row["work"] for row in table[-6:]}
    calls = sorted(row["work"] for row in table[:-6] if row["work"])
    assert calls == [10.0, 20.0, 60.0], table
    spread = ((20**2 + 10**2 + 30**2) / 3) ** 0.5
    expected = {"Total": 90, "Average": 30, "Maximum": 60, "Minimum": 10, "StDev": spread, "Avg/Max": 0.5}
    assert list(rows) == list(expected) and all(abs(rows[name] - expected[name]) < 1e-9 for name in rows), rows


def mistakes():
    for what, error, text in (
        (lambda: instr.open("nothing.instr"), FileNotFoundError, "nothing.instr"),
        (lambda: instr.open(), TypeError, "at least one"),
        (lambda: instr.open("s.sweep").summary(), instr.ToolError, "s.sweep"),
        (lambda: instr.open(sys.argv[1]).tabels, AttributeError, "its tables are"),
        (lambda: instr.open(sys.argv[1]).query("SELECT nothing FROM spans"), instr.ToolError, "nothing"),
        (lambda: instr.sweep("nothing.sweep"), FileNotFoundError, "nothing.sweep"),
    ):
        try:
            what()
        except error as told:
            assert text in str(told), told
        else:
            raise AssertionError(f"{error} was expected")


def sweep(path):
    sweep = instr.sweep(path)
    runs = polars.DataFrame(sweep.runs())
    medians = {threads: statistics.median(runs.filter(polars.col("cores") == threads)["seconds"]) for threads in (1, 2)}
    for row in sweep.speedup().to_pylist():
        assert abs(row["speedup"] - medians[1] / medians[row["threads"]]) < 1e-9, row
    for row in sweep.efficiency().to_pylist():
        assert abs(row["efficiency"] - medians[1] / medians[row["threads"]] / row["threads"]) < 1e-9, row
    assert [row["threads"] for row in sweep.points().to_pylist()] == [1, 2]
    counted = polars.DataFrame(sweep.counters())
    assert counted.columns == ["region", "series", "threads", "event", "count", "low", "high"]
    # Where perf is forbidden, nothing is counted.
    for row in counted.to_dicts():
        faults = runs.filter(polars.col("cores") == row["threads"])["page-faults"]
        assert row["event"] == "page-faults" and row["count"] == statistics.median(faults), row


# What a run of the simulated program takes on p threads with size n, s.
SERIAL, SHARED, WATTS = 0.01, 2e-5, 3.0


def swept():
    """A sweep that is run from here: of a program that sleeps as long as a known law says, and of what is there a second time."""
    program = "import sys, time; p, n = map(int, sys.argv[1:3]); time.sleep(%r + %r * n / p)" % (SERIAL, SHARED)
    command = [sys.executable, "-S", "-E", "-c", program, "{threads}", "{size}"]
    settings = {"threads": [1, 2, 4, 8], "inputs": [2000, {"name": "a;\"b\u00b5", "arguments": [], "size": 8000}, 16000, 32000], "repeat": 2, "warm_up": 0}
    sweep = instr.run_sweep(command, "law.sweep", **settings)
    begins = sweep.runs()["begin_ns"].to_pylist()
    assert len(begins) == 4 * 4 * 2
    assert instr.run_sweep(command, "law.sweep", **settings).runs()["begin_ns"].to_pylist() == begins
    assert set(sweep.runs()["input"].to_pylist()) == {"2000", "a;\"b\u00b5", "16000", "32000"}
    for row in sweep.times().to_pylist():
        assert row["low"] <= row["seconds"] <= row["high"] and row["seconds"] > SERIAL, row
    assert sweep.speedups().to_pylist() == sweep.speedup().to_pylist()
    terms = sweep.models().to_pylist()
    largest = max(terms, key=lambda row: row["size_exponent"])
    assert terms[0]["size_exponent"] == terms[0]["threads_exponent"] == 0.0 and terms[0]["coefficient"] >= 0, terms
    assert largest["threads_exponent"] < 0 and largest["low"] <= largest["coefficient"] <= largest["high"], terms
    laws = [row for row in sweep.laws().to_pylist() if row["series"].endswith("32000") and row["parameter"] == "serial fraction"]
    assert len(laws) == 1 and 0.01 < laws[0]["value"] < 0.2, laws
    assert len(sweep.regions()) == 0
    for wrong, text in (({"thread": [1]}, "threads"), ({"threads": []}, "threads"), ({"repeat": "x"}, "repeat")):
        try:
            instr.run_sweep(["true"], "no.sweep", **wrong)
        except instr.ToolError as error:
            assert text in str(error), error
        else:
            raise AssertionError(wrong)
    for wrong in ("true", []):
        try:
            instr.run_sweep(wrong, "no.sweep")
        except (TypeError, instr.ToolError):
            assert not os.path.exists("no.sweep")
        else:
            raise AssertionError(wrong)


def measured():
    """Energies and regions of a record whose numbers are known: watts times seconds, and a region that has half of both."""
    os.mkdir("known.sweep")
    with open("known.sweep/sweep.toml", "w") as file:
        file.write('command = ["./app"]\nthreads = [1, 2]\nrepeat = 3\nmeasure = "regions"\n')
    with open("known.sweep/runs.jsonl", "w") as file:
        for repeat in range(3):
            for threads in (1, 2):
                seconds = (2 + repeat) / threads
                region = {"path": ["outer", "inner"], "count": 1, "seconds": seconds / 2, "own_seconds": seconds / 2, "joules": WATTS * seconds / 2}
                whole = {"input": "", "threads": threads, "repeat": repeat, "begin_ns": 1, "seconds": seconds, "user_seconds": seconds, "system_seconds": 0.0}
                file.write(json.dumps({**whole, "resident_bytes": 1, "joules": WATTS * seconds, "regions": [region]}) + "\n")
    sweep = instr.sweep("known.sweep")
    assert {row["region"] for row in sweep.regions().to_pylist()} == {"outer / inner"} and len(sweep.regions()) == 6
    energy = sweep.energy().to_pylist()
    assert len(energy) == 4 and [row["region"] for row in sweep.energy(regions=False).to_pylist()] == ["", ""], energy
    for row in energy:
        seconds = 3 / row["threads"] / (2 if row["region"] else 1)
        for name, value in (("joules", WATTS * seconds), ("watts", WATTS), ("energy_delay", WATTS * seconds**2)):
            assert abs(row[name] - value) < 1e-9 * value, row


def figures(trace, sweep):
    import matplotlib

    matplotlib.use("Agg")
    useful = trace.plot_functions(top=2)
    assert [label.get_text() for label in useful.get_yticklabels()][:2] == [row["name"] for row in trace.functions().to_pylist()[:2]]
    bars = trace.plot_timeline().collections
    drawn = sum(path.get_extents().width for bar in bars for path in bar.get_paths())
    whole = sum(trace.states["duration_ns"].to_pylist()) / 1e9
    assert abs(drawn - whole) < 1e-6 + 1e-3 * whole, (drawn, whole)
    for axes in (sweep.plot_speedup(), sweep.plot_efficiency()):
        assert len(axes.lines) == 2


with instr.open(sys.argv[1]) as trace:
    frames(trace)
    mistakes()
    sweep(sys.argv[2])
    swept()
    measured()
    histogram(sys.argv[3])
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("no matplotlib")
    else:
        figures(trace, instr.sweep(sys.argv[2]))
print("fits")
