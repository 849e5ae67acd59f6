#!/usr/bin/env bash
# Types the README's commands on bare machines: roots of Debian and Ubuntu releases with nothing but `make`, `git` and `sudo`,
# made by debootstrap. Needs root, debootstrap, the network, and some gigabytes below $INSTR_BARE (default target/bare).
#
#   scripts/bare-machines.sh                        every release, every person, make demo and the installations
#   scripts/bare-machines.sh -r bookworm,noble      these releases only
#   scripts/bare-machines.sh -p sudo,rustup         these persons only
#   scripts/bare-machines.sh -t                     also `make test`
#   scripts/bare-machines.sh -c 'make check'        these commands instead (given once for each)
#
# Persons: root · sudo (may use it without a password) · none (no right, bare machine) · rust (no right, the packages of `make demo` but
# Rust are there) · rustup (the same, with Rust in the home) · tester (no right, Rust in the home, the packages of `make test` are there).
#
# A cell ends well when the command succeeds, or with one message that holds what to do: for who may not install, and on releases whose compiler
# is too old for the tests. Each command's whole
# output is kept in $INSTR_BARE/logs. A `make test` that fails is shown with its failed tests.
source "$(dirname "$0")/env.sh"

releases=bookworm,trixie,jammy,noble persons=root,sudo,none,rust,rustup
commands=("make" "make demo" "make install PREFIX=~/.local" "sudo make install")
with_test=false chosen=()
while getopts 'r:p:tc:' option; do
    case $option in
    r) releases=$OPTARG ;;
    p) persons=$OPTARG ;;
    t) with_test=true ;;
    c) chosen+=("$OPTARG") ;;
    *) fail "wrong option" "the top of this script lists them" ;;
    esac
