"""Marks and chooses what is recorded of a Python program that runs under `instr run`; see docs/api.md.

Elsewhere every call does nothing. Nothing has to be built or installed: copy this file, or put its folder into PYTHONPATH
(`instr config --prefix`/share/instr/python).
"""

import ctypes
import functools
import threading

NOT_RECORDED = -1
REFUSED = -2

_MOST_NAMES = 4096
_SURPLUS = "(more than 4096 names)"


def _functions():
    """The runtime's functions: those of an event keep the interpreter's lock, which costs less than to give it back."""
    text, number, value = ctypes.c_char_p, ctypes.c_uint32, ctypes.c_uint64
    kinds = {
        "instr_event": (ctypes.PyDLL, None, number, value),
        "instr_region_begin": (ctypes.PyDLL, None, ctypes.c_void_p),
        "instr_region_end": (ctypes.PyDLL, None),
        "instr_counter": (ctypes.PyDLL, None, ctypes.c_void_p, ctypes.c_int64),
        "instr_start": (ctypes.CDLL, ctypes.c_int, text),
        "instr_stop": (ctypes.CDLL, ctypes.c_int),
        "instr_flush": (ctypes.CDLL, ctypes.c_int),
    }
    found = {}
    try:
        libraries = {kind: kind(None) for kind in (ctypes.PyDLL, ctypes.CDLL)}
        for name, (kind, result, *parameters) in kinds.items():
            function = getattr(libraries[kind], name)
            function.restype, function.argtypes = result, parameters
            found[name] = function
    except (AttributeError, OSError, TypeError):
        return None  # no runtime
    return found


_calls = _functions()
_names = {}
_names_lock = threading.Lock()


def _kept(name):
    """The address of a text that stays: the runtime knows names by their addresses."""
    found = _names.get(name)
    if found is None:
        with _names_lock:
            key = name if len(_names) < _MOST_NAMES or name in _names else _SURPLUS
            found = _names.get(key)
            if found is None:
                buffer = ctypes.create_string_buffer(key.encode("utf-8", "replace"))
                found = _names[key] = (ctypes.addressof(buffer), buffer)
    return found[0]


def is_recorded():
    """Whether there is a runtime; not whether it records just now."""
    return _calls is not None


def event(type, value):
    """One event, as Paraver has them."""
    if _calls is not None:
        _calls["instr_event"](type, value)


def counter(name, value):
    """What a counter of the program is now."""
    if _calls is not None:
        _calls["instr_counter"](_kept(name), value)


def region_begin(name):
    """Begins a region of the calling thread; regions nest."""
    if _calls is not None:
        _calls["instr_region_begin"](_kept(name))


def region_end():
    """Ends the innermost region of the calling thread."""
    if _calls is not None:
        _calls["instr_region_end"]()


class region:
    """A region from `with instr.region("step"):` to its end, or of each call of a function with `@instr.region("step")` before it."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        region_begin(self.name)
        return self

    def __exit__(self, *_):
        region_end()
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def inside(*arguments, **keywords):
            region_begin(self.name)
            try:
                return function(*arguments, **keywords)
            finally:
                region_end()

        return inside


def start(config=None):
    """Begins or resumes recording; 0, NOT_RECORDED or REFUSED. `config` are settings as in C: "INSTR_TRACE=a.instr; INSTR_BUFFER=8K"."""
    if _calls is None:
        return NOT_RECORDED
    return _calls["instr_start"](config if config is None else config.encode())


def stop():
    """Ends recording on all threads, up to the next start."""
    return 0 if _calls is None else _calls["instr_stop"]()


def flush():
    """Writes what the calling thread has recorded; 0, or -1 where nothing is recorded."""
    return -1 if _calls is None else _calls["instr_flush"]()


class recording:
    """Recording from `with instr.recording():` to its end. `result` is what start() returned; one that was refused stops nothing."""

    def __init__(self, config=None):
        self.config = config
        self.result = NOT_RECORDED

    def __enter__(self):
        self.result = start(self.config)
        return self

    def __exit__(self, *_):
        if self.result == 0:
            stop()
        return False
