"""The command `instr`, which reads traces."""

import json
import shutil
import subprocess

from ._results import ToolError


def run(*words):
    """What `instr WORDS` prints, as bytes."""
    tool = shutil.which("instr")
    if tool is None:
        raise ToolError("the command instr is not in PATH: traces are read by it (README.md, Install)")
    done = subprocess.run([tool, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        text = done.stderr.decode("utf-8", "replace").strip()
        prefix = "instr: error: "
        raise ToolError(text[len(prefix) :] if text.startswith(prefix) else text or f"instr {words[0]} ended with status {done.returncode}")
    return done.stdout


def run_json(*words):
    """The JSON that it prints."""
    return json.loads(run(*words))
