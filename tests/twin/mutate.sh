#!/bin/sh
# Applies each line of `mutations` to a copy of the kernels, compiles the kernel it names with the
# twin and runs twin_check, which must reject it. The kernels as they are must pass.
#     mutate.sh <source folder> <C++ compiler> <static libraries...>
set -u
if [ "${1-}" = --one ]; then
    # --one <folder> <number>: with the rest in the environment
    folder=$2/$3 ready=$2/ready
    line=$(sed -n "$3p" "$2/list")
    name=${line%%;*} rest=${line#*;}
    file=${rest%%;*} rest=${rest#*;}
    kernel=${rest%%;*} edit=${rest#*;}
    mkdir "$folder"
    cp "$SOURCE"/kernels/ascend/*.h "$SOURCE"/kernels/ascend/*.cpp "$folder"
    say() { echo "$1: $name" >>"$folder.result"; }
    if [ -n "$file" ]; then
        sed "$edit" "$folder/$file" >"$folder/edited" || { say "BAD EDIT"; exit 0; }
        cmp -s "$folder/edited" "$folder/$file" && { say "EDIT DOES NOTHING"; exit 0; }
        mv "$folder/edited" "$folder/$file"
    fi
    set -- $kernel
    source=$1
    [ "$1" = "$2" ] || source=$1_$2
    [ "$3" = native ] || source=${source}_exact
    others=-I$ready/2201
    [ "${4-}" != registers ] ||
        others="-I$ready/3510 -D__NPU_ARCH__=3510 -Dtdc_ascend=tdc_ascend_3510 -Dtdc_pair_$source=tdc_pair_${source}_3510"
    # shellcheck disable=SC2086
    if ! $COMPILER -std=c++17 $FLAGS $others -I"$SOURCE" -I"$SOURCE/tests/twin" \
        "$folder/pair_$source.cpp" $LIBRARIES -lm -pthread -o "$folder/check" \
        >"$folder/compiler" 2>&1; then
        say "DOES NOT COMPILE"
        exit 0
    fi
    said=$("$folder/check" $kernel 2>&1)
    case $?:$file in
    0:) say "accepted" ;;
    1:?*) say "rejected ($said)" ;;
    0:?*) say "SURVIVED" ;;
    *) say "FAILED ($said)" ;;
    esac
    exit 0
fi

SOURCE=$1 COMPILER=$2
shift 2
LIBRARIES=$*
FLAGS="-O1 -w -ffp-contract=off"
export SOURCE COMPILER LIBRARIES FLAGS
folder=$(mktemp -d "${TMPDIR:-/tmp}/mutate.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT INT TERM
grep -v '^#' "$SOURCE/tests/twin/mutations" | grep ';' >"$folder/list"
# Compiled once; a compiler that does not know such files reads the header itself.
mkdir "$folder/ready" "$folder/ready/2201" "$folder/ready/3510"
for architecture in 2201 3510; do
    define=""
    [ $architecture = 2201 ] || define=-D__NPU_ARCH__=3510
    # shellcheck disable=SC2086
    $COMPILER -std=c++17 $FLAGS $define -I"$SOURCE" -I"$SOURCE/tests/twin" -x c++-header \
        "$SOURCE/tests/twin/kernel_operator.h" -o "$folder/ready/$architecture/kernel_operator.h.gch" &
done
wait
total=$(wc -l <"$folder/list")
seq 1 "$total" | xargs -P 2 -n 1 sh "$0" --one "$folder"
cat "$folder"/*.result
good=$(cat "$folder"/*.result | grep -c '^accepted\|^rejected')
echo "$good of $total as they should be"
[ "$good" -eq "$total" ] && [ "$total" -gt 0 ]
