#!/usr/bin/env bash
# Random and broken inputs for every parser, $SECONDS_EACH (60) seconds each. Inputs that crash one are kept.
source "$(dirname "$0")/env.sh"
cd "$root"
exec scripts/cargo.sh run --release -q -p instr-fuzz -- all --seconds "${SECONDS_EACH:-60}" --seed "${SEED:-1}" \
    --crashes "$target/fuzz-crashes"
