#!/usr/bin/env bash
# Measures overhead, size and speed; arguments go to the measuring program (--quick, --only PART,…).
source "$(dirname "$0")/env.sh"
need_tools
cd "$root"
scripts/cargo.sh build --release -q -p instr-bench
scripts/cargo.sh build --release -q -p instr-trace --example synth
exec "$bin/instr-bench" --bin "$bin" --root "$root" --work "$target/bench" "$@"
