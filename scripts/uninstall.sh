#!/usr/bin/env bash
# Removes what install.sh put below $PREFIX ($DESTDIR in front of it), and the folders that it made if nothing else is in them.
source "$(dirname "$0")/env.sh"
source "$scripts/prefix.sh"

[[ -f $manifest ]] || fail "nothing to remove: make install left no $manifest" "give the PREFIX that it was installed with"
[[ -w $(dirname "$manifest") ]] || fail "cannot write into $to" "type: sudo $(again uninstall)"
list=$(<"$manifest")

while read -r kind what name; do
    case $kind in file | link) remove_ours "$kind" "$what" "$name" ;; esac
done <<<"$list"
rm -f "$manifest"

# The inner folders first. Those that hold something else stay.
while IFS= read -r line; do
    kind=${line%% *} name=${line#* } path=
    [[ $kind != dir ]] || path=$to/$name
    [[ $kind != above || $to/ != "$destdir$name/"* ]] || path=$destdir$name
    [[ -z $path || ! -d $path || -L $path ]] || rmdir "$path" 2>/dev/null || true
done < <(tac <<<"$list")
echo "removed: instr from $to"
