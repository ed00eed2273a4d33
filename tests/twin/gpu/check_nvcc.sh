#!/bin/sh
# check_nvcc.sh SOURCE_DIR: kernels/gpu compiled by nvcc for several architectures: no warning, no spilled register, no
# multiply-add that nobody asked for. Ends with 77 where there is no nvcc.
set -eu
PATH=$PATH:/usr/local/cuda/bin
if ! command -v nvcc >/dev/null; then
    echo "skipped: there is no nvcc"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compiled=0
for architecture in 70 75 80 90 120; do
    nvcc --list-gpu-code | grep -qx "sm_$architecture" || continue
    nvcc -arch="sm_$architecture" -fmad=false -Werror all-warnings -Xptxas -v --keep --keep-dir "$work" -cubin \
        -o "$work/kernels.cubin" "$1/kernels/gpu/pair_gpu.cu" >"$work/log" 2>&1 || {
        cat "$work/log"
        exit 1
    }
    if grep -iE 'warning' "$work/log"; then
        echo "sm_$architecture: a warning"
        exit 1
    fi
    # one line a kernel: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
    clean=$(grep -c ' 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' "$work/log")
    all=$(grep -c 'spill stores' "$work/log")
    if [ "$all" != 12 ] || [ "$clean" != "$all" ]; then
        grep 'spill stores' "$work/log"
        echo "sm_$architecture: $clean of $all kernels do without the stack"
        exit 1
    fi
    if grep -nE '(fma|mad)[a-z.]*\.f(64|32)' "$work/pair_gpu.ptx"; then
        echo "sm_$architecture: a fused multiply-add"
        exit 1
    fi
    if ! grep -q 'mul.rn.f64' "$work/pair_gpu.ptx"; then
        echo "sm_$architecture: no product at all: was this the text?"
        exit 1
    fi
    compiled=$((compiled + 1))
    echo "sm_$architecture: $(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$work/log" | sort -n | tail -1) registers at most"
done
[ "$compiled" -ge 2 ]
