#!/usr/bin/env bash
# The examples on 32-bit and 64-bit SPARC, static, under an emulator: same output as here, same tasks, same edges.
source "$(dirname "$0")/env.sh"
need_tools
work=$(mktemp -d "$target/cross.XXXXXX")
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=2 PATH="$bin:$PATH"

check() { # name, emulator, compiler flags…
    local name=$1 emulator=$2 build=$work/$1 program
    shift 2
    for example in sparselu imgpipe; do
        make -s -C "$root/examples/$example" BUILD="$work/here" >"$work/log" 2>&1 || fail "examples/$example: $(cat "$work/log")"
        # Static OpenMP programs make the linker warn about dlopen, with or without instr-cc.
        make -s -C "$root/examples/$example" BUILD="$build" CC="instr-cc sparc64-linux-gnu-gcc" ARCH="$*" >"$work/log" 2>&1 ||
            fail "examples/$example for $name: $(cat "$work/log")"
    done
    for command in "sparselu_for 12 10" "sparselu_task 12 10" "imgpipe 3 160 120"; do
        read -ra words <<<"$command"
        program=${words[0]}
        "$work/here/$program" "${words[@]:1}" >"$work/expected" 2>/dev/null
        INSTR_TRACE=$build/$program.instr "$emulator" "$build/$program" "${words[@]:1}" >"$work/found" 2>/dev/null ||
            fail "$program on $name ends with status $?"
        cmp "$work/expected" "$work/found" || fail "$program prints something else on $name"
        instr summary --json --exe "$build/$program" "$build/$program.instr" >"$build/$program.json" ||
            fail "instr summary refuses the trace of $program from $name"
        echo "ok: $name: $command"
    done
    "$scripts/check-counts.sh" "$work/here/sparselu_task" 12 "$build/sparselu_task.json"
}

check sparc qemu-sparc32plus -m32 -mcpu=v8 -static
check sparc64 qemu-sparc64 -m64 -static
