#!/usr/bin/env bash
# Stands for rustc in a build of the workspace (RUSTC_WORKSPACE_WRAPPER): clippy lints and compiles at once. Clippy leaves out optimizations, so
# that the tests of instr-symtab, which look at their own code, are compiled by rustc; scripts/lints.sh lints that crate and its helper.
set -euo pipefail
case ${CARGO_PKG_NAME:-} in
instr-symtab | instr-test-needs) exec "$@" ;;
*) exec clippy-driver "$@" ;;
esac
