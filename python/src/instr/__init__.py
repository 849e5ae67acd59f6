"""Records what a Python program does, on one time line with the C beneath it, and reads the traces. See docs/python.md.

    python -m instr app.py                          the functions of app.py's own files
    instr run -- python app.py                      the same, with OpenMP, threads and processors

    with instr.trace(functions=["solver:Grid.*"]):  from here to there
        solve()

    @instr.region("step")
    def step(): ...

    instr.event(1000, 7)
    instr.counter("residual", 3)

    trace = instr.open("app.instr")                 tables, summaries, pages, figures
    sweep = instr.sweep("heat.sweep")               or instr.run_sweep(["./heat", "{input}"], threads=[1, 2], inputs=["20", "40"])
    %load_ext instr                                 in a notebook, then %%instr at the head of a cell

Where nothing is recorded the calls do nothing.
"""

from ._calls import counter, event, flush, is_recorded, region_begin, region_end, start, stop
from ._marks import recording, region
from ._results import NOT_RECORDED, REFUSED, ToolError, Unavailable
from ._trace import trace


def open(*paths):
    """Opens traces for reading: folders, or the programs beside them. Several become processes on one time line."""
    from . import _open

    return _open.open_traces(*paths)


def sweep(path):
    """Opens a folder that `instr sweep` has made."""
    from . import _sweep

    return _sweep.sweep(path)


def run_sweep(command, output=None, **settings):
    """Runs a program with several numbers of threads, inputs and more, and gives the sweep. Settings are the keys of a sweep's file (docs/sweep.md), `_` for `-`:

        instr.run_sweep(["./heat", "{input}"], threads=[1, 2, 4], inputs=["2000", "4000"], repeat=5)

    What the folder `output` (PROGRAM.sweep) has already is not run again. What `instr sweep` refuses is a `ToolError`.
    """
    from . import _sweep

    return _sweep.run_sweep(command, output, **settings)


def cells():
    """The trace of the cells of this notebook that `%%instr` has recorded."""
    from . import _notebook

    return _notebook.trace()


def load_ipython_extension(ipython):
    """`%load_ext instr`."""
    from . import _notebook

    _notebook.load(ipython)


__all__ = [
    "NOT_RECORDED",
    "REFUSED",
    "ToolError",
    "Unavailable",
    "cells",
    "counter",
    "event",
    "flush",
    "is_recorded",
    "open",
    "recording",
    "region",
    "region_begin",
    "region_end",
    "run_sweep",
    "start",
    "stop",
    "sweep",
    "trace",
]
