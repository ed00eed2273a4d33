#include "io/tensor/tensor_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/file/mapping_guard.h"
#include "io/platform/platform.h"
#include "io/storage/patient_read.h"
#include "io/storage/storage_calls.h"
#include "io/tensor/atb_file.h"
#include "io/tensor/ge/ge_dump.h"
#include "io/tensor/npy.h"
#include "io/tensor/pickle/pt.h"

/* All that reading a header needs, made before and freed after: the reading may be cut off. */
struct job {
    const unsigned char *bytes;
    size_t size;
    enum tdc_tensor_kind kind;
    const char *name;
    struct tdc_pickle *own;    /* memory for pickle, NULL: allocate it */
    struct tdc_pickle *pickle; /* of pt alone */
    struct tdc_tensor *tensor;
    struct tdc_error *error;
    tdc_status status;
};

static bool ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), suffix_length = strlen(suffix);
    return length >= suffix_length && strcmp(text + length - suffix_length, suffix) == 0;
}

static enum tdc_tensor_kind kind_by_suffix(const char *name)
{
    static const struct {
        const char *suffix;
        enum tdc_tensor_kind kind;
    } kinds[] = {{".npy", TDC_TENSOR_NPY}, {".pt", TDC_TENSOR_PT}, {".bin", TDC_TENSOR_ATB}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ends_with(name, kinds[i].suffix))
            return kinds[i].kind;
    return tdc_ge_name(name, &(size_t){0}, &(enum tdc_ge_list){0}, &(uint64_t){0})
               ? TDC_TENSOR_GE
               : TDC_TENSOR_BY_SUFFIX;
}

static tdc_status job_begin(struct job *job)
{
    if (job->kind == TDC_TENSOR_BY_SUFFIX)
        job->kind = kind_by_suffix(job->name);
    if (job->kind == TDC_TENSOR_BY_SUFFIX)
        return tdc_fail(job->error, TDC_ERR_UNSUPPORTED, "%s: neither .npy nor .pt nor .bin",
                        job->name);
    if (job->size == 0)
        return tdc_fail(job->error, TDC_ERR_FORMAT, "%s: the file is empty", job->name);
    if (job->kind != TDC_TENSOR_PT)
        return TDC_OK;
    job->pickle = job->own != NULL ? job->own : malloc(sizeof *job->pickle);
    if (job->pickle == NULL)
        return tdc_fail(job->error, TDC_ERR_MEMORY, "%s: out of memory", job->name);
    tdc_pickle_init(job->pickle, job->name, job->error);
    return TDC_OK;
}

static void job_run(void *argument)
{
    struct job *job = argument;
    if (job->kind == TDC_TENSOR_NPY)
        job->status = tdc_npy_parse(job->bytes, job->size, job->name, job->tensor, job->error);
    else if (job->kind == TDC_TENSOR_ATB)
        job->status = tdc_atb_parse(job->bytes, job->size, job->name, job->tensor, job->error);
    else if (job->kind == TDC_TENSOR_GE)
        job->status = tdc_ge_parse(job->bytes, job->size, job->name, job->tensor, job->error);
    else
        job->status = tdc_pt_parse(job->bytes, job->size, job->pickle, job->tensor);
}

tdc_status tdc_tensor_parse(const void *bytes, size_t size, enum tdc_tensor_kind kind,
                            const char *name, struct tdc_tensor *tensor, struct tdc_error *error)
{
    *tensor = (struct tdc_tensor){.descriptor = -1};
    struct job job = {
        .bytes = bytes, .size = size, .kind = kind, .name = name, .tensor = tensor, .error = error};
    job.status = job_begin(&job);
    if (job.status == TDC_OK)
        job_run(&job);
    free(job.pickle);
    if (job.status != TDC_OK)
        *tensor = (struct tdc_tensor){.descriptor = -1};
    return job.status;
}

