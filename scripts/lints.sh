#!/usr/bin/env bash
# Format, lints and the reference of the crates. A toolchain without rustfmt or clippy is a failure: nothing is passed over in silence.
# INSTR_LINTED: the cargo profile of the build of all crates in scripts/test.sh, where clippy has looked at them; what it made is used again.
source "$(dirname "$0")/env.sh"
cd "$root"
scripts/cargo.sh --check-lints || fail "format and lints cannot be checked" "scripts/setup.sh test installs what is missing"
scripts/cargo.sh fmt --all -- --check
scripts/cargo.sh clippy -q -p instr-symtab -- -D warnings # by itself: without its loader
export RUSTDOCFLAGS="-D warnings"
if [[ -n ${INSTR_LINTED:-} ]]; then
    export INSTR_REFERENCE=$target/doc RUSTDOC=$scripts/rustdoc.sh
    lint_while_building
    scripts/cargo.sh test -q --doc --workspace --profile "$INSTR_LINTED"
else
    scripts/cargo.sh clippy -q --workspace --all-targets -- -D warnings
    scripts/cargo.sh doc -q --workspace --no-deps
fi
