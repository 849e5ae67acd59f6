"""The recording of a process from its start: under `instr run`, `python -m instr`, or with INSTR_PYTHON set."""

import atexit
import os


def _count_into(path, hooks, native):
    """Writes what was counted, when the process ends."""
    hooks.count()

    def write():
        rows = native.counted()
        if rows:
            with open(os.path.join(path, f"{os.getpid()}.counts"), "w", encoding="utf-8") as file:
                file.writelines("\t".join(map(str, (calls, own, total, text))) + "\n" for text, calls, own, total in rows)

    atexit.register(write)
    try:
        from multiprocessing import util

        os.register_at_fork(after_in_child=lambda: util.Finalize(None, write, exitpriority=-100))
    except ImportError:
        pass


def begin():
    """Begins to record this process, as the environment says."""
    wanted = os.environ.get("INSTR_PYTHON", "user")
    if wanted in ("off", "0", "") or os.environ.get("INSTR_ENABLED") == "0":
        return
    from . import _hooks, _native, _select

    selection = _select.Selection(wanted)
    counts = os.environ.get("INSTR_PYTHON_COUNT")
    if counts:
        _count_into(counts, _hooks, _native)
    elif "INSTR_TREE" not in os.environ and _hooks.begin_now() is not None:
        raise RuntimeError(_native.load(None) or "there is no runtime")
    _hooks.add(selection, os.environ.get("INSTR_PYTHON_C") == "1")
