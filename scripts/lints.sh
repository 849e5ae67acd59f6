#!/usr/bin/env bash
# Format, lints and the reference of the crates. A toolchain without rustfmt or clippy is a failure: nothing is passed over in silence.
source "$(dirname "$0")/env.sh"
cd "$root"
scripts/cargo.sh --check-lints || fail "format and lints cannot be checked" "scripts/setup.sh test installs what is missing"
scripts/cargo.sh fmt --all -- --check
scripts/cargo.sh clippy -q --workspace --all-targets -- -D warnings
scripts/cargo.sh clippy -q -p instr-symtab -- -D warnings # by itself: without its loader
RUSTDOCFLAGS="-D warnings" scripts/cargo.sh doc -q --workspace --no-deps
