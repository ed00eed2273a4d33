#!/bin/sh
# Builds and tests everything; exits with 0 only if every stage passed.
#   scripts/test.sh                   all stages
#   scripts/test.sh release asan      these stages
# Stages: format, release (gcc), tidy (clang-tidy), clang, asan (address and undefined behaviour), tsan, fuzz,
# python (the package), aarch64 (under qemu). The log of a stage that failed is shown; all logs are in build/log.
# A stage that this machine cannot run is left out, and said to be: aarch64 where its packages cannot be had.
# While a stage is tested the next ones are built, with what the tests leave of the processors.
set -u
cd "$(dirname "$0")/.." || exit 2

stages=${*:-format release tidy clang asan tsan fuzz python aarch64}
stages=${stages#--build }
jobs=${TDC_TEST_JOBS:-$(nproc)}
log=build/log
mkdir -p "$log"

format() {
    clang_format=$(command -v clang-format-14 || command -v clang-format)
    git ls-files '*.c' '*.h' | xargs "$clang_format" --dry-run --Werror
}

# Warnings are errors in every build, the release included.
configure() {
    cmake --preset "$1" -DTDC_WERROR=ON
}

# The checks of .clang-tidy on everything but the tests, whose assertions they do not know. The analyzer's deep mode takes ten times as long; one file at a
# time, since version 14 carries what it knows of argument lists from one file to the next. What it reads of the build is
# not written again while the tests of the release use it.
tidy() {
    clang_tidy=$(command -v clang-tidy-14 || command -v clang-tidy)
    commands=build/release/compile_commands.json
    case " $stages " in
    *" release "*"tidy "*) [ -f "$commands" ] ;;
    *) configure release ;;
    esac &&
        sed -n "s:^ *\"file\"\: \"$PWD/\(.*\.c\)\".*:\1:p" "$commands" | grep -v -e '^build/' -e '^tests/' |
        sort -u | xargs -P "$jobs" -n 1 "$clang_tidy" -p build/release --quiet --extra-arg=-Xclang \
            --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=shallow
}

# The fuzz targets alone: of the rest of the programs that build has no use.
fuzz_targets() {
    for source in tests/fuzz/fuzz_*.c; do
        basename "$source" .c
    done
}

# All of a stage but its tests. Status 77: this machine cannot do it.
build() {
    case $1 in
    format) ;;
    tidy) tidy ;;
    # shellcheck disable=SC2046 # a list of words
    fuzz) configure fuzz && cmake --build --preset fuzz -j "$jobs" --target $(fuzz_targets) ;;
    aarch64)
        scripts/install_deps.sh aarch64 || return 77
        configure aarch64 && cmake --build --preset aarch64 -j "$jobs"
        ;;
    python)
        case " $stages " in
        *" release "*"python "*) ;; # its library serves, and its tests may be running
        *) build release ;;
        esac && tests/python/run.sh build
        ;;
    release | debug | clang | asan | ubsan | tsan) configure "$1" && cmake --build --preset "$1" -j "$jobs" ;;
    *)
        echo "unknown stage '$1'"
        return 2
        ;;
    esac
}

# scripts/test.sh --build stages: what runs beside the tests. The status of each is in a file that appears at its end.
if [ "${1:-}" = --build ]; then
    for stage in $stages; do
        build "$stage" >"$log/$stage.txt" 2>&1
        echo $? >"$log/$stage.status"
        mv "$log/$stage.status" "$log/$stage.built"
    done
    exit 0
fi
scripts/install_deps.sh || exit 2

# Waits until a stage is built, and gives the status of that.
built() {
    while [ ! -f "$log/$1.built" ]; do
        grep -q '^State:[[:space:]]*[^XZ]' "/proc/$builder/status" 2>/dev/null || [ -f "$log/$1.built" ] || return 1
        sleep 0.2
    done
    return "$(cat "$log/$1.built")"
}

check() {
    built "$1" || return
    case $1 in
    format) format ;;
    tidy) ;;
    python) tests/python/run.sh check ;;
    *) ctest --preset "$1" -j "$jobs" ;;
    esac
}

rm -f "$log"/*.built
# In a process group of its own, that ends as a whole when this ends early.
# shellcheck disable=SC2086 # a list of words
timeout 3h scripts/test.sh --build $stages &
builder=$!
renice -n 5 -p "$builder" >/dev/null 2>&1
trap 'kill "$builder" 2>/dev/null; exit 2' INT TERM HUP

failed=""
left_out=""
report=""
total=$(date +%s)
for stage in $stages; do
    printf '== %s\n' "$stage"
    start=$(date +%s)
    check "$stage" >"$log/$stage.tests" 2>&1
    status=$?
    cat "$log/$stage.tests" >>"$log/$stage.txt"
    rm -f "$log/$stage.tests"
    case $status in
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
rm -f "$log"/*.built

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
