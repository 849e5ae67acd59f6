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

# package | a test that succeeds when it is there
base_packages() {
    cat <<'TABLE'
gcc|has gcc && has cc
libc6-dev|has_file gcc -m64 crt1.o
make|has make
ca-certificates|[[ -d /etc/ssl/certs ]]
TABLE
}

# Debian from 13 on and Ubuntu from 25.04 on, which have the C library 2.41, keep gold and dwp apart from binutils.
gold_is_apart() { dpkg --compare-versions "$(dpkg-query -W -f '${Version}' libc6)" ge 2.41; }

# Ubuntu has it as a snap alone.
has_no_chromium() { grep -qx ID=ubuntu /etc/os-release; }

test_packages() { # compilers, linkers, emulators, and independent readers of everything that the tools write
    cat <<'TABLE'
g++|has g++
gfortran|has gfortran
clang|has clang
libomp-dev|compgen -G '/usr/lib/llvm-*/lib/clang/*/include/omp.h'
binutils-gold|has ld.gold || ! gold_is_apart
lld|has ld.lld
mold|has mold
llvm|has llvm-ar && has llvm-symbolizer
gcc-sparc64-linux-gnu|has sparc64-linux-gnu-gcc
g++-sparc64-linux-gnu|has sparc64-linux-gnu-g++
gfortran-sparc64-linux-gnu|has sparc64-linux-gnu-gfortran
gcc-multilib-sparc64-linux-gnu|has_file sparc64-linux-gnu-gcc -m32 libgomp.a
g++-multilib-sparc64-linux-gnu|has_file sparc64-linux-gnu-gcc -m32 libstdc++.a
gfortran-multilib-sparc64-linux-gnu|has_file sparc64-linux-gnu-gcc -m32 libgfortran.a
gcc-aarch64-linux-gnu|has aarch64-linux-gnu-gcc
libc6-dev-arm64-cross|has_file aarch64-linux-gnu-gcc -static libc.a
gcc-riscv64-linux-gnu|has riscv64-linux-gnu-gcc
libc6-dev-riscv64-cross|has_file riscv64-linux-gnu-gcc -static libc.a
elfutils|has eu-addr2line
dwz|has dwz
qemu-user|has qemu-sparc32plus && has qemu-sparc64 && has qemu-aarch64 && has qemu-riscv64
babeltrace2|has babeltrace2
cmake|has cmake
ninja-build|has ninja
meson|has meson
autoconf|has autoconf
pkg-config|has pkg-config
zsh|has zsh
fish|has fish
man-db|has man
mandoc|has mandoc
tmux|has tmux
valgrind|has valgrind
gcc-12-source|compgen -G '/usr/src/gcc-12/gcc-*.tar.*'
xz-utils|has xz && has tar
binutils|has readelf
python3-venv|python3 -c 'import ensurepip'
python3-dev|compgen -G '/usr/include/python3*/Python.h'
python3-setuptools|/usr/bin/python3 -c 'import setuptools, wheel'
python3-wheel|/usr/bin/python3 -c 'import setuptools, wheel'
nodejs|has node
npm|has npm
chromium|has chromium || has_no_chromium
python3-numpy|/usr/bin/python3 -c 'import numpy'
libtbb-dev|[[ -f /usr/include/tbb/task_arena.h ]]
libopenblas0-pthread|compgen -G '/usr/lib/*/openblas-pthread/libblas.so.3'
imagemagick|[[ -x /usr/bin/convert ]]
x264|has x264
sqlite3|has sqlite3
otf2-tools|has otf2-print
python3-otf2|/usr/bin/python3 -c 'import otf2'
default-jdk-headless|has javac
TABLE
}

missing=()
look_for() { # table on standard input
    local package probe
    while IFS='|' read -r package probe; do
        eval "$probe" >/dev/null 2>&1 || missing+=("$package")
    done
}

# What cargo downloads and builds below the target folder, measured on x86-64.
level=${1:-test}
case $level in
demo)
    look_for < <(base_packages)
    crates="30 MB of crates, 0.6 GB in the target folder"
    ;;
