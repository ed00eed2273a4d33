#!/usr/bin/env bash
# How many instructions do the kernels take for a pair of elements?
#
#   bench/instructions.sh [PROGRAM]
#
# Runs `PROGRAM compare` (default build/release/host/tdcmp) over synthetic dumps under callgrind,
# which counts instructions inside the kernels alone: a figure that other work on the machine does
# not move. Callgrind knows no AVX-512, so there are rows for the baseline and for AVX2. The sides
# differ in three of four elements, as after some layers, or not at all (equal). One million
# elements; prints a table for docs/kernels.md.
#
# DTYPES (default: f32 bf16 f16 f64 i64 i32 i16 i8 bool bf16/f32 f16/f32).
set -euo pipefail

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
    exit 0
fi
program=${1:-build/release/host/tdcmp}
elements=1048576
command -v valgrind >/dev/null || {
    echo "instructions.sh: there is no valgrind here" >&2
    exit 2
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

per_pair() { # VARIANT RULES
    local counted
    counted=$(TDC_CPU=$1 valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        '--toggle-collect=pair_*' "$program" compare "$folder/npu" "$folder/bench" \
        -o "$folder/result" --format csv --quiet --threads 1 --rules "$2" 2>&1 >/dev/null || true)
    awk -v elements="$elements" '/Collected/ { printf "%.1f", $4 / elements; found = 1 }
        END { if (!found) printf "-" }' <<<"$counted"
}

printf '| dtypes | rule | baseline | x86-64-v3 | x86-64-v3, equal |\n|---|---|---|---|---|\n'
for pair in ${DTYPES:-f32 bf16 f16 f64 i64 i32 i16 i8 bool bf16/f32 f16/f32}; do
    for rules in sound msprobe; do
        words=(--dtype "${pair%/*}" --tensors 1 --elements "$elements" --share 0)
        [[ $pair == */* ]] && words+=(--bench-dtype "${pair#*/}")
        rm -rf "$folder"/*
        "$program" bench make "$folder" "${words[@]}" --noise >/dev/null
        base=$(per_pair baseline "$rules") wide=$(per_pair x86-64-v3 "$rules") equal=-
        if [[ $pair != */* ]]; then
            rm -rf "$folder"/*
            "$program" bench make "$folder" "${words[@]}" --exact >/dev/null
            equal=$(per_pair x86-64-v3 "$rules")
        fi
        rule=f64
        [[ $rules == msprobe ]] && rule=native
        printf '| %s | %s | %s | %s | %s |\n' "$pair" "$rule" "$base" "$wide" "$equal"
    done
done
