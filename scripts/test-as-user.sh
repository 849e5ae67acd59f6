#!/usr/bin/env bash
# As root: runs the end-to-end tests once more as an ordinary user, who may not mount, count whole processors or read others' files.
# What `make test` built is copied into a folder of that user; nothing is built. Arguments go to the tests (a filter, --skip …).
# Left out are tests that no right can change.
source "$(dirname "$0")/env.sh"
cd "$root"
[[ $(id -u) == 0 ]] || fail "only root can become somebody else" "an ordinary user types: make test"
user=61234 # no account has to exist
runner=$(test_runner)
[[ -x $runner ]] || fail "the tests are not built" "run make test first"
bin=$target/debug # as make test
need_tools

work=$(mktemp -d "${TMPDIR:-/tmp}/instr-user.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/home" "$work/tmp" "$work/target/debug/deps"
git ls-files -z | xargs -0 cp --parents -t "$work" # into $work, as $work/tests/…
cp -P "$bin"/instr "$bin"/instr-* "$work/target/debug/" 2>/dev/null || true
rm -f "$work"/target/debug/*.d
cp "$runner" "$work/target/debug/deps/e2e"
[[ ! -d $INSTR_CACHE ]] || cp -r "$INSTR_CACHE" "$work/cache" # runtimes that are built take their time
chown -R "$user:$user" "$work"
chmod 711 "$work"

same_for_all=()
for group in boundary conformance diff figures libomp libomp-links manual matrix perfetto predict program pthread python readme redirected report sparselu sweep symbols tables transparency viewers; do
    same_for_all+=(--skip "$group::")
done
# What no file of others and no counter of the kernel is needed for: INSTR_TEST_ALL=1 runs it as well.
if [[ -z ${INSTR_TEST_ALL:-} ]]; then
    for group in bindings costs footprint installed launcher locks memory mistyped plot query terminal timeline verdict; do
        same_for_all+=(--skip "$group::")
    done
    for tests in full killed one-runtime policy runs short-threads signal; do
        same_for_all+=(--skip "robust::$tests::")
    done
    for tests in a-tool an-upgrade another-target files-of-others folders-of-ours header links module nothing package preload-of preload-without tools uninstall what-is-old; do
        same_for_all+=(--skip "install::$tests")
    done
fi

# Root's compiler of Rust may be in root's home.
same_for_all+=(--skip bindings::rust)

say "end-to-end tests as an ordinary user"
cd "$work/tests"
exec_as_user=(setpriv --reuid "$user" --regid "$user" --clear-groups --inh-caps=-all)
env -i PATH="$PATH" HOME="$work/home" TMPDIR="$work/tmp" LC_ALL=C INSTR_TEST_STRICT=1 INSTR_TEST_BIN="$work/target/debug" \
    INSTR_CACHE="$work/cache" "${exec_as_user[@]}" "$work/target/debug/deps/e2e" "${same_for_all[@]}" "$@"
