# Sourced by the other scripts: where things are, and small helpers.
# shellcheck shell=bash
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
unset MAKEFLAGS MAKELEVEL MFLAGS # builds started from here are not part of the calling make
target=${CARGO_TARGET_DIR:-$root/target}
[[ $target == /* ]] || target=$PWD/$target
bin=${INSTR_TOOLS:-$target/release} # the tools that the scripts use
scripts=$root/scripts
# What instr-cc builds once for each compiler; apart from the user's own, so that runs do not depend on it.
export INSTR_CACHE=${INSTR_CACHE:-$target/instr-cache}

fail() { # message, then an optional line of help
    echo "$(basename "$0"): error: $1" >&2
    [[ $# -gt 1 ]] && echo "  help: $2" >&2
    exit 1
}

say() { printf '\n== %s\n' "$*"; }

need_tools() {
    local tool
    for tool in instr instr-cc; do
        [[ -x $bin/$tool ]] || fail "$bin/$tool is not there" "run make first"
    done
}

# What `make test` built, as cargo named it, and the executable in it that runs all tests.
test_list=$target/test-executables.json
test_runner() {
    sed -n 's|.*"executable":"\([^"]*/e2e-[0-9a-f]*\)".*|\1|p' "$test_list" 2>/dev/null | tail -n 1 || true
}

# Has cargo compile the crates of the workspace by clippy, which lints and compiles at once. `cargo clippy` by itself would go through every
# dependency a second time. It does what cargo clippy does: clippy's book, "Usage".
lint_while_building() {
    export RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings
}
