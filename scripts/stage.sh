# Sourced: what an installation consists of. `stage FOLDER` fills an empty folder as a PREFIX is filled.
# shellcheck shell=bash disable=SC2154

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)

stage() { # empty folder
    local to=$1 doc=$1/share/doc/instr name file
    umask 022 # what root installs is for everybody
    install -d "$to/bin" "$to/include/instr" "$to/share/pkgconfig" "$to/share/cmake/instr" "$doc"
    install -m 755 "$bin/instr" "$bin/instr-cc" "$bin/instr-rewrite" "$to/bin/"
    "$scripts/links.sh" "$to/bin"
    if [[ -f $bin/preload/preload.version ]]; then
        install -d "$to/lib/instr"
        install -m 644 "$bin"/preload/* "$to/lib/instr/"
    fi
    install -m 644 "$root"/runtime/include/instr/{instr.h,instr.hpp,instr.f90,instr_fortran.c} "$to/include/instr/"

    # The calls from other languages: sources, to be copied or named.
    install -d "$to/share/instr/python/instr" "$to/share/instr/rust/src" "$to/share/instr/java/instr"
    install -m 644 "$root"/python/src/instr/*.py{,i} "$root"/python/src/instr/py.typed "$to/share/instr/python/instr/"
    install -m 644 "$root/bindings/rust/Cargo.toml" "$to/share/instr/rust/"
    install -m 644 "$root/bindings/rust/src/lib.rs" "$to/share/instr/rust/src/"
    install -m 644 "$root/bindings/java/instr_java.c" "$to/share/instr/java/"
    install -m 644 "$root/bindings/java/instr/Instr.java" "$to/share/instr/java/instr/"

    sed "s/@VERSION@/$version/" "$root/packaging/instr.pc.in" >"$to/share/pkgconfig/instr.pc"
    install -m 644 "$root/packaging/instrConfig.cmake" "$to/share/cmake/instr/"
    sed "s/@VERSION@/$version/" "$root/packaging/instrConfigVersion.cmake.in" >"$to/share/cmake/instr/instrConfigVersion.cmake"

    install -d "$to/share/instr/paraver"
    install -m 644 "$root"/packaging/paraver/*.cfg "$to/share/instr/paraver/"

    install -d "$to/share/man/man1"
    install -m 644 "$root"/packaging/man/*.1 "$to/share/man/man1/"
    for name in $("$scripts/links.sh" --names) instr-fortran; do ln -s instr-cc.1 "$to/share/man/man1/$name.1"; done
    for file in "$root"/packaging/completions/*; do
        name=$(basename "$file")
        case $name in
        *.bash) install -D -m 644 "$file" "$to/share/bash-completion/completions/${name%.bash}" ;;
        _*) install -D -m 644 "$file" "$to/share/zsh/site-functions/$name" ;;
        *.fish) install -D -m 644 "$file" "$to/share/fish/vendor_completions.d/$name" ;;
        esac
    done

    # Documents lie to each other as in the sources, so that their links hold.
    install -m 644 "$root/README.md" "$root/CHANGELOG.md" "$root/LICENSE-APACHE" "$root/LICENSE-MIT" "$doc/"
    cp -R "$root/docs" "$root/examples" "$doc/"
    find "$doc/examples" -depth \( -name 'build*' -o -name '*.instr' -o -name '*.prv' -o -name '*.pcf' -o -name '*.row' -o -name .gitignore \) -exec rm -rf {} +
    find "$doc" -name '*.md' -print0 | while IFS= read -r -d '' file; do keep_links_inside "$file"; done
    chmod -R u=rwX,go=rX "$to"
}

# Links to what is only in the sources become plain words.
keep_links_inside() { # Markdown file
    local target pattern
    while IFS= read -r target; do
        [[ -e $(dirname "$1")/${target%%#*} ]] && continue
        pattern=$(sed 's/[][\.*^$|]/\\&/g' <<<"$target")
        sed -i "s|\[\([^]]*\)\]($pattern)|\1|g" "$1"
    done < <(relative_links "$1")
}

# Targets of a document's links that are relative paths; code blocks aside.
relative_links() { # Markdown file
    awk '/^ *```/ { code = !code }
        !code {
            line = $0
            while (match(line, /\]\([^)]*\)/)) {
                target = substr(line, RSTART + 2, RLENGTH - 3)
                line = substr(line, RSTART + RLENGTH)
                if (target !~ /:\/\/|^#|^mailto:|^$| /) print target
            }
        }' "$1" | sort -u
}
