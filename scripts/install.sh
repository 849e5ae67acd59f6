#!/usr/bin/env bash
# install.sh PREFIX: puts tools, headers, examples and documents below $DESTDIR/PREFIX.
source "$(dirname "$0")/env.sh"
need_tools
prefix=${1:?usage: install.sh PREFIX}
[[ $prefix == /* ]] || fail "PREFIX is '$prefix': expected an absolute path"
to=${DESTDIR:-}$prefix

install -d "$to/bin" "$to/include/instr" "$to/share/instr" "$to/share/doc/instr"
install -m 755 "$bin/instr" "$bin/instr-cc" "$bin/instr-rewrite" "$to/bin/"
for name in gcc g++ gfortran clang clang++; do
    ln -sf instr-cc "$to/bin/instr-$name"
done
install -m 644 "$root/runtime/include/instr/instr.h" "$to/include/instr/"

rm -rf "$to/share/instr/examples"
cp -R "$root/examples" "$to/share/instr/examples"
find "$to/share/instr/examples" -depth \( -name 'build*' -o -name '*.instr' \) -exec rm -rf {} +
for file in README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT; do
    if [[ -f $root/$file ]]; then install -m 644 "$root/$file" "$to/share/doc/instr/"; fi
done
cp -R "$root/docs/." "$to/share/doc/instr/"
echo "installed below $to; add $prefix/bin to PATH"
