/* synthetic_file.c - a tensor file that comes piece by piece. */
#include "bench/synthetic/synthetic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#include "io/base/error.h"
#include "io/tensor/npy_writer.h"

#define HEAD_LIMIT ((size_t)1 << 16)

static tdc_status write_all(struct tdc_synthetic_file *file, const char *bytes, size_t size,
                            struct tdc_error *error)
{
    while (size > 0) {
        ssize_t done = write(file->fd, bytes, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", file->path);
        bytes += done;
        size -= (size_t)done;
    }
    return TDC_OK;
}

tdc_status tdc_synthetic_file_open(struct tdc_synthetic_file *file, const char *folder,
                                   const char *stem, enum tdc_synthetic_layout layout,
                                   const struct tdc_synthetic_shape *shape, struct tdc_error *error)
{
    *file = (struct tdc_synthetic_file){.fd = -1, .layout = layout};
    struct tdc_text head;
    tdc_text_init(&head, HEAD_LIMIT);
    int length = snprintf(file->path, sizeof file->path, "%s/%s.%s", folder, stem,
                          layout == TDC_LAYOUT_PT ? "pt" : "npy");
    if (length < 0 || (size_t)length >= sizeof file->path)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: path too long", folder);
    bool made =
        layout == TDC_LAYOUT_PT
            ? tdc_pt_head(&file->pt, &head, stem, shape->dtype, shape->dimensions, shape->sizes)
            : tdc_npy_head(&head, shape->dtype, shape->dimensions, shape->sizes);
    tdc_status status = TDC_OK;
    if (!made)
        status = tdc_fail(error, head.failed ? TDC_ERR_MEMORY : TDC_ERR_ARGUMENT,
                          "%s: no head for such a tensor", file->path);
    if (made)
        file->fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (made && file->fd < 0)
        status = tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", file->path);
    if (status == TDC_OK)
        status = write_all(file, head.data, head.length, error);
    tdc_text_free(&head);
    if (status != TDC_OK)
        tdc_synthetic_file_drop(file);
    return status;
}

tdc_status tdc_synthetic_file_add(struct tdc_synthetic_file *file, const void *bytes, size_t size,
                                  uint32_t crc, struct tdc_error *error)
{
    file->crc = (uint32_t)crc32_combine(file->crc, crc, (z_off_t)size);
    return write_all(file, bytes, size, error);
}

tdc_status tdc_synthetic_file_close(struct tdc_synthetic_file *file, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    if (file->layout == TDC_LAYOUT_PT) {
        struct tdc_text tail;
        tdc_text_init(&tail, HEAD_LIMIT);
        status = !tdc_pt_tail(&file->pt, &tail, file->crc)
                     ? tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", file->path)
                     : write_all(file, tail.data, tail.length, error);
        tdc_text_free(&tail);
    }
    int fd = file->fd;
    file->fd = -1;
    if (close(fd) != 0 && status == TDC_OK)
        status = tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", file->path);
    tdc_synthetic_file_drop(file);
    return status;
}

void tdc_synthetic_file_drop(struct tdc_synthetic_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}
