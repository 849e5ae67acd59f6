#!/usr/bin/env bash
# Rewrites the expected outputs that are kept in the tree, and shows what changed. Read it before committing: most tests
# compare with closed forms or independent tools and have no such file.
source "$(dirname "$0")/env.sh"
cd "$root"
make -s -C examples/imgpipe BUILD="$target/golden"
"$target/golden/imgpipe" 6 320 240 >examples/imgpipe/expected.txt
INSTR_GOLDEN=1 scripts/cargo.sh test -q -p instr-tests --test e2e -- conformance::support-matrix
INSTR_GOLDEN=1 scripts/cargo.sh test -q -p instr-tests --test e2e -- manual::kept-files
INSTR_GOLDEN=1 scripts/cargo.sh test -q -p instr-tables -p instr-query -- the_document
git --no-pager diff --stat -- examples/imgpipe/expected.txt docs/support-matrix.md docs/tables.md docs/query.md packaging
