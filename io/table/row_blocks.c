#include "io/table/row_blocks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "io/base/error.h"
#include "io/table/sink_backend.h"

#define BLOCK_ROWS   ((size_t)512)
#define PIECES       ((size_t)16)
#define MOST_HELPERS 15
#define MOST_TEXT    ((size_t)1 << 30) /* of a block, or the texts of a row */

/* The bytes of a block: `before`, then what the writer holds. */
struct piece {
    struct tdc_byte_writer writer;
    struct tdc_text before, texts;
    struct tdc_cell *cells; /* of a row */
    size_t rows;
    bool formed; /* under the lock */
    tdc_status status;
    struct tdc_error error;
};

struct tdc_row_blocks {
    struct tdc_sink *sink;
    tdc_cells_of cells_of;
    void *context;
    size_t given;         /* rows, of the caller's thread alone */
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    size_t ready;        /* rows */
    size_t claimed, put; /* blocks */
    bool over;           /* no further rows will be ready: the last block may be short */
    struct piece pieces[PIECES];
    pthread_t helpers[MOST_HELPERS];
    int helper_count;
};

static int keep_before(void *context, const char *data, size_t length)
{
    return tdc_text_add(context, data, length) ? 0 : ENOMEM;
}

static void form(struct tdc_row_blocks *blocks, size_t block, size_t rows)
{
    struct piece *piece = &blocks->pieces[block % PIECES];
    const struct tdc_sink *sink = blocks->sink;
    piece->status = TDC_OK;
    piece->rows = rows;
    piece->writer.used = 0;
    piece->writer.failure = 0;
    tdc_text_clear(&piece->before);
    for (size_t i = 0; i < rows && piece->status == TDC_OK; i++) {
        tdc_text_clear(&piece->texts);
        piece->status = blocks->cells_of(blocks->context, block * BLOCK_ROWS + i, &piece->texts,
                                         piece->cells, &piece->error);
        if (piece->status == TDC_OK)
            sink->backend->form(sink, piece->cells, &piece->writer);
    }
    if (piece->status == TDC_OK && piece->writer.failure != 0)
        piece->status =
            tdc_fail(&piece->error, TDC_ERR_MEMORY, "%s: out of memory", sink->file.path);
}

/* Takes a block that is ready, if there is one and room for it; its rows, 0: none. */
static size_t claim(struct tdc_row_blocks *blocks, size_t *block)
{
    size_t first = blocks->claimed * BLOCK_ROWS;
    if (blocks->claimed == blocks->put + PIECES || first >= blocks->ready)
        return 0;
    size_t rows = blocks->ready - first;
    if (rows < BLOCK_ROWS && !blocks->over)
        return 0;
    *block = blocks->claimed++;
    blocks->pieces[*block % PIECES].formed = false;
    return rows < BLOCK_ROWS ? rows : BLOCK_ROWS;
}

/* One block, if any can be claimed. The lock is held, but not meanwhile. */
static bool form_one(struct tdc_row_blocks *blocks)
{
    size_t block, rows = claim(blocks, &block);
    if (rows == 0)
        return false;
    pthread_mutex_unlock(&blocks->lock);
    form(blocks, block, rows);
    pthread_mutex_lock(&blocks->lock);
    blocks->pieces[block % PIECES].formed = true;
    pthread_cond_broadcast(&blocks->changed);
    return true;
}

static void *help(void *argument)
{
    struct tdc_row_blocks *blocks = argument;
    pthread_mutex_lock(&blocks->lock);
    while (!blocks->over || blocks->claimed * BLOCK_ROWS < blocks->ready)
        if (!form_one(blocks))
            pthread_cond_wait(&blocks->changed, &blocks->lock);
    pthread_mutex_unlock(&blocks->lock);
    return NULL;
}

