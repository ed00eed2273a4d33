#!/bin/sh
# Builds tdcmp, makes two small dumps that differ a little, compares them and shows the result.
#   scripts/demo.sh [FOLDER]     FOLDER for dumps and results, default build/demo
set -eu
cd "$(dirname "$0")/.."
root=$PWD
folder=${1:-build/demo}

scripts/install_deps.sh build
cmake --preset release >/dev/null
cmake --build --preset release --target tdcmp -j "$(nproc)" >/dev/null
PATH=$root/build/release/host:$PATH

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

say() {
    printf '\n$ %s\n' "$*"
    "$@"
}

say tdcmp bench make . --tensors 80 --elements 64K --share 0.1

code=0
say tdcmp compare npu bench -o result --format xlsx,csv,json || code=$?
echo "exit code $code: 0 all within tolerance, 1 differences found, 2 something could not be compared"
[ "$code" -le 1 ]

echo
echo "The first lines of the csv:"
head -n 4 result/compare_result_*.csv | cut -c 1-300
echo
echo "Reports in $PWD/result:"
ls -l result
