#!/bin/sh
# Builds and tests everything; exits with 0 only if every stage passed.
#   scripts/test.sh                   all stages
#   scripts/test.sh release asan      these stages
# Stages: format, tidy (clang-tidy), release (gcc), clang, asan (address and undefined behaviour), tsan, fuzz,
# python (the package), aarch64 (under qemu). The log of a stage that failed is shown; all logs are in build/log.
# A stage that this machine cannot run is left out, and said to be: aarch64 where its packages cannot be had.
set -u
cd "$(dirname "$0")/.." || exit 2

stages=${*:-format tidy release clang asan tsan fuzz python aarch64}
jobs=${TDC_TEST_JOBS:-$(nproc)}
log=build/log
mkdir -p "$log"
scripts/install_deps.sh || exit 2

format() {
    clang_format=$(command -v clang-format-14 || command -v clang-format)
    git ls-files '*.c' '*.h' | xargs "$clang_format" --dry-run --Werror
}

# The checks of .clang-tidy on everything but the tests, whose assertions they do not know. The analyzer's deep mode takes ten times as long; one file at a
# time, since version 14 carries what it knows of argument lists from one file to the next.
tidy() {
    clang_tidy=$(command -v clang-tidy-14 || command -v clang-tidy)
    cmake --preset release -DTDC_WERROR=ON &&
        sed -n "s:^ *\"file\"\: \"$PWD/\(.*\.c\)\".*:\1:p" build/release/compile_commands.json | grep -v -e '^build/' -e '^tests/' |
        sort -u | xargs -P "$jobs" -n 1 "$clang_tidy" -p build/release --quiet --extra-arg=-Xclang \
            --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=shallow
}

# Warnings are errors in every build, the release included.
build() {
    cmake --preset "$1" -DTDC_WERROR=ON && cmake --build --preset "$1" -j "$jobs"
}

preset() {
    build "$1" && ctest --preset "$1" -j "$jobs"
}

# Status 77: this machine cannot do it.
aarch64() {
    if ! scripts/install_deps.sh aarch64; then
        return 77
    fi
    preset aarch64
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

# The package of Python on the library of the release build.
python() {
    build release && tests/python/run.sh
}

run() {
    case $1 in
    format | tidy | fuzz | python | aarch64) "$1" ;;
    release | debug | clang | asan | ubsan | tsan) preset "$1" ;;
    *)
        echo "unknown stage '$1'"
        return 2
        ;;
    esac
}

failed=""
left_out=""
report=""
total=$(date +%s)
for stage in $stages; do
    printf '== %s\n' "$stage"
    start=$(date +%s)
    run "$stage" >"$log/$stage.txt" 2>&1
    case $? in
    0)
        result=passed
        grep -E 'tests passed|tests failed|Total Test time' "$log/$stage.txt"
        ;;
    77)
        result=NOT\ RUN
        left_out="$left_out $stage"
        cat "$log/$stage.txt"
        ;;
    *)
        result=FAILED
        failed="$failed $stage"
        tail -n 200 "$log/$stage.txt"
        ;;
    esac
    seconds=$(($(date +%s) - start))
    report="$report$(printf '%-8s %-7s %4d s' "$stage" "$result" "$seconds")
"
done

printf '\n%s' "$report"
printf '%-8s %12d s\n' total $(($(date +%s) - total))
if [ -n "$left_out" ]; then
    echo "not run, for want of what they need (see build/log):$left_out"
fi
if [ -n "$failed" ]; then
    echo "failed:$failed"
    exit 1
fi
if [ -f "$log/release.txt" ] && echo " $stages " | grep -q ' release '; then
    echo
    grep -E 'tests passed|Total Test time' "$log/release.txt"
fi
