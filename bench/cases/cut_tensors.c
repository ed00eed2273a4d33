#include "bench/cases/cut_tensors.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/synthetic/synthetic_values.h"
#include "io/base/error.h"
#include "io/file/out_file.h"
#include "kernels/dtype.h"

enum {
    /* Elements after which values repeat: no size of a row or rank divides it. */
    POOL = 1000003,
    /* Bytes that are put together before they are written. */
    BATCH = 1 << 20
};

struct making {
    const struct tdc_cut_side *side;
    const struct tdc_cancel *cancel;
    size_t element;
    unsigned char *pool, *batch;
    size_t filled;
    FILE *file;
};

static bool fill_pool(struct making *making)
{
    const struct tdc_cut_side *side = making->side;
    const struct tdc_values values = {.dtype = side->dtype, .seed = 17, .deviation = 1};
    making->pool = malloc((POOL + TDC_VALUES_BLOCK) * making->element);
    making->batch = malloc(BATCH);
    if (making->pool == NULL || making->batch == NULL)
        return false;
    for (size_t at = 0; at < POOL; at += TDC_VALUES_BLOCK) {
        unsigned char *block = making->pool + at * making->element;
        tdc_values_fill(&values, at / TDC_VALUES_BLOCK, TDC_VALUES_BLOCK, block);
        if (side->other)
            tdc_values_round(side->dtype, block, TDC_VALUES_BLOCK);
    }
    return true;
}

static bool flush(struct making *making)
{
    size_t filled = making->filled;
    making->filled = 0;
    return !tdc_cancel_is_set(making->cancel) &&
           fwrite(making->batch, 1, filled, making->file) == filled;
}

/* Elements of the whole matrix that follow each other. */
static bool put_run(struct making *making, uint64_t first, uint64_t count)
{
    while (count != 0) {
        size_t at = (size_t)(first % POOL), room = (BATCH - making->filled) / making->element;
        size_t part = POOL - at < count ? POOL - at : (size_t)count;
        if (room == 0) {
            if (!flush(making))
                return false;
            continue;
        }
        part = part < room ? part : room;
        memcpy(making->batch + making->filled, making->pool + at * making->element,
               part * making->element);
        making->filled += part * making->element;
        first += part;
        count -= part;
    }
    return true;
}

static bool put_header(const struct making *making, unsigned rank, uint64_t rows, uint64_t columns)
{
    char header[512], name[32] = "x";
    if (making->side->cut == TDC_CUT_SHARDS)
        snprintf(name, sizeof name, "layers.%u.weight", rank);
    int length = snprintf(header, sizeof header,
                          "{\"%s\":{\"dtype\":\"%s\",\"shape\":[%" PRIu64 ",%" PRIu64
                          "],\"data_offsets\":[0,%" PRIu64 "]}}",
                          name, making->side->dtype == TDC_F32 ? "F32" : "BF16", rows, columns,
                          rows * columns * making->element);
    while (length % 8 != 0)
        header[length++] = ' ';
    unsigned char size[8] = {(unsigned char)length, (unsigned char)(length >> 8)};
    return fwrite(size, 1, sizeof size, making->file) == sizeof size &&
           fwrite(header, 1, (size_t)length, making->file) == (size_t)length;
}

static bool put_rank(struct making *making, unsigned rank)
{
    const struct tdc_cut_side *side = making->side;
    uint64_t rows = side->rows, columns = side->columns, n = side->ranks, chunk = rows / (2 * n);
    bool ok = true;
    switch (side->cut) {
    case TDC_CUT_WHOLE:
    case TDC_CUT_ROWS:
    case TDC_CUT_SHARDS:
        return put_header(making, rank, rows / n, columns) &&
               put_run(making, rank * (rows / n) * columns, rows / n * columns);
    case TDC_CUT_ZIGZAG:
        return put_header(making, rank, 2 * chunk, columns) &&
               put_run(making, rank * chunk * columns, chunk * columns) &&
               put_run(making, (2 * n - 1 - rank) * chunk * columns, chunk * columns);
    case TDC_CUT_COLUMNS:
        ok = put_header(making, rank, rows, columns / n);
        for (uint64_t row = 0; row < rows && ok; row++)
            ok = put_run(making, row * columns + rank * (columns / n), columns / n);
        return ok;
    case TDC_CUT_TURNED:
        ok = put_header(making, rank, columns, rows);
        for (uint64_t column = 0; column < columns && ok; column++)
            for (uint64_t row = 0; row < rows && ok; row++)
                ok = put_run(making, row * columns + column, 1);
        return ok;
    }
    return false;
}

static tdc_status make_rank(struct making *making, const char *folder, unsigned rank,
                            struct tdc_error *error)
{
    char path[4352];
    bool shards = making->side->cut == TDC_CUT_SHARDS;
    snprintf(path, sizeof path, shards ? "%s/part%u.safetensors" : "%s/rank%u/part.safetensors",
             folder, rank);
    tdc_status status = tdc_make_folder_of(path, error);
    if (status != TDC_OK)
        return status;
    making->file = fopen(path, "wb");
    if (making->file == NULL)
        return tdc_fail(error, TDC_ERR_WRITE, "%s: %s", path, strerror(errno));
    bool written = put_rank(making, rank) && flush(making);
    written &= fclose(making->file) == 0;
    if (tdc_cancel_is_set(making->cancel))
        return tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
    return written ? TDC_OK : tdc_fail(error, TDC_ERR_WRITE, "%s: cannot be written", path);
}

tdc_status tdc_cut_make(const struct tdc_cut_side *side, const char *folder,
                        const struct tdc_cancel *cancel, struct tdc_error *error)
{
    struct making making = {.side = side, .cancel = cancel, .element = tdc_dtype_size(side->dtype)};
    tdc_status status = TDC_OK;
    if (!fill_pool(&making))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    for (unsigned rank = 0; rank < side->ranks && status == TDC_OK; rank++)
        status = make_rank(&making, folder, rank, error);
    free(making.pool);
    free(making.batch);
    return status;
}
