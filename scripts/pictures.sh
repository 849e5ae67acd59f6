#!/usr/bin/env bash
# Takes the pictures of docs/pictures anew: the page that `instr report` writes of a small LU factorization, in Chromium. Needs node and the packages of
# report/package-lock.json (scripts/report.sh --install).
source "$(dirname "$0")/env.sh"
need_tools
work=$target/pictures
rm -rf "$work"
mkdir -p "$work"
sources=(examples/sparselu/{program,matrix,kernels,sparselu_count,sparselu_task}.c)
"$bin/instr-cc" gcc -O2 -g -fopenmp --instr-memory "${sources[@]}" -lm -o "$work/sparselu_task"
(
    cd "$work"
    # Settings of the scripts are none of the program's.
    env -u INSTR_TOOLS -u INSTR_CACHE OMP_NUM_THREADS=2 "$bin/instr" run ./sparselu_task 16 56
    "$bin/instr" report sparselu_task.instr -o page.html
)
cp report/test/readme.mjs "$work"
ln -s "$target/report/node_modules" "$work/node_modules"
node "$work/readme.mjs" "$work/page.html" docs/pictures
for picture in docs/pictures/*.png; do
    (($(stat -c %s "$picture") <= 200 * 1024)) || fail "$picture has more than 200 KiB"
done
