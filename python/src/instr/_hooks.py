"""Hooks of the interpreter: on as long as there is a selection of functions."""

import gc
import os
import sys
from _thread import RLock  # not `threading`: programs may look whether that was imported

from . import _native, _select
from ._results import Unavailable

_lock = RLock()
_selections = []
_state = {"tool": None, "c_functions": False, "counts": False, "prepared": False, "eager": False, "importer": None}
# What this process starts records what this one does, as the program chooses it, unless its user has chosen.
_tells = "INSTR_PYTHON" not in os.environ and "INSTR_TREE" not in os.environ


def library():
    """The runtime that came with this package."""
    here = os.path.dirname(os.path.abspath(__file__))
    found = sorted(name for name in os.listdir(here) if name.startswith("libinstr.so."))
    return os.path.join(here, found[-1]) if found else None


def load():
    """Finds or loads the runtime, which begins the trace. None, or why there is none."""
    why = _native.load(library())
    if why is None:
        _adopt()
    elif os.environ.get("INSTR_VERBOSE") == "1":
        print(f"instr: note: functions of Python are not recorded: {why}", file=sys.stderr)
    return why


def _adopt():
    """Programs that this one starts leave their traces in this one's (docs/decisions/0031)."""
    place = _native.place()
    if place and "INSTR_TREE" not in os.environ:
        os.environ["INSTR_TREE"] = f"{os.getppid()}:{place}//{os.environ.get('INSTR_TRACE', '')}"


def _name():
    """What the calling thread is called, where it has a name of its own."""
    module = sys.modules.get("threading")
    thread = module._active.get(module.get_ident()) if module else None
    if thread is None or thread is module._main_thread:
        return "MainThread" if _state["eager"] else None
    return thread.name


def _prepare():
    if not _state["prepared"]:
        _state["prepared"] = True
        os.register_at_fork(after_in_child=_native.forked)


if sys.version_info >= (3, 12):

    def _on():
        monitoring = sys.monitoring
        events = monitoring.events
        tool = _state["tool"]
        if tool is None:
            # 5 is for optimizers, of which there are none; CPython's own tests take 3 and 4.
            free = (number for number in (5, 4, 3) if monitoring.get_tool(number) is None)
            tool = next(free, None)
            if tool is None:
                raise Unavailable("sys.monitoring has no place left for instr: other tools have taken 3, 4 and 5")
            monitoring.use_tool_id(tool, "instr")
            _state["tool"] = tool
            for event, call in (
                (events.PY_START, _native.on_start),
                (events.PY_RESUME, _native.on_resume),
                (events.PY_RETURN, _native.on_return),
                (events.PY_YIELD, _native.on_yield),
                (events.PY_UNWIND, _native.on_unwind),
                (events.PY_THROW, _native.on_throw),
                (events.CALL, _native.on_call),
                (events.C_RETURN, _native.on_c_return),
                (events.C_RAISE, _native.on_c_raise),
            ):
                monitoring.register_callback(tool, event, call)
        local = events.PY_START | events.PY_RESUME | events.PY_RETURN | events.PY_YIELD
        if _state["c_functions"]:
            local |= events.CALL
        _native.monitor(monitoring.DISABLE, monitoring.set_local_events, tool, local)
        monitoring.set_events(tool, events.PY_START | events.PY_RESUME | events.PY_UNWIND | events.PY_THROW)
        monitoring.restart_events()

    def _off():
        _native.monitor()
        if _state["tool"] is not None:
            sys.monitoring.set_events(_state["tool"], 0)

else:
    import threading

    def _on():
        if getattr(threading, "_profile_hook", None) is None:
            threading.setprofile(_native.profile_thread)
        _native.profile(True)

    def _off():
        if getattr(threading, "_profile_hook", None) is _native.profile_thread:
            threading.setprofile(None)
        _native.profile(False)


def _watch(collections, imports):
    """Garbage collections and imports are recorded, or no longer."""
    if collections != (_native.on_collection in gc.callbacks):
        (gc.callbacks.append if collections else gc.callbacks.remove)(_native.on_collection)
    importer = sys.modules["_frozen_importlib"]
    if imports and _state["importer"] is None:
        _state["importer"] = importer._find_and_load
        _native.import_by(importer._find_and_load)
        importer._find_and_load = _native.on_import
    elif not imports and importer._find_and_load is _native.on_import:
        importer._find_and_load = _state["importer"]
        _state["importer"] = None
    _native.tell_imports(imports)


def _renew():
    if _tells:
        patterns = [pattern for one, _ in _selections for pattern in one.patterns]
        os.environ["INSTR_PYTHON"] = "\n".join([*patterns, ""]) if patterns else "off"
    if _selections:
        _prepare()
        c_functions = any(c for _, c in _selections)
        _state["c_functions"] = c_functions
        _native.set(load, _name, c_functions, _state["counts"])
        _native.select(_select.chooser([one for one, _ in _selections]))
        _on()
    else:
        _off()
        _native.select(None)
    chosen = [one for one, _ in _selections]
    _watch(any(one.collections for one in chosen), any(one.imports for one in chosen))


def add(selection, c_functions=False):
    """Records these functions too, until remove() of what it returns."""
    entry = (selection, c_functions)
    with _lock:
        _selections.append(entry)
        try:
            _renew()
        except BaseException:
            _selections.remove(entry)
            raise
    return entry


def remove(entry):
    """The end of an add()."""
    with _lock:
        if any(one is entry for one in _selections):
            _selections[:] = [one for one in _selections if one is not entry]
            _renew()


def count():
    """Calls are counted from now on, and not recorded."""
    _state["counts"] = True


def begin_now():
    """The trace begins before the first function does: what this process starts leaves its traces in it."""
    _state["eager"] = True
    return load()
