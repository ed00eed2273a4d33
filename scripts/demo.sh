#!/bin/sh
# Builds tdcmp, computes a training step twice, once with a fault in one operator, and finds it.
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

# 0 all within tolerance, 1 differences found, 2 something could not be compared
found() {
    code=0
    say "$@" || code=$?
    [ "$code" -le 1 ]
}

echo "One training step of a small transformer, computed by two machines. Both are right, but that"
echo "on one of them the third layer's softmax gives five percent too much."
say tdcmp bench network . --network gpt --fault Functional.softmax.2:scale --fault-side test

echo
echo "What differs:"
found tdcmp compare test ref -o result --format xlsx,csv,json,html

echo
echo "Where it begins, and which side is off:"
found tdcmp trace test ref --json result/trace.json

echo
echo "Asked alone, without the other side: which operators are off?"
found tdcmp precheck test -o result
[ "$code" -eq 1 ]
found tdcmp precheck ref -o result
[ "$code" -eq 0 ]

echo
echo "Reports in $PWD/result:"
ls result
