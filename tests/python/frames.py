"""`frames.py TRACE SWEEP PROCESSES`: what instr.open and instr.sweep give, against what app.py did and against plain arithmetic."""

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
    histogram(sys.argv[3])
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("no matplotlib")
    else:
        figures(trace, instr.sweep(sys.argv[2]))
print("fits")
