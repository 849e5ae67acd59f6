"""Functions that are recorded from one line of a program to another."""

import functools

from ._calls import _hooks, _native, start


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
