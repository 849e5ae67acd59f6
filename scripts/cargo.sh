#!/usr/bin/env bash
# Runs a command with the first Rust toolchain on PATH that works and is recent enough in front of PATH.
#
#   scripts/cargo.sh ARGS…            cargo ARGS…
#   scripts/cargo.sh --exec PROG …    any program
#   scripts/cargo.sh --check          only tells whether there is one (exit status 1: no, with the reason)
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

find_toolchain() {
    local cargo directory rustup_home seen=""
    while read -r cargo; do
        directory=$(dirname "$cargo")
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
    done < <(type -aP cargo; [[ -x ${HOME:-}/.cargo/bin/cargo ]] && echo "$HOME/.cargo/bin/cargo")
    echo "cargo.sh: error: no Rust $needed or later: none of the cargo and rustc pairs on PATH works and is recent enough" >&2
    echo "  help: scripts/setup.sh installs one on Debian; elsewhere see https://rustup.rs" >&2
    return 1
}

find_toolchain || exit 1
case ${1:-} in
--check) exit 0 ;;
--exec)
    shift
    exec "$@"
    ;;
*) exec cargo "$@" ;;
esac
