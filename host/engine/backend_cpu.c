#include "host/engine/backend.h"
#include "io/file/mapping_guard.h"

static tdc_status cpu_open(void *context, void **state, struct tdc_error *error)
{
    (void)context;
    (void)error;
    *state = NULL;
    return TDC_OK;
}

static unsigned cpu_limit(void *state)
{
    (void)state;
    return 1;
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

static bool cpu_submit(void *state, struct tdc_backend_chunk *chunk)
{
    (void)state;
    return tdc_chunk_run(chunk);
}

static bool cpu_wait(void *state, struct tdc_backend_chunk *chunk)
{
    (void)state;
    (void)chunk;
    return true;
}

static void cpu_close(void *state)
{
    (void)state;
}

const struct tdc_backend tdc_backend_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .limit = cpu_limit,
    .submit = cpu_submit,
    .wait = cpu_wait,
    .close = cpu_close,
};
