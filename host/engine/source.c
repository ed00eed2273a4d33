#include "host/engine/source.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/engine/logical/logical.h"
#include "io/file/file_map.h"
#include "io/file/mapping_guard.h"
#include "io/platform/platform.h"
#include "io/storage/fetched_map.h"
#include "io/storage/patience.h"
#include "io/storage/patient_read.h"
#include "io/storage/storage_calls.h"

/* Direct reads want offset, length and memory aligned to the blocks of the device. */
#define ALIGNMENT ((size_t)4096)
/* A direct read pins each page of its buffer: huge pages made it 1.3 to 1.5 times as fast. */
#define HUGE_PAGE ((size_t)2 << 20)

enum tdc_chunk_result tdc_chunk_lost(void)
{
    return tdc_fetch_failure() >= TDC_NO_ANSWER ? TDC_CHUNK_NO_ANSWER : TDC_CHUNK_VANISHED;
}

void tdc_span_buffer_free(struct tdc_span_buffer *buffer)
{
    if (buffer->bytes != NULL)
        munmap(buffer->bytes, buffer->size + TDC_READ_EXTRA);
    *buffer = (struct tdc_span_buffer){0};
}

/* Fresh memory that begins at a huge page: what malloc hands out again is in small pages already.
 * NULL when out of memory. */
static void *map_aligned(size_t size)
{
    char *room =
        mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return NULL;
    size_t before = (HUGE_PAGE - (uintptr_t)room % HUGE_PAGE) % HUGE_PAGE;
    if (before != 0)
        munmap(room, before);
    munmap(room + before + size, HUGE_PAGE - before);
    tdc_pages_advise(room + before, size / HUGE_PAGE * HUGE_PAGE, TDC_PAGES_LARGE);
    return room + before;
}

static bool reserve(struct tdc_span_buffer *buffer, size_t size)
{
    if (buffer->size >= size)
        return true;
    tdc_span_buffer_free(buffer);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (page < ALIGNMENT)
        page = ALIGNMENT;
    size = (size + page - 1) / page * page;
    buffer->bytes = map_aligned(size + TDC_READ_EXTRA);
    buffer->size = buffer->bytes != NULL ? size : 0;
    return buffer->bytes != NULL;
}

tdc_dtype tdc_source_dtype(const struct tdc_tensor *tensor)
{
    bool stands_for = tensor->dtype == TDC_TEXT || tensor->coding != TDC_CODING_PLAIN;
    return stands_for || tensor->as_f64 ? TDC_F64 : tensor->dtype;
}

/* ---- choosing -------------------------------------------------------------------------------- */

/*
 * Whether the file must come from the disk: most of a few sampled pages are not in the page cache.
 * Where the kernel does not tell (a file of someone else) it looks resident, and the map serves.
 */
static bool is_cold(const struct tdc_tensor *tensor)
{
    enum {
        SAMPLES = 16
    };
    /* of its own pages: a file of many tensors may be in the cache in part */
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t start = (size_t)(tensor->data - (const unsigned char *)tensor->map) / page * page;
    size_t pages = tensor->count * tdc_dtype_size(tensor->dtype) / page;
    unsigned absent = 0;
    for (size_t i = 0; i < SAMPLES; i++) {
        unsigned char resident = 1;
        size_t at = start + pages / SAMPLES * i * page;
        if (!tdc_pages_resident((char *)tensor->map + at, page, &resident))
            return false;
        absent += resident == 0;
    }
    return absent > SAMPLES / 2;
}