static tdc_status parse_mapped(struct job *job)
{
    tdc_status status = job_begin(job);
    if (status != TDC_OK)
        return status;
    if (!tdc_guard_begin())
        return tdc_fail(job->error, TDC_ERR_SYSTEM, "%s: no handler for SIGBUS", job->name);
    bool complete = tdc_guarded_read(job_run, job);
    tdc_guard_end();
    if (!complete)
        return tdc_fail(job->error, TDC_ERR_CHANGED, "%s: the file shrank while it was read",
                        job->name);
    return job->status;
}

struct tdc_tensor_scratch {
    struct tdc_pickle pickle;
    unsigned char bytes[TDC_SMALL_FILE];
};

struct tdc_tensor_scratch *tdc_tensor_scratch_new(void)
{
    return malloc(sizeof(struct tdc_tensor_scratch));
}

void tdc_tensor_scratch_free(struct tdc_tensor_scratch *scratch)
{
    free(scratch);
}

/* What is in the page cache already; *cold when there is something that is not. */
static size_t read_cached(const struct tdc_file *file, unsigned char *bytes, bool *cold)
{
    size_t got = 0;
    while (got < file->size) {
        ssize_t count =
            tdc_file_read_cached(file->descriptor, bytes + got, file->size - got, (off_t)got);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && cold != NULL && errno == EAGAIN)
            *cold = true;
        if (count <= 0)
            break;
        got += (size_t)count;
    }
    return got;
}

/* All bytes of a small file. Without waiting first: what must wait was not in the page cache. */
static tdc_status read_small(const struct tdc_file *file, const char *path, unsigned char *bytes,
                             bool *cold, struct tdc_error *error)
{
    size_t got = 0, more = 0;
    if (tdc_storage_mount(file->descriptor) == NULL)
        got = read_cached(file, bytes, cold);
    int number =
        tdc_storage_read(file->descriptor, bytes + got, file->size - got, (off_t)got, &more);
    if (number != 0)
        return tdc_fail_errno(error, TDC_ERR_READ, number, "%s", path);
    if (got + more < file->size)
        return tdc_fail(error, TDC_ERR_CHANGED, "%s: the file shrank while it was read", path);
    return TDC_OK;
}

/* read: its bytes are there already. */
static tdc_status open_small(struct tdc_tensor_scratch *scratch, const struct tdc_file *file,
                             bool read, struct job *job, bool *cold)
{
    tdc_status status =
        read ? TDC_OK : read_small(file, job->name, scratch->bytes, cold, job->error);
    if (status != TDC_OK)
        return status;
    job->bytes = scratch->bytes;
    status = job_begin(job);
    if (status == TDC_OK) {
        job_run(job);
        status = job->status;
    }
    job->tensor->descriptor = -1;
    job->tensor->map_size = file->size;
    return status;
}

static tdc_status open_mapped(const struct tdc_file *file, struct job *job)
{
    struct tdc_file_map map;
    tdc_status status = tdc_file_map_make(file, job->name, &map, job->error);
    if (status != TDC_OK)
        return status;
    job->bytes = (const unsigned char *)map.data;
    /* Head and tail of a file may be all that is read of it through the map: without this a fault
     * brings in the whole window of read-ahead, 8 MB on some machines. */
    if (map.data != NULL)
        tdc_pages_advise((void *)(uintptr_t)map.data, map.size, TDC_PAGES_RANDOM);
    status = parse_mapped(job);
    if (map.data != NULL)
        tdc_pages_advise((void *)(uintptr_t)map.data, map.size, TDC_PAGES_NORMAL);
    if (status != TDC_OK) {
        tdc_file_map_close(&map);
        return status;
    }
    job->tensor->map = (void *)(uintptr_t)map.data;
    job->tensor->map_size = map.size;
    job->tensor->descriptor = file->descriptor;
    return TDC_OK;
}

/* A tensor of a dump file has more words behind the name of its file. */
tdc_status tdc_tensor_file_open(const char *path, struct tdc_file *file, struct tdc_error *error)
{
    enum {
        LONGEST = 8192 /* more than any system takes */
    };
    size_t length;
    char name[LONGEST];
    if (!tdc_ge_name(path, &length, &(enum tdc_ge_list){0}, &(uint64_t){0}))
        return tdc_file_open(path, file, error);
    if (length >= sizeof name)
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "%.200s: the name is too long", path);
    memcpy(name, path, length);
    name[length] = '\0';
    return tdc_file_open(name, file, error);
}

