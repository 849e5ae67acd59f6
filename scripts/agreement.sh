#!/usr/bin/env bash
# Compares our names with those of binutils and llvm-symbolizer on every kind of program, address by address (`make test`
# compares a part), and rewrites the table in docs/symtab.md. Takes some ten minutes. Arguments: a text that rows must hold.
source "$(dirname "$0")/env.sh"
cd "$root"
scripts/cargo.sh build -q -p instr # a debug build: Rust's own kind of debug information
export INSTR_AGREEMENT=all INSTR_AGREEMENT_RUST=$target/debug/instr INSTR_AGREEMENT_FILTER=${1:-} INSTR_GOLDEN=1
scripts/cargo.sh test -q -p instr-symtab --test agreement -- --nocapture
git --no-pager diff --stat -- docs/symtab.md
