#!/bin/sh
# Installs the Debian or Ubuntu packages that building and testing need, those that are missing.
#   scripts/install_deps.sh          everything: build, tests, sanitizers, fuzzing
#   scripts/install_deps.sh build    what building needs
set -eu

build="cmake ninja-build gcc pkg-config libcjson-dev libsleef-dev libxlsxwriter-dev libyaml-dev zlib1g-dev libcmocka-dev"
check="g++ python3 xz-utils clang libclang-rt-dev libomp-dev clang-format
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"

case "${1:-all}" in
build) wanted=$build ;;
all) wanted="$build $check" ;;
*)
    echo "usage: scripts/install_deps.sh [build]" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "install_deps.sh knows Debian and Ubuntu only; install the equivalents of: $wanted" >&2
    exit 1
fi

# A tool that came by other means need not come as a package.
present() {
    case $1 in
    ninja-build) command -v ninja ;;
    xz-utils) command -v xz ;;
    cmake | gcc | g++ | pkg-config | python3 | clang | clang-format) command -v "$1" ;;
    *) dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -x installed ;;
    esac >/dev/null
}

missing=""
for package in $wanted; do
    present "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "installing:$missing"
root=""
[ "$(id -u)" = 0 ] || root=sudo
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # lists of words
if ! { $root apt-get update -q && $root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends $missing; } >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
