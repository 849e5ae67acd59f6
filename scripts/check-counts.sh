#!/usr/bin/env bash
# Do the tasks and dependency edges of a traced sparselu_task equal those computed from the block pattern?
#
#   check-counts.sh PROGRAM BLOCKS SUMMARY.json     (words before PROGRAM's name, such as an emulator, in $RUN)
source "$(dirname "$0")/env.sh"
[[ $# == 3 ]] || fail "expected PROGRAM BLOCKS SUMMARY.json"

counts=$(${RUN:-} "$1" --count "$2")
computed() { awk -v name="$1" '$1 == name { print $2 }' <<<"$counts"; }
# The summary is one JSON object; "tasks" is its member with created, executed and edges.
tasks=$(tr -d ' \n' <"$3" | grep -o '"tasks":{[^}]*}') || fail "$3 holds no \"tasks\""
traced() { grep -o "\"$1\":[0-9]*" <<<"$tasks" | head -n 1 | cut -d: -f2; }

for pair in tasks:created tasks:executed edges:edges; do
    expected=$(computed "${pair%:*}") found=$(traced "${pair#*:}")
    [[ -n $expected && $expected == "$found" ]] ||
        fail "sparselu_task $2: the trace has ${found:-no} tasks.${pair#*:}, the block pattern gives ${expected:-nothing}"
done
echo "ok: sparselu_task $2: $(computed tasks) tasks and $(computed edges) edges, as computed"
