#!/bin/sh
# Makes packages of the program.
#   scripts/package.sh [-o FOLDER] [BUILD]     FOLDER for the packages, default build/packages; BUILD: a configured
#                                              build, default build/package, which is made
# tdcmp_VERSION_ARCH.deb: program, libraries, headers, man page, completions; depends on the libraries of this
#   distribution and can use Ascend cards.
# tdcmp-VERSION-linux-MACHINE.tar.gz: the program linked statically, for any Linux of this architecture without
#   installing anything; no cards.
set -eu

fail() {
    echo "package.sh: $*" >&2
    exit 1
}

folder=""
while getopts o: option; do
    case $option in
    o) folder=$OPTARG ;;
    *)
        echo "usage: scripts/package.sh [-o FOLDER] [BUILD]" >&2
        exit 2
        ;;
    esac
done
shift $((OPTIND - 1))
[ -z "${1:-}" ] || build=$(cd "$1" && pwd)
[ -z "$folder" ] || { mkdir -p "$folder" && folder=$(cd "$folder" && pwd); }
cd "$(dirname "$0")/.."
if [ -z "${build:-}" ]; then
    scripts/install_deps.sh build
    build=$PWD/build/package
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTDC_TESTS=OFF >/dev/null
fi
folder=${folder:-$PWD/build/packages}
mkdir -p "$folder"
cmake --build "$build" --target tdcmp tdcmp_shared tdcmp_static tdcmp_standalone -j "$(nproc)" >/dev/null ||
    fail "not built; without libsqlite3.a, libyaml.a and libz.a there is no static program"

version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}"

# ---- the tarball

machine=$(uname -m)
name=tdcmp-$version-linux-$machine
for component in standalone documents; do
    cmake --install "$build" --component "$component" --prefix "$work/$name" >/dev/null
done
strip "$work/$name/bin/tdcmp"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" |
    gzip -9n >"$work/tarball"
mv "$work/tarball" "$folder/$name.tar.gz"
echo "$folder/$name.tar.gz"

# ---- the Debian package, where there are Debian's tools

if ! command -v dpkg-deb >/dev/null || ! command -v dpkg-shlibdeps >/dev/null; then
    echo "no .deb: dpkg-deb and dpkg-shlibdeps (dpkg-dev) are not here" >&2
    exit 0
fi
root=$work/root
DESTDIR=$root cmake --install "$build" --strip --prefix /usr >/dev/null
gzip -9n "$root/usr/share/man/man1/tdcmp.1"
mv "$root/usr/share/doc/tdcmp/LICENSE" "$root/usr/share/doc/tdcmp/copyright"
# dpkg-shlibdeps looks for the package's description, and asks which package owns each library
mkdir -p "$work/debian" "$root/DEBIAN"
printf 'Source: tdcmp\nPackage: tdcmp\nArchitecture: any\n' >"$work/debian/control"
libraries=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info "$root/usr/bin/tdcmp" \
    "$root"/usr/lib/libtdcmp.so.*.*.* 2>"$work/log" | sed -n 's/^shlibs:Depends=//p')
[ -n "$libraries" ] || { cat "$work/log" >&2; fail "no dependencies found"; }
architecture=$(dpkg --print-architecture)
cat >"$root/DEBIAN/control" <<EOF
Package: tdcmp
Version: $version
Architecture: $architecture
Maintainer: the tdcmp authors <tdcmp@localhost>
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: $libraries
Suggests: libsleef-dev, libsqlite3-dev, libyaml-dev, zlib1g-dev
Section: science
Priority: optional
Description: compares two dumps of a neural network
 Reads the dumps of msprobe (PyTorch, MindSpore), compares them tensor by
 tensor and says where and why they differ; checks the operators of one dump
 by a float64 reference. The package has the program, the library libtdcmp
 and its headers.
EOF
echo "activate-noawait ldconfig" >"$root/DEBIAN/triggers"
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
chmod -R u=rwX,go=rX "$root"
dpkg-deb --root-owner-group --build "$root" "$work/deb" >/dev/null
mv "$work/deb" "$folder/tdcmp_${version}_$architecture.deb"
echo "$folder/tdcmp_${version}_$architecture.deb"
