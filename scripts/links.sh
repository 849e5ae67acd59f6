#!/usr/bin/env bash
# The names under which instr-cc stands for one compiler, beside it.
source "$(dirname "$0")/env.sh"
for name in gcc g++ gfortran clang clang++; do
    ln -sf instr-cc "$bin/instr-$name"
done
echo "tools: $bin"