/* What a header may add to the bytes that are expected, and then some. */
#define HEAD_ROOM ((size_t)64 << 10)
/* Where the page cache has a file in part, a read that does not wait ends between two pages; no
 * system has smaller ones. */
#define LEAST_PAGE 4096

/*
 * A small file read without asking for its size: what a read brings that ends inside a page, with
 * room left, is all of it. False where that cannot be told so: nothing is lost then. Things that
 * are no files bring nothing at all, or no end.
 */
static bool read_at_once(struct tdc_tensor_scratch *scratch, struct tdc_file *file, size_t expected)
{
    if (expected > TDC_SMALL_FILE - HEAD_ROOM || file->linked)
        return false;
    size_t room = expected + HEAD_ROOM;
    ssize_t got = tdc_file_read_cached(file->descriptor, scratch->bytes, room, 0);
    if (got <= 0 || (size_t)got == room || got % LEAST_PAGE == 0)
        return false;
    file->size = (size_t)got;
    return true;
}

static tdc_status open_file(struct tdc_tensor_scratch *scratch, const char *path,
                            const struct tdc_tensor_place *place, enum tdc_tensor_kind kind,
                            bool *cold, struct tdc_tensor *tensor, struct tdc_error *error)
{
    *tensor = (struct tdc_tensor){.descriptor = -1};
    struct tdc_file file;
    char *bytes;
    bool read = false;
    tdc_status status;
    if (tdc_ge_name(path, &(size_t){0}, &(enum tdc_ge_list){0}, &(uint64_t){0})) {
        status = tdc_tensor_file_open(path, &file, error);
    } else if (place == NULL) {
        status = tdc_file_open_expected(path, &file, &bytes, error);
        read = scratch != NULL && bytes != NULL && file.size <= TDC_SMALL_FILE;
        if (read)
            memcpy(scratch->bytes, bytes, file.size);
        free(bytes);
    } else {
        status = tdc_file_begin(place->folder, place->name, path, &file, error);
        read = status == TDC_OK && read_at_once(scratch, &file, place->expected);
        if (status == TDC_OK && !read)
            status = tdc_file_inspect(&file, path, error);
    }
    if (status != TDC_OK)
        return status;
    struct job job = {.size = file.size,
                      .kind = kind,
                      .name = path,
                      .own = scratch != NULL ? &scratch->pickle : NULL,
                      .tensor = tensor,
                      .error = error};
    if (scratch != NULL && file.size <= TDC_SMALL_FILE)
        status = open_small(scratch, &file, read, &job, cold);
    else
        status = open_mapped(&file, &job);
    if (job.pickle != job.own)
        free(job.pickle);
    tensor->linked = file.linked;
    if (status != TDC_OK)
        *tensor = (struct tdc_tensor){.descriptor = -1};
    if (tensor->descriptor < 0)
        tdc_file_close(file.descriptor);
    return status;
}

tdc_status tdc_tensor_open(const char *path, enum tdc_tensor_kind kind, struct tdc_tensor *tensor,
                           struct tdc_error *error)
{
    return open_file(NULL, path, NULL, kind, NULL, tensor, error);
}

tdc_status tdc_tensor_open_with(struct tdc_tensor_scratch *scratch, const char *path,
                                const struct tdc_tensor_place *place, bool *cold,
                                struct tdc_tensor *tensor, struct tdc_error *error)
{
    return open_file(scratch, path, place, TDC_TENSOR_BY_SUFFIX, cold, tensor, error);
}

void tdc_tensor_close(struct tdc_tensor *tensor)
{
    if (tensor == NULL)
        return;
    if (tensor->map != NULL && !tensor->borrowed) {
        struct tdc_file_map map = {tensor->map, tensor->map_size};
        tdc_file_map_close(&map);
        if (tensor->descriptor >= 0)
            tdc_file_close(tensor->descriptor);
    }
    *tensor = (struct tdc_tensor){.descriptor = -1};
}
