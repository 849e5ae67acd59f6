#!/usr/bin/env bash
# Plants faults in a copy of the tree, one after the other, and expects the tests to fail: tests/planted/faults.toml.
#
#   scripts/planted-faults.sh [--list] [NAME…]    all faults, or those with NAME in their name, area or file
source "$(dirname "$0")/env.sh"
cd "$root"
"$scripts/cargo.sh" run -q -p instr-planted-faults -- "$@"
