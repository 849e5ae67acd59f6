"""Jupyter: `%load_ext instr`, then `%%instr` at the head of a cell."""

import argparse
import os
import tempfile

from . import _calls, _marks, _open, _trace

_place = None  # the folder of the kernel's trace
_cells = 0


class _Wrong(Exception):
    pass


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise _Wrong(message)


def _parser():
    parser = _Parser(prog="%%instr", description="Records the functions of a cell, and shows the page of instr report.", add_help=False)
    parser.add_argument("-f", "--functions", metavar="PATTERN", action="append", help="record these [default: user]")
    parser.add_argument("-c", "--c-functions", action="store_true", help="also the functions of C that they call")
    parser.add_argument("-o", "--output", metavar="DIR", help="folder of the trace, in the first recorded cell [default: a temporary one]")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no page")
    return parser


def trace():
    """The trace of the kernel's recorded cells."""
    if _place is None:
        raise RuntimeError("no cell was recorded yet: begin one with %%instr")
    return _open.open_traces(_place)


def cell(line, body):
    """`%%instr [-f PATTERN] [-c] [-o DIR] [-q]`: runs the cell with its functions recorded, as a region `cell N`.

    The cells of a kernel have one trace, which the page shows as far as it was recorded; `instr.cells()` opens it.
    """
    import shlex

    from IPython import get_ipython
    from IPython.display import display

    global _place, _cells
    try:
        options = _parser().parse_args(shlex.split(line))
        chosen = _trace.trace(options.functions, c_functions=options.c_functions)
    except (_Wrong, ValueError) as error:
        raise ValueError(f"%%instr: {error}; usage: %%instr [-f PATTERN] [-c] [-o DIR] [-q]") from None
    if _calls._native is None:
        raise RuntimeError("%%instr needs the compiled part of instr: pip install it into this kernel's Python")
    if _place is None:
        where = os.path.abspath(options.output or os.path.join(tempfile.mkdtemp(prefix="instr-cells-"), "cells.instr"))
        result = _calls.start(f"INSTR_TRACE={where}")
        _place = _calls._native.place() or None
        if result != 0 or _place is None:
            raise RuntimeError(f"the recording does not begin: instr.start() gave {result}")
    elif _calls.start() != 0:
        raise RuntimeError("the recording does not go on")
    _cells += 1
    try:
        with chosen, _marks.region(f"cell {_cells}"):
            get_ipython().run_cell(body)
    finally:
        _calls.stop()
        _calls.flush()
    if not options.quiet:
        display(trace().report())


def load(ipython):
    """Called by `%load_ext instr`."""
    ipython.register_magic_function(cell, "cell", "instr")
