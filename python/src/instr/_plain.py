"""The calls of the compiled part for Pythons that have none: the runtime of `instr run` is called by ctypes. `_calls` says what they do."""

import ctypes
import threading

from ._results import NOT_RECORDED

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
    return _calls is not None


def event(type, value):
    if _calls is not None:
        _calls["instr_event"](type, value)


def counter(name, value):
    if _calls is not None:
        _calls["instr_counter"](_kept(name), value)


def region_begin(name):
    if _calls is not None:
        _calls["instr_region_begin"](_kept(name))


def region_end():
    if _calls is not None:
        _calls["instr_region_end"]()


def start(config=None):
    if _calls is None:
        return NOT_RECORDED
    return _calls["instr_start"](config if config is None else config.encode())


def stop():
    return 0 if _calls is None else _calls["instr_stop"]()


def flush():
    return -1 if _calls is None else _calls["instr_flush"]()
