#!/usr/bin/env bash
# Both versions of sparselu, traced on two threads: from the compiler to tables and a Paraver trace. Each command is shown as it can be typed.
source "$(dirname "$0")/env.sh"
need_tools
demo=$target/demo
rm -rf "$demo"
mkdir -p "$demo"
export OMP_NUM_THREADS=2 PATH="$bin:$PATH"

# Shows a command as one would type it in $demo, then runs it.
step() {
    local shown="" word
    for word in "$@"; do
        if [[ $word == *[^a-zA-Z0-9_./=+-]* ]]; then printf -v word '%s"%s"' "${word%%[!A-Z]*}=" "${word#*=}"; fi
        shown+=" $word"
    done
    printf '\n$%s\n' "$shown"
    "$@"
}

printf '$ export PATH=%s:$PATH OMP_NUM_THREADS=2\n$ cd %s\n' "$bin" "$demo"
cd "$demo"
step make -s -C "$root/examples/sparselu" CC=instr-cc BUILD="$demo/build" \
    CFLAGS="-O2 -g -falign-functions=64 -falign-loops=64"
for version in sparselu_for sparselu_task; do
    step "build/$version"
    [[ -d $version.instr ]] || fail "build/$version ran, but left no trace in $demo/$version.instr"
    step instr summary "$version.instr"
    step instr merge "$version.instr" -o "$version"
done

say "Open one of these"
for version in sparselu_for sparselu_task; do
    [[ -s $version.prv && -s $version.pcf && -s $version.row ]] || fail "instr merge wrote no $version.prv"
    echo "$demo/$version.prv      Paraver (with .pcf and .row beside it)"
    echo "$demo/$version.instr/   raw trace: babeltrace2, Trace Compass"
done
say "Trace a program of your own"
echo "export PATH=$bin:\$PATH      # or: sudo make install"
echo "instr-cc gcc -O2 -g -fopenmp app.c -o app && ./app && instr summary app.instr"
