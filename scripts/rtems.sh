#!/usr/bin/env bash
# The examples for a real RTEMS board, with a real toolchain: `make rtems RTEMS_BSP=gr740`.
#   RTEMS_BSP      board support package: gr740, leon3 …
#   RTEMS_PREFIX   where toolchain and kernel are installed (default /opt/rtems/6)
#   RTEMS_INIT     a C file with the application's configuration (default scripts/rtems-init.c)
#   RTEMS_RUN      a command that runs an image and prints its console; without it the images are only built
source "$(dirname "$0")/env.sh"
[[ -n ${RTEMS_BSP:-} ]] || fail "RTEMS_BSP is not set: say which board, as in: make rtems RTEMS_BSP=gr740"
prefix=${RTEMS_PREFIX:-/opt/rtems/6}
export PATH="$bin:$prefix/bin:$PATH"
compiler=$(compgen -c sparc-rtems | grep -E '^sparc-rtems[0-9]+-gcc$' | sort -u | tail -n 1 || true)
[[ -n $compiler ]] || fail "there is no sparc-rtems*-gcc in $prefix/bin or PATH: install RTEMS' toolchain, or set RTEMS_PREFIX. \
Without one, the same code runs on a board in memory: cargo test -p instr-tests --test board"
triple=${compiler%-gcc}
kernel=$prefix/$triple/$RTEMS_BSP/lib
[[ -d $kernel ]] || fail "there is no RTEMS for $RTEMS_BSP in $kernel: build it, or set RTEMS_PREFIX"
[[ ${1:-} != check ]] || exit 0
need_tools
out=$target/rtems-$RTEMS_BSP
mkdir -p "$out"
printf 'policy = "end"\nbuffer = "128K"\nsink = "console"\n[image]\npool = "2M"\n' >"$out/instr.toml"
# The description of the board, where there is one, brings its clock and its power.
described=sparc-$RTEMS_BSP-rtems
[[ -f $root/cross-targets/$described.toml ]] || described=sparc-leon3-rtems
options=(-mcpu=leon3 -O2 -g -fopenmp -B"$kernel" -qrtems -I"$root/examples/sparselu")
for program in sparselu_for sparselu_task; do
    sources=("$root/examples/sparselu/"{"$program",kernels,matrix,program,sparselu_count}.c "${RTEMS_INIT:-$scripts/rtems-init.c}")
    instr-cc "$compiler" --instr-target="$described" --instr-verbose --instr-config="$out/instr.toml" "${options[@]}" "${sources[@]}" -latomic -lm -Wl,--gc-sections -o "$out/$program.exe" ||
        fail "$program does not build for $RTEMS_BSP"
    echo "built: $out/$program.exe"
    [[ -n ${RTEMS_RUN:-} ]] || continue
    $RTEMS_RUN "$out/$program.exe" | tee "$out/$program.log"
    rm -rf "$out/$program.instr"
    instr extract "$out/$program.log" -o "$out/$program.instr" && instr summary "$out/$program.instr"
done
