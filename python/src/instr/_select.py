"""Which functions are recorded: patterns, as `instr.trace(functions=...)`, INSTR_PYTHON and lists have them.

    user                    all functions of the program's own files (the default)
    all                     every function
    work                    a function or method of this name, in any file
    app.solver:Grid.*       qualified names in a module; `*`, `?` and `[abc]` as in file names
    solver.py:step          the same in a file; a path, or the end of one
    solver.py:100-180       functions whose first line is one of these
    gc                      garbage collections; `user` and `all` have them
    imports                 imports of modules; `user` and `all` have them
    asyncio                 tasks of asyncio; `user` and `all` have them
    @functions.txt          the patterns in this file, one a line; what follows `#` is a comment
    !app.solver:Grid.get    not these
"""

import fnmatch
import functools
import os
import re
import site
import sys

_MOST_BYTES = 255  # of a text: INSTR_CFG_STRING_BYTES
_LINES = re.compile(r"(\d+)-(\d+)\Z")
_BENEATH = ("gc", "imports", "asyncio")  # no functions of the program
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class PatternError(ValueError):
    """A pattern, or a list of them, that cannot be used; its text says which and why."""


@functools.lru_cache(maxsize=None)
def _foreign():
    """Folders of files that are not the program's own: the standard library, installed packages."""
    release = "python%d.%d" % sys.version_info[:2]
    prefixes = (sys.base_prefix, sys.base_exec_prefix, sys.prefix, sys.exec_prefix)
    folders = {os.path.join(prefix, lib, release) for prefix in prefixes for lib in ("lib", sys.platlibdir)}
    for find in ("getsitepackages", "getusersitepackages"):
        try:
            found = getattr(site, find)()
        except (AttributeError, OSError):
            continue
        folders.update([found] if isinstance(found, str) else found)
    folders.add(os.path.dirname(os.__file__))
    both = folders | {os.path.realpath(folder) for folder in folders}
    return tuple(os.path.join(folder, "") for folder in both)


def is_own(file, module):
    """Whether a code object is one of the program's, by its file. One without a file (exec, a cell of a notebook) is what its module is."""
    if file == "<dynamic-code>" and module == "__main__":
        return True  # of the program whose function cloudpickle sent to this worker, where __main__ is another one
    if file.startswith("<"):
        if file.startswith("<frozen ") or module not in sys.modules:
            return False
        file = getattr(sys.modules[module], "__file__", None) or ""
    return not file.startswith(_foreign())


def _globs(text):
    return re.compile(fnmatch.translate(text)).match


def _pattern(text):
    """A predicate of (module, name, qualified name, file, first line)."""
    if text == "all":
        return lambda module, name, qualname, file, line: True
    if text == "user":
        return lambda module, name, qualname, file, line: is_own(file, module)
    where, colon, what = text.rpartition(":")
    if not colon:
        fits = _globs(what)
        return lambda module, name, qualname, file, line: fits(name) or fits(qualname)
    if not where or not what:
        raise PatternError(f"the pattern {text!r} has nothing on one side of its colon")
    is_file = "/" in where or where.endswith(".py")
    lines = _LINES.match(what)
    if is_file:
        path = _globs(where if where.startswith(("/", "*")) else "*/" + where)
        here = lambda module, file: path(file if file.startswith("/") else "/" + file)
    elif lines:
        raise PatternError(f"the pattern {text!r} has lines, but {where!r} is no file: it neither ends with .py nor has a /")
    else:
        name_of_module = _globs(where)
        here = lambda module, file: name_of_module(module)
    if lines:
        first, last = int(lines[1]), int(lines[2])
        if first > last:
            raise PatternError(f"the pattern {text!r} has no lines: {first} is behind {last}")
        return lambda module, name, qualname, file, line: first <= line <= last and here(module, file)
    fits = _globs(what)
    return lambda module, name, qualname, file, line: (fits(qualname) or fits(name)) and here(module, file)


def split(text):
    """The patterns of a text: its lines, or, where there is one line, what commas and blanks part."""
    words = text.splitlines() if "\n" in text else re.split(r"[,\s]+", text)
    return [word.strip() for word in words if word.strip()]


