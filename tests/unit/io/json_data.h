/* json_data.h - a file of tests/data/json in memory, ended by a NUL; the caller frees it. */
#ifndef TDC_TEST_JSON_DATA_H
#define TDC_TEST_JSON_DATA_H

#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static char *load_file(const char *name, size_t *size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/json/%s", TDC_TEST_DATA, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    bytes[*size] = '\0';
    fclose(file);
    return bytes;
}

#endif
