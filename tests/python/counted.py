"""Functions whose page faults the kernel itself counts: prints NAME LEAST MOST, for each process, of what a counter has to find in it without what it calls.

LEAST is what getrusage found from the function's first line to its last, MOST what it found around the call, without what it calls."""

import mmap
import os
import resource
import sys

PAGE = mmap.PAGESIZE
inside = {}
around = {}


def touch(block, pages):
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for at in range(0, pages * PAGE, PAGE):
        block[at] = 1
    inside["touch"] = inside.get("touch", 0) + resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before


def down(block, depth):
    """Touches 50 pages, then calls itself."""
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for at in range(50 * depth * PAGE, 50 * (depth + 1) * PAGE, PAGE):
        block[at] = 1
    inside["down"] = inside.get("down", 0) + resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before
    if depth > 0:
        down(block, depth - 1)


def pages(block, count):
    """Touches ten pages before each of its values, none of them while it is suspended."""
    for piece in range(count):
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
        for at in range(10 * piece * PAGE, 10 * (piece + 1) * PAGE, PAGE):
            block[at] = 1
        inside["pages"] = inside.get("pages", 0) + resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before
        yield piece


def fails(block):
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for at in range(0, 30 * PAGE, PAGE):
        block[at] = 1
    inside["fails"] = inside.get("fails", 0) + resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before
    raise ValueError


def outer(factor):
    """Calls the others, each with fresh memory, and touches more between the values of `pages`."""
    blocks = []
    for _ in range(5):
        blocks.append(mmap.mmap(-1, 1024 * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        blocks[-1].madvise(mmap.MADV_NOHUGEPAGE)
    fresh, deep, pieces, broken, own = blocks
    times = [resource.getrusage(resource.RUSAGE_THREAD).ru_minflt]
    touch(fresh, 100 * factor)
    times.append(resource.getrusage(resource.RUSAGE_THREAD).ru_minflt)
    down(deep, 3)
    times.append(resource.getrusage(resource.RUSAGE_THREAD).ru_minflt)
    try:
        fails(broken)
    except ValueError:
        pass
    times.append(resource.getrusage(resource.RUSAGE_THREAD).ru_minflt)
    between = 0
    for piece in pages(pieces, 8):
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
        for at in range(20 * piece * PAGE, 20 * (piece + 1) * PAGE, PAGE):
            own[at] = 1
        between += resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before
    times.append(resource.getrusage(resource.RUSAGE_THREAD).ru_minflt)
    inside["outer"] = between
    for name, begin, end in zip(("touch", "down", "fails", "pages"), times, times[1:]):
        around[name] = end - begin
    around["pages"] -= between
    return times


def run(factor):
    inside.clear()
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    times = outer(factor)
    after = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    around["outer"] = after - before - sum(inside[name] for name in ("touch", "down", "fails", "pages"))
    for name, least in inside.items():
        sys.stdout.write(f"{factor} {name} {least} {around[name]}\n")
    sys.stdout.flush()
    return times


child = os.fork()
if child == 0:
    run(3)
    os._exit(0)
os.waitpid(child, 0)
run(1)
