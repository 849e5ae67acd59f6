#!/usr/bin/env bash
# Puts what `make` built below $PREFIX (default /usr/local), in front of which $DESTDIR stands when it is set. Compiles nothing and
# writes nothing into the sources: it may run as root.
source "$(dirname "$0")/env.sh"
source "$scripts/prefix.sh"
source "$scripts/stage.sh"

first_make() { # what is wrong
    local who=""
    [[ $(id -u) != 0 ]] || who=" (as yourself, not as root)"
    fail "$1" "type first: make$who, then: $(again install)"
}

# Whether all sources of the tools are older than the last `make`, or, when that left no note, than the tools.
check_built() {
    local note=$root/target/built tool reference source
    if [[ -z ${CARGO_TARGET_DIR:-} && -f $note ]]; then bin=$(<"$note"); fi
    for tool in instr instr-cc instr-rewrite; do
        [[ -x $bin/$tool ]] || first_make "nothing is built yet: there is no $bin/$tool"
        reference=$bin/$tool
        [[ ! $note -nt $reference ]] || reference=$note
        while IFS= read -r source; do
            [[ -e $source && ! $source -nt $reference ]] ||
                first_make "what is built is older than the sources: $source changed after $reference"
        done < <(sources_of "$tool")
    done
}

# Cargo lists a program's sources beside it, as make takes them.
sources_of() { # tool
    printf '%s\n' "$root"/{Cargo.toml,Cargo.lock}
    [[ ! -f $bin/$1.d ]] || sed -e 's/^.*: //' -e 's/\\ /\x01/g' -e 's/ /\n/g' "$bin/$1.d" | tr '\1' ' '
}

permission="type: sudo make install, or without any right: make install PREFIX=~/.local"
check_writable() {
    local above=$to
    while [[ ! -e $above ]]; do above=$(dirname "$above"); done
    [[ -d $above && -w $above && -x $above ]] ||
        fail "cannot write into $above" "$permission"
}

# Makes the folders that are missing, and lists them.
make_folders() { # staged tree
    local path=$to name above=()
    while [[ -n $path && $path != "$destdir" && ! -d $path ]]; do
        above=("above ${path#"$destdir"}" "${above[@]}")
        path=$(dirname "$path")
    done
    mkdir -p "$to" 2>"$work/why" || fail "$(tail -n 1 "$work/why")" "$permission"
    [[ ${#above[@]} == 0 ]] || printf '%s\n' "${above[@]}" >>"$work/list"
    while IFS= read -r name; do
        [[ ! -d $to/$name ]] || continue
        mkdir "$to/$name" 2>"$work/why" || fail "$(tail -n 1 "$work/why")" "$permission"
        echo "dir $name" >>"$work/list"
    done < <(cd "$1" && find . -mindepth 1 -type d -printf '%P\n' | sort)
}

list_files() { # staged tree
    (cd "$1" && find . -type f -printf '%P\n' | sort | xargs -d '\n' sha256sum | sed 's/^\([0-9a-f]*\)  /file \1 /')
    (cd "$1" && find . -type l -printf 'link %l %P\n' | sort)
}

# Nobody sees half a file: each gets its name when it is whole.
copy_files() { # staged tree
    local name
    while IFS= read -r name; do
        { cp -P --preserve=mode "$1/$name" "$to/$name.instr-new" && mv -fT "$to/$name.instr-new" "$to/$name"; } 2>"$work/why" ||
            fail "cannot write $to/$name: $(tail -n 1 "$work/why")" "what is there already is removed by: $(again uninstall)"
    done < <(cd "$1" && find . ! -type d -printf '%P\n')
}

check_built
check_writable
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree" "$work/tree/share" "$work/tree/share/instr"
stage "$work/tree"

# Folders of an earlier installation stay ours; files that this one does not have any more go.
: >"$work/list"
: >"$work/gone"
if [[ -f $manifest ]]; then
    grep -E '^(above|dir) ' "$manifest" >>"$work/list" || true
    list_files "$work/tree" | cut -d ' ' -f 3- >"$work/names"
    grep -E '^(file|link) ' "$manifest" | awk 'NR == FNR { new[$0] = 1; next } !($3 in new)' "$work/names" - >"$work/gone"
fi
make_folders "$work/tree"
list_files "$work/tree" >>"$work/list"
# The list first: an installation that breaks off can be removed.
cat "$work/list" "$work/gone" >"$manifest.instr-new"
mv -f "$manifest.instr-new" "$manifest"
copy_files "$work/tree"
while read -r kind what name; do remove_ours "$kind" "$what" "$name"; done <"$work/gone"
cp "$work/list" "$manifest.instr-new"
chmod 644 "$manifest.instr-new"
mv -f "$manifest.instr-new" "$manifest"

echo "installed: instr $version below $to"
if [[ -z $destdir && :$PATH: != *":$prefix/bin:"* ]]; then
    echo "not in PATH yet; type: export PATH=$(printf %q "$prefix/bin"):\$PATH"
fi
