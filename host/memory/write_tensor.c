/* write_tensor.c - a tensor in memory as a file of a dump. */
#include <string.h>
#include <zlib.h>

#include "host/memory/buffer.h"
#include "io/base/error.h"
#include "io/file/byte_writer.h"
#include "io/file/out_file.h"
#include "io/tensor/npy_writer.h"
#include "io/tensor/pickle/pt_writer.h"
#include "kernels/dtype.h"

#define AROUND_LIMIT ((size_t)1 << 16)
#define GATHERED     ((size_t)4096)
/* Bytes of a dense tensor that are summed up and written at a time: what a cache holds. */
#define AT_ONCE ((size_t)1 << 20)

struct writing {
    int fd;
    const char *path;
    bool pt;
    uint32_t crc;
};

static tdc_status put(struct writing *writing, const void *bytes, size_t length,
                      struct tdc_error *error)
{
    int failure = tdc_write_fully(writing->fd, bytes, length);
    if (failure != 0)
        return tdc_fail_errno(error, TDC_ERR_WRITE, failure, "%s: cannot be written",
                              writing->path);
    return TDC_OK;
}

static tdc_status put_elements(struct writing *writing, const struct tdc_tensor *tensor,
                               struct tdc_error *error)
{
    unsigned char room[GATHERED * 16];
    size_t size = tdc_dtype_size(tensor->dtype);
    size_t at_once = tensor->dense ? AT_ONCE / size : GATHERED;
    tdc_status status = TDC_OK;
    for (uint64_t first = 0; first < tensor->count && status == TDC_OK; first += at_once) {
        uint64_t left = tensor->count - first;
        size_t count = left < at_once ? (size_t)left : at_once;
        const unsigned char *elements = tdc_buffer_elements(tensor, first, count, room);
        if (writing->pt)
            writing->crc = (uint32_t)crc32_z(writing->crc, elements, count * size);
        status = put(writing, elements, count * size, error);
    }
    return status;
}

static tdc_status put_all(struct writing *writing, const struct tdc_tensor *tensor,
                          const char *stem, struct tdc_text *around, struct tdc_error *error)
{
    struct tdc_pt_writer writer;
    bool possible =
        writing->pt
            ? tdc_pt_head(&writer, around, stem, tensor->dtype, tensor->dimensions, tensor->shape)
            : tdc_npy_head(around, tensor->dtype, tensor->dimensions, tensor->shape);
    if (!possible)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED,
                        "%s: the format cannot hold it: %llu elements of %s", writing->path,
                        (unsigned long long)tensor->count, tdc_dtype_name(tensor->dtype));
    tdc_status status = put(writing, around->data, around->length, error);
    if (status == TDC_OK)
        status = put_elements(writing, tensor, error);
    if (status != TDC_OK || !writing->pt)
        return status;
    tdc_text_clear(around);
    if (!tdc_pt_tail(&writer, around, writing->crc))
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", writing->path);
    return put(writing, around->data, around->length, error);
}

static tdc_status write_file(const struct tdc_tensor *tensor, const char *path, bool pt,
                             struct tdc_error *error)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    struct tdc_text stem, around;
    tdc_text_init(&stem, AROUND_LIMIT);
    tdc_text_init(&around, AROUND_LIMIT);
    struct tdc_out_file file = TDC_OUT_FILE_NONE;
    tdc_status status = TDC_OK;
    if (!tdc_text_add(&stem, name, strlen(name) - (pt ? 3 : 4)))
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    if (status == TDC_OK)
        status = tdc_out_file_open_many(path, &file, error);
    if (status == TDC_OK) {
        struct writing writing = {.fd = file.fd, .path = path, .pt = pt};
        status = put_all(&writing, tensor, tdc_text_get(&stem), &around, error);
    }
    if (status == TDC_OK)
        status = tdc_out_file_commit(&file, error);
    tdc_out_file_discard(&file);
    tdc_text_free(&around);
    tdc_text_free(&stem);
    return status;
}

tdc_status tdc_buffer_write(const struct tdc_buffer *tensor, const char *path,
                            struct tdc_error *error)
{
    struct tdc_tensor taken;
    bool pt = tdc_ends_in(path, ".pt");
    if (!pt && !tdc_ends_in(path, ".npy"))
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: the name ends in neither .npy nor .pt", path);
    tdc_status status = tdc_buffer_take(tensor, "tensor", &taken, error);
    return status == TDC_OK ? write_file(&taken, path, pt, error) : status;
}
