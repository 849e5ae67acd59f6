"""What a type checker finds of the package: each type is what is asserted, and the last line is the one mistake."""

from typing import Any, Dict, List, assert_type

import instr


@instr.trace(functions=["solver:Grid.*"])
def traced(n: int) -> int:
    return n


@instr.region("step")
def step(n: int) -> str:
    return str(n)


@instr.region
def plain(n: int) -> str:
    return str(n)


with instr.trace() as block:
    assert_type(block, instr.trace)
assert_type(traced(1), int)
assert_type(step(1), str)
assert_type(plain(1), str)
assert_type(instr.start("INSTR_TRACE=part.instr"), int)
with instr.open("app.instr") as trace:
    rows = trace.spans.to_pylist()
assert_type(rows, List[Dict[str, Any]])
assert_type(len(trace.histogram("calls")), int)
assert_type(len(instr.sweep("heat.sweep").efficiency()), int)
assert_type(len(instr.run_sweep(["./heat", "{input}"], threads=[1, 2], inputs=["20"]).models()), int)
instr.event("kind", 1)
