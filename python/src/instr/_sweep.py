"""Sweeps: `instr sweep` from Python, and what it found as tables."""

import json
import os
import tempfile

from . import _plots, _table, _tool

_POINT = ("region", "series", "threads", "runs", "seconds", "low", "high", "speedup", "efficiency", "serial_fraction", "share")


class Sweep:
    """The runs of a sweep, and what they say (docs/sweep.md). `instr.sweep` makes it."""

    def __init__(self, path):
        self._path = os.fspath(path)
        if not os.path.isdir(self._path):
            raise FileNotFoundError(f"there is no sweep {self._path!r}")
        self.figures = _tool.run_json("sweep", self._path, "--json")

    def __repr__(self):
        return f"instr.sweep({self._path!r})"

    def runs(self):
        """A row for each run: what `instr sweep --csv` writes."""
        with tempfile.TemporaryDirectory(prefix="instr-runs-") as folder:
            path = os.path.join(folder, "runs.csv")
            _tool.run("sweep", self._path, "--csv", path)
            return _table.of_csv(path)

    def points(self):
        """A row for each number of threads of each series: times in s with their interval of 95 %, and what follows from them.

        `region` is empty for the whole program.
        """
        return _table.of_rows(self._points(), _POINT)

    def regions(self):
        """A row for each region in each run: those of `runs` that are no whole programs. Regions inside of others are `outer / inner`."""
        runs = self.runs().to_arrow()
        return _table.Table(runs.filter(runs.column("region").is_valid()))

    def times(self):
        """The median time by region, series and threads, s, with its interval of 95 %."""
        return self._columns("seconds", "low", "high")

    def speedup(self):
        """Speedup by region, series and threads."""
        return self._columns("speedup")

    # As PascalData of PaScal Analyzer names it.
    speedups = speedup

    def efficiency(self):
        """Speedup by threads: 1 is ideal."""
        return self._columns("efficiency")

    def energy(self, regions=True):
        """A row for each point whose energy was measured: J (median over runs, with its interval of 95 %), average power in W, and energy times time in J s.

        `regions=False` leaves out all but whole programs.
        """
        rows = []
        for point in self._points():
            energy = point.get("energy")
            if energy is None or (point["region"] and not regions):
                continue
            joules = energy["joules"]
            figures = {"joules": joules["value"], "low": joules["low"], "high": joules["high"]}
            rows.append({**point, **figures, "watts": energy["watts"], "energy_delay": energy["energy_delay"]})
        return _table.of_rows(rows, ("region", "series", "threads", "joules", "low", "high", "watts", "energy_delay"))

    def laws(self):
        """A row for each parameter of the law that fits a region in a series best: its value, with its interval of 95 %."""
        rows = []
        for name, series in self._series():
            law = series["law"]
            for parameter in law["parameters"] if law else ():
                named = {"region": name, "series": series["name"], "law": law["law"], "parameter": parameter["name"]}
                rows.append({**named, **{of: parameter[of] for of in ("value", "low", "high")}})
        return _table.of_rows(rows, ("region", "series", "law", "parameter", "value", "low", "high"))

    def models(self):
        """A row for each term of the model of a region: coefficient (s) × size^size_exponent × log2(size)^size_logarithm, and the same of the threads. The constant has exponents of 0."""
        none = {"exponent": 0.0, "logarithm": 0}
        rows = []
        for subject in self.figures["subjects"]:
            model = subject["model"]
            if model is None:
                continue
            for term in [{"coefficient": model["constant"], "size": none, "threads": none}, *model["terms"]]:
                row = {"region": " / ".join(subject["path"]), "coefficient": term["coefficient"]["value"]}
                row.update(low=term["coefficient"]["low"], high=term["coefficient"]["high"])
                for of in ("size", "threads"):
                    row.update({f"{of}_{what}": term[of][what] for what in none})
                rows.append(row)
        columns = ("region", "coefficient", "low", "high", "size_exponent", "size_logarithm", "threads_exponent", "threads_logarithm")
        return _table.of_rows(rows, columns)

    def counters(self):
        """A row for each event that was counted at a point: the median over runs, with its interval of 95 %."""
        rows = [
            {**point, "event": event, "count": count["value"], "low": count["low"], "high": count["high"]}
            for point in self._points()
            for event, count in point.get("counters", {}).items()
        ]
        return _table.of_rows(rows, ("region", "series", "threads", "event", "count", "low", "high"))

    def plot_speedup(self, axes=None):
        """Speedup over threads."""
        return _plots.curves(self._points(), "speedup", lambda threads, least: threads, axes)

    def plot_efficiency(self, axes=None):
        """Efficiency over threads."""
        return _plots.curves(self._points(), "efficiency", lambda threads, least: 1.0, axes)

    def _columns(self, *of):
        return _table.of_rows(self._points(), ("region", "series", "threads", *of))

    def _series(self):
        for subject in self.figures["subjects"]:
            for series in subject["series"]:
                yield " / ".join(subject["path"]), series

    def _points(self):
        rows = []
        for region, series in self._series():
            for point in series["points"]:
                seconds = point["seconds"]
                named = {"region": region, "series": series["name"]}
                rows.append({**point, **named, "seconds": seconds["value"], "low": seconds["low"], "high": seconds["high"]})
        return rows


def sweep(path):
    """Opens a folder that `instr sweep` has made."""
    return Sweep(path)


def run_sweep(command, output=None, **settings):
    """Runs a program for every combination of `settings`, or what is missing in the folder `output`, and gives the sweep. See `instr.run_sweep`."""
    if isinstance(command, str):
        raise TypeError("the command is a list: the program and its arguments")
    words = {"command": [os.fspath(word) for word in command]}
    words.update((name.replace("_", "-"), value) for name, value in settings.items() if value is not None)
    folder = output if output is not None else os.path.basename(words["command"][0] if words["command"] else "") + ".sweep"
    with tempfile.TemporaryDirectory(prefix="instr-sweep-") as scratch:
        path = os.path.join(scratch, "sweep.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{_toml(name)} = {_toml(value)}\n" for name, value in words.items())
        _tool.run("sweep", path, "--output", folder, "--json")
    return Sweep(folder)


def _toml(value):
    """A value as TOML writes it. Its strings are those of JSON (https://toml.io/en/v1.0.0#string)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(str(name))} = {_toml(held)}" for name, held in value.items()) + "}"
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    return "[" + ", ".join(map(_toml, value)) + "]"