/* The oldest block into the file, if it is formed. The lock is held, but not meanwhile. */
static bool put_one(struct tdc_row_blocks *blocks)
{
    struct piece *piece = &blocks->pieces[blocks->put % PIECES];
    if (blocks->put == blocks->claimed || !piece->formed)
        return false;
    pthread_mutex_unlock(&blocks->lock);
    tdc_sink_put_block(blocks->sink, piece->status == TDC_OK ? NULL : &piece->error,
                       (struct tdc_sink_bytes){piece->before.data, piece->before.length},
                       (struct tdc_sink_bytes){piece->writer.data, piece->writer.used},
                       piece->rows);
    pthread_mutex_lock(&blocks->lock);
    blocks->put++;
    pthread_cond_broadcast(&blocks->changed);
    return true;
}

void tdc_row_blocks_ready(struct tdc_row_blocks *blocks, size_t rows)
{
    bool whole_block = rows / BLOCK_ROWS != blocks->given / BLOCK_ROWS;
    blocks->given = rows;
    if (!whole_block)
        return;
    pthread_mutex_lock(&blocks->lock);
    blocks->ready = rows;
    pthread_cond_broadcast(&blocks->changed);
    while (put_one(blocks))
        continue;
    /* what helpers do not keep up with */
    while (blocks->ready / BLOCK_ROWS > blocks->claimed + 1) {
        if (put_one(blocks) || form_one(blocks))
            continue;
        pthread_cond_wait(&blocks->changed, &blocks->lock);
    }
    pthread_mutex_unlock(&blocks->lock);
}

static void free_blocks(struct tdc_row_blocks *blocks)
{
    for (size_t i = 0; i < PIECES; i++) {
        tdc_byte_writer_free(&blocks->pieces[i].writer);
        tdc_text_free(&blocks->pieces[i].before);
        tdc_text_free(&blocks->pieces[i].texts);
        free(blocks->pieces[i].cells);
    }
    pthread_mutex_destroy(&blocks->lock);
    pthread_cond_destroy(&blocks->changed);
    free(blocks);
}

tdc_status tdc_row_blocks_end(struct tdc_row_blocks *blocks, struct tdc_error *error)
{
    pthread_mutex_lock(&blocks->lock);
    blocks->over = true;
    blocks->ready = blocks->given;
    pthread_cond_broadcast(&blocks->changed);
    while (blocks->put * BLOCK_ROWS < blocks->ready)
        if (!put_one(blocks) && !form_one(blocks))
            pthread_cond_wait(&blocks->changed, &blocks->lock);
    pthread_mutex_unlock(&blocks->lock);
    for (int i = 0; i < blocks->helper_count; i++)
        pthread_join(blocks->helpers[i], NULL);
    tdc_status status = blocks->sink->first.status;
    if (status != TDC_OK && error != NULL)
        *error = blocks->sink->first;
    free_blocks(blocks);
    return status;
}

struct tdc_row_blocks *tdc_row_blocks_start(struct tdc_sink *sink, int threads,
                                            tdc_cells_of cells_of, void *context)
{
    if (sink->backend->form == NULL || threads < 2)
        return NULL;
    struct tdc_row_blocks *blocks = calloc(1, sizeof *blocks);
    if (blocks == NULL)
        return NULL;
    blocks->sink = sink;
    blocks->cells_of = cells_of;
    blocks->context = context;
    pthread_mutex_init(&blocks->lock, NULL);
    pthread_cond_init(&blocks->changed, NULL);
    bool ready = true;
    for (size_t i = 0; i < PIECES && ready; i++) {
        struct piece *piece = &blocks->pieces[i];
        tdc_text_init(&piece->before, MOST_TEXT);
        tdc_text_init(&piece->texts, MOST_TEXT);
        piece->cells = calloc(sink->column_count, sizeof *piece->cells);
        ready = piece->cells != NULL && tdc_byte_writer_start(&piece->writer, -1);
        piece->writer.drain = keep_before;
        piece->writer.context = &piece->before;
    }
    if (!ready) {
        free_blocks(blocks);
        return NULL;
    }
    int most = threads - 1 < MOST_HELPERS ? threads - 1 : MOST_HELPERS;
    while (blocks->helper_count < most &&
           pthread_create(&blocks->helpers[blocks->helper_count], NULL, help, blocks) == 0)
        blocks->helper_count++;
    return blocks;
}