test)
    look_for < <(base_packages && test_packages)
    crates="32 MB of crates, 4 GB in the target folder"
    ;;
*)
    echo "setup: error: unknown level '$level': expected demo or test" >&2
    exit 2
    ;;
esac

# The tests are of constructs of OpenMP 5.1 too, and of SPARC programs, which crash in older releases of QEMU.
version_of() { # compiler or emulator: its major number, as far as it is installed
    has "$1" && "$1" --version 2>/dev/null | sed -n '1s/^.* version \([0-9]*\).*/\1/p; 1s/.*) \([0-9]*\)\.[0-9.]*$/\1/p' | head -n 1
}
if [[ $level == test ]]; then
    system=$(. /etc/os-release 2>/dev/null && echo "$ID $VERSION_ID") || true
    compiler=$(version_of gcc) || true
    emulator=$(version_of qemu-sparc32plus) || true
    case $system in
    "ubuntu 22.04") compiler=${compiler:-11} emulator=${emulator:-6} ;;
    "ubuntu 20.04") compiler=${compiler:-9} emulator=${emulator:-4} ;;
    "debian 11") compiler=${compiler:-10} emulator=${emulator:-5} ;;
    esac
    if [[ ${compiler:-12} -lt 12 || ${emulator:-7} -lt 7 ]]; then
        echo "setup: error: the tests need GCC 12 and QEMU 7 or later, and ${system:-this system} has GCC ${compiler:-12} and QEMU ${emulator:-7}" >&2
        echo "  help: make, make demo and make install work here; run make test on Debian 12 or 13 or Ubuntu 24.04, in a container for example" >&2
        exit 1
    fi
fi

rust=complete # or missing, or without-lints
if ! scripts/cargo.sh --check 2>/dev/null; then
    rust=missing
elif [[ $level == test ]] && ! scripts/cargo.sh --check-lints 2>/dev/null; then
    rust=without-lints
fi

# Readers of what `instr export` writes, and what checks JSON by a schema: in a folder of their own, from PyPI.
python=${CARGO_TARGET_DIR:-target}/python
readers=(perfetto==0.59.1 jsonschema==4.26.0 duckdb pyarrow pandas polars "dask[dataframe,distributed]" joblib matplotlib nbconvert ipykernel mypy)
imports="perfetto.protos, jsonschema, duckdb, pyarrow, pandas, polars, dask.dataframe, distributed, joblib, matplotlib, nbconvert, ipykernel, mypy"
# Spark has 400 MB: `make test-all` alone reads with it.
if [[ -n ${INSTR_TEST_ALL:-} ]]; then
    readers+=(pyspark)
    imports+=", pyspark"
fi
add_python() {
    [[ $level == test ]] && ! "$python/bin/python3" -c "import $imports" 2>/dev/null || return 0
    [[ ${INSTR_SETUP:-} == off ]] && echo "setup: missing: Python packages (${readers[*]}) in $python" && return
    echo "setup: python3 -m venv $python; pip install ${readers[*]}"
    if ! { python3 -m venv "$python" && "$python/bin/pip" install -q --disable-pip-version-check "${readers[@]}"; } >/dev/null 2>&1; then
        echo "setup: warning: cannot install the Python packages ${readers[*]}: tests that read exported files with them are skipped" >&2
    fi
}

# speedscope's own schema of its files: a package of npm, in the target folder.
viewers=${CARGO_TARGET_DIR:-target}/viewers
add_viewers() {
    [[ $level == test && ! -f $viewers/node_modules/speedscope/dist/release/file-format-schema.json ]] || return 0
    [[ ${INSTR_SETUP:-} == off ]] && echo "setup: missing: the package speedscope of npm in $viewers" && return
    echo "setup: npm install speedscope, in $viewers"
    if ! npm install --silent --ignore-scripts --no-audit --no-fund --prefix "$viewers" speedscope@1.25.0 >/dev/null 2>&1; then
        echo "setup: warning: cannot install the package speedscope: tests that check exports by its schema are skipped" >&2
    fi
}