done
[[ ${#chosen[@]} == 0 ]] || commands=("${chosen[@]}")
if $with_test; then commands+=("make test"); fi
[[ $(id -u) == 0 ]] || fail "roots of other releases need root" "run it with sudo"
for tool in debootstrap unshare git; do command -v $tool >/dev/null || fail "there is no $tool" "apt-get install debootstrap util-linux git"; done

base=${INSTR_BARE:-$target/bare}
mkdir -p "$base/logs"
rustup=$(dirname "$("$scripts/cargo.sh" --directory)")/.. # the home of the toolchain here, if it is rustup's

# debootstrap of this release may not list newer ones; they are made like the older.
scripts_of_debootstrap() {
    local copy=$base/debootstrap
    [[ -d $copy ]] || cp -r /usr/share/debootstrap "$copy"
    [[ -e $copy/scripts/noble ]] || ln -s gutsy "$copy/scripts/noble"
    [[ -e $copy/scripts/trixie ]] || ln -s sid "$copy/scripts/trixie"
    echo "$copy"
}

make_root() { # release
    local root_of=$base/$1 options=()
    [[ -e $root_of.ready ]] && return
    rm -rf "$root_of"
    case $1 in
    jammy | noble)
        options=(--components=main,universe)
        [[ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ]] || options+=(--no-check-gpg)
        ;;
    esac
    DEBOOTSTRAP_DIR=$(scripts_of_debootstrap) debootstrap --variant=minbase --include=make,git,ca-certificates,sudo "${options[@]}" "$1" "$root_of" \
        >"$base/logs/$1-debootstrap" 2>&1 || fail "debootstrap $1 failed: $(tail -n 3 "$base/logs/$1-debootstrap")"
    # The updates and security fixes that every installation has.
    local mirror components security
    read -r _ mirror _ components <"$root_of/etc/apt/sources.list"
    security="$mirror $1-security"
    [[ $mirror == */debian ]] && security="$mirror-security $1-security"
    printf 'deb %s %s\n' "$mirror $1" "$components" "$mirror $1-updates" "$components" "$security" "$components" >"$root_of/etc/apt/sources.list"
    # Certificates that the administrator of this machine added.
    if compgen -G '/usr/local/share/ca-certificates/*.crt' >/dev/null; then
        cp /usr/local/share/ca-certificates/*.crt "$root_of/usr/local/share/ca-certificates/"
    fi
    cp /etc/ssl/certs/ca-certificates.crt "$root_of/etc/ssl/certs/ca-certificates.crt"
    cp /etc/resolv.conf /etc/hosts "$root_of/etc/"
    printf '#!/bin/sh\nexit 101\n' >"$root_of/usr/sbin/policy-rc.d" # no services
    chmod +x "$root_of/usr/sbin/policy-rc.d"
    chroot "$root_of" useradd -m -u 1234 -s /bin/bash you
    touch "$root_of.ready"
}

# Runs a command as `you` or root in the machine mounted at $machine, as if it had been typed after logging in.
inside() { # user, command
    unshare --mount --pid --fork --kill-child bash -c '
        set -e
        mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --bind /sys "$0/sys"
        mount -t tmpfs tmpfs "$0/tmp" && chmod 1777 "$0/tmp"
        exec chroot "$0" /usr/bin/env -i TERM=dumb su - "$1" -c "$2" </dev/null' "$machine" "$1" "$2"
}

new_machine() { # release, person: a bare machine with a clone of this project in the home of who works there
    local upper=$base/cell/upper
    rm -rf "$base/cell"
    mkdir -p "$upper" "$base/cell/work" "$machine"
    mount -t overlay overlay -o "lowerdir=$base/$1,upperdir=$upper,workdir=$base/cell/work" "$machine"
    git clone -q "$root" "$machine$home/instr"
    local packages
    case $2 in
    sudo) echo 'you ALL=(ALL) NOPASSWD: ALL' >"$machine/etc/sudoers.d/you" ;;
    rust | rustup) inside root "apt-get -qq update && apt-get -qq install -y --no-install-recommends gcc libc6-dev" >"$base/logs/$1-$2-prepare" 2>&1 ;;
    tester)
        packages=$(sed -n '/^test_packages/,/^TABLE/s/^\([a-z0-9+.-]*\)|.*/\1/p' "$scripts/setup.sh" | tr '\n' ' ')
        [[ $1 == trixie ]] || packages=${packages/binutils-gold /} # a part of binutils there
        inside root "apt-get -qq update && apt-get -qq install -y --no-install-recommends gcc libc6-dev $packages" >"$base/logs/$1-$2-prepare" 2>&1
        ;;
    esac
    if [[ $2 == rustup || $2 == tester ]]; then
        [[ -d $rustup/.rustup ]] || fail "Rust here is not rustup's" "leave out the persons rustup and tester (-p)"
        mkdir -p "$machine$home/.cargo"
        cp -r "$rustup/.rustup" "$machine$home/.rustup"
        cp -r "$rustup/.cargo/bin" "$machine$home/.cargo/bin"
    fi
    [[ $home == /root ]] || chown -R 1234:1234 "$machine$home"
    rm -rf "$machine/var/cache/apt/archives/"*.deb
}

end_machine() { umount "$machine" 2>/dev/null || true; }

megabytes() { { du -sm "$@" 2>/dev/null || true; } | awk '{ sum += $1 } END { print sum + 0 }'; }

machine=$base/cell/machine
trap end_machine EXIT
failed=0 passed=0
TIMEFORMAT='%R %U %S'
printf '%-9s %-7s %-30s %-8s %7s %7s %9s %7s  %s\n' release person command result wall cpu download disk "last line"
for release in ${releases//,/ }; do
    make_root "$release"
    for person in ${persons//,/ }; do
        user=you home=/home/you
        if [[ $person == root ]]; then user=root home=/root; fi
        end_machine
        new_machine "$release" "$person"
        for command in "${commands[@]}"; do
            typed=$command
            [[ $person == root ]] && typed=${command#sudo }
            log="$base/logs/$release-$person-$(tr -c 'a-z.' _ <<<"${command:0:60}")"
            before=$(megabytes "$base/cell/upper")
            status=0
            { time inside "$user" "cd instr && $typed" >"$log" 2>&1; } 2>"$base/time" || status=$?
            read -r wall user_time system_time < <(tail -n 1 "$base/time")
            download=$(megabytes "$machine"/var/cache/apt/archives/*.deb "$machine$home"/.cargo/registry/cache)
            # Who may not install is told, in the end, what to type.
            if [[ $status == 0 ]]; then
                result=passed
            elif [[ $person =~ ^(none|rust|rustup)$ ]] && grep -q '^  help: ' <(tail -n 6 "$log"); then
                result=told
            elif grep -q '^  help: .* run make test on ' "$log"; then
                result=told # this release is too old for the tests
            elif [[ $person != sudo && $command == sudo* ]]; then
                result="no right"
            else
                result=FAILED
            fi
            if [[ $result == FAILED ]]; then failed=$((failed + 1)); else passed=$((passed + 1)); fi
            typed=${typed//$'\n'/; }
            printf '%-9s %-7s %-30s %-8s %5.0f s %5.0f s %6s MB %4s MB  %s\n' "$release" "$person" "$typed" "$result" "$wall" \
                "$(awk -v a="$user_time" -v b="$system_time" 'BEGIN { print a + b }')" "$download" $(($(megabytes "$base/cell/upper") - before)) \
                "$(grep -v '^make' "$log" | tail -n 1 | cut -c 1-100)"
        done
    done
done
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]
