#!/bin/sh
# The stage `python` of scripts/test.sh.
#   tests/python/run.sh build    the distribution's packages; an environment with PyPI's newest numpy, pandas and pyarrow, and
#                                `pip install .` in it
#   tests/python/run.sh check    all tests with the distribution's Python on the library of build/release, then in the environment
# What cannot be had is left out with a line. The collector for MindSpore is tested where TDC_TEST_MINDSPORE is set, in an
# environment of its own: PyPI's mindspore is 800 MB.
set -u
cd "$(dirname "$0")/../.." || exit 2
export TDCMP_PROGRAM="$PWD/build/release/host/tdcmp"
export PYTHONDONTWRITEBYTECODE=1
work=build/python
environment=$work/environment
mindspore=$work/mindspore
python=/usr/bin/python3
[ -x "$python" ] || python=$(command -v python3)

# Two minutes at most for what comes over the network.
build() {
    rm -rf "$work"
    mkdir -p "$work"
    scripts/install_deps.sh python || echo "left out: what of these packages is missing"
    if ! "$python" -m venv "$environment" >"$work/log" 2>&1; then
        echo "left out: no environment can be made (python3-venv), so pip install . is not run"
    elif ! timeout 120 "$environment/bin/pip" install --quiet --retries 0 --timeout 10 numpy pandas pyarrow mypy \
        scikit-build-core >"$work/log" 2>&1; then
        echo "left out: PyPI cannot be reached in time, so pip install . is not run"
    else
        timeout 60 "$environment/bin/pip" install --quiet --retries 0 --timeout 10 polars duckdb >"$work/log" 2>&1 ||
            echo "left out: polars and duckdb cannot be had in time"
        "$environment/bin/pip" install --quiet --no-build-isolation . && : >"$work/installed"
    fi
    [ -n "${TDC_TEST_MINDSPORE:-}" ] || return 0
    if ! { "$python" -m venv "$mindspore" && timeout 600 "$mindspore/bin/pip" install --quiet "numpy<2" mindspore; } \
        >"$work/log" 2>&1; then
        rm -rf "$mindspore"
        echo "left out: mindspore cannot be had in time"
    fi
}

tests() {
    for program in tests/python/test_*.py; do
        "$1" "$program" || return 1
    done
}

check() {
    (
        export PYTHONPATH="$PWD/python" TDCMP_LIBRARY="$PWD/build/release/host/libtdcmp.so"
        tests "$python" &&
            { [ ! -d "$mindspore" ] || "$mindspore/bin/python" tests/python/test_collect_mindspore.py; }
    ) || return 1
    if [ -f "$work/installed" ]; then
        "$environment/bin/mypy" --strict --cache-dir "$work/mypy" python/tdcmp && tests "$environment/bin/python"
    fi
}

case ${1:-} in
build | check) "$1" ;;
*)
    echo "usage: tests/python/run.sh build|check" >&2
    exit 2
    ;;
esac
