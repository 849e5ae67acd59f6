"""`against_extrap.py INSTR`: the leading terms that `instr sweep` and Extra-P find in the same runs of a hundred made-up programs.

Each takes c0 + c1 * n^a * log2(n)^b seconds for n = 64 .. 4096, five times. Extra-P is given all five and takes their median. Run by scripts/extrap.sh.
"""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from fractions import Fraction

from extrap.entities.callpath import Callpath
from extrap.entities.coordinate import Coordinate
from extrap.entities.experiment import Experiment
from extrap.entities.measurement import Measure, Measurement
from extrap.entities.metric import Metric
from extrap.entities.parameter import Parameter
from extrap.modelers.model_generator import ModelGenerator

SIZES = [2**k for k in range(6, 13)]
REPEATS = 5
CASES = 100
# The terms that Extra-P tries by default, but n^(4/5): exponents by the power of the logarithm.
POWERS = {
    0: "1/4 1/3 1/2 2/3 3/4 1 5/4 4/3 3/2 5/3 7/4 2 9/4 7/3 5/2 8/3 11/4 3",
    1: "0 1/4 1/3 1/2 2/3 3/4 1 5/4 4/3 3/2 2 5/2 3",
    2: "0 1/4 1/3 1/2 2/3 3/4 1 3/2 2 5/2",
}
TERMS = [(Fraction(power), logarithm) for logarithm, powers in POWERS.items() for power in powers.split()]


def programs(noise):
    """The true term of each program, and its runs by size."""
    chance = random.Random(f"programs {noise}")
    for _ in range(CASES):
        power, logarithm = chance.choice(TERMS)
        grown = SIZES[-1] ** float(power) * math.log2(SIZES[-1]) ** logarithm
        constant, most = 10 ** chance.uniform(-2, 0), 10 ** chance.uniform(0, 2)
        runs = {
            n: [(constant + most * n ** float(power) * math.log2(n) ** logarithm / grown) * chance.gauss(1, noise) for _ in range(REPEATS)]
            for n in SIZES
        }
        yield (power, logarithm), runs


def ours(tool, cases):
    """Leading terms by `instr sweep`, which has the programs as regions of one sweep, and its processor time."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "sweep.toml"), "w") as file:
            file.write(f'command = ["./app", "{{input}}"]\ninputs = {SIZES}\nrepeat = {REPEATS}\nmeasure = "regions"\n')
        with open(os.path.join(folder, "runs.jsonl"), "w") as file:
            for repeat in range(REPEATS):
                for n in SIZES:
                    regions = [{"path": [f"program{at}"], "count": 1, "seconds": runs[n][repeat], "own_seconds": runs[n][repeat]} for at, (_, runs) in enumerate(cases)]
                    whole = sum(region["seconds"] for region in regions)
                    line = {"input": str(n), "threads": 1, "repeat": repeat, "begin_ns": repeat, "seconds": whole, "user_seconds": whole, "system_seconds": 0.0, "resident_bytes": 1}
                    file.write(json.dumps({**line, "regions": regions}) + "\n")
        before = os.times()
        said = subprocess.run([tool, "sweep", folder, "--json"], stdout=subprocess.PIPE, check=True).stdout
        after = os.times()
    found = [(Fraction(0), 0)] * CASES
    for subject in json.loads(said)["subjects"]:
        if subject["path"] and subject["path"][0].startswith("program") and subject["model"]:
            terms = [(Fraction(term["size"]["exponent"]).limit_denominator(12), term["size"]["logarithm"]) for term in subject["model"]["terms"]]
            found[int(subject["path"][0][len("program") :])] = max(terms, default=(Fraction(0), 0))
    return found, after.children_user + after.children_system - before.children_user - before.children_system


def extra_p(cases):
    """The same by Extra-P's default search."""
    experiment = Experiment()
    experiment.add_parameter(Parameter("n"))
    metric = Metric("time")
    experiment.add_metric(metric)
    for n in SIZES:
        experiment.add_coordinate(Coordinate(n))
    paths = []
    for at, (_, runs) in enumerate(cases):
        path = Callpath(f"program{at}")
        experiment.add_callpath(path)
        paths.append(path)
        for n in SIZES:
            experiment.add_measurement(Measurement(Coordinate(n), path, metric, runs[n]))
    begin = time.process_time()
    models = ModelGenerator(experiment, use_measure=Measure.MEDIAN)
    models.model_all()
    took = time.process_time() - begin
    found = []
    for path in paths:
        terms = []
        for compound in models.models[path, metric].hypothesis.function.compound_terms:
            powers = {term.term_type: Fraction(term.exponent) for term in compound.simple_terms}
            terms.append((powers.get("polynomial", Fraction(0)), int(powers.get("logarithm", 0))))
        found.append(max(terms, default=(Fraction(0), 0)))
    return found, took


print("| noise of a run | the same term | `instr sweep` finds the true one | Extra-P does | processor time, s: `instr sweep`, Extra-P |")
print("|---|---:|---:|---:|---:|")
failed = False
for noise in (0.0, 0.002, 0.01, 0.02):
    cases = list(programs(noise))
    (mine, my_time), (theirs, their_time) = ours(sys.argv[1], cases), extra_p(cases)
    true = [term for term, _ in cases]
    same, right, their_right = (sum(a == b for a, b in zip(x, y)) for x, y in ((mine, theirs), (mine, true), (theirs, true)))
    print(f"| {f'{100 * noise:g} %' if noise else 'none'} | {same} | {right} | {their_right} | {my_time:.2f}, {their_time:.2f} |", flush=True)
    failed |= noise <= 0.002 and same < 90 or my_time > their_time
sys.exit("against_extrap.py: terms differ in more than 10 of 100 programs, or instr sweep was the slower one" if failed else 0)
