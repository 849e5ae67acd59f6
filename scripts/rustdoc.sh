#!/usr/bin/env bash
# Stands for rustdoc in `cargo test --doc` (scripts/lints.sh): writes the reference into $INSTR_REFERENCE, and leaves its examples alone. What
# the tests were built from is enough for it; `cargo doc` would look through every dependency once more.
set -euo pipefail
arguments=()
is_test=
while [[ $# -gt 0 ]]; do
    case $1 in
    --test) is_test=1 ;;
    --test-run-directory | --test-args) shift ;; # and its value
    *) arguments+=("$1") ;;
    esac
    shift
done
[[ -z $is_test ]] || arguments+=(-o "$INSTR_REFERENCE")
exec rustdoc "${arguments[@]}"
