/* gpu_tensors.c - see gpu_tensors.h. */
#include "host/engine/gpu/gpu_tensors.h"

static struct tdc_gpu_tensors *tensors_of(const struct tdc_tensors_work *work)
{
    return (struct tdc_gpu_tensors *)work->device;
}

void tdc_gpu_tensors_lay_out(struct tdc_gpu_tensors *tensors)
{
    struct tdc_gpu_slot *slot = (struct tdc_gpu_slot *)tensors->slot;
    for (unsigned i = 0; i < 2; i++) {
        tensors->base.n[i] = slot->base.n + i * (TDC_SLOT_SIDE / 2);
        tensors->base.b[i] = slot->base.b + i * (TDC_SLOT_SIDE / 2);
        tensors->batches[i].words = slot->words + i * TDC_BATCH_CHUNKS * TDC_GPU_CHUNK_WORDS;
        tensors->batches[i].table = slot->table + (size_t)2 * i * TDC_BATCH_CHUNKS;
    }
}

_Static_assert(TDC_PAIR_CHUNK * 16 <= TDC_SLOT_SIDE / 2, "a chunk of any type, twice");
_Static_assert(2 * TDC_BATCH_CHUNKS <= TDC_SLOT_CHUNKS, "tables and words of two batches");

/* ---- waiting --------------------------------------------------------------------------------- */

struct question {
    struct tdc_tensors_work *work;
    unsigned queue;
};

static struct tdc_call_failure ask(void *context, bool *done)
{
    const struct question *question = context;
    return tensors_of(question->work)->poll(question->work, question->queue, done);
}

/* What is ours and does not end, or cannot be asked, makes the object useless. A question that was
 * refused says nothing: it is asked once more. */
static bool wait_for(struct tdc_tensors_work *work, unsigned queue)
{
    struct question question = {work, queue};
    bool ours = queue != TDC_GPU_CALLER;
    struct tdc_call_failure failure =
        tdc_wait_polling(ask, &question, ours ? tdc_tensors_patience() : TDC_CALLER_PATIENCE);
    bool good = tdc_tensors_keep(work, failure.function, failure.code);
    if (ours && !good && failure.code != TDC_TIMED_OUT)
        failure = tdc_wait_polling(ask, &question, tdc_tensors_patience());
    if (ours && failure.code != 0)
        work->device->given_up = true;
    return good;
}

bool tdc_gpu_tensors_wait(struct tdc_tensors_work *work, unsigned turn)
{
    return !tensors_of(work)->batches[turn].sent || wait_for(work, turn);
}

bool tdc_gpu_tensors_copied(struct tdc_tensors_work *work)
{
    return wait_for(work, TDC_GPU_COPIES);
}

/* ---- comparing ------------------------------------------------------------------------------- */

bool tdc_gpu_tensors_begin(struct tdc_tensors_work *work, const char **why)
{
    struct tdc_gpu_tensors *tensors = tensors_of(work);
    tensors->kernel = tdc_gpu_pair_make(&work->plan, &tensors->pair);
    if (!wait_for(work, TDC_GPU_CALLER))
        return false;
    if (*why == NULL && !tdc_gpu_proven(tensors->slot, &work->plan, NULL))
        *why = "the kernel did not pass its test";
    return true;
}

bool tdc_gpu_tensors_launch(struct tdc_tensors_work *work, unsigned turn, uint64_t first,
                            uint64_t count)
{
    struct tdc_gpu_tensors *tensors = tensors_of(work);
    struct tdc_gpu_batch *batch = &tensors->batches[turn];
    batch->pair = tensors->pair;
    for (uint64_t at = 0; at < count; at += GPU_CHUNK)
        tdc_gpu_table_add(batch->table, &batch->pair,
                          count - at < GPU_CHUNK ? (size_t)(count - at) : GPU_CHUNK);
    batch->sent = true;
    return tensors->enqueue(work, turn, first);
}

bool tdc_gpu_tensors_take(struct tdc_tensors_work *work, unsigned turn, uint64_t first,
                          uint64_t count)
{
    const struct tdc_gpu_batch *batch = &tensors_of(work)->batches[turn];
    const gpu_u64 *words = batch->words;
    for (uint64_t at = 0; at < count; at += GPU_CHUNK, words += TDC_GPU_CHUNK_WORDS) {
        size_t here = count - at < GPU_CHUNK ? (size_t)(count - at) : GPU_CHUNK;
        struct tdc_pair_sums sums;
        work->out->tiles++;
        if (!tdc_gpu_chunk_join(&batch->pair, words, here, &sums)) {
            work->out->rescued++;
            if (!tdc_tensors_by_cpu(work, first + at, here, &sums))
                return false;
        }
        tdc_pair_merge(&work->total, &sums);
    }
    return true;
}
