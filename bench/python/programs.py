"""What whole programs cost more under each tool: programs.py [ROUNDS [PYTHON]]. Medians of processor time against the plain program, in turn.

Each program computes the same in each run. VizTracer is measured where it is installed.
"""

import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

TOOLS = {
    "plain": [],
    "instr": ["-m", "instr", "-o", "{folder}/x.instr"],
    "VizTracer": ["-m", "viztracer", "--quiet", "--tracer_entries", "20000000", "-o", "{folder}/x.json", "--"],
    "cProfile": ["-m", "cProfile", "-o", "{folder}/x.profile"],
}


def nqueens(n):
    """Recursion."""

    def place(row, columns, down, up):
        if row == n:
            return 1
        count = 0
        for c in range(n):
            if not (columns >> c & 1 or down >> (row + c) & 1 or up >> (row - c + n) & 1):
                count += place(row + 1, columns | 1 << c, down | 1 << (row + c), up | 1 << (row - c + n))
        return count

    return place(0, 0, 0, 0)


class Vector:
    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z


def bodies(n, steps):
    """Small methods."""
    numbers = random.Random(1)
    places = [Vector(numbers.random(), numbers.random(), numbers.random()) for _ in range(n)]
    energy = 0.0
    for _ in range(steps):
        for i in range(n):
            for j in range(i):
                away = places[i] - places[j]
                energy += 1 / (away.dot(away) + 1e-3)
    return round(energy, 3)


def stencil(n, steps):
    """Long loops in few calls."""
    grid = [[float((i * j) % 7) for j in range(n)] for i in range(n)]

    def sweep(a):
        return [[(a[i - 1][j] + a[i][j - 1] + a[(i + 1) % n][j] + a[i][(j + 1) % n]) / 4 for j in range(n)] for i in range(n)]

    for _ in range(steps):
        grid = sweep(grid)
    return round(sum(map(sum, grid)), 3)


def texts(n):
    """Functions of C and of the standard library."""

    def count(text):
        found = {}
        for word in re.findall(r"\w+", text):
            found[word] = found.get(word, 0) + 1
        return found

    def words(k):
        return " ".join(f"w{i * i % k}" for i in range(k))

    return sum(len(json.loads(json.dumps(count(words(500 + k % 50))))) for k in range(n))


def pipeline(n):
    """Generators."""

    def source():
        yield from range(n)

    def twice(values):
        for value in values:
            yield 2 * value

    def some(values):
        for value in values:
            if value % 3:
                yield value

    return sum(some(twice(source())))


PROGRAMS = {
    "nqueens": lambda: nqueens(11),
    "bodies": lambda: bodies(40, 400),
    "stencil": lambda: stencil(150, 60),
    "texts": lambda: texts(800),
    "pipeline": lambda: pipeline(400_000),
}


def one(name, into):
    begin = time.process_time()
    result = PROGRAMS[name]()
    with open(into, "w", encoding="utf-8") as file:
        file.write(f"{time.process_time() - begin} {result}")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    python = sys.argv[2] if len(sys.argv) > 2 else sys.executable
    environment = {**os.environ, "INSTR_KEEP": "0"}
    for name in PROGRAMS:
        times = {tool: [] for tool in TOOLS}
        results = set()
        with tempfile.TemporaryDirectory() as folder:
            into = os.path.join(folder, "seconds")
            for _ in range(rounds):
                for tool, words in TOOLS.items():
                    words = [word.replace("{folder}", folder) for word in words]
                    run = subprocess.run([python, *words, __file__, "--one", name, into], env=environment, capture_output=True, check=False)
                    if run.returncode == 0:
                        with open(into, encoding="utf-8") as file:
                            seconds, result = file.read().split()
                        times[tool].append(float(seconds))
                        results.add(result)
        if len(results) != 1:
            sys.exit(f"{name} does not compute the same in each run: {results}")
        plain = statistics.median(times["plain"])
        ratios = [f"{tool} {statistics.median(found) / plain:.2f}" for tool, found in times.items() if found and tool != "plain"]
        print(f"{name:10} {plain:.3f} s  {'  '.join(ratios)}", flush=True)


if sys.argv[1:2] == ["--one"]:
    one(*sys.argv[2:])
else:
    main()
