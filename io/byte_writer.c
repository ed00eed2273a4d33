#include "io/byte_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

bool tdc_byte_writer_start(struct tdc_byte_writer *writer, int fd)
{
    *writer = (struct tdc_byte_writer){.fd = fd};
    writer->data = malloc(TDC_BYTE_WRITER_ROOM);
    return writer->data != NULL;
}

void tdc_byte_writer_redirect(struct tdc_byte_writer *writer, int fd)
{
    writer->fd = fd;
    writer->used = 0;
    writer->failure = 0;
    writer->crc = 0;
    writer->position = 0;
}

void tdc_byte_writer_free(struct tdc_byte_writer *writer)
{
    free(writer->data);
    writer->data = NULL;
    writer->used = 0;
}

static void write_all(struct tdc_byte_writer *writer, const char *data, size_t length)
{
    if (writer->failure != 0)
        return;
    if (writer->sums)
        writer->crc = (uint32_t)crc32_z(writer->crc, (const unsigned char *)data, length);
    while (length != 0) {
        ssize_t done = write(writer->fd, data, length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            writer->failure = done < 0 ? errno : EIO;
            return;
        }
        data += done;
        length -= (size_t)done;
        writer->position += (uint64_t)done;
    }
}

bool tdc_byte_writer_flush(struct tdc_byte_writer *writer)
{
    write_all(writer, writer->data, writer->used);
    writer->used = 0;
    return writer->failure == 0;
}

void tdc_byte_writer_overflow(struct tdc_byte_writer *writer, const char *data, size_t length)
{
    tdc_byte_writer_flush(writer);
    if (length >= TDC_BYTE_WRITER_ROOM) {
        write_all(writer, data, length);
        return;
    }
    memcpy(writer->data, data, length);
    writer->used = length;
}
