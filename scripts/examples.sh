#!/usr/bin/env bash
# Builds every example with a plain compiler and with instr-cc and runs it; each checks its own results. The output
# must be the same, and every instrumented program must leave a trace that `instr summary` reads.
source "$(dirname "$0")/env.sh"
need_tools
work=$(mktemp -d "$target/examples.XXXXXX")
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=2 PATH="$bin:$PATH" INSTR_BIN="$bin"

compare() { # name, arguments…: plain and instrumented output in $work
    local name=$1 trace=$work/$1.instr
    shift
    "$work/plain/$name" "$@" >"$work/plain.out" || fail "the plain $name ends with status $?"
    INSTR_TRACE=$trace "$work/traced/$name" "$@" >"$work/traced.out" || fail "the instrumented $name ends with status $?"
    cmp "$work/plain.out" "$work/traced.out" || fail "$name prints something else when it is instrumented"
    instr summary --json "$trace" >"$work/$name.json" || fail "instr summary refuses the trace of $name"
    echo "ok: $name: $(tail -n 1 "$work/traced.out")"
}

# make prints nothing but warnings, of which there must be none.
build() { # directory, variables…
    local output
    output=$(make -s -C "$root/examples/$1" "${@:2}" 2>&1) || fail "examples/$1 does not build: $output"
    [[ -z $output ]] || fail "examples/$1 builds with warnings: $output"
}

build sparselu BUILD="$work/plain"
build sparselu BUILD="$work/traced" CC=instr-cc
build imgpipe BUILD="$work/plain"
build imgpipe BUILD="$work/traced" CC=instr-cc
build fortran BUILD="$work/plain"
build fortran BUILD="$work/traced" FC=instr-gfortran
build make BUILD="$work/plain" TRACE=
build make BUILD="$work/traced"
build costs BUILD="$work/plain" TRACE=
build costs BUILD="$work/traced"

compare sparselu_for 20 20
compare sparselu_task 20 20
"$scripts/check-counts.sh" "$work/plain/sparselu_task" 20 "$work/sparselu_task.json"
compare imgpipe 6 320 240
compare relax
compare primes
compare costs 10
OMP_NUM_THREADS=1 INSTR_TRACE=$work/costs.one.instr "$work/traced/costs" 10 >/dev/null
instr predict "$work/costs.one.instr" --threads 2 --costs "$work/costs.instr" >"$work/costs.txt" || fail "instr predict refuses the traces of costs"

if command -v clang >/dev/null; then
    build sparselu BUILD="$work/clang" CC=clang
    build imgpipe BUILD="$work/clang" CC=clang
    "$work/clang/sparselu_task" 20 20 >/dev/null
    echo "ok: built with clang"
fi
if command -v cmake >/dev/null; then
    cmake -S "$root/examples/cmake" -B "$work/cmake" >"$work/cmake.log" && cmake --build "$work/cmake" >>"$work/cmake.log" ||
        fail "examples/cmake does not build: $(tail -n 20 "$work/cmake.log")"
    INSTR_TRACE=$work/cmake.instr "$work/cmake/primes"
    instr summary --json "$work/cmake.instr" >"$work/cmake.json"
    echo "ok: cmake"
fi
