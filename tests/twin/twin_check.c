/*
 * twin_check - one kernel through the cases that find mistakes fastest.
 *     twin_check <n dtype> <b dtype> native|exact [registers]
 * Says what is wrong and ends with 1, or ends with 0. The mutation tests run it.
 */
#include <stdio.h>
#include <string.h>

#include "tests/twin/kernel_check.h"
#include "tests/twin/tile_data.h"

static tdc_dtype dtype_called(const char *name)
{
    return strcmp(name, "f32") == 0 ? TDC_F32 : strcmp(name, "f16") == 0 ? TDC_F16 : TDC_BF16;
}

int main(int argc, char **argv)
{
    if (argc != 4 && !(argc == 5 && strcmp(argv[4], "registers") == 0))
        return 2;
    struct tdc_kernel_case c = {
        .n_dtype = dtype_called(argv[1]),
        .b_dtype = dtype_called(argv[2]),
        .rule = strcmp(argv[3], "exact") == 0 ? TDC_RELATIVE_F64 : TDC_RELATIVE_NATIVE,
        .tiles = 5,
        .blocks = 2,
        .data_seed = 7,
        .registers = argc == 5,
    };
    for (c.flavour = 0; c.flavour < TILE_FLAVOURS; c.flavour++) {
        struct tdc_kernel_outcome outcome;
        c.settings.seed = c.flavour + 1;
        c.tiles = c.flavour == TILE_SPECIAL ? TILE_SPECIAL_PERIOD : 5;
        if (!tdc_kernel_check(&c, &outcome, NULL)) {
            printf("%s\n", outcome.why);
            return 1;
        }
    }
    return 0;
}