def read(path):
    """The patterns of a list. Raises PatternError."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(1 << 20)
    except (OSError, UnicodeDecodeError) as error:
        raise PatternError(f"the list {path!r} cannot be read: {error}") from error
    return split("\n".join(line.partition("#")[0] for line in text.splitlines()) + "\n")


class Selection:
    """Functions by patterns: those that one fits, and none with `!`."""

    def __init__(self, patterns, exclude=()):
        if isinstance(patterns, str):
            patterns = split(patterns)
        if isinstance(exclude, str):
            exclude = split(exclude)
        given = [self._text(pattern) for pattern in patterns] + ["!" + self._text(pattern) for pattern in exclude]
        self.patterns = given
        words = []
        for word in given:
            words.extend(read(word[1:]) if word.startswith("@") else [word])
        wanted = [word for word in words if not word.startswith("!")]
        refused = [word[1:] for word in words if word.startswith("!")]
        if not wanted and (refused or not given):
            wanted = ["user"]
        beneath = "user" in wanted or "all" in wanted
        self.collections = (beneath or "gc" in wanted) and "gc" not in refused
        self.imports = (beneath or "imports" in wanted) and "imports" not in refused
        self.tasks = (beneath or "asyncio" in wanted) and "asyncio" not in refused
        self.wanted = [_pattern(word) for word in wanted if word not in _BENEATH]
        self.refused = [_pattern(word) for word in refused if word not in _BENEATH]

    @staticmethod
    def _text(pattern):
        """A pattern, or the function itself."""
        code = getattr(pattern, "__code__", None)
        if isinstance(pattern, str) and pattern:
            return pattern
        if code is not None:
            return f"{absolute(code.co_filename)}:{code.co_firstlineno}-{code.co_firstlineno}"
        raise PatternError(f"{pattern!r} is neither a pattern nor a function of Python")

    def fits(self, module, name, qualname, file, line):
        """Whether the function is one of them."""
        facts = (module, name, qualname, file, line)
        return any(one(*facts) for one in self.wanted) and not any(one(*facts) for one in self.refused)


@functools.lru_cache(maxsize=1024)
def absolute(file):
    """A file's name with its folder."""
    if file.startswith(("<", "/")):
        return file
    try:
        return os.path.join(os.getcwd(), file)
    except OSError:
        return file


def _shortened(name, file, line):
    """The text of a function: name, tab, place; not longer than the runtime takes."""
    place = f":{line}"
    while len(name.encode("utf-8", "replace")) > 150:
        name = name[: len(name) * 3 // 4] + "~"
    room = _MOST_BYTES - 1 - len(name.encode("utf-8", "replace")) - len(place)
    cut = file
    while len(cut.encode("utf-8", "replace")) > room:
        cut = "~" + cut[2:] if cut.startswith("~") else "~" + cut[1:]
    return f"{name}\t{cut}{place}"


def _clean(text):
    return text if text.isprintable() else "".join(letter if letter.isprintable() else "?" for letter in text)


def text_of(name, file, line):
    """The text of a function by which the trace knows it."""
    return _shortened(_clean(name), _clean(file), line)


def shown_name(module, qualname):
    """The name of a function in its module."""
    return qualname if module == "__main__" else f"{module}.{qualname}"


def chooser(selections):
    """What decides of each code object that is met: its text, or None; True of what runs steps of tasks that are recorded."""
    from . import _steps

    tasks = any(one.tasks for one in selections)

    def choose(code, module):
        file = absolute(code.co_filename)
        if file.startswith(_HERE):
            return None
        module = module if isinstance(module, str) else "?"
        if module == "site" and file == "<string>":
            return None  # a line of a .pth file
        name = code.co_name
        qualname = getattr(code, "co_qualname", name)
        line = code.co_firstlineno
        if tasks and module == "asyncio.events" and name == "_run" and _steps.begin():
            return True
        if not any(one.fits(module, name, qualname, file, line) for one in selections):
            return None
        return text_of(shown_name(module, qualname), file, line)

    return choose


