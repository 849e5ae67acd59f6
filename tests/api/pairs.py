# `pairs.py PAIRS INSIDE OUTSIDE [CONFIG]`: what pairs.c does, on two threads of Python. Every region is left by an exception.
import sys
import threading

import instr


def leave(type, number):
    with instr.region("inside" if type == 5 else "outside"):
        instr.event(type, number)
        raise RuntimeError("left")


def events(type, count):
    for number in range(1, count + 1):
        try:
            leave(type, number)
        except RuntimeError:
            pass


def on_two_threads(type, count):
    other = threading.Thread(target=events, args=(type, count))
    other.start()
    events(type, count)
    other.join()


pairs, inside, outside = map(int, sys.argv[1:4])
config = sys.argv[4] if len(sys.argv) > 4 else None
started = 0
events(6, outside)
for pair in range(pairs):
    with instr.recording(config if pair == 0 else None) as recording:
        started += recording.result + instr.start()
        on_two_threads(5, inside)
        instr.counter("pair", pair)
    on_two_threads(6, outside)
print("started", started, "stopped", instr.stop())