# What builds the package of python/ for Pythons beside Debian's, which bring none: those of pyenv.
add_wheels() {
    local wheels=${CARGO_TARGET_DIR:-target}/python-wheels
    [[ $level == test && ! -d $wheels ]] && compgen -G "$HOME/.pyenv/versions/3.*" >/dev/null || return 0
    [[ ${INSTR_SETUP:-} == off ]] && echo "setup: missing: the Python packages setuptools and wheel in $wheels" && return
    echo "setup: pip download setuptools wheel, into $wheels"
    if ! python3 -m pip download -q --disable-pip-version-check --no-deps -d "$wheels.new" setuptools==75.8.0 wheel==0.45.1 >/dev/null 2>&1 || ! mv "$wheels.new" "$wheels"; then
        echo "setup: warning: cannot download setuptools and wheel: tests of Pythons beside Debian's are skipped" >&2
    fi
}

# What checks the page of `instr report`: packages of npm, in the target folder.
add_report() {
    [[ $level == test ]] && ! cmp -s report/package-lock.json "${CARGO_TARGET_DIR:-target}/report/node_modules/.instr-lock" || return 0
    [[ ${INSTR_SETUP:-} == off ]] && echo "setup: missing: the packages of report/package-lock.json" && return
    echo "setup: npm ci, in ${CARGO_TARGET_DIR:-target}/report"
    if ! scripts/report.sh --install >/dev/null 2>&1; then
        echo "setup: warning: cannot install the packages of report/package-lock.json: tests that open reports in a browser are skipped" >&2
    fi
}

