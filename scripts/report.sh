#!/usr/bin/env bash
# Bundles the script and style of the page that `instr report` writes, report/src, into report/dist, which is kept in the repository: building the
# tools needs no node. Packages are those of report/package-lock.json, in the target folder.
#
#   scripts/report.sh            check the types and write report/dist
#   scripts/report.sh --check    fail where report/dist is not what report/src gives
#   scripts/report.sh --install  only install the packages
set -euo pipefail
cd "$(dirname "$0")/.."
work=${CARGO_TARGET_DIR:-target}/report

mkdir -p "$work"
rm -rf "$work/src" "$work/test" "$work/dist"
cp -R report/src report/test report/build.mjs report/tsconfig.json report/package.json report/package-lock.json report/.npmrc "$work"
if ! cmp -s report/package-lock.json "$work/node_modules/.instr-lock"; then
    if ! (cd "$work" && npm ci --ignore-scripts --no-progress --silent); then
        echo "report: error: cannot install the packages of report/package-lock.json" >&2
        echo "  help: npm needs the network once; report/dist is used as it is until then" >&2
        exit 1
    fi
    cp report/package-lock.json "$work/node_modules/.instr-lock"
fi
[[ ${1:-} == --install ]] && exit 0
(cd "$work" && node_modules/.bin/tsc --noEmit && node build.mjs)
if [[ ${1:-} == --check ]]; then
    if ! diff -rq "$work/dist" report/dist; then
        echo "report: error: report/dist is not what report/src gives" >&2
        echo "  help: scripts/report.sh" >&2
        exit 1
    fi
else
    mkdir -p report/dist
    cp "$work"/dist/* report/dist
fi
