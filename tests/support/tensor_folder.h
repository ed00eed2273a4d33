/* tensor_folder.h - a dump folder with tensor files for cmocka programs. Include after cmocka.h. */
#ifndef TDC_TESTS_TENSOR_FOLDER_H
#define TDC_TESTS_TENSOR_FOLDER_H

#include "tests/support/temporary_folder.h"

struct tensor_folder {
    struct temporary_folder folder; /* holds the json */
    struct temporary_folder data;   /* dump_tensor_data */
};

static inline void tensor_folder_make(struct tensor_folder *made)
{
    folder_make(&made->folder);
    snprintf(made->data.path, sizeof made->data.path, "%s", made->folder.path);
    strncat(made->data.path, "/dump_tensor_data",
            sizeof made->data.path - strlen(made->data.path) - 1);
    assert_int_equal(mkdir(made->data.path, 0700), 0);
}

static inline void tensor_folder_remove(const struct tensor_folder *made)
{
    folder_remove(&made->data);
    folder_remove(&made->folder);
}

static inline void file_write(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* An npy file of version 1 in the folder of tensors. shape: "3, 4" or "5,". */
static inline void npy_write(const struct tensor_folder *made, const char *name, const char *descr,
                             bool fortran, const char *shape, const void *data, size_t size)
{
    char header[192];
    int length =
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }",
                 descr, fortran ? "True" : "False", shape);
    assert_true(length > 0 && length < 117);
    memset(header + length, ' ', 117 - (size_t)length);
    header[117] = '\n';
    FILE *file = fopen(folder_file(&made->data, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite("\x93NUMPY\1\0\x76\0", 1, 10, file), 10);
    assert_int_equal(fwrite(header, 1, 118, file), 118);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

#endif
