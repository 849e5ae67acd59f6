"""The runtime's calls: by the compiled part, or by ctypes where there is none for this interpreter."""

import importlib.machinery
import os

from . import _names
from ._results import NOT_RECORDED

_OTHER = "instr records the main interpreter of a process alone, and this is another one"


def _is_built():
    """Whether there is a compiled part for this interpreter."""
    here = os.path.dirname(os.path.abspath(__file__))
    return any(os.path.exists(os.path.join(here, "_native" + suffix)) for suffix in importlib.machinery.EXTENSION_SUFFIXES)


try:
    from . import _native
except ImportError as error:
    if _is_built():
        raise ImportError(f"{_OTHER}, or its compiled part cannot be loaded: {error}") from error
    from . import _plain as _part

    _native = _hooks = None
else:
    if not _native.is_main():
        raise ImportError(_OTHER)
    from . import _hooks

    _part = _native
    if _native.is_there():
        _hooks.load()

# One event, as Paraver has them: event(type, value).
event = _part.event
# What a counter of the program is now: counter(name, value).
counter = _part.counter
# A region of the calling thread; regions nest: region_begin(name).
region_begin = _part.region_begin
# Ends the innermost region of the calling thread: region_end().
region_end = _part.region_end
# Writes what the calling thread has recorded; 0, or -1 where nothing is recorded: flush().
flush = _part.flush


def is_recorded():
    """Whether there is a runtime; not whether it records just now."""
    return _native.is_there() if _native is not None else _part.is_recorded()


def stop():
    """Ends recording on all threads, up to the next start."""
    return _part.stop()


def start(config=None):
    """Begins or resumes recording; 0, NOT_RECORDED or REFUSED.

    `config` are settings as in C: "INSTR_TRACE=a.instr; INSTR_BUFFER=8K". Where nothing is recorded yet, the compiled part loads the
    runtime, and a trace that begins here begins with these settings; it is named after the program.
    """
    if _native is None:
        return _part.start(config)
    if _native.is_there():
        _hooks.load()
    elif not _load_paused():
        return NOT_RECORDED
    else:
        config = _with_name(config)
    result = _native.start(config)
    _hooks._adopt()
    return result


def _with_name(config):
    """The settings with the folder of the trace, where neither they nor the environment say where it goes."""
    name = _names.of_this_process()
    said = ("INSTR_TRACE", "INSTR_TREE", "INSTR_CONFIG")
    if name is None or any(setting in os.environ or setting in (config or "") for setting in said):
        return config
    return f"{config}; INSTR_TRACE={name}" if config else f"INSTR_TRACE={name}"


def _load_paused():
    """Loads the runtime, which does not begin to record yet. Whether there is one."""
    before = os.environ.get("INSTR_PAUSED")
    os.environ["INSTR_PAUSED"] = "1"
    try:
        return _hooks.load() is None
    finally:
        if before is None:
            del os.environ["INSTR_PAUSED"]
        else:
            os.environ["INSTR_PAUSED"] = before
