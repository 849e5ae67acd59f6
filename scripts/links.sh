#!/usr/bin/env bash
# The names under which instr-cc stands for one compiler (instr-gcc …).
#
#   links.sh            ends a build: makes them beside the tools, builds what instr run preloads, and notes where the tools are
#   links.sh FOLDER     makes them in the folder of another instr-cc
#   links.sh --names    prints them
source "$(dirname "$0")/env.sh"
names=(instr-c++ instr-gcc instr-g++ instr-gfortran instr-clang instr-clang++)
if [[ ${1:-} == --names ]]; then
    printf '%s\n' "${names[@]}"
    exit 0
fi
folder=${1:-$bin}
[[ -x $folder/instr-cc ]] || fail "there is no instr-cc in $folder"
for name in "${names[@]}"; do
    ln -sfn instr-cc "$folder/$name"
done
if [[ $# == 0 ]]; then
    # What `instr run` preloads, for installations (scripts/stage.sh). Without it, `instr run` builds one when it needs it.
    "$bin/instr-cc" --instr-preload="$bin/preload" || echo "note: installations will be without the library that instr run preloads"
    # `sudo make install` runs in an environment without CARGO_TARGET_DIR; sources newer than this note were not built yet.
    # Where the sources cannot be written to, CARGO_TARGET_DIR must be given again.
    { mkdir -p "$root/target" && echo "$bin" >"$root/target/built"; } 2>/dev/null || true
    echo "tools: $bin"
fi
