#!/usr/bin/env bash
# Builds wheels of python/ for the Pythons that are here: python3, those that are named, and those of pyenv. The Python index gives setuptools.
#   scripts/wheels.sh [PYTHON…]
source "$(dirname "$0")/env.sh"
to=$target/wheels
mkdir -p "$to"
pythons=("$@")
if [[ $# == 0 ]]; then
    pythons=(python3)
    for python in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python; do [[ -x $python ]] && pythons+=("$python"); done
fi
# The build writes beside its sources.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
declare -A made=()
for python in "${pythons[@]}"; do
    command -v "$python" >/dev/null || fail "$python: there is no such Python"
    release=$("$python" -c 'import sys, sysconfig; print("%d.%d" % sys.version_info[:2] if sys.version_info >= (3, 9) and not sysconfig.get_config_var("Py_GIL_DISABLED") else "")')
    [[ -n $release && -z ${made[$release]:-} ]] || continue
    rm -rf "$copy"/*
    cp -R "$root/python" "$root/runtime" "$copy/"
    "$python" -m pip wheel -q --disable-pip-version-check --no-deps -w "$to" "$copy/python"
    made[$release]=yes
done
ls "$to"
