#!/usr/bin/env bash
# Installs what is missing on Debian and Ubuntu. Does nothing, and takes no time, when everything is there.
#
#   scripts/setup.sh demo    a C compiler with OpenMP, make, Rust: enough for `make` and `make demo`
#   scripts/setup.sh test    also what the tests, the cross builds and the benchmarks use (the default)
#
# INSTR_SETUP=off in the environment: only report what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

has() { command -v "$1" >/dev/null 2>&1; }
has_file() { # compiler, option, file: does the compiler find it?
    has "$1" && [[ $("$1" "$2" -print-file-name="$3") == /* ]]
}

# package | what it is for | a test that succeeds when it is there
base_packages() {
    cat <<'TABLE'
gcc|C compiler|has gcc && has cc
libc6-dev|C library headers|has_file gcc -m64 crt1.o
make|make|has make
ca-certificates|downloads of Rust crates|[[ -d /etc/ssl/certs ]]
TABLE
}

test_packages() {
    cat <<'TABLE'
g++|C++ compiler|has g++
gfortran|Fortran compiler|has gfortran
clang|second C compiler, another object layout|has clang
libomp-dev|OpenMP header for clang|compgen -G '/usr/lib/llvm-*/lib/clang/*/include/omp.h'
lld|linker|has ld.lld
mold|linker|has mold
llvm|llvm-ar, llvm-objcopy, llvm-symbolizer, llvm-dwp: archives, objects and names by another maker|has llvm-ar && has llvm-symbolizer
gcc-sparc64-linux-gnu|SPARC cross compiler|has sparc64-linux-gnu-gcc
g++-sparc64-linux-gnu|SPARC cross compiler for C++|has sparc64-linux-gnu-g++
gfortran-sparc64-linux-gnu|SPARC cross compiler for Fortran|has sparc64-linux-gnu-gfortran
gcc-multilib-sparc64-linux-gnu|32-bit SPARC libraries|has_file sparc64-linux-gnu-gcc -m32 libgomp.a
g++-multilib-sparc64-linux-gnu|32-bit SPARC libraries for C++|has_file sparc64-linux-gnu-gcc -m32 libstdc++.a
gfortran-multilib-sparc64-linux-gnu|32-bit SPARC libraries for Fortran|has_file sparc64-linux-gnu-gcc -m32 libgfortran.a
gcc-aarch64-linux-gnu|Arm cross compiler|has aarch64-linux-gnu-gcc
libc6-dev-arm64-cross|its C library|has_file aarch64-linux-gnu-gcc -static libc.a
gcc-riscv64-linux-gnu|RISC-V cross compiler|has riscv64-linux-gnu-gcc
libc6-dev-riscv64-cross|its C library|has_file riscv64-linux-gnu-gcc -static libc.a
elfutils|eu-addr2line, a third voice about names|has eu-addr2line
dwz|debug information shared by several programs, for tests of names|has dwz
qemu-user|runs SPARC, Arm and RISC-V programs|has qemu-sparc32plus && has qemu-sparc64 && has qemu-aarch64 && has qemu-riscv64
babeltrace2|independent reader of raw traces|has babeltrace2
cmake|the CMake example|has cmake
valgrind|memory checks of the runtime|has valgrind
gcc-12-source|libgomp's own test programs|compgen -G '/usr/src/gcc-12/gcc-*.tar.*'
xz-utils|unpacks them|has xz && has tar
binutils|objdump, readelf, strip|has readelf
TABLE
}

missing=()
look_for() { # table on standard input
    local package reason probe
    while IFS='|' read -r package reason probe; do
        if ! eval "$probe" >/dev/null 2>&1; then
            missing+=("$package")
            echo "setup: missing: $package ($reason)"
        fi
    done
}

level=${1:-test}
case $level in
demo) look_for < <(base_packages) ;;
test) look_for < <(base_packages && test_packages) ;;
*)
    echo "setup: error: unknown level '$level': expected demo or test" >&2
    exit 2
    ;;
esac

rust_missing=false
if ! scripts/cargo.sh --check 2>/dev/null; then
    rust_missing=true
    echo "setup: missing: Rust 1.88 or later (the tools are written in it)"
fi
[[ ${#missing[@]} == 0 && $rust_missing == false ]] && exit 0

give_up() {
    echo "setup: error: cannot install what is missing: $1" >&2
    echo "  help: install it by hand: ${missing[*]} $($rust_missing && echo 'and Rust from https://rustup.rs')" >&2
    exit 1
}

[[ ${INSTR_SETUP:-} == off ]] && give_up "INSTR_SETUP=off forbids it"
has apt-get || give_up "this is not Debian or Ubuntu (no apt-get)"
if [[ $(id -u) == 0 ]]; then
    as_root=(env DEBIAN_FRONTEND=noninteractive)
elif has sudo; then
    as_root=(sudo env DEBIAN_FRONTEND=noninteractive)
else
    give_up "needs root, and there is no sudo"
fi

candidate_version() { # of a package; empty when there is none
    apt-cache policy "$1" 2>/dev/null | awk '$1 == "Candidate:" && $2 != "(none)" { print $2 }'
}
available() { [[ -n $(candidate_version "$1") ]]; }

echo "setup: apt-get update"
"${as_root[@]}" apt-get -qq update || give_up "apt-get update failed"

if $rust_missing; then
    # Debian's rustc-web follows upstream in stable releases; newer releases have it as rustc.
    for suffix in -web ""; do
        if available "rustc$suffix" && dpkg --compare-versions "$(candidate_version "rustc$suffix")" ge 1.88; then
            missing+=("rustc$suffix" "cargo$suffix")
            for extra in "rustfmt$suffix" "rust$suffix-clippy"; do
                if [[ $level == test ]] && available "$extra"; then missing+=("$extra"); fi
            done
            break
        fi
    done
    [[ " ${missing[*]} " == *" cargo"* ]] || give_up "no package of this release holds Rust 1.88 or later"
fi

echo "setup: apt-get install ${missing[*]}"
"${as_root[@]}" apt-get -qq install -y --no-install-recommends "${missing[@]}" || give_up "apt-get install failed"
scripts/cargo.sh --check
echo "setup: done"
