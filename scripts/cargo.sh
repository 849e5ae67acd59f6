#!/usr/bin/env bash
# Runs a command with the first Rust toolchain that works and is recent enough in front of PATH. It looks in PATH, in
# ~/.cargo/bin (rustup), and in /usr/lib/rust-1.NN/bin, where Ubuntu's versioned packages put theirs.
#
#   scripts/cargo.sh ARGS…            cargo ARGS…
#   scripts/cargo.sh --exec PROG …    any program
#   scripts/cargo.sh --check          exit status 1 and the reason when there is none
#   scripts/cargo.sh --check-lints    the same when rustfmt or clippy is missing from it
#   scripts/cargo.sh --directory      the folder of its programs
set -euo pipefail

needed=1.88 # rust-version in Cargo.toml

at_least_needed() { # "cargo 1.95.0 (…)"
    [[ $1 =~ ^[a-z]+\ ([0-9]+)\.([0-9]+) ]] || return 1
    ((BASH_REMATCH[1] > ${needed%.*} || (BASH_REMATCH[1] == ${needed%.*} && BASH_REMATCH[2] >= ${needed#*.})))
}

works() { # directory
    local cargo rustc
    cargo=$("$1/cargo" --version 2>/dev/null) || return 1
    rustc=$("$1/rustc" --version 2>/dev/null) || return 1
    at_least_needed "$cargo" && at_least_needed "$rustc"
}

# rustup's cargo looks for its toolchains below $HOME; with another HOME they are still beside it.
rustup_home_of() { # directory
    local home
    home=$(cd "$1/../.." 2>/dev/null && pwd) || return 1
    [[ $1 == */.cargo/bin && -d $home/.rustup/toolchains ]] && echo "$home/.rustup"
}

candidates() { # folders that may hold a toolchain, the preferred ones first
    type -aP cargo | xargs -r -d '\n' -n 1 dirname
    [[ -x ${HOME:-}/.cargo/bin/cargo ]] && echo "$HOME/.cargo/bin"
    compgen -G '/usr/lib/rust-1.*/bin' | sort -V -r
}

find_toolchain() {
    local rustup_home seen=""
    while read -r directory; do
        [[ ":$seen:" == *":$directory:"* ]] && continue
        seen+=":$directory"
        if works "$directory"; then
            export PATH="$directory:$PATH"
            return 0
        fi
        if [[ -z ${RUSTUP_HOME:-} ]] && rustup_home=$(rustup_home_of "$directory") && RUSTUP_HOME=$rustup_home works "$directory"; then
            export RUSTUP_HOME=$rustup_home PATH="$directory:$PATH"
            return 0
        fi
    done < <(candidates || true)
    echo "cargo.sh: error: no Rust $needed or later: none of the cargo and rustc pairs on PATH works and is recent enough" >&2
    echo "  help: scripts/setup.sh installs one on Debian and Ubuntu; https://rustup.rs does on any system, without root" >&2
    return 1
}

lints() {
    local part status=0
    for part in fmt clippy; do
        cargo "$part" --version >/dev/null 2>&1 && continue
        echo "cargo.sh: error: the Rust toolchain in $directory has no 'cargo $part'" >&2
        status=1
    done
    return $status
}

find_toolchain || exit 1
case ${1:-} in
--check) exit 0 ;;
--check-lints) lints ;;
--directory) echo "$directory" ;;
--exec)
    shift
    exec "$@"
    ;;
*) exec cargo "$@" ;;
esac
