#!/usr/bin/env bash
# Measures overhead, size and speed, and writes docs/overhead.md when everything was measured; arguments go to the measuring
# program (--quick, --only PART,…). BENCH_QUICK=1 is --quick: short, imprecise, and the document is left alone.
source "$(dirname "$0")/env.sh"
need_tools
cd "$root"
quick=()
[[ ${BENCH_QUICK:-0} == 0 ]] || quick=(--quick)
scripts/cargo.sh build --release -q -p instr-bench
scripts/cargo.sh build --release -q -p instr-trace --example synth
exec "$bin/instr-bench" --bin "$bin" --root "$root" --work "$target/bench" "${quick[@]}" "$@"
