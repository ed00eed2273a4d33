#!/bin/sh
# Builds and tests everything; exits with 0 only if every stage passed.
#   scripts/test.sh                   all stages
#   scripts/test.sh release asan      these stages
# Stages: format, release (gcc), clang, asan (address and undefined behaviour), tsan, fuzz. The log of
# a stage that failed is shown; all logs are in build/log.
set -u
cd "$(dirname "$0")/.." || exit 2

stages=${*:-format release clang asan tsan fuzz}
jobs=${TDC_TEST_JOBS:-$(nproc)}
log=build/log
mkdir -p "$log"
scripts/install_deps.sh || exit 2

format() {
    clang_format=$(command -v clang-format-14 || command -v clang-format)
    git ls-files '*.c' '*.h' | xargs "$clang_format" --dry-run --Werror
}

# Warnings are errors in every build, the release included.
build() {
    cmake --preset "$1" -DTDC_WERROR=ON && cmake --build --preset "$1" -j "$jobs"
}

preset() {
    build "$1" && ctest --preset "$1" -j "$jobs"
}

fuzz() {
    targets=""
    for source in tests/fuzz/fuzz_*.c; do
        targets="$targets $(basename "$source" .c)"
    done
    # shellcheck disable=SC2086 # a list of words
    cmake --preset fuzz && cmake --build --preset fuzz -j "$jobs" --target $targets &&
        ctest --preset fuzz -j "$jobs"
}

run() {
    case $1 in
    format) format ;;
    fuzz) fuzz ;;
    release | debug | clang | asan | ubsan | tsan) preset "$1" ;;
    *)
        echo "unknown stage '$1'"
        return 2
        ;;
    esac
}

failed=""
report=""
total=$(date +%s)
for stage in $stages; do
    printf '== %s\n' "$stage"
    start=$(date +%s)
    if run "$stage" >"$log/$stage.txt" 2>&1; then
        result=passed
        grep -E 'tests passed|tests failed|Total Test time' "$log/$stage.txt"
    else
        result=FAILED
        failed="$failed $stage"
        tail -n 200 "$log/$stage.txt"
    fi
    seconds=$(($(date +%s) - start))
    report="$report$(printf '%-8s %s %4d s' "$stage" "$result" "$seconds")
"
done

printf '\n%s' "$report"
printf '%-8s %11d s\n' total $(($(date +%s) - total))
if [ -n "$failed" ]; then
    echo "failed:$failed"
    exit 1
fi
if [ -f "$log/release.txt" ] && echo " $stages " | grep -q ' release '; then
    echo
    grep -E 'tests passed|Total Test time' "$log/release.txt"
fi
