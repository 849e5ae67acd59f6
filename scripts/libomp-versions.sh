#!/usr/bin/env bash
# Runs the conformance programs of clang with other releases of LLVM's libomp than the one that they are linked with.
#
#   scripts/libomp-versions.sh            releases that Debian packages, and LLVM's and Intel's builds from the Python package index
#   scripts/libomp-versions.sh --debian   the former only (part of `make test`; all of them: `make conformance`)
#
# What is fetched is kept in the target folder (or in INSTR_LIBOMP_CACHE); a release that cannot be had is named and left out.
source "$(dirname "$0")/env.sh"
need_tools
cache=${INSTR_LIBOMP_CACHE:-$target/libomp}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$cache"

# release | how | package | the library in it
releases() {
    cat <<'TABLE'
libomp-15|debian|libomp5-15|usr/lib/llvm-15/lib/libomp.so.5
libomp-16|debian|libomp5-16|usr/lib/llvm-16/lib/libomp.so.5
libomp-19|debian|libomp5-19|usr/lib/llvm-19/lib/libomp.so.5
libiomp5-2023.2|python|intel-openmp==2023.2.4|libiomp5.so
libiomp5-2024.1|python|intel-openmp==2024.1.2|libiomp5.so
libomp-21|python|cmeel-libomp==21.1.8|libomp.so
TABLE
}

# Lists of packages are made up to date once, when a machine has none.
known() { apt-cache policy "$1" 2>/dev/null | awk '$1 == "Candidate:" && $2 != "(none)" { found = 1 } END { exit !found }'; }
updated=false
from_debian() { # package, path in it, output
    if ! known "$1" && [[ $updated == false && $(id -u) == 0 && ${INSTR_SETUP:-} != off ]]; then
        updated=true
        apt-get -qq update 2>/dev/null || true
    fi
    (cd "$scratch" && apt-get -qq download "$1" 2>/dev/null) || return 1
    dpkg-deb -x "$scratch/$1"_*.deb "$scratch/$1" && cp -L "$scratch/$1/$2" "$3"
}

from_python() { # package==version, file name in it, output
    local folder=$scratch/${1%%==*}
    rm -rf "$folder" && mkdir "$folder"
    python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$folder" "$1" >/dev/null 2>&1 || return 1
    python3 - "$folder" "$2" "$3" <<'PYTHON'
import pathlib, sys, zipfile
folder, name, output = map(pathlib.Path, sys.argv[1:])
wheel = zipfile.ZipFile(next(folder.glob("*.whl")))
member = next(m for m in wheel.namelist() if pathlib.PurePosixPath(m).name == name.name)
output.write_bytes(wheel.read(member))
PYTHON
}

level=${1:-all}
say "libomp: other releases"
found=()
while IFS='|' read -r release how package library; do
    [[ $level == --debian && $how != debian ]] && continue
    if [[ ! -f $cache/$release/libomp.so.5 ]]; then
        if "from_$how" "$package" "$library" "$scratch/library"; then
            mkdir -p "$cache/$release"
            mv "$scratch/library" "$cache/$release/libomp.so.5"
        else
            echo "$release: skipped: cannot fetch $package"
            continue
        fi
    fi
    found+=("$release")
done < <(releases)
[[ ${#found[@]} == 0 ]] && exit 0
echo "releases: ${found[*]}"
chosen=$scratch/chosen
mkdir "$chosen"
for release in "${found[@]}"; do ln -s "$cache/$release" "$chosen/$release"; done
cd "$root"
INSTR_TEST_BIN=$bin INSTR_TEST_LIBOMP=$chosen "$scripts/cargo.sh" test -q -p instr-tests --test e2e -- libomp::
