/*
 * fuzz_share.c - parts and journals of any content: heads, records, outcomes, pieces.
 *
 * The first byte chooses: the rest as a whole file; as a file whose frames get right checksums,
 * lengths and all; or as the content of one record.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "host/share/known.h"
#include "host/share/outcome_record.h"
#include "io/base/little_endian.h"

enum {
    PARTS = 2,
    LENGTH = 3,
    MOST_CHUNKS = 64
};

/* A job with everything a record can speak of. */
static void with_logical_job(const unsigned char *bytes, size_t size)
{
    struct tdc_logical_part parts[PARTS] = {{.where = "rank0"}, {.where = "rank1"}};
    struct tdc_logical logical = {
        .dimensions = 1, .shape = {4}, .count = 4, .parts = parts, .part_count = PARTS};
    struct tdc_series_sums sums[LENGTH] = {{0}};
    struct tdc_series series = {.axis = "token", .length = LENGTH, .inner = 1, .sums = sums};
    struct tdc_job job = {.n_logical = &logical, .b_logical = &logical, .series = &series};
    struct tdc_outcome outcome = {0}, again = {0};
    if (!tdc_outcome_take(bytes, size, &job, &outcome)) {
        struct tdc_series_sums zeros[LENGTH] = {{0}};
        if (memcmp(sums, zeros, sizeof sums) != 0)
            abort(); /* a record that is refused leaves nothing behind */
        return;
    }
    struct tdc_text first, second;
    tdc_text_init(&first, (size_t)1 << 20);
    tdc_text_init(&second, (size_t)1 << 20);
    tdc_outcome_put(&first, &job, &outcome);
    if (!tdc_outcome_take((const unsigned char *)first.data, first.length, &job, &again))
        abort();
    tdc_outcome_put(&second, &job, &again);
    if (first.length != second.length || memcmp(first.data, second.data, first.length) != 0)
        abort();
    tdc_text_free(&first);
    tdc_text_free(&second);
}

static void read_content(const unsigned char *bytes, size_t size)
{
    static const struct tdc_job plain = {.n_file = "a", .b_file = "b"};
    static struct tdc_pair_sums sums[MOST_CHUNKS];
    struct tdc_outcome outcome = {0};
    struct tdc_piece_sums piece;
    if (tdc_outcome_take(bytes, size, &plain, &outcome) &&
        (outcome.n_twins.apart || outcome.n_dtype >= TDC_DTYPE_COUNT ||
         memchr(outcome.error.message, '\0', sizeof outcome.error.message) == NULL))
        abort();
    with_logical_job(bytes, size);
    if (tdc_piece_take(bytes, size, &piece, sums, MOST_CHUNKS) &&
        (piece.count > MOST_CHUNKS || piece.first + piece.count > piece.chunks))
        abort();
}

static void read_part(const unsigned char *bytes, size_t size)
{
    struct tdc_part part;
    struct tdc_error error = {0};
    if (tdc_part_read_head(bytes, size, &part, &error) != TDC_OK)
        return;
    struct tdc_text head;
    tdc_text_init(&head, (size_t)1 << 26);
    tdc_part_put_head(&head, &part.head);
    if (head.failed || head.length != part.first || memcmp(head.data, bytes, head.length) != 0)
        abort(); /* a head has one form */
    tdc_text_free(&head);
    struct tdc_part_record record;
    size_t count = 0;
    for (size_t at = part.first; tdc_part_next(bytes, part.whole, &at, &record); count++)
        read_content(record.content, record.size);
    struct tdc_known known = {0};
    unsigned char *copy = malloc(size + 1);
    memcpy(copy, bytes, size);
    if (!tdc_known_add(&known, copy, part.whole, part.first) || known.count > count)
        abort();
    for (size_t i = 0; i < known.count; i++)
        if (tdc_known_find(&known, known.records[i].kind, &known.records[i].key) !=
            &known.records[i])
            abort();
    tdc_known_free(&known);
    tdc_part_free(&part);
}

/* Frames with the checksum of what is in them, so that their bodies are looked at. */
static void mend(unsigned char *bytes, size_t size)
{
    for (size_t at = TDC_PART_MAGIC_SIZE; at < size && size - at >= 8;) {
        size_t room = size - at - 8, length = tdc_le32(bytes + at) % (room + 1);
        tdc_set_le32(bytes + at, (uint32_t)length);
        tdc_set_le32(bytes + at + 4,
                     (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes + at + 8, length));
        at += 8 + length;
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (size == 0)
        return 0;
    unsigned char *bytes = malloc(size);
    memcpy(bytes, data + 1, size - 1);
    if (data[0] == 'c') {
        read_content(bytes, size - 1);
    } else {
        if (data[0] == 'm')
            mend(bytes, size - 1);
        read_part(bytes, size - 1);
    }
    free(bytes);
    return 0;
}
