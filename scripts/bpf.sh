#!/usr/bin/env bash
# Compiles instr/src/kernel/ebpf/switches.bpf.c into switches.bpf.o beside it, which is kept in the repository: building the tools needs no clang. The
# object carries the SHA-256 of its source, by which a test finds one that was forgotten.
#
#   scripts/bpf.sh           write the object (clang and llvm-strip 14 or later)
#   scripts/bpf.sh FILE      write it there
set -euo pipefail
cd "$(dirname "$0")/../instr/src/kernel/ebpf"
out=${1:-switches.bpf.o}
source=switches.bpf.c

hash=$(sha256sum "$source")
# Version 3 of the instructions, of Linux 5.1. Line tables go; the types, by which the loader finds the kernel's, stay.
clang -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror -std=gnu11 -fdebug-prefix-map="$PWD"=. \
    -DSOURCE_SHA256="\"${hash%% *}\"" -c "$source" -o "$out"
llvm-strip -g "$out"
