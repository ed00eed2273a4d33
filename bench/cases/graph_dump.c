#include "bench/cases/graph_dump.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/base/error.h"

enum {
    COLUMNS = 4096,
    BLOCK = 16
};

/* ---- the header of a dump of GE ---------------------------------------------------------------
 */

struct bytes {
    unsigned char data[256];
    size_t length;
};

static void put_number(struct bytes *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        out->data[out->length++] = (unsigned char)(value | 0x80);
    out->data[out->length++] = (unsigned char)value;
}

static void put_field(struct bytes *out, unsigned field, uint64_t value)
{
    put_number(out, (uint64_t)field << 3);
    put_number(out, value);
}

static void put_message(struct bytes *out, unsigned field, const struct bytes *message)
{
    put_number(out, (uint64_t)field << 3 | 2);
    put_number(out, message->length);
    memcpy(out->data + out->length, message->data, message->length);
    out->length += message->length;
}

static void put_shape(struct bytes *out, unsigned field, const uint64_t *dims, size_t count)
{
    struct bytes list = {.length = 0}, shape = {.length = 0};
    for (size_t i = 0; i < count; i++)
        put_number(&list, dims[i]);
    put_message(&shape, 1, &list);
    put_message(out, field, &shape);
}

/* One output of float32. */
static void ge_header(uint64_t rows, bool blocks, struct bytes *header)
{
    const uint64_t matrix[] = {rows, COLUMNS};
    const uint64_t stored[] = {COLUMNS / BLOCK, rows / BLOCK, BLOCK, BLOCK};
    struct bytes output = {.length = 0};
    put_field(&output, 1, 1);
    put_field(&output, 2, blocks ? 29 : 2);
    put_shape(&output, 3, blocks ? stored : matrix, blocks ? 4 : 2);
    put_field(&output, 6, rows * COLUMNS * sizeof(float));
    put_shape(&output, 7, matrix, 2);
    header->length = 0;
    put_message(header, 3, &output);
}

/* ---- files ------------------------------------------------------------------------------------
 */

static tdc_status write_file(const char *path, const void *head, size_t head_length, uint64_t rows,
                             struct tdc_error *error)
{
    static float row[COLUMNS];
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", path);
    for (size_t i = 0; i < COLUMNS; i++)
        row[i] = 1.5F; /* the same wherever it lies */
    bool written = fwrite(head, 1, head_length, file) == head_length;
    for (uint64_t i = 0; i < rows && written; i++)
        written = fwrite(row, sizeof row, 1, file) == 1;
    int number = errno;
    written = fclose(file) == 0 && written;
    return written ? TDC_OK : tdc_fail_errno(error, TDC_ERR_WRITE, number, "%s", path);
}

static tdc_status write_ge(const char *path, uint64_t rows, bool blocks, struct tdc_error *error)
{
    struct bytes header, whole = {.length = 8};
    ge_header(rows, blocks, &header);
    memset(whole.data, 0, 8);
    whole.data[0] = (unsigned char)header.length; /* less than 256 */
    memcpy(whole.data + 8, header.data, header.length);
    whole.length += header.length;
    return write_file(path, whole.data, whole.length, rows, error);
}

static tdc_status write_npy(const char *path, uint64_t rows, struct tdc_error *error)
{
    char head[128];
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\x01\0\x76\0", 10);
    int length = snprintf(head + 10, sizeof head - 10,
                          "{'descr': '<f4', 'fortran_order': False, 'shape': (%llu, %d), }",
                          (unsigned long long)rows, COLUMNS);
    head[10 + length] = ' ';
    head[sizeof head - 1] = '\n';
    return write_file(path, head, sizeof head, rows, error);
}

static tdc_status make_folders(char *path, struct tdc_error *error)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", path);
    }
    return TDC_OK;
}

static tdc_status write_text(const char *path, struct tdc_error *error)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", path);
    fputs("op {\n  name: \"Add\"\n  output_desc {\n    attr {\n      key: \"_fx_tensor_name\"\n"
          "      value { s: \"add-aten.add.OUTPUT.0\" }\n    }\n  }\n}\n",
          file);
    return fclose(file) == 0 ? TDC_OK : tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", path);
}

tdc_status tdc_graph_dump_make(const char *folder, uint64_t bytes, bool blocks,
                               struct tdc_graph_paths *paths, uint64_t *size,
                               struct tdc_error *error)
{
    uint64_t step = (uint64_t)BLOCK * COLUMNS * sizeof(float);
    uint64_t rows = (bytes > step ? bytes / step : 1) * BLOCK;
    char file[4600];
    *size = rows * COLUMNS * sizeof(float);
    snprintf(paths->ge, sizeof paths->ge, "%s/npu", folder);
    snprintf(paths->fx, sizeof paths->fx, "%s/bench", folder);
    snprintf(paths->plain, sizeof paths->plain, "%s/npu/plain.npy", folder);
    snprintf(paths->other, sizeof paths->other, "%s/bench/plain.npy", folder);
    snprintf(file, sizeof file, "%s/20250101000000/0/graph/1/0/Add.Add.1.1.1735689600000000",
             paths->ge);
    tdc_status status = make_folders(file, error);
    if (status == TDC_OK)
        status = write_ge(file, rows, blocks, error);
    snprintf(file, sizeof file, "%s/dynamo_original_graph_1_rank_0_pid_1_ts_1.txt", paths->ge);
    if (status == TDC_OK)
        status = write_text(file, error);
    snprintf(file, sizeof file, "%s/1/gm_1_dump/add-aten.add.OUTPUT.0.1.npy", paths->fx);
    if (status == TDC_OK)
        status = make_folders(file, error);
    if (status == TDC_OK)
        status = write_npy(file, rows, error);
    if (status == TDC_OK)
        status = write_npy(paths->plain, rows, error);
    return status == TDC_OK ? write_npy(paths->other, rows, error) : status;
}
