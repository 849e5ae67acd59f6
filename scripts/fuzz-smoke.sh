#!/usr/bin/env bash
# Random and broken inputs for every parser, $SECONDS_EACH (60) seconds each, and each byte of small programs changed in turn
# for the symbolizer. Inputs that crash one are kept.
source "$(dirname "$0")/env.sh"
cd "$root"
scripts/cargo.sh build --release -q -p instr-fuzz
"$bin/instr-fuzz" sweep --crashes "$target/fuzz-crashes"
exec "$bin/instr-fuzz" all --seconds "${SECONDS_EACH:-60}" --seed "${SEED:-1}" --crashes "$target/fuzz-crashes"
