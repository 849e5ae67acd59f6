#!/usr/bin/env bash
# Everything that has to hold before a change goes in: format, lints, tests (a skipped test is a failure), examples.
source "$(dirname "$0")/env.sh"
cd "$root"
export INSTR_TEST_STRICT=1 INSTR_TEST_BIN=$bin # the tools that a user gets are tested
begin=$SECONDS
results=()
failed=0

# Runs one part; a failure does not keep the next part from running.
part() { # name, command…
    local name=$1 start=$SECONDS
    shift
    say "$name"
    if "$@"; then
        results+=("ok      $name ($((SECONDS - start)) s)")
    else
        results+=("FAILED  $name ($((SECONDS - start)) s)")
        failed=$((failed + 1))
    fi
}

lint() {
    if ! "$scripts/cargo.sh" clippy --version >/dev/null 2>&1; then
        echo "clippy is not installed: lints are not checked"
        return 0
    fi
    "$scripts/cargo.sh" clippy --workspace --all-targets -- -D warnings &&
        "$scripts/cargo.sh" clippy -p instr-symtab -- -D warnings && # by itself: without its loader
        RUSTDOCFLAGS="-D warnings" "$scripts/cargo.sh" doc -q --workspace --no-deps
}

format() {
    if ! "$scripts/cargo.sh" fmt --version >/dev/null 2>&1; then
        echo "rustfmt is not installed: the format is not checked"
        return 0
    fi
    "$scripts/cargo.sh" fmt --all -- --check
}

tools() {
    "$scripts/cargo.sh" build --release && "$scripts/links.sh"
}

part "format" format
part "lints" lint
part "tools" tools
part "tests" "$scripts/cargo.sh" test --workspace --no-fail-fast
part "libomp versions" "$scripts/libomp-versions.sh" --debian
part "examples" "$scripts/examples.sh"
part "cross examples" "$scripts/cross.sh"

say "make test"
printf '%s\n' "${results[@]}"
if [[ $failed -gt 0 ]]; then
    echo "make test: FAILED: $failed of ${#results[@]} parts, $((SECONDS - begin)) s"
    exit 1
fi
echo "make test: passed: ${#results[@]} parts, $((SECONDS - begin)) s"
