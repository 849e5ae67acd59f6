#!/usr/bin/env bash
# Measures this tree's runtime against that of an older commit, in turn in one run: scripts/bench-before.sh COMMIT [--quick]
# The older tools are built in target/before-COMMIT, which stays for the next time.
source "$(dirname "$0")/env.sh"
need_tools
cd "$root"
[[ $# -ge 1 && $1 != -* ]] || { echo "usage: scripts/bench-before.sh COMMIT [--quick]" >&2; exit 2; }
commit=$(git rev-parse --verify --short=12 "$1^{commit}")
shift
tree=$target/before-$commit
if [[ ! -d $tree/tree ]]; then
    mkdir -p "$tree"
    git archive --prefix=tree/ "$commit" | tar -x -C "$tree"
fi
(cd "$tree/tree" && CARGO_TARGET_DIR=$tree/target "$root/scripts/cargo.sh" build --release -q -p instr-cc)
scripts/cargo.sh build --release -q -p instr-bench -p instr-cc
exec "$bin/instr-bench" --bin "$bin" --root "$root" --work "$target/bench" --before "$tree/target/release" --only before "$@"
