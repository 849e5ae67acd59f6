"""Regions and recording as blocks of a program."""

import functools

from ._calls import region_begin, region_end, start, stop
from ._results import NOT_RECORDED


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
