#include "host/engine/backend.h"
#include "io/file/mapping_guard.h"

static tdc_status cpu_open(void *context, void **state, struct tdc_error *error)
{
    (void)context;
    (void)error;
    *state = NULL;
    return TDC_OK;
}

static void run(void *argument)
{
    struct tdc_backend_chunk *chunk = argument;
    tdc_pair_run(chunk->plan, chunk->n, chunk->b, chunk->count, chunk->sums);
}

bool tdc_chunk_run(struct tdc_backend_chunk *chunk)
{
    return tdc_guarded_read(run, chunk);
}

bool tdc_chunks_run(const struct tdc_backend *backend, void *state,
                    struct tdc_backend_chunk *chunks, size_t count)
{
    bool ok = true;
    size_t under_way = 0;
    for (size_t i = 0; i < count && ok;) {
        enum tdc_submit_result result = backend->submit(state, &chunks[i]);
        if (result == TDC_SUBMIT_NO_ROOM) {
            under_way -= backend->take(state, true) != NULL;
            continue;
        }
        under_way += result == TDC_SUBMIT_TAKEN;
        ok = result != TDC_SUBMIT_VANISHED;
        i++;
    }
    while (under_way != 0)
        under_way -= backend->take(state, true) != NULL;
    return ok;
}

static enum tdc_submit_result cpu_submit(void *state, struct tdc_backend_chunk *chunk)
{
    (void)state;
    return tdc_chunk_run(chunk) ? TDC_SUBMIT_COMPUTED : TDC_SUBMIT_VANISHED;
}

static struct tdc_backend_chunk *cpu_take(void *state, bool wait)
{
    (void)state;
    (void)wait;
    return NULL;
}

static void cpu_close(void *state)
{
    (void)state;
}

const struct tdc_backend tdc_backend_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .submit = cpu_submit,
    .take = cpu_take,
    .close = cpu_close,
};
