"""`python -m instr app.py`: runs a program, unchanged, with its functions recorded."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

from . import _names, _select

_HELP = """\
examples:
  python -m instr app.py 1000                     functions of app.py's own files -> app.instr
  python -m instr -f 'solver:*' -f '!solver:get' app.py
  python -m instr -m package.module
  python -m instr functions app.py                which functions there are, and what it costs to record each
  instr run -- python app.py                      with OpenMP, threads and processors beneath
  instr summary app.instr
"""


def _fail(message, help=None, status=1):
    print(f"instr: error: {message}", file=sys.stderr)
    if help:
        print(f"  help: {help}", file=sys.stderr)
    raise SystemExit(status)


def _parser(prog):
    parser = argparse.ArgumentParser(
        prog=prog, description=__doc__, epilog=_HELP, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument(
        "-f", "--functions", metavar="PATTERN", action="append", default=[],
        help="record these: MODULE:NAME, FILE.py:NAME, FILE.py:10-20, NAME, user, all, @LIST; ! in front: not these [default: user]",
    )
    parser.add_argument("-c", "--c-functions", action="store_true", help="also the functions of C that they call")
    parser.add_argument("-o", "--output", metavar="DIR", help="folder of the trace [default: the program's name with .instr]")
    parser.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module, as with python -m")
    parser.add_argument("program", help="the program, or - for standard input")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def _interpreter_options():
    """What the interpreter itself was given (-X, -W, -O …)."""
    given = getattr(subprocess, "_args_from_interpreter_flags", None)
    return given() if given else []


def _command(options):
    program = ["-m", options.program] if options.module else [options.program]
    return [sys.executable, *_interpreter_options(), *program, *options.arguments]


def _is_started_with_python():
    """Whether `instr-auto.pth` lies where this interpreter looks for it."""
    import site

    folders = list(getattr(site, "getsitepackages", list)())
    try:
        folders.append(site.getusersitepackages())
    except (AttributeError, OSError):
        pass
    return any(os.path.isfile(os.path.join(folder, "instr-auto.pth")) for folder in folders)


def _environment(options):
    patterns = list(options.functions) or ["user"]
    if all(pattern.startswith("!") for pattern in patterns):
        patterns.insert(0, "user")
    try:
        _select.Selection(patterns)
    except _select.PatternError as error:
        _fail(f"cannot use the selection of functions: {error}", "python -m instr --help shows what patterns look like", 2)
    variables = {"INSTR_PYTHON": "\n".join("@" + os.path.abspath(p[1:]) if p.startswith("@") else p for p in patterns) + "\n"}
    if options.c_functions:
        variables["INSTR_PYTHON_C"] = "1"
    return variables


def _check(options):
    if not _is_started_with_python():
        _fail(
            "this Python does not start the recording: instr is found, but not installed in it",
            f"{sys.executable} -m pip install PATH/TO/instr/python",
        )
    try:
        from . import _native  # noqa: F401
    except ImportError as error:
        _fail(f"the compiled part of instr cannot be loaded: {error}", f"{sys.executable} -m pip install --force-reinstall PATH/TO/instr/python")
    if not options.module and options.program != "-" and not os.path.exists(options.program):
        _fail(f"cannot run {options.program!r}: there is no such file", None)


def _place(folder):
    """The trace's folder, which the runtime makes; refused where it cannot."""
    path = os.path.abspath(folder)
    above = os.path.dirname(path)
    while not os.path.isdir(above) and not os.path.lexists(above):
        above = os.path.dirname(above)
    where = path if os.path.isdir(path) else above
    if not (os.path.isdir(where) and os.access(where, os.W_OK | os.X_OK)):
        _fail(f"the trace {folder!r} cannot be made: {above!r} is no folder that this user may write to", "choose another one by -o DIR")
    return path


def _run(arguments):
    options = _parser("python -m instr").parse_args(arguments)
    _check(options)
    variables = _environment(options)
    if options.output is not None:
        variables["INSTR_TRACE"] = _place(options.output)
    elif "INSTR_TRACE" not in os.environ and "INSTR_TREE" not in os.environ:
        variables["INSTR_TRACE"] = _place(_names.of_program(options.program))
    os.environ.update(variables)
    sys.stdout.flush()
    os.execv(sys.executable, _command(options))


def _measured(folder):
    """What the processes counted: text -> [calls, own ns, total ns]."""
    found = {}
    for entry in os.scandir(folder):
        with open(entry.path, encoding="utf-8") as file:
            for line in file:
                calls, own, total, text = line.rstrip("\n").split("\t", 3)
                sums = found.setdefault(text, [0, 0, 0])
                for at, number in enumerate((calls, own, total)):
                    sums[at] += int(number)
    return found


# What two events take, about: shown as the cost of recording a call (docs/python.md).
_CALL_NS = 70 if sys.version_info >= (3, 12) else 120


def _functions(arguments):
    parser = _parser("python -m instr functions")
    parser.description = "Lists the functions that a program calls, with their calls and times: a list for --functions @LIST."
    parser.add_argument("--min-time", metavar="US", type=float, default=0.0, help="leave out functions whose calls are shorter, in us with what they call")
    parser.add_argument("--min-calls", metavar="N", type=int, default=1, help="leave out functions that are called less often")
    options = parser.parse_args(arguments)
    _check(options)
    folder = tempfile.mkdtemp(prefix="instr-functions-")
    try:
        variables = {**os.environ, **_environment(options), "INSTR_PYTHON_COUNT": folder}
        status = subprocess.call(_command(options), env=variables)
        found = _measured(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    out = sys.stdout
    if options.output is not None:
        try:
            out = open(options.output, "w", encoding="utf-8")
        except OSError as error:
            _fail(f"cannot write the list: {error}")
    with out if out is not sys.stdout else _Open(out):
        _write(out, found, options)
    return status if status >= 0 else 128 - status


class _Open:
    """Stands for a file that stays open."""

    def __init__(self, file):
        self.file = file

    def __enter__(self):
        return self.file

    def __exit__(self, *_):
        return False


def _write(out, found, options):
    rows = []
    for text, (calls, own, total) in found.items():
        name, _, place = text.partition("\t")
        if calls < options.min_calls or total / max(calls, 1) < options.min_time * 1000:
            continue
        file, _, line = place.rpartition(":")
        pattern = f"{file}:{line}-{line}" if place and "#" not in file else name
        rows.append((own, f"{pattern}  # {name}: {calls} calls, {total / 1e6:.3f} ms, own {own / 1e6:.3f} ms, to record {calls * _CALL_NS / 1e6:.3f} ms"))
    for _, row in sorted(rows, key=lambda row: (-row[0], row[1])):
        print(row, file=out)
    if not rows:
        print("# no function of the selection was called", file=out)


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["functions"] and not os.path.exists("functions"):
        raise SystemExit(_functions(arguments[1:]))
    _run(arguments)


if __name__ == "__main__":
    main()
