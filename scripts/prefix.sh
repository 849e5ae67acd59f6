# Sourced by install.sh and uninstall.sh: the folder that is meant, and the list of what was put there.
# shellcheck shell=bash

default_prefix=/usr/local
prefix=${PREFIX:-$default_prefix}
destdir=${DESTDIR:-}

# The command that would do the same again.
again() { # make's target
    local command="make $1"
    [[ $prefix == "$default_prefix" ]] || command+=" PREFIX=$(printf %q "$prefix")"
    [[ -z $destdir ]] || command+=" DESTDIR=$(printf %q "$destdir")"
    [[ $(id -u) != 0 || -z ${SUDO_USER:-} ]] || command="sudo $command"
    echo "$command"
}

# Not every shell expands PREFIX=~/.local.
# shellcheck disable=SC2088
[[ $prefix != '~' && $prefix != '~/'* ]] || prefix=${HOME:?}${prefix#\~}
[[ $prefix == /* ]] ||
    fail "PREFIX is '$prefix': expected an absolute path" "type: make install PREFIX=$(printf %q "$PWD/$prefix")"
[[ -z $destdir || $destdir == /* ]] || destdir=$PWD/$destdir
[[ $destdir$prefix != *$'\n'* ]] || fail "PREFIX or DESTDIR holds the end of a line"
while [[ $prefix == */ ]]; do prefix=${prefix%/}; done
while [[ $destdir == */ ]]; do destdir=${destdir%/}; done
to=$destdir$prefix

# Lines of the list: `file SHA256 NAME`, `link TARGET NAME`, `dir NAME` for folders that the installation made, all below the prefix;
# `above PATH` for those it made to get there (without DESTDIR).
manifest=$to/share/instr/manifest

# Removes a file or a link if it still is what was installed.
remove_ours() { # kind, checksum or target, name
    local path=$to/$3 now
    [[ $3 =~ ^[A-Za-z0-9._+/-]+$ && /$3/ != */../* && $3 != /* ]] || fail "$manifest is damaged: '$3'" "remove what it lists by hand"
    [[ -e $path || -L $path ]] || return 0
    case $1 in
    link) now=$(readlink "$path" || true) ;;
    *)
        now=
        if [[ -f $path && ! -L $path ]]; then
            now=$(sha256sum <"$path")
            now=${now%% *}
        fi
        ;;
    esac
    if [[ $now == "$2" ]]; then
        rm -f "$path"
    else
        echo "left: $path (it is not what was installed)"
    fi
}
