#!/usr/bin/env bash
# Makes a Debian package of what `make` built, in the target folder. Needs dpkg-deb and readelf alone; the same sources and
# tools give the same bytes (SOURCE_DATE_EPOCH, by default the time of the last commit).
#
#   DEBFULLNAME, DEBEMAIL    the package's maintainer, as for Debian's own tools
#   INSTR_DEB_LEVEL          effort of the compression, 1 to 9 (default 3); 0: none
source "$(dirname "$0")/env.sh"
source "$scripts/stage.sh"
need_tools
for tool in dpkg-deb dpkg-query readelf; do
    command -v "$tool" >/dev/null || fail "there is no $tool: Debian packages are made on Debian and Ubuntu" "install dpkg and binutils"
done
export LC_ALL=C TZ=UTC
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || stat -c %Y "$root/CHANGELOG.md")}
export SOURCE_DATE_EPOCH
architecture=$(dpkg --print-architecture)
maintainer="${DEBFULLNAME:-instr developers} <${DEBEMAIL:-instr@localhost}>"
out=$target/debian
package=$out/instr_${version}_$architecture.deb
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree doc=$work/tree/usr/share/doc/instr
mkdir -p "$tree/usr"
stage "$tree/usr"

# Debian's own places and forms.
rm "$doc/LICENSE-APACHE" "$doc/LICENSE-MIT"
install -m 644 "$root/packaging/debian/copyright" "$doc/copyright"
mv "$tree/usr/share/zsh/site-functions" "$tree/usr/share/zsh/vendor-completions"
find "$tree/usr/share/man" -type f -exec gzip -9n {} +
while IFS= read -r link; do
    ln -s "$(readlink "$link").gz" "$link.gz"
    rm "$link"
done < <(find "$tree/usr/share/man" -type l)
printf 'instr (%s) unstable; urgency=medium\n\n  * What changed stands in CHANGELOG.md beside this file.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"

# The packages of the shared libraries that the tools need; of the C library, with the newest version of a symbol they use.
depends() {
    local library file owner newest own
    mapfile -t own < <(find "$tree/usr/lib" -name '*.so*' 2>/dev/null)
    newest=$(readelf --version-info --wide "$bin"/instr{,-cc,-rewrite} "${own[@]}" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -Vu | tail -n 1)
    readelf --dynamic --wide "$bin"/instr{,-cc,-rewrite} | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u | while read -r library; do
        [[ $library != ld-linux* ]] || continue
        file=$(ldd "$bin/instr" "$bin/instr-cc" "$bin/instr-rewrite" | awk -v name="$library" '$1 == name { print $3; exit }')
        # Where /lib leads to /usr/lib, packages may list either name.
        owner=$(dpkg-query --search "$file" "$(readlink -f "$file")" "${file#/usr}" 2>/dev/null | head -n 1 | cut -d : -f 1 || true)
        [[ -n $owner ]] || fail "no package owns $library, which the tools need"
        [[ $owner != libc6 ]] || owner="libc6 (>= $newest)"
        echo "$owner"
    done | sort -u | paste -s -d , | sed 's/,/, /g'
}

mkdir "$tree/DEBIAN"
needed=$(depends)
(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
size=$(find "$tree/usr" -printf '%s\n' | awk '{ total += int(($1 + 1023) / 1024) } END { print total }')
cat >"$tree/DEBIAN/control" <<CONTROL
Package: instr
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $size
Depends: $needed
Recommends: gcc | clang | c-compiler, libc6-dev | libc-dev
Suggests: babeltrace2
Section: devel
Priority: optional
Description: tracing of OpenMP programs, from the compiler to Paraver
 With instr-cc in front of the compiler, a parallel program records what its
 threads did: regions, loops, tasks with their dependences, barriers, locks,
 and, when asked for, sensors, counters, memory and samples.
 .
 The command instr turns the traces into tables, task graphs and files for
 Paraver; babeltrace2 and Trace Compass open them as they are (CTF).
CONTROL
find "$tree" -print0 | xargs -0 touch --no-dereference --date="@$SOURCE_DATE_EPOCH"
mkdir -p "$out"
compression=(-Zxz "-z${INSTR_DEB_LEVEL:-3}")
[[ ${INSTR_DEB_LEVEL:-} != 0 ]] || compression=(-Znone)
dpkg-deb --root-owner-group "${compression[@]}" --build "$tree" "$package.new" >/dev/null
mv "$package.new" "$package"
echo "package: $package"
