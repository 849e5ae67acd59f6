"""What a call of an empty Python function costs more under each tool, in ns an event (two events a call): cost.py [PYTHON…].

Each tool runs in a process of its own, in turn, ROUNDS times; the medians of the least times of each process are printed. VizTracer is measured where
it is installed. `hook in Python` has the shape of Extrae's: a function list that is searched by name, and a call of C for each event.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

CALLS = 200_000
ROUNDS = 7
TOOLS = ("plain", "instr", "instr, not listed", "hook in Python", "cProfile", "viztracer")


def empty():
    pass


def measure():
    """ns a call."""
    best = float("inf")
    for _ in range(5):
        begin = time.process_time_ns()
        for _ in range(CALLS):
            empty()
        best = min(best, time.process_time_ns() - begin)
    return best / CALLS


def hook_like_extrae():
    import ctypes

    emit = ctypes.CDLL(None).labs
    listed = ["work", "step", "empty"]

    def hook(frame, event, _):
        if event == "call" or event == "return":
            name = frame.f_code.co_name
            os.getpid()
            if name in listed:
                os.getpid()
                emit(listed.index(name) + 1 if event == "call" else 0)

    sys.setprofile(hook)


def one(tool):
    if tool == "hook in Python":
        hook_like_extrae()
    elif tool == "cProfile":
        import cProfile

        cProfile.Profile().enable()
    elif tool == "viztracer":
        import viztracer

        viztracer.VizTracer(tracer_entries=1_000_000, verbose=0, max_stack_depth=-1).start()
    result = measure()
    sys.setprofile(None)
    print(result, flush=True)
    os._exit(0)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--one":
        one(sys.argv[2])
    for python in sys.argv[1:] or [sys.executable]:
        found = {tool: [] for tool in TOOLS}
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(ROUNDS):
                for tool in TOOLS:
                    environment = {**os.environ, "INSTR_TRACE": os.path.join(folder, "x.instr"), "INSTR_KEEP": "0"}
                    environment.pop("INSTR_PYTHON", None)
                    if tool.startswith("instr"):
                        environment["INSTR_PYTHON"] = "empty" if tool == "instr" else "nothing"
                    run = subprocess.run([python, __file__, "--one", tool], env=environment, capture_output=True, text=True)
                    if run.returncode == 0 and run.stdout:
                        found[tool].append(float(run.stdout))
        base = statistics.median(found["plain"])
        version = subprocess.run([python, "-V"], capture_output=True, text=True).stdout.strip()
        print(f"{version}: {base:.1f} ns a plain call, from {min(found['plain']):.1f} to {max(found['plain']):.1f}")
        for tool in TOOLS[1:]:
            if found[tool]:
                print(f"  {tool:20} {(statistics.median(found[tool]) - base) / 2:8.1f} ns an event, least {(min(found[tool]) - min(found['plain'])) / 2:8.1f}")
            else:
                print(f"  {tool:20} not installed, or failed")


main()
