#!/usr/bin/env bash
# Runs libgomp's own test programs (Debian's package gcc-12-source) plainly and instrumented. Arguments go to the program that does it:
# --filter TEXT, --sample, --linkage wrap|redirect|preload, --jobs N, --timeout SECONDS, --keep, --list; --help tells more.
source "$(dirname "$0")/env.sh"
cd "$root"
scripts/cargo.sh build --release -q # what is tested, and what tests it, from the same sources
scripts/cargo.sh build --release -q -p instr-libgomp-tests
need_tools
export INSTR_TEST_BIN=$bin
exec "$bin/instr-libgomp-tests" --suite "$target/libgomp-testsuite" --work "$target/libgomp-work" "$@"
