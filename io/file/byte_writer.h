/*
 * byte_writer.h - a large buffer in front of a file descriptor, or of whatever takes bytes.
 *
 * A failure is kept, and everything after it dropped, so that a caller may put a whole row and ask
 * once. The descriptor stays the caller's.
 */
#ifndef TDC_IO_BYTE_WRITER_H
#define TDC_IO_BYTE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Takes all of the bytes; returns 0 or an errno. */
typedef int tdc_drain(void *context, const char *data, size_t length);

struct tdc_byte_writer {
    char *data;
    size_t used;
    int fd;
    int failure;       /* errno of the first failed write, 0 while all went well */
    tdc_drain *drain;  /* takes the bytes in place of the descriptor; NULL: none */
    void *context;     /* of the drain */
    uint64_t position; /* bytes flushed */
};

#define TDC_BYTE_WRITER_ROOM ((size_t)256 * 1024)

/* False when out of memory. */
bool tdc_byte_writer_start(struct tdc_byte_writer *writer, int fd);
/* Drops what is not flushed. Harmless when never started and zeroed. */
void tdc_byte_writer_free(struct tdc_byte_writer *writer);
/* True if every byte put so far reached the file. */
bool tdc_byte_writer_flush(struct tdc_byte_writer *writer);
/* Puts bytes that are not copied if they are many: they go to the file behind what is held. */
void tdc_put_large(struct tdc_byte_writer *writer, const char *data, size_t length);
/* The slow half of tdc_put. */
void tdc_byte_writer_overflow(struct tdc_byte_writer *writer, const char *data, size_t length);

/* Writes all of the bytes to a descriptor, however often it is interrupted; 0 or an errno. */
int tdc_write_fully(int fd, const char *data, size_t length);

static inline void tdc_put(struct tdc_byte_writer *writer, const char *data, size_t length)
{
    if (length > TDC_BYTE_WRITER_ROOM - writer->used) {
        tdc_byte_writer_overflow(writer, data, length);
        return;
    }
    if (length != 0)
        memcpy(writer->data + writer->used, data, length);
    writer->used += length;
}

static inline void tdc_putc(struct tdc_byte_writer *writer, char c)
{
    if (writer->used == TDC_BYTE_WRITER_ROOM) {
        tdc_byte_writer_overflow(writer, &c, 1);
        return;
    }
    writer->data[writer->used++] = c;
}

/* For literals: the compiler knows their length. */
#define TDC_PUT_LITERAL(writer, literal) tdc_put((writer), (literal), sizeof(literal) - 1)

#endif
