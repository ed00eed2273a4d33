#!/usr/bin/env bash
# Is this tree faster or slower than a git revision?
#
#   bench/regress.sh REV [CASE...]
#
# Builds both (build/regress-new, build/regress-REV), makes one set of synthetic dumps and runs
# `tdcmp compare` of both builds on them in turns, so that whatever else the machine does hits both
# alike. Prints the fastest run of each and the ratio of the two per case: below 1 this tree is
# faster. Cases: f32 bf16 f16 f64 i32 mixed small statistics xlsx cold, and reference, which is
# `tdcmp bench reference` with small operands and 400 calls of a precheck (default: all).
#
# METER=instructions counts instructions with callgrind instead, one thread, SIZE 8 unless given: a
# ratio that other work on the machine does not move, of the kernels for AVX2.
#
# ROUNDS (default 7) runs of each; SIZE (default 256) MiB of tensor data a side; THREADS (default:
# all); KEEP=1 keeps the dumps in build/regress-data for the next time.
set -euo pipefail

usage() {
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
}

if [[ $# -eq 0 || $1 == -h || $1 == --help ]]; then
    usage
    exit $(($# == 0 ? 2 : 0))
fi
cd "$(dirname "$0")/.."
revision=$(git rev-parse --verify --quiet "$1^{commit}") || {
    echo "regress.sh: no git revision '$1'" >&2
    exit 2
}
shift
all=(f32 bf16 f16 f64 i32 mixed small statistics xlsx cold reference)
cases=("${@:-${all[@]}}")
meter=${METER:-time} rounds=${ROUNDS:-7} size=${SIZE:-256} short=${revision:0:10}
if [[ $meter == instructions ]]; then
    command -v valgrind >/dev/null || {
        echo "regress.sh: there is no valgrind here" >&2
        exit 2
    }
    rounds=0 size=${SIZE:-8} THREADS=1
fi
threads=() ; [[ -n ${THREADS:-} ]] && threads=(--threads "$THREADS")
old=build/regress-$short/host/tdcmp new=build/regress-new/host/tdcmp data=build/regress-data

for name in "${cases[@]}"; do
    if [[ " ${all[*]} " != *" $name "* ]]; then
        echo "regress.sh: no case '$name'; there are: ${all[*]}" >&2
        exit 2
    fi
done

build() { # SOURCE FOLDER
    cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTDC_TESTS=OFF >/dev/null
    cmake --build "$2" --target tdcmp | tail -n 1
}

if [[ ! -d build/regress-source-$short ]]; then
    mkdir -p "build/regress-source-$short.part"
    git archive "$revision" | tar -x -C "build/regress-source-$short.part"
    mv "build/regress-source-$short.part" "build/regress-source-$short"
fi
build "build/regress-source-$short" "build/regress-$short"
build . build/regress-new

clean() {
    rm -rf "$data-result"
    [[ -n ${KEEP:-} ]] || rm -rf "$data"
}
trap clean EXIT
trap 'exit 130' INT TERM
mkdir -p "$data"

# The dumps of a case; the newer generator makes them for both.
dump_of() {
    local name=$1 words=()
    local tensor=$((size * 1024 * 1024 / 8)) # bytes; 8 tensors a side
    case $name in
    f32 | i32) words=(--dtype "$name" --tensors 8 --elements $((tensor / 4))) ;;
    f16 | bf16) words=(--dtype "$name" --tensors 8 --elements $((tensor / 2))) ;;
    f64) words=(--dtype f64 --tensors 8 --elements $((tensor / 8))) ;;
    mixed) words=(--dtype bf16 --bench-dtype f32 --tensors 8 --elements $((tensor / 2))) ;;
    small) words=(--tensors 20000 --elements 1024) ;;
    statistics) words=(--task statistics --tensors 90000 --elements 64) ;;
    esac
    local folder=$data/$name-$size
    if [[ ! -d $folder ]]; then
        rm -rf "$folder.part"
        "$new" bench make "$folder.part" "${words[@]}" >/dev/null
        mv "$folder.part" "$folder"
    fi
    echo "$folder"
}

# Asks the page cache to forget the tensor files of a dump.
drop() {
    sync
    find "$1" -name '*.pt' -exec dd if={} iflag=nocache count=0 status=none \;
}

# The words of one run: of compare, or of the reference when there is no folder.
words_of() { # PROGRAM FOLDER FORMAT
    if [[ -n $2 ]]; then
        words=(compare "$2/npu" "$2/bench" -o "$data-result" --format "$3" --quiet "${threads[@]}")
        return
    fi
    words=(bench reference --size 192 --elements 65536 --calls 400 --repeat 1 "${threads[@]}")
    [[ $("$1" bench reference --help) != *--activations* ]] || words+=(--activations 0)
}

# Thousands of instructions of one run.
count() { # PROGRAM FOLDER FORMAT
    local words=()
    words_of "$@"
    TDC_CPU=x86-64-v3 valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" "${words[@]}" 2>&1 >/dev/null |
        awk '/Collected/ { print int($4 / 1000); found = 1 } END { exit !found }'
    rm -f "$data-result"/*.csv "$data-result"/*.xlsx "$data-result"/*.txt
}

# Microseconds of one run.
run() { # PROGRAM FOLDER FORMAT
    local start end code=0 words=()
    words_of "$@"
    start=${EPOCHREALTIME/[.,]/}
    "$1" "${words[@]}" >/dev/null 2>"$data-result/message" || code=$?
    end=${EPOCHREALTIME/[.,]/}
    if ((code > 1)); then
        cat "$data-result/message" >&2
        exit 2
    fi
    rm -f "$data-result"/*.csv "$data-result"/*.xlsx "$data-result"/*.txt
    echo $((end - start))
}

measure() { # CASE: prints the fastest of old and new
    local name=$1 format=csv source=$1 best_old=0 best_new=0 took side
    [[ $name == xlsx ]] && format=xlsx source=statistics
    [[ $name == cold ]] && source=f32
    local folder
    [[ $name == reference ]] && folder='' || folder=$(dump_of "$source")
    mkdir -p "$data-result"
    if [[ $meter == instructions ]]; then
        echo "$(count "$old" "$folder" "$format") $(count "$new" "$folder" "$format")"
        return
    fi
    for ((round = 0; round <= rounds; round++)); do
        # the one that runs second finds warmer caches: they take turns at that, too
        local order=(old new)
        ((round % 2)) && order=(new old)
        for side in "${order[@]}"; do
            [[ $name == cold ]] && drop "$folder"
            took=$(run "${!side}" "$folder" "$format")
            ((round == 0)) && continue # warms up
            local -n best=best_$side
            ((best == 0 || took < best)) && best=$took
        done
    done
    echo "$best_old $best_new"
}

unit=ms
[[ $meter == instructions ]] && unit=Minst
echo "$([[ $meter == time ]] && echo "fastest of $rounds in turns" || echo "$meter"); $short is old, this tree is new; load $(cut -d ' ' -f 1 /proc/loadavg)"
printf '%-12s %10s %10s %8s\n' case "old $unit" "new $unit" 'new/old'
for name in "${cases[@]}"; do
    figures=$(measure "$name")
    read -r best_old best_new <<<"$figures"
    awk -v name="$name" -v old="$best_old" -v new="$best_new" \
        'BEGIN { printf "%-12s %10.1f %10.1f %8.3f\n", name, old / 1000, new / 1000, new / old }'
done
