"""Names of asyncio's tasks, and of what they await."""

import re
import sys

from . import _native

_DEFAULT = re.compile(r"Task-\d+\Z")
_MOST_DEEP = 64


def _code(coroutine):
    """The code, frame and what it awaits, of a coroutine or a generator; None of anything else."""
    for prefix, below in (("cr", "cr_await"), ("gi", "gi_yieldfrom"), ("ag", "ag_await")):
        code = getattr(coroutine, prefix + "_code", None)
        if code is not None:
            return code, getattr(coroutine, prefix + "_frame", None), getattr(coroutine, below, None)
    return None


def _coroutines(task):
    """From the task's own to the innermost: (name, its module, code, line of what it awaits)."""
    found = []
    coroutine = task.get_coro()
    while coroutine is not None and len(found) < _MOST_DEEP:
        parts = _code(coroutine)
        if parts is None:
            break
        code, frame, below = parts
        module = frame.f_globals.get("__name__", "?") if frame is not None else "?"
        line = frame.f_lineno if frame is not None and frame.f_lineno else code.co_firstlineno
        found.append((getattr(coroutine, "__qualname__", code.co_name), module, code, line))
        coroutine = below
    return found


def _name(task):
    """`task NAME`, by its own name where it has one, else by that of its coroutine."""
    from . import _select

    name = task.get_name()
    coroutines = _coroutines(task)
    if not coroutines:
        return _select.text_of(f"task {name}", "?", 0)
    qualname, module, code, _ = coroutines[0]
    if _DEFAULT.match(name):
        name = _select.shown_name(module, qualname)
    return _select.text_of(f"task {name}", _select.absolute(code.co_filename), code.co_firstlineno)


def _reason(task):
    """`await NAME`: what the innermost coroutine of the program's own files awaits, and where."""
    from . import _select

    coroutines = _coroutines(task)
    if not coroutines:
        return None
    own = [at for at, (_, module, code, _) in enumerate(coroutines) if _select.is_own(_select.absolute(code.co_filename), module)]
    here = own[-1] if own else 0
    waiter = task._fut_waiter
    if waiter is None:
        name = "its turn"
    elif own and here + 1 < len(coroutines):
        name = coroutines[here + 1][0]
    elif not own:
        name = coroutines[0][0]
    elif hasattr(waiter, "get_name"):
        name = _name(waiter).partition("\t")[0]
    else:
        name = type(waiter).__name__
        name = {"_GatheringFuture": "gather"}.get(name, name)
    _, _, code, line = coroutines[here]
    return _select.text_of(f"await {name}", _select.absolute(code.co_filename), line)


def begin():
    """Steps of tasks are recorded from now on. False: this is not the asyncio of the standard library."""
    tasks = sys.modules.get("asyncio.tasks")
    kinds = tuple({getattr(tasks, name) for name in ("Task", "_PyTask", "_CTask") if isinstance(getattr(tasks, name, None), type)})
    if not kinds:
        return False
    _native.steps_by(kinds, _name, _reason)
    return True
