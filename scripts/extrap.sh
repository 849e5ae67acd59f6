#!/usr/bin/env bash
# Compares the models of `instr sweep` with those of Extra-P, for the table in docs/sweep.md. Fetches Extra-P from the Python package index into the
# target folder, without what its window needs. Takes a minute; no part of `make test`.
source "$(dirname "$0")/env.sh"
need_tools
python=$target/extrap
if [[ ! -e $python/done ]]; then
    say "Extra-P into $python"
    rm -rf "$python"
    python3 -m venv "$python"
    pip=("$python/bin/pip" install -q --disable-pip-version-check)
    "${pip[@]}" numpy==2.4.6 'tqdm~=4.47' 'pycubexr<3' 'marshmallow~=3.7' packaging scikit-learn 'matplotlib~=3.6'
    "${pip[@]}" --no-deps extrap==4.2.5
    touch "$python/done"
fi
exec "$python/bin/python" -W ignore "$root/tests/sweep/against_extrap.py" "$bin/instr"