void tdc_source_open(struct tdc_source *source, const struct tdc_tensor *tensor, tdc_io io)
{
    *source = (struct tdc_source){.tensor = tensor, .mode = TDC_SOURCE_MAPPED};
    if (tensor->assembled != NULL || !tensor->dense || tensor->swapped ||
        tensor->dtype == TDC_TEXT || tensor->coding != TDC_CODING_PLAIN) {
        source->mode = TDC_SOURCE_GATHER;
        return;
    }
    if (tensor->map == NULL || tensor->descriptor < 0)
        return; /* small: already in memory */
    source->offset = (uint64_t)(tensor->data - (const unsigned char *)tensor->map);
    /* pages that come over a network are a trip each, and nothing but a thread that hangs when they
     * do not */
    bool remote = io == TDC_IO_AUTO && tdc_storage_mount(tensor->descriptor) != NULL;
    bool direct = io == TDC_IO_DIRECT || (io == TDC_IO_AUTO && !remote && is_cold(tensor));
    if (io == TDC_IO_PREAD || remote || (direct && tdc_file_bypass_cache(tensor->descriptor))) {
        source->mode = TDC_SOURCE_READ;
        /* the map serves single elements only: the worst ones */
        tdc_pages_advise(tensor->map, tensor->map_size, TDC_PAGES_RANDOM);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Advice about the pages of mapped elements. */
static void advise(const struct tdc_source *source, uint64_t first, uint64_t count,
                   enum tdc_page_advice advice)
{
    const struct tdc_tensor *tensor = source->tensor;
    if (source->mode != TDC_SOURCE_MAPPED || tensor->map == NULL)
        return;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = tdc_dtype_size(tensor->dtype);
    uintptr_t start = (uintptr_t)(tensor->data + first * size) / page * page;
    uintptr_t end = (uintptr_t)(tensor->data + (first + count) * size);
    if (advice == TDC_PAGES_DONE)
        tdc_file_map_done((void *)start, end - start);
    else
        tdc_pages_advise((void *)start, end - start, advice);
}

void tdc_source_want(const struct tdc_source *source, uint64_t first, uint64_t count)
{
    if (source->tensor->assembled != NULL)
        tdc_assembled_want(source->tensor->assembled, first, count);
}

void tdc_source_release(const struct tdc_source *source, uint64_t first, uint64_t count)
{
    if (source->tensor->assembled != NULL)
        tdc_assembled_release(source->tensor->assembled, first, count);
    else
        advise(source, first, count, TDC_PAGES_DONE);
}

/* The bytes of a span in its file, from the start of a block on. */
struct range {
    uint64_t aligned;
    size_t lead, size, want;
};

static struct range range_of(const struct tdc_source *source, uint64_t first, size_t count)
{
    size_t size = tdc_dtype_size(source->tensor->dtype);
    uint64_t start = source->offset + first * size, end = start + count * size;
    uint64_t aligned = start / ALIGNMENT * ALIGNMENT;
    return (struct range){
        .aligned = aligned,
        .lead = (size_t)(start - aligned),
        .size = (size_t)(end - aligned),
        .want = (size_t)((end - aligned + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT),
    };
}

void tdc_source_ask(const struct tdc_source *source, uint64_t first, size_t count,
                    struct tdc_span_buffer *buffer)
{
    if (source->mode != TDC_SOURCE_READ || tdc_storage_mount(source->tensor->descriptor) == NULL)
        return;
    struct range range = range_of(source, first, count);
    if (!reserve(buffer, range.want))
        return;
    tdc_read_begin(source->tensor->descriptor, (off_t)range.aligned, range.want, buffer->bytes,
                   buffer->size);
    buffer->asked = true;
}

/* What was asked for. */
static enum tdc_chunk_result take_asked(const struct range *range, struct tdc_span_buffer *buffer,
                                        const void **elements)
{
    size_t got;
    bool kept;
    int number = tdc_read_end(buffer->bytes, buffer->size, &got, &kept);
    buffer->asked = false;
    if (!kept)
        *buffer = (struct tdc_span_buffer){0};
    if (number != 0) {
        tdc_fetch_failure_set(number);
        return kept ? TDC_CHUNK_VANISHED : TDC_CHUNK_NO_ANSWER;
    }
    if (got < range->size)
        return TDC_CHUNK_VANISHED;
    *elements = (const char *)buffer->bytes + range->lead;
    return TDC_CHUNK_DONE;
}

static enum tdc_chunk_result read_span(const struct tdc_source *source, uint64_t first,
                                       size_t count, struct tdc_span_buffer *buffer,
                                       const void **elements)
{
    struct range range = range_of(source, first, count);
    if (!buffer->asked)
        tdc_source_ask(source, first, count, buffer);
    if (buffer->asked)
        return take_asked(&range, buffer, elements);
    if (!reserve(buffer, range.want))
        return TDC_CHUNK_NO_MEMORY;
    size_t got = 0;
    while (got < range.size) {
        ssize_t part = pread(source->tensor->descriptor, (char *)buffer->bytes + got,
                             range.want - got, (off_t)(range.aligned + got));
        if (part < 0 && errno == EINTR)
            continue;
        if (part <= 0)
            return TDC_CHUNK_VANISHED;
        got += (size_t)part;
    }
    *elements = (const char *)buffer->bytes + range.lead;
    return TDC_CHUNK_DONE;
}

struct gathering {
    const struct tdc_tensor *tensor;
    uint64_t first;
    size_t count;
    void *buffer;
    bool numbers;
};

static void gather(void *argument)
{
    struct gathering *gathering = argument;
    gathering->numbers = tdc_gather_elements(gathering->tensor, gathering->first, gathering->count,
                                             gathering->buffer);
}

static enum tdc_chunk_result gather_span(const struct tdc_source *source, uint64_t first,
                                         size_t count, struct tdc_span_buffer *buffer,
                                         const void **elements)
{
    const struct tdc_assembled *assembled = source->tensor->assembled;
    const void *in_place =
        assembled != NULL ? tdc_assembled_in_place(assembled, first, count) : NULL;
    if (in_place != NULL) {
        *elements = in_place;
        return TDC_CHUNK_DONE;
    }
    if (!reserve(buffer, count * tdc_dtype_size(tdc_source_dtype(source->tensor))))
        return TDC_CHUNK_NO_MEMORY;
    struct gathering gathering = {source->tensor, first, count, buffer->bytes, false};
    if (!tdc_guarded_read(gather, &gathering))
        return tdc_chunk_lost();
    *elements = buffer->bytes;
    return gathering.numbers ? TDC_CHUNK_DONE : TDC_CHUNK_NOT_NUMBERS;
}

enum tdc_chunk_result tdc_source_get(const struct tdc_source *source, uint64_t first, size_t count,
                                     struct tdc_span_buffer *buffer, const void **elements)
{
    switch (source->mode) {
    case TDC_SOURCE_MAPPED:
        /* Faults bring the pages, many at a time: asking for a span's beforehand looks at each page
         * once more, and took 1.3 times as long (docs/bench.md#from-the-page-cache-to-a-core). */
        *elements = source->tensor->data + first * tdc_dtype_size(source->tensor->dtype);
        return TDC_CHUNK_DONE;
    case TDC_SOURCE_READ:
        return read_span(source, first, count, buffer, elements);
    case TDC_SOURCE_GATHER:
        return gather_span(source, first, count, buffer, elements);
    }
    return TDC_CHUNK_NO_MEMORY;
}
