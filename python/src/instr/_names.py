"""What a trace is called that nobody has named: after the program."""

import os
import sys


def of_program(program):
    """The folder for the trace of a program: `app.instr` of `app.py`."""
    name = os.path.basename(program.rstrip("/"))
    name = name[:-3] if name.endswith(".py") else name
    return (name if name not in ("", "-") else "python") + ".instr"


def of_this_process():
    """The same of the program that runs, where it is known, and the name may stand among settings; else None: the runtime names it after the interpreter."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    program = spec.name if spec is not None else getattr(main, "__file__", None)
    if not isinstance(program, str):
        return None
    name = of_program(program[: -len(".__main__")] if program.endswith(".__main__") else program)
    return name if name.isprintable() and not set(name) & set(";\"'\\ ") else None