if [[ ${#missing[@]} == 0 && $rust == complete ]]; then
    add_python
    add_viewers
    add_wheels
    add_report
    exit 0
fi

shown=("${missing[@]}")
case $rust in
missing) shown+=("Rust 1.88 or later") ;;
without-lints) shown+=("rustfmt and clippy") ;;
esac
list=$(printf '%s, ' "${shown[@]}")
echo "setup: missing: ${list%, }"

give_up() { # reason
    echo "setup: error: cannot install what is missing: $1" >&2
    if [[ ${#missing[@]} -gt 0 ]]; then
        echo "  help: ask somebody who may: apt-get install -y --no-install-recommends ${missing[*]}" >&2
    fi
    case $rust in
    missing) echo "  help: Rust needs no right, it goes into your home: see https://rustup.rs, or: curl -sSf https://sh.rustup.rs | sh -s -- -y" >&2 ;;
    without-lints) echo "  help: install rustfmt and clippy for the Rust in $(scripts/cargo.sh --directory)" >&2 ;;
    esac
    echo "  help: then repeat the command" >&2
    exit 1
}

[[ ${INSTR_SETUP:-} == off ]] && give_up "INSTR_SETUP=off forbids it"

# The lints of a toolchain by rustup need no right.
if [[ $rust == without-lints ]] && has_rustup=$(scripts/cargo.sh --exec rustup --version 2>/dev/null) && [[ -n $has_rustup ]] &&
    [[ $(scripts/cargo.sh --directory) == */.cargo/bin ]]; then
    echo "setup: rustup component add rustfmt clippy"
    scripts/cargo.sh --exec rustup -q component add rustfmt clippy || give_up "rustup failed"
    rust=complete
    if [[ ${#missing[@]} == 0 ]]; then
        add_python
        add_viewers
        add_wheels
        add_report
        exit 0
    fi
fi

has apt-get || give_up "this is not Debian or Ubuntu (no apt-get)"
if [[ $(id -u) == 0 ]]; then
    as_root=(env DEBIAN_FRONTEND=noninteractive)
elif ! has sudo; then
    give_up "you are not root, and there is no sudo"
elif sudo -n true 2>/dev/null; then
    as_root=(sudo -n env DEBIAN_FRONTEND=noninteractive)
elif [[ -t 0 ]]; then
    echo "setup: sudo may ask for your password"
    sudo -v || give_up "sudo refuses"
    as_root=(sudo env DEBIAN_FRONTEND=noninteractive)
else
    give_up "you are not root, sudo refuses or asks for a password, and there is no terminal"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() { # command: its output appears only when it fails
    "$@" >"$log" 2>&1 </dev/null && return
    tail -n 20 "$log" >&2
    return 1
}

candidate_version() { # of a package; empty when there is none
    apt-cache policy "$1" 2>/dev/null | awk '$1 == "Candidate:" && $2 != "(none)" { print $2 }'
}
recent() { # package: is its candidate Rust 1.88 or later?
    local version
    version=$(candidate_version "$1")
    [[ -n $version ]] && dpkg --compare-versions "$version" ge 1.88
}

# The endings of the names of Rust's packages: none; -web, which follows upstream in Debian's stable releases; -1.NN in Ubuntu.
rust_suffixes() {
    printf '%s\n' "" -web
    apt-cache pkgnames rustc-1. | sed -n 's/^rustc\(-1\.[0-9]*\)$/\1/p' | sort -V -r
}
lint_packages() { # suffix
    case $1 in
    -web) echo "rustfmt-web rust-web-clippy" ;;
    *) echo "rustfmt$1 rust$1-clippy" ;;
    esac
}
installed_suffix() { # of the toolchain that is used
    local directory package
    directory=$(scripts/cargo.sh --directory)
    case $directory in
    /usr/lib/rust-1.*) directory=${directory#/usr/lib/rust} && echo "${directory%/bin}" ;;
    *)
        package=$(dpkg -S "$(readlink -f "$directory/rustc")" 2>/dev/null) || return 1
        package=${package%%:*}
        echo "${package#rustc}"
        ;;
    esac
}

quietly "${as_root[@]}" apt-get update || give_up "apt-get update failed"

packages=("${missing[@]}")
if [[ $rust == missing ]]; then
    found=false
    while read -r suffix && [[ $found == false ]]; do
        recent "rustc$suffix" && recent "cargo$suffix" || continue
        found=true
        packages+=("rustc$suffix" "cargo$suffix")
        [[ $level == demo ]] || read -ra lints < <(lint_packages "$suffix")
    done < <(rust_suffixes)
    [[ $found == true ]] || give_up "no package of this release holds Rust 1.88 or later"
elif [[ $rust == without-lints ]]; then
    suffix=$(installed_suffix) || give_up "the Rust in $(scripts/cargo.sh --directory) comes from no package"
    read -ra lints < <(lint_packages "$suffix")
fi
packages+=("${lints[@]}")

# Sizes as apt-get computes them: "Need to get 170 MB of archives." until version 2, "Download size: 170 MB" from version 3 on.
"${as_root[@]}" LC_ALL=C apt-get install --assume-no --no-install-recommends "${packages[@]}" >"$log" 2>&1 </dev/null || true
download=$(sed -n -e 's/^Need to get \(.*\) of archives.*/\1/p' -e 's/^ *Download size: *//p' "$log" | tail -n 1)
disk=$(sed -n -e 's/^After this operation, \(.*\) of additional disk space.*/\1/p' -e 's|^ *Space needed: *\([^/]*[^/ ]\) */.*|\1|p' "$log" | tail -n 1)
count=$(sed -n -e 's/^.* \([0-9]*\) newly installed.*/\1/p' -e 's/^.*Installing: \([0-9]*\),.*/\1/p' "$log" | tail -n 1)
echo "setup: apt-get install ${packages[*]}"
echo "setup: ${count:-some} packages, ${download:-an unknown size} to download, ${disk:-an unknown size} on disk; then cargo: $crates"
begin=$SECONDS
quietly "${as_root[@]}" apt-get install -y -q --no-install-recommends -o Dpkg::Use-Pty=0 "${packages[@]}" || give_up "apt-get install failed"
scripts/cargo.sh --check
add_python
add_viewers
add_wheels
add_report
echo "setup: done in $((SECONDS - begin)) s"
