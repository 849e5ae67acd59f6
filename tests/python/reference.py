"""What the functions of a program's own file do, by sys.setprofile in plain Python: reference.py OUTPUT PROGRAM ARGUMENTS.

A line for each event: thread, `in` or `out`, name, first line. What leaves and comes again later has been suspended (`suspend`), and came again
by `resume`; so does no frame that has ended. A generator that is left for good is `out` all the same.
"""

import sys
import threading

output, program = sys.argv[1:3]
rows = []
seen = {}  # id -> (frame, row of its last event); frames are kept, so that no id is used twice


def hook(frame, event, _):
    if event not in ("call", "return") or frame.f_code.co_filename != program:
        return
    thread = threading.current_thread().name
    code = frame.f_code
    row = [thread, "in" if event == "call" else "out", code.co_name, code.co_firstlineno]
    if event == "call" and id(frame) in seen:
        row[1] = "resume"
        seen[id(frame)][1][1] = "suspend"
    seen[id(frame)] = (frame, row)
    rows.append(row)


def main():
    sys.argv = sys.argv[2:]
    with open(program, encoding="utf-8") as file:
        code = compile(file.read(), program, "exec")
    space = {"__name__": "__main__", "__file__": program}
    module = sys.modules["__main__"]
    module.__dict__.update(space)
    threading.setprofile(hook)
    sys.setprofile(hook)
    try:
        exec(code, module.__dict__)
    finally:
        sys.setprofile(None)
        with open(output, "w", encoding="utf-8") as file:
            for row in rows:
                print(*row, sep="\t", file=file)


main()
