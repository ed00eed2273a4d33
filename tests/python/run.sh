#!/bin/sh
# The stage `python` of scripts/test.sh: the package with the distribution's Python, numpy, pandas and torch on the library of
# build/release; then built by pip into a fresh environment, with PyPI's newest numpy, pandas and pyarrow, and mypy.
# What cannot be had is left out with a line.
set -u
cd "$(dirname "$0")/../.." || exit 2
TDCMP_PROGRAM=$PWD/build/release/host/tdcmp
export TDCMP_PROGRAM
export PYTHONDONTWRITEBYTECODE=1
work=build/python
mkdir -p "$work"

# tests PYTHON: every test program; those that need torch say so and skip where there is none
tests() {
    for program in tests/python/test_*.py; do
        echo "$program"
        "$1" "$program" || return 1
    done
}

python=/usr/bin/python3
[ -x "$python" ] || python=$(command -v python3)
scripts/install_deps.sh python || echo "left out: what of the packages above is missing"
PYTHONPATH=$PWD/python TDCMP_LIBRARY=$PWD/build/release/host/libtdcmp.so tests "$python" || exit 1

# Two minutes at most for what comes over the network.
environment=$work/environment
rm -rf "$environment"
if ! "$python" -m venv "$environment" >"$work/venv.txt" 2>&1; then
    echo "left out: no environment can be made (python3-venv): pip install . was not run"
    exit 0
fi
if ! timeout 120 "$environment/bin/pip" install --quiet --retries 0 --timeout 10 numpy pandas pyarrow mypy scikit-build-core >"$work/pip.txt" 2>&1; then
    echo "left out: PyPI cannot be reached in time: pip install . was not run"
    exit 0
fi
"$environment/bin/mypy" --strict --cache-dir "$work/mypy" python/tdcmp || exit 1
"$environment/bin/pip" install --quiet --no-build-isolation . || exit 1
unset PYTHONPATH TDCMP_LIBRARY
tests "$environment/bin/python" || exit 1
