#!/bin/sh
# Installs the Debian or Ubuntu packages that building and testing need, those that are missing.
#   scripts/install_deps.sh            everything: build, tests, sanitizers, fuzzing, aarch64
#   scripts/install_deps.sh build      what building needs
#   scripts/install_deps.sh python     what the tests of the Python package use
#   scripts/install_deps.sh aarch64    only the libraries for building for aarch64, in a folder of their own:
#                                      $TDC_AARCH64_ROOT, ~/.cache/tdcmp/aarch64 unless that is set. Needs no root.
set -eu

libraries="libsleef-dev libsqlite3-dev libxlsxwriter-dev libyaml-dev zlib1g-dev libcmocka-dev"
build="cmake ninja-build gcc pkg-config $libraries"
check="g++ python3 xz-utils dpkg-dev clang libclang-rt-dev libomp-dev clang-format clang-tidy
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user chromium
    ocl-icd-libopencl1 pocl-opencl-icd"
python="python3-numpy python3-pandas python3-venv python3-torch"
# what some tests do without, and say so
more="libopenmpi-dev openmpi-bin libmpich-dev mpich"
aarch64_root=${TDC_AARCH64_ROOT:-${HOME:-/root}/.cache/tdcmp/aarch64}

# A tool that came by other means need not come as a package.
present() {
    case $1 in
    ninja-build) command -v ninja ;;
    xz-utils) command -v xz ;;
    cmake | gcc | g++ | pkg-config | python3 | clang | clang-format | clang-tidy) command -v "$1" ;;
    *) dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -x installed ;;
    esac >/dev/null
}

install() {
    missing=""
    for package in "$@"; do
        present "$package" || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    echo "installing:$missing"
    root=""
    [ "$(id -u)" = 0 ] || root=sudo
    # shellcheck disable=SC2086 # lists of words
    if ! { $root apt-get update -q && $root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends $missing; } >"$work/log" 2>&1; then
        cat "$work/log" >&2
        return 1
    fi
}

# apt for another architecture, with lists and a status of its own: what is installed here stays as it is, and the
# versions need not be those of this machine.
foreign_apt() {
    apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User= \
        -o Dir::State="$work" -o Dir::State::status="$work/status" -o Dir::Cache="$work" \
        -o Dir::Cache::archives="$work/archives" "$@"
}

# The distribution's arm64 packages, unpacked: headers, libraries and the C library to run with.
unpack_aarch64() {
    mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/root/usr/lib" || return 1
    : >"$work/status"
    # shellcheck disable=SC2086 # a list of words
    foreign_apt update && foreign_apt install -y --no-install-recommends --download-only $aarch64_packages || return 1
    ln -s usr/lib "$work/root/lib"
    for package in "$work"/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x -C "$work/root" --keep-directory-symlink \
            --exclude=./usr/share --exclude=./usr/bin --exclude=./etc || return 1
    done
    # links that begin at the root lead into this folder
    find "$work/root" -type l -lname '/*' | while read -r link; do
        ln -sfn "$aarch64_root$(readlink "$link")" "$link"
    done
    echo "$aarch64_packages" >"$work/root/packages"
}

install_aarch64() {
    aarch64_packages="$libraries libgomp1"
    [ "$(cat "$aarch64_root/packages" 2>/dev/null)" != "$aarch64_packages" ] || return 0
    echo "unpacking for aarch64 in $aarch64_root: $aarch64_packages"
    if ! unpack_aarch64 >"$work/log" 2>&1; then
        tail -n 5 "$work/log" >&2
        echo "the arm64 packages could not be had: nothing can be built for aarch64" >&2
        return 1
    fi
    mkdir -p "$(dirname "$aarch64_root")"
    rm -rf "$aarch64_root"
    mv "$work/root" "$aarch64_root"
}

if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "install_deps.sh knows Debian and Ubuntu only; install the equivalents of: $build $check" >&2
    exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2086 # lists of words
case "${1:-all}" in
build) install $build ;;
aarch64) install_aarch64 ;;
python) install $python ;;
all)
    install $build $check
    install $more || echo "could not be had: $more; tests of MPI are left out" >&2
    install_aarch64 || true # said above; scripts/test.sh leaves that stage out
    ;;
*)
    echo "usage: scripts/install_deps.sh [build|python|aarch64]" >&2
    exit 2
    ;;
esac
