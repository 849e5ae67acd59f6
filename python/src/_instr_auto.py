"""What `instr-auto.pth` imports when the interpreter starts with INSTR_PYTHON or INSTR_TREE in its environment: it begins the recording.

Nothing that goes wrong here may hinder the program: it is told on standard error, and the program runs unrecorded.
"""

import sys

try:
    import instr._auto

    instr._auto.begin()
except Exception as error:
    if "main interpreter" not in str(error):  # others of a process run unrecorded
        print(f"instr: warning: functions of Python are not recorded: {error}", file=sys.stderr)
