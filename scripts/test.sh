#!/usr/bin/env bash
# Everything that has to hold before a change goes in: format, lints, tests, examples. A skipped test is a failure.
#
#   scripts/test.sh            all of it
#   scripts/test.sh FILTER     the tests whose names contain FILTER
#
# One build, with checks of overflow and assertions, makes the tools and every test executable; then one queue runs all tests and scripts,
# the longest first (tests/src/queue.rs). The tools that users get differ from these in optimization alone; `make test-all` tests them.
# INSTR_TEST_ALL=1 adds what `make test-all` adds to the tests themselves: every conformance program on 64-bit SPARC, more random graphs.
source "$(dirname "$0")/env.sh"
cd "$root"
begin=$SECONDS
# A login has 1,024 descriptors; babeltrace2 opens every stream of a trace at once, and one test has a thousand threads.
ulimit -Sn 8192 2>/dev/null || ulimit -Sn "$(ulimit -Hn)"
profile=(--profile "${INSTR_TEST_PROFILE:-dev}")
bin=$target/debug
if [[ ${profile[1]} != dev ]]; then bin=$target/${profile[1]}; fi
export INSTR_TEST_STRICT=1 INSTR_TEST_BIN=$bin INSTR_TOOLS=$bin
[[ -z ${CI:-} ]] || export CARGO_INCREMENTAL=0 # only who builds again gains by it

say "build: tools and tests"
mkdir -p "$target"
linted= # then the test script::lints runs clippy, and fails without it. What clippy compiles is not for users: it leaves out optimizations.
if [[ ${profile[1]} == dev ]] && scripts/cargo.sh --check-lints 2>/dev/null; then linted=dev; fi
(
    [[ -z $linted ]] || lint_while_building
    scripts/cargo.sh test --workspace "${profile[@]}" --no-run --message-format=json-render-diagnostics >"$test_list.new"
)
mv "$test_list.new" "$test_list"
scripts/links.sh "$bin" # make install goes on installing what make built
runner=$(test_runner)
[[ -x $runner ]] || fail "cargo names no executable of the end-to-end tests in $test_list"
built=$SECONDS

say "tests, examples, lints"
status=0
# Tests that ask cargo about the workspace run in a HOME of their own, where rustup's cargo finds no toolchain.
CARGO=$(scripts/cargo.sh --exec sh -c 'rustup which cargo 2>/dev/null || command -v cargo')
(cd tests && CARGO=$CARGO INSTR_TEST_BINARIES=$test_list INSTR_TEST_SCRIPTS=1 INSTR_LINTED=$linted ../scripts/cargo.sh --exec "$runner" "$@") || status=$?

say "make test"
printf '%5d s  build\n%5d s  tests, examples, lints\n' $((built - begin)) $((SECONDS - built))
if [[ $status != 0 ]]; then
    echo "make test: FAILED, $((SECONDS - begin)) s"
    exit 1
fi
echo "make test: passed, $((SECONDS - begin)) s"
