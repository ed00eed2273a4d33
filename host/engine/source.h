/*
 * source.h - the bytes of a tensor, span by span, from wherever they are fastest.
 *
 * A dense tensor in the page cache is used where it is mapped. One that is not there is read with
 * O_DIRECT into buffers of the thread: that costs no copy, keeps the disk busy with large requests
 * and leaves the page cache of the machine to others. `pread` reads through the page cache into the
 * same buffers, for file systems where a map is slow. Tensors that are not dense or not in native
 * order are gathered from the map.
 */
#ifndef TDC_HOST_SOURCE_H
#define TDC_HOST_SOURCE_H

#include "io/tensor/tensor_file.h"
#include "kernels/pair.h"

/* Bytes of one side that are read at once, when chunks are not larger themselves. */
#define TDC_SPAN_BYTES ((size_t)4 << 20)

enum tdc_source_mode {
    TDC_SOURCE_MAPPED,
    TDC_SOURCE_READ, /* pread, buffered or direct by the flags of the descriptor */
    TDC_SOURCE_GATHER
};

struct tdc_source {
    const struct tdc_tensor *tensor;
    enum tdc_source_mode mode;
    uint64_t offset; /* of the first element in the file */
};

enum tdc_chunk_result {
    TDC_CHUNK_DONE,
    TDC_CHUNK_NOT_NUMBERS,
    TDC_CHUNK_VANISHED,
    TDC_CHUNK_NO_MEMORY,
    TDC_CHUNK_NO_ANSWER /* from storage */
};

/* What became of a guarded read that ended before its time: vanished, or no answer. */
enum tdc_chunk_result tdc_chunk_lost(void);

/* Room for one span; made on first use, freed by the thread that owns it. */
struct tdc_span_buffer {
    void *bytes; /* TDC_READ_EXTRA more are there than the size says */
    size_t size;
    bool asked; /* a read is under way into it; tdc_source_get takes it */
};
void tdc_span_buffer_free(struct tdc_span_buffer *buffer);

/* Decides how the tensor will be read. */
void tdc_source_open(struct tdc_source *source, const struct tdc_tensor *tensor, tdc_io io);

/* The type of the elements that come out; text that holds numbers, and codes, become f64. */
tdc_dtype tdc_source_dtype(const struct tdc_tensor *tensor);

/* Asks for the pages of elements that tdc_source_get will be called for piece by piece. */
void tdc_source_want(const struct tdc_source *source, uint64_t first, uint64_t count);

/* Begins to read what tdc_source_get will be called for next with this buffer, where others can
 * wait for it meanwhile: on remote storage. */
void tdc_source_ask(const struct tdc_source *source, uint64_t first, size_t count,
                    struct tdc_span_buffer *buffer);

/*
 * A pointer to `count` dense native elements from `first` on, valid until the buffer is used again.
 * They may begin at any byte: arrays in archives and dumps of GE do, and kernels take them so.
 * Mapped elements may still vanish: read them inside tdc_guarded_read.
 */
enum tdc_chunk_result tdc_source_get(const struct tdc_source *source, uint64_t first, size_t count,
                                     struct tdc_span_buffer *buffer, const void **elements);

/* Gives up what tdc_source_get mapped, so that a run's resident memory stays at some spans a thread
 * however large its tensors are. The data stays in the page cache, and may be asked for again. */
void tdc_source_release(const struct tdc_source *source, uint64_t first, uint64_t count);

/*
 * Copies elements [first, first + count) in C order to a dense native buffer; texts become f64.
 * False if a text is no number. Touches mapped memory: call it inside tdc_guarded_read.
 */
bool tdc_gather_elements(const struct tdc_tensor *tensor, uint64_t first, size_t count,
                         void *buffer);

/* The same for elements as they are stored, in any view: `buffer` has room for `count` of them. */
void tdc_gather_boxes(const struct tdc_tensor *tensor, uint64_t first, size_t count, void *buffer);

/* The same for tensors whose elements are codes: `buffer` has room for `count` float64. */
void tdc_gather_codes(const struct tdc_tensor *tensor, uint64_t first, size_t count, void *buffer);

#endif
