"""`documented.py docs/python.md`: runs the examples of that page, in a folder with app.instr (outer runs 7 times and calls inner 3 times) and heat.sweep."""

import doctest
import re
import sys

import matplotlib
import polars

matplotlib.use("Agg")
page = open(sys.argv[1], encoding="utf-8").read()
names = {"solve": lambda: None, "polars": polars}
examples = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
written = [example for example in examples if ">>>" not in example]
for number, example in enumerate(written):
    exec(compile(example, f"example {number + 1}", "exec"), names)
result = doctest.DocTestRunner()
for number, example in enumerate(examples):
    if ">>>" in example:
        result.run(doctest.DocTestParser().get_doctest(example, {}, f"example {number + 1}", sys.argv[1], 0))
assert len(written) >= 2 and result.tries >= 4 and result.failures == 0, (len(written), result.tries)
print("runs")
