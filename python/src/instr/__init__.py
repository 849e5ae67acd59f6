"""Records what a Python program does, on one time line with the C beneath it. See docs/python.md.

    python -m instr app.py                          the functions of app.py's own files
    instr run -- python app.py                      the same, with OpenMP, threads and processors

    with instr.trace(functions=["solver:Grid.*"]):  from here to there
        solve()

    @instr.region("step")
    def step(): ...

    instr.event(1000, 7)
    instr.counter("residual", 3)

Where nothing is recorded the calls do nothing.
"""

import functools

NOT_RECORDED = -1
REFUSED = -2


def _is_built():
    """Whether there is a compiled part for this interpreter."""
    import importlib.machinery
    import os

    here = os.path.dirname(os.path.abspath(__file__))
    return any(os.path.exists(os.path.join(here, "_native" + suffix)) for suffix in importlib.machinery.EXTENSION_SUFFIXES)


_OTHER = "instr records the main interpreter of a process alone, and this is another one"

try:
    from . import _native
except ImportError as error:
    if _is_built():
        raise ImportError(f"{_OTHER}, or its compiled part cannot be loaded: {error}") from error
    # The runtime of `instr run` is called by ctypes.
    from ._plain import counter, event, flush, is_recorded, recording, region, region_begin, region_end, start, stop

    _native = None
else:
    if not _native.is_main():
        raise ImportError(_OTHER)
    from . import _hooks
    from ._hooks import Unavailable
    from ._native import counter, event, flush, region_begin, region_end

    if _native.is_there():
        _hooks.load()

    def is_recorded():
        """Whether there is a runtime; not whether it records just now."""
        return _native.is_there()

    def start(config=None):
        """Begins or resumes recording; 0, NOT_RECORDED or REFUSED.

        `config` are settings as in C: "INSTR_TRACE=a.instr; INSTR_BUFFER=8K". Where nothing is recorded yet, the runtime is loaded.
        """
        return _begin(config)

    def stop():
        """Ends recording on all threads, up to the next start."""
        return _native.stop()

    class region:
        """A region from `with instr.region("step"):` to its end, or of each call of a function with `@instr.region("step")` before it.

        `@instr.region` alone takes the function's name.
        """

        def __new__(cls, name):
            if callable(name):
                return cls(name.__qualname__)(name)
            if not isinstance(name, str):
                raise TypeError(f"a region's name is a str, not {type(name).__name__}")
            return super().__new__(cls)

        def __init__(self, name):
            self.name = name

        def __enter__(self):
            region_begin(self.name)
            return self

        def __exit__(self, *_):
            region_end()
            return False

        def __call__(self, function):
            return _around(function, self.name)

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


def _around(function, name):
    """The function in a region of this name. Generators and coroutines are outside of it when they are suspended: they get none."""
    import inspect

    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"{name} is suspended and goes on, perhaps on another thread: a region cannot follow it; instr.trace() does")

    @functools.wraps(function)
    def inside(*arguments, **keywords):
        region_begin(name)
        try:
            return function(*arguments, **keywords)
        finally:
            region_end()

    return inside


def _begin(config=None):
    """start(), with a runtime that is loaded where there is none. A trace that begins here begins with this call's settings."""
    import os

    if not _native.is_there():
        before = os.environ.get("INSTR_PAUSED")
        os.environ["INSTR_PAUSED"] = "1"
        try:
            why = _hooks.load()
        finally:
            if before is None:
                del os.environ["INSTR_PAUSED"]
            else:
                os.environ["INSTR_PAUSED"] = before
        if why is not None:
            return NOT_RECORDED
    else:
        _hooks.load()
    result = _native.start(config)
    _hooks._adopt()
    return result


class trace:
    """Records functions from `with instr.trace(functions=["app:work"]):` to its end, or during each call of a function with this before it.

    `functions` and `exclude` are patterns (`help("instr._select")`), or functions; without them all functions of the program's own files.
    `c_functions`: also the functions of C that they call. `config`: settings for a trace that begins here, as start() has them.
    Blocks nest, on any threads: an inner one adds its functions to those of the outer ones.
    Raises ValueError for a pattern that cannot be used.
    """

    def __init__(self, functions=None, exclude=(), c_functions=False, config=None):
        self._config = config
        self._c_functions = c_functions
        self._entries = []
        if _native is not None:
            from . import _select

            self._selection = _select.Selection(["user"] if functions is None else functions, exclude)

    def __enter__(self):
        self._entries.append(self._add())
        return self

    def __exit__(self, *_):
        self._remove(self._entries.pop())
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def inside(*arguments, **keywords):
            entry = self._add()
            try:
                return function(*arguments, **keywords)
            finally:
                self._remove(entry)

        return inside

    def _add(self):
        if _native is None:
            return None
        if self._config is not None or not _native.is_there():
            start(self._config)
        return _hooks.add(self._selection, self._c_functions)

    @staticmethod
    def _remove(entry):
        if entry is not None:
            _hooks.remove(entry)


__all__ = [
    "NOT_RECORDED",
    "REFUSED",
    "counter",
    "event",
    "flush",
    "is_recorded",
    "recording",
    "region",
    "region_begin",
    "region_end",
    "start",
    "stop",
    "trace",
]
