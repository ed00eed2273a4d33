/* worker.c - the memory of a thread, and asking for small files ahead of time. */
#include "host/engine/engine.h"
#include "host/engine/job_path.h"
#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/platform/platform.h"
#include "io/storage/ahead.h"
#include "io/storage/mounts.h"

/* Names of files are bounded by the system; anything longer cannot be opened. */
#define PATH_LIMIT ((size_t)1 << 16)

/* Pairs of remote files that are opened before they are wanted, by all threads together; a thread
 * has the next one on its way at least. */
#define EXPECTED_JOBS ((size_t)32)

tdc_status tdc_worker_init(struct tdc_worker *worker, const struct tdc_backend *backend,
                           struct tdc_error *error)
{
    *worker = (struct tdc_worker){0};
    tdc_text_init(&worker->path, PATH_LIMIT);
    worker->variant = tdc_cpu_variant_chosen();
    worker->n_scratch = tdc_tensor_scratch_new();
    worker->b_scratch = tdc_tensor_scratch_new();
    if (worker->n_scratch == NULL || worker->b_scratch == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a thread");
    tdc_status status = backend->open(backend->context, &worker->backend_state, error);
    if (status == TDC_OK)
        worker->backend = backend;
    return status;
}

bool tdc_worker_take(struct tdc_worker *worker, bool wait)
{
    struct tdc_backend_chunk *chunk = worker->backend->take(worker->backend_state, wait);
    if (chunk == NULL)
        return false;
    worker->under_way--;
    chunk->next = worker->returned;
    worker->returned = chunk;
    return true;
}

void tdc_worker_free(struct tdc_worker *worker)
{
    tdc_open_folder_close(&worker->n_folder);
    tdc_open_folder_close(&worker->b_folder);
    if (worker->backend != NULL)
        worker->backend->close(worker->backend_state);
    tdc_tensor_scratch_free(worker->n_scratch);
    tdc_tensor_scratch_free(worker->b_scratch);
    tdc_span_buffer_free(&worker->n_buffer);
    tdc_span_buffer_free(&worker->b_buffer);
    tdc_logical_feed_free(worker->n_feed);
    tdc_logical_feed_free(worker->b_feed);
    tdc_text_free(&worker->path);
}

static void ask_for(struct tdc_worker *worker, const char *folder, const char *name)
{
    struct tdc_file file;
    const char *path = tdc_job_path(&worker->path, folder, name, NULL);
    if (path == NULL || tdc_tensor_file_open(path, &file, NULL) != TDC_OK)
        return;
    tdc_file_advise(file.descriptor, TDC_FILE_NEEDED);
    tdc_file_close(file.descriptor);
}

/* A file that something is done to before is opened by who does it. */
static void expect(struct tdc_worker *worker, const char *folder, const char *name,
                   const struct tdc_side_change *change, const struct tdc_tensor *tensor)
{
    const char *path =
        change == NULL && tensor == NULL ? tdc_job_path(&worker->path, folder, name, NULL) : NULL;
    if (path != NULL)
        tdc_ahead_begin(worker, path);
}

void tdc_expect_files(struct tdc_worker *worker, const struct tdc_job *jobs, size_t count,
                      size_t at, size_t threads)
{
    size_t ahead = EXPECTED_JOBS / threads > 1 ? EXPECTED_JOBS / threads : 1;
    if (!tdc_mounts_remote())
        return;
    if (at == 0)
        worker->expected = 0;
    for (; worker->expected < count && worker->expected <= at + ahead; worker->expected++) {
        const struct tdc_job *job = &jobs[worker->expected];
        if (job->n_logical != NULL)
            continue;
        expect(worker, job->n_folder, job->n_file, job->n_change, job->n_tensor);
        expect(worker, job->b_folder, job->b_file, job->b_change, job->b_tensor);
    }
}

void tdc_expect_no_more(struct tdc_worker *worker)
{
    if (worker->expected != 0)
        tdc_ahead_end(worker);
    worker->expected = 0;
}

void tdc_prefetch(struct tdc_worker *worker, const struct tdc_job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ask_for(worker, jobs[i].n_folder, jobs[i].n_file);
        ask_for(worker, jobs[i].b_folder, jobs[i].b_file);
    }
}
