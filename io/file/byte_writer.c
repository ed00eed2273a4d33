#include "io/file/byte_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/platform/platform.h"

/* The disk begins when so much has been written: a table is flushed when its last row is there, and
 * the rows before need not be waited for then. */
#define WRITTEN_STEP ((uint64_t)4 << 20)

bool tdc_byte_writer_start(struct tdc_byte_writer *writer, int fd)
{
    *writer = (struct tdc_byte_writer){.fd = fd};
    writer->data = malloc(TDC_BYTE_WRITER_ROOM);
    return writer->data != NULL;
}

void tdc_byte_writer_free(struct tdc_byte_writer *writer)
{
    free(writer->data);
    writer->data = NULL;
    writer->used = 0;
}

int tdc_write_fully(int fd, const char *data, size_t length)
{
    while (length != 0) {
        ssize_t done = write(fd, data, length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? errno : EIO;
        data += done;
        length -= (size_t)done;
    }
    return 0;
}

static void pass_on(struct tdc_byte_writer *writer, const char *data, size_t length)
{
    if (writer->failure != 0)
        return;
    writer->failure = writer->drain != NULL ? writer->drain(writer->context, data, length)
                                            : tdc_write_fully(writer->fd, data, length);
    if (writer->failure != 0)
        return;
    uint64_t before = writer->position;
    writer->position += length;
    if (writer->drain == NULL && writer->position / WRITTEN_STEP != before / WRITTEN_STEP)
        tdc_file_advise(writer->fd, TDC_FILE_WRITTEN);
}

bool tdc_byte_writer_flush(struct tdc_byte_writer *writer)
{
    pass_on(writer, writer->data, writer->used);
    writer->used = 0;
    return writer->failure == 0;
}

void tdc_put_large(struct tdc_byte_writer *writer, const char *data, size_t length)
{
    if (length < TDC_BYTE_WRITER_ROOM / 4) {
        tdc_put(writer, data, length);
        return;
    }
    tdc_byte_writer_flush(writer);
    pass_on(writer, data, length);
}

void tdc_byte_writer_overflow(struct tdc_byte_writer *writer, const char *data, size_t length)
{
    tdc_byte_writer_flush(writer);
    if (length >= TDC_BYTE_WRITER_ROOM) {
        pass_on(writer, data, length);
        return;
    }
    memcpy(writer->data, data, length);
    writer->used = length;
}
