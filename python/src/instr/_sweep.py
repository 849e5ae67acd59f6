"""Sweeps of `instr sweep` as tables."""

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

    def speedup(self):
        """Speedup by region, series and threads."""
        return self._columns("speedup")

    def efficiency(self):
        """Speedup by threads: 1 is ideal."""
        return self._columns("efficiency")

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

    def _columns(self, of):
        return _table.of_rows(self._points(), ("region", "series", "threads", of))

    def _points(self):
        rows = []
        for subject in self.figures["subjects"]:
            for series in subject["series"]:
                for point in series["points"]:
                    seconds = point["seconds"]
                    rows.append(
                        {
                            **point,
                            "region": " / ".join(subject["path"]),
                            "series": series["name"],
                            "seconds": seconds["value"],
                            "low": seconds["low"],
                            "high": seconds["high"],
                        }
                    )
        return rows


def sweep(path):
    """Opens a folder that `instr sweep` has made."""
    return Sweep(path)
