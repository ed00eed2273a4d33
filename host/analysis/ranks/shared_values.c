/* shared_values.c - what each slot holds: the elements of its file, a checksum, or statistics. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "host/analysis/ranks/shared.h"
#include "host/engine/job_path.h"
#include "host/engine/source.h"
#include "io/base/error.h"
#include "io/base/team.h"
#include "io/file/mapping_guard.h"

struct reading {
    struct tdc_ranks *ranks;
    const struct tdc_options *options;
    atomic_size_t next;
    atomic_uint_fast64_t unreadable;
    atomic_bool failed; /* for want of memory */
};

struct piece {
    const void *elements;
    size_t bytes;
    uLong crc;
};

static void add_piece(void *argument)
{
    struct piece *piece = argument;
    piece->crc = crc32_z(piece->crc, piece->elements, piece->bytes);
}

/* CRC-32 of the elements in C order, as msprobe's own checksums are: equal tensors agree however
 * they are stored. False when the file cannot be read. */
static bool checksum(const struct tdc_tensor *tensor, struct tdc_span_buffer *buffer,
                     struct tdc_slot *slot, atomic_bool *failed)
{
    struct tdc_source source;
    struct piece piece = {.crc = crc32_z(0, NULL, 0)};
    size_t size = tdc_dtype_size(tdc_source_dtype(tensor));
    if (size == 0)
        return false;
    tdc_source_open(&source, tensor, TDC_IO_AUTO);
    for (uint64_t first = 0; first < tensor->count; first += TDC_PAIR_CHUNK) {
        uint64_t left = tensor->count - first;
        size_t count = left < TDC_PAIR_CHUNK ? (size_t)left : TDC_PAIR_CHUNK;
        enum tdc_chunk_result result =
            tdc_source_get(&source, first, count, buffer, &piece.elements);
        if (result == TDC_CHUNK_NO_MEMORY)
            atomic_store(failed, true);
        piece.bytes = count * size;
        if (result != TDC_CHUNK_DONE || !tdc_guarded_read(add_piece, &piece))
            return false;
        tdc_source_release(&source, first, count);
    }
    slot->has_checksum = true;
    slot->checksum = (uint32_t)piece.crc;
    return true;
}

static bool read_slot(struct reading *reading, struct tdc_slot *slot, struct tdc_text *path,
                      struct tdc_span_buffer *buffer)
{
    struct tdc_error error = {0};
    struct tdc_tensor tensor;
    const char *folder = reading->ranks->data_folders[slot->rank];
    const char *file = tdc_job_path(path, folder, slot->file, &error);
    bool done =
        file != NULL && tdc_tensor_open(file, TDC_TENSOR_BY_SUFFIX, &tensor, &error) == TDC_OK;
    if (done) {
        done = checksum(&tensor, buffer, slot, &reading->failed);
        tdc_tensor_close(&tensor);
    }
    if (error.status == TDC_ERR_MEMORY)
        atomic_store(&reading->failed, true);
    return done;
}

static void read_slots(void *argument, int member)
{
    (void)member;
    struct reading *reading = argument;
    const struct tdc_options *options = reading->options;
    struct tdc_text path;
    struct tdc_span_buffer buffer = {0};
    tdc_text_init(&path, (size_t)1 << 16);
    for (;;) {
        size_t index = atomic_fetch_add(&reading->next, 1);
        if (index >= reading->ranks->slot_count || atomic_load(&reading->failed) ||
            tdc_cancel_is_set(options->cancel))
            break;
        struct tdc_slot *slot = &reading->ranks->slots[index];
        if (slot->file != NULL && !read_slot(reading, slot, &path, &buffer))
            atomic_fetch_add(&reading->unreadable, 1);
        if (options->progress != NULL)
            options->progress(options->context, 1, slot->file != NULL ? slot->bytes : 0);
    }
    tdc_span_buffer_free(&buffer);
    tdc_text_free(&path);
}

static bool number_values(struct tdc_ranks *ranks)
{
    struct tdc_text text;
    tdc_text_init(&text, (size_t)1 << 20);
    bool done = true;
    for (size_t i = 0; i < ranks->slot_count && done; i++) {
        struct tdc_slot *slot = &ranks->slots[i];
        if (slot->file != NULL && !slot->has_checksum)
            continue;
        bool fresh;
        tdc_text_clear(&text);
        tdc_text_adds(&text, slot->description);
        if (slot->has_checksum)
            tdc_text_addf(&text, " %08x", slot->checksum);
        const char *kept = tdc_arena_text(&ranks->arena, tdc_text_get(&text), text.length);
        slot->value = kept != NULL && !text.failed
                          ? tdc_names_put(&ranks->values, kept, text.length, &fresh)
                          : TDC_NAME_NONE;
        done = slot->value != TDC_NAME_NONE;
    }
    tdc_text_free(&text);
    return done;
}

tdc_status tdc_slots_value(struct tdc_ranks *ranks, const struct tdc_options *options,
                           struct tdc_error *error)
{
    struct reading reading = {.ranks = ranks, .options = options};
    if (!tdc_guard_begin())
        return tdc_fail(error, TDC_ERR_SYSTEM, "no handler for vanishing files");
    tdc_team_run(tdc_team_size(options->threads), read_slots, &reading);
    tdc_guard_end();
    if (tdc_cancel_is_set(options->cancel))
        return tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
    ranks->counts.unreadable = atomic_load(&reading.unreadable);
    if (atomic_load(&reading.failed) || !number_values(ranks))
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    return TDC_OK;
}
