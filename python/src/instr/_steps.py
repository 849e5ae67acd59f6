"""Names of asyncio's tasks, and of what they await. Each task asks for one, and each step for the other: what is known is kept."""

import re
import sys

from . import _native, _select

_DEFAULT = re.compile(r"Task-\d+\Z").match
_MOST_DEEP = 64
_MOST_KEPT = 10_000

_codes = {}  # number of a code object -> (the code, so that the number stays its own, its qualified name in its module, whether it is the program's)
_texts = {}


def _kept(cache, key, value):
    if len(cache) >= _MOST_KEPT:
        cache.clear()
    cache[key] = value
    return value


def _parts(coroutine):
    """Code, frame and what it awaits, of a coroutine or a generator; None of anything else."""
    for code, frame, below in (("cr_code", "cr_frame", "cr_await"), ("gi_code", "gi_frame", "gi_yieldfrom"), ("ag_code", "ag_frame", "ag_await")):
        found = getattr(coroutine, code, None)
        if found is not None:
            return found, getattr(coroutine, frame, None), getattr(coroutine, below, None)
    return None


def _known(coroutine, code, frame):
    """See `_codes`."""
    found = _codes.get(id(code))
    if found is not None:
        return found
    module = frame.f_globals.get("__name__", "?") if frame is not None else "?"
    qualname = getattr(coroutine, "__qualname__", code.co_name)
    own = _select.is_own(_select.absolute(code.co_filename), module)
    if len(_codes) >= _MOST_KEPT:
        _texts.clear()  # they go by numbers of codes
    return _kept(_codes, id(code), (code, _select.shown_name(module, qualname), own))


def _name(task):
    """`task NAME`, by its own name where it has one, else by that of its coroutine."""
    name = task.get_name()
    coroutine = task.get_coro()
    parts = _parts(coroutine)
    if parts is None:
        return _select.text_of(f"task {name}", "?", 0)
    code, frame, _ = parts
    key = (id(code), None if _DEFAULT(name) else name)
    _, qualname, _ = _known(coroutine, code, frame)
    text = _texts.get(key)
    if text is None:
        text = _select.text_of(f"task {key[1] or qualname}", _select.absolute(code.co_filename), code.co_firstlineno)
        _kept(_texts, key, text)
    return text


def _waiter(waiter):
    """What a task awaits that no coroutine awaits for it."""
    if hasattr(waiter, "get_name"):
        return _name(waiter).partition("\t")[0]
    name = type(waiter).__name__
    return {"_GatheringFuture": "gather"}.get(name, name)


def _reason(task):
    """`await NAME`: what the innermost coroutine of the program's own files awaits, and where."""
    coroutine = task.get_coro()
    here = awaited = None
    for _ in range(_MOST_DEEP):
        parts = _parts(coroutine)
        if parts is None:
            break
        code, frame, below = parts
        _, _, own = _known(coroutine, code, frame)
        if own or here is None:
            here, awaited = (coroutine, code, frame, own), below
        coroutine = below
    if here is None:
        return None
    outer, code, frame, own = here
    waiter = task._fut_waiter
    if waiter is None:
        name = "its turn"
    elif not own:
        name = getattr(outer, "__qualname__", code.co_name)
    else:
        name = getattr(awaited, "__qualname__", None) if _parts(awaited) is not None else None
        if name in (None, "Future.__await__"):  # that of futures which are written in Python
            name = _waiter(waiter)
    line = (frame.f_lineno if frame is not None else None) or code.co_firstlineno
    key = (id(code), line, name)
    return _texts.get(key) or _kept(_texts, key, _select.text_of(f"await {name}", _select.absolute(code.co_filename), line))


def begin():
    """Steps of tasks are recorded from now on. False: there are no tasks as those of the standard library."""
    tasks = sys.modules.get("asyncio.tasks")
    kinds = tuple({getattr(tasks, name) for name in ("Task", "_PyTask", "_CTask") if isinstance(getattr(tasks, name, None), type)})
    if not kinds:
        return False
    _native.steps_by(kinds, _name, _reason)
    return True
