"""Traces as tables, summaries, pages and figures."""

import html
import os
import shutil
import statistics
import tempfile
import weakref

from . import _plots, _table, _tool

_TABLES = (
    "processes", "threads", "events", "spans", "states", "regions", "tasks", "edges", "sync", "samples", "sensors", "switches", "memory",
)  # fmt: skip

_FUNCTIONS = ("process", "name", "file", "line", "calls", "resumptions", "own_ns", "total_ns", "min_ns", "max_ns", "suspended_ns")


_STATISTICS = {
    "Total": sum,
    "Average": lambda values: sum(values) / len(values),
    "Maximum": max,
    "Minimum": min,
    "StDev": statistics.pstdev,
    "Avg/Max": lambda values: sum(values) / len(values) / max(values) if max(values) else 1.0,
}


def _flat(function):
    """A function of the summary as a row: what each counter counted, without what it calls and with it, in columns of their own."""
    row = {name: cell for name, cell in function.items() if name != "counters"}
    for counter in function.get("counters", ()):
        row[counter["name"]] = counter["own"]
        row[counter["name"] + "_total"] = counter["total"]
    return row


def _real(cell):
    """A column has numbers of one kind."""
    return float(cell) if isinstance(cell, int) else cell


class Page:
    """A page of `instr report`: a notebook shows it, `save` writes it."""

    def __init__(self, text):
        self._text = text

    def save(self, path):
        """Writes the page into a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._text)

    def _repr_html_(self):
        return f'<iframe srcdoc="{html.escape(self._text, quote=True)}" width="100%" height="720" style="border: 0"></iframe>'


class Trace:
    """One or several traces on one time line. `instr.open` makes it.

    Each table of docs/tables.md is an attribute: `trace.spans`, `trace.tasks` … The first one that is asked for has all of them written
    into a folder for temporary files; close(), the end of a `with` block or of the program removes it.
    """

    def __init__(self, *paths):
        self._paths = [os.fspath(path) for path in paths]
        for path in self._paths:
            if not os.path.exists(path):
                raise FileNotFoundError(f"there is no trace {path!r}")
        self._folder = None
        self._tables = {}
        self._summary = None

    def __repr__(self):
        return f"instr.open({', '.join(map(repr, self._paths))})"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        return False

    def close(self):
        """Removes the temporary files. Tables that were made stay: what they map is there until they are gone."""
        if self._folder is not None:
            self._remove()
            self._folder = None

    @property
    def tables(self):
        """Names of the tables."""
        return _TABLES

    def table(self, name):
        """A table by its name (docs/tables.md)."""
        if name not in _TABLES:
            raise KeyError(f"there is no table {name!r}; there are {', '.join(_TABLES)}")
        if name not in self._tables:
            self._tables[name] = _table.mapped(self._written(), name)
        return self._tables[name]

    def __getattr__(self, name):
        if name in _TABLES:
            return self.table(name)
        raise AttributeError(f"a trace has no {name!r}; its tables are {', '.join(_TABLES)}")

    def __dir__(self):
        return [*super().__dir__(), *_TABLES]

    def _written(self):
        if self._folder is None:
            _table._pyarrow()
            folder = tempfile.mkdtemp(prefix="instr-tables-")
            self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self._folder = folder
            try:
                _tool.run("export", *self._paths, "--format", "arrow-mapped", "-o", os.path.join(folder, "tables"))
            except BaseException:
                self.close()
                raise
        return os.path.join(self._folder, "tables")

    def summary(self):
        """What `instr summary --json` says (docs/summary-json.md): an object for each trace, or the one."""
        if self._summary is None:
            self._summary = _tool.run_json("summary", "--json", *self._paths)
        return self._summary

    def query(self, sql):
        """The answer to a question in SQL, or to one by its name (docs/query.md), as a table."""
        rows = _tool.run_json("query", *self._paths, sql, "--format", "json")
        return _table.of_rows(rows, list(rows[0]) if rows else [])

    def functions(self):
        """Functions of Python: a row for each in each process, that with the most own time first.

        Where counters were read at functions (`INSTR_COUNTERS`, `INSTR_SENSORS_AT=functions`) there are two columns for each, such as `page-faults`,
        without other recorded functions, and `page-faults_total`, with what a function calls.
        """
        rows = []
        for process, summary in enumerate(self._processes()):
            rows.extend({"process": process, **_flat(function)} for function in summary["functions"])
        rows.sort(key=lambda row: -row["own_ns"])
        counters = {name: None for row in rows for name in row if name not in _FUNCTIONS}
        return _table.of_rows(rows, [*_FUNCTIONS, *counters])

    def histogram(self, of="own_ns"):
        """Processes by functions of Python, with the six rows of Paraver's histograms below: a column for each function, that with the most first.

        `of`: "own_ns", "total_ns", "calls", or a counter's column of functions(). A process that never calls a function has no value for it, and
        does not count in the rows Average, Maximum, Minimum, StDev (of all processes, not of a sample) and Avg/Max.
        """
        processes = list(self._processes())
        functions = [[_flat(function) for function in summary["functions"]] for summary in processes]
        known = {"own_ns": None, "total_ns": None, "calls": None}
        known.update({name: None for rows in functions for row in rows for name in row if name not in _FUNCTIONS})
        if of not in known:
            raise ValueError(f"of {of!r} there is no histogram: {', '.join(list(known)[:-1])} or {list(known)[-1]}")
        values = {}
        for at, rows in enumerate(functions):
            for function in rows:
                key = (function["name"], function["file"], function["line"])
                values.setdefault(key, {})[at] = values.get(key, {}).get(at, 0) + function.get(of, 0)
        keys = sorted(values, key=lambda key: (-sum(values[key].values()), key[0]))
        shared = [name for name, _, _ in keys]
        titles = {key: key[0] if shared.count(key[0]) == 1 else f"{key[0]} ({key[1]}:{key[2]})" for key in keys}
        rows = [
            {"row": f"{summary['program']} ({summary['pid']})", **{titles[key]: values[key].get(at) for key in keys}}
            for at, summary in enumerate(processes)
        ]
        for title, statistic in _STATISTICS.items():
            rows.append({"row": title, **{titles[key]: statistic(list(values[key].values())) for key in keys}})
        return _table.of_rows([{name: _real(cell) for name, cell in row.items()} for row in rows], ["row", *titles.values()])

    def _processes(self):
        """The summaries of all processes, children behind what started them."""
        found = self.summary()
        waiting = list(found) if isinstance(found, list) else [found]
        while waiting:
            one = waiting.pop(0)
            yield one
            waiting[:0] = one.get("children", [])

    def report(self):
        """The page of `instr report`."""
        with tempfile.TemporaryDirectory(prefix="instr-page-") as folder:
            path = os.path.join(folder, "page.html")
            _tool.run("report", *self._paths, "-o", path)
            with open(path, encoding="utf-8") as file:
                return Page(file.read())

    def plot_timeline(self, axes=None):
        """What each thread does over time, by state."""
        return _plots.timeline(self, axes)

    def plot_functions(self, axes=None, top=20):
        """The functions of Python with the most own time."""
        return _plots.functions(self, axes, top)


def open_traces(*paths):
    """Opens traces: folders, or the programs beside them. Several become processes on one time line."""
    if not paths:
        raise TypeError("instr.open() takes at least one trace")
    return Trace(*paths)
