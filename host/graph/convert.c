/* convert.c - the tensors of GE dump files as .npy files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/engine/source.h"
#include "host/graph/files/dump_name.h"
#include "host/graph/files/ge_file.h"
#include "host/graph/files/say.h"
#include "io/base/error.h"
#include "io/base/sized.h"
#include "io/base/text.h"
#include "io/file/byte_writer.h"
#include "io/file/mapping_guard.h"
#include "io/file/out_file.h"
#include "io/storage/storage_calls.h"
#include "io/tensor/npy_writer.h"

#define ARENA_LIMIT ((size_t)4 << 30)
#define PATH_LIMIT  ((size_t)1 << 16)
#define LONGEST     250u              /* of a name without its ending; file systems take 255 */
#define AT_ONCE     ((size_t)1 << 16) /* elements */

struct work {
    const struct tdc_options *options;
    const char *output;
    struct tdc_arena arena;
    struct tdc_conversion done;
    struct tdc_text path, failures;
    unsigned char *stored, *written; /* AT_ONCE elements of up to 16 bytes */
};

/* ---- one tensor ------------------------------------------------------------------------------ */

/* What numpy can hold. */
static tdc_dtype written_dtype(const struct tdc_tensor *tensor)
{
    if (tensor->coding == TDC_CODING_INT4)
        return TDC_I8;
    if (tensor->coding == TDC_CODING_UINT1)
        return TDC_U8;
    tdc_dtype dtype = tdc_source_dtype(tensor);
    if (dtype == TDC_BF16)
        return TDC_F32;
    return dtype == TDC_F8_E4M3 || dtype == TDC_F8_E5M2 ? TDC_F64 : dtype;
}

static void store_number(tdc_dtype dtype, double value, unsigned char *to)
{
    float narrow = (float)value;
    if (dtype == TDC_F32)
        memcpy(to, &narrow, sizeof narrow);
    else if (dtype == TDC_F64)
        memcpy(to, &value, sizeof value);
    else
        *to = (unsigned char)(int)value; /* int4 and uint1 */
}

struct reading {
    const struct tdc_tensor *tensor;
    uint64_t first;
    size_t count;
    unsigned char *to;
};

static void read_some(void *argument)
{
    struct reading *reading = argument;
    tdc_gather_elements(reading->tensor, reading->first, reading->count, reading->to);
}

static tdc_status write_elements(struct work *work, const struct tdc_tensor *tensor, int fd,
                                 const char *name, struct tdc_error *error)
{
    tdc_dtype from = tdc_source_dtype(tensor), to = written_dtype(tensor);
    size_t from_size = tdc_dtype_size(from), to_size = tdc_dtype_size(to);
    for (uint64_t first = 0; first < tensor->count; first += AT_ONCE) {
        uint64_t left = tensor->count - first;
        size_t count = left < AT_ONCE ? (size_t)left : AT_ONCE;
        struct reading reading = {tensor, first, count, work->stored};
        if (!tdc_guarded_read(read_some, &reading))
            return tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while it was read", name);
        const unsigned char *bytes = work->stored;
        for (size_t i = 0; i < count && from != to; i++) {
            double imaginary;
            store_number(to, tdc_element_value(from, work->stored + i * from_size, &imaginary),
                         work->written + i * to_size);
            bytes = work->written;
        }
        int failure = tdc_write_fully(fd, (const char *)bytes, count * to_size);
        if (failure != 0)
            return tdc_fail_errno(error, TDC_ERR_WRITE, failure, "%s", name);
        if (tdc_cancel_is_set(work->options->cancel))
            return tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
    }
    return TDC_OK;
}

static tdc_status write_tensor(struct work *work, const struct tdc_tensor *tensor, int fd,
                               const char *name, struct tdc_error *error)
{
    struct tdc_text head;
    tdc_text_init(&head, (size_t)1 << 16);
    tdc_status status = TDC_OK;
    if (!tdc_npy_head(&head, written_dtype(tensor), tensor->dimensions, tensor->shape))
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", name);
    int failure = status == TDC_OK ? tdc_write_fully(fd, head.data, head.length) : 0;
    if (failure != 0)
        status = tdc_fail_errno(error, TDC_ERR_WRITE, failure, "%s", name);
    tdc_text_free(&head);
    return status == TDC_OK ? write_elements(work, tensor, fd, name, error) : status;
}

/* ---- one file -------------------------------------------------------------------------------- */

struct source {
    struct tdc_ge_file file;
    const char *stem; /* OUTPUT/FILE: what the results are called */
    enum tdc_ge_list list;
    uint64_t index;
    struct tdc_error *error;
};

static tdc_status convert_item(struct work *work, struct source *source)
{
    static const char *const words[] = {"input", "output", "l1buffer", "space"};
    bool tensor = source->list <= TDC_GE_OUTPUT;
    struct tdc_out_file file = TDC_OUT_FILE_NONE;
    struct tdc_ge_item item;
    struct tdc_tensor read;
    tdc_status status = tdc_ge_file_tensor(&source->file, source->list, source->index, true, &item,
                                           &read, source->error);
    if (status != TDC_OK)
        return status;
    tdc_text_clear(&work->path);
    tdc_text_addf(&work->path, "%s.%s.%llu.%s", source->stem, words[source->list],
                  (unsigned long long)source->index, tensor ? "npy" : "bin");
    if (work->path.failed)
        return tdc_fail(source->error, TDC_ERR_MEMORY, "%s: out of memory", source->file.path);
    const char *path = tdc_text_get(&work->path);
    status = tdc_out_file_open(path, &file, source->error);
    if (status == TDC_OK)
        status = tensor ? write_tensor(work, &read, file.fd, path, source->error)
                        : write_elements(work, &read, file.fd, path, source->error);
    if (status == TDC_OK)
        status = tdc_out_file_commit(&file, source->error);
    tdc_out_file_discard(&file);
    work->done.tensors += status == TDC_OK;
    return status;
}

static bool ends_the_run(tdc_status status)
{
    return status == TDC_ERR_WRITE || status == TDC_ERR_INTERRUPTED || status == TDC_ERR_MEMORY;
}

/* All items of a mapped file; one that cannot be read does not keep the others from it. */
static tdc_status convert_items(struct work *work, struct source *source, bool *failed)
{
    tdc_status status = TDC_OK;
    for (unsigned list = 0; list < TDC_GE_LISTS; list++)
        for (source->list = list, source->index = 0; source->index < source->file.counts[list];
             source->index++) {
            status = convert_item(work, source);
            if (ends_the_run(status))
                return status;
            if (status != TDC_OK) {
                tdc_say(work->options, TDC_MESSAGE_ERROR, "%s", source->error->message);
                *failed = true;
            }
        }
    return TDC_OK;
}

static tdc_status convert_file(struct work *work, const char *path, const char *folder,
                               const char *name, struct tdc_error *error)
{
    struct tdc_error own = {0};
    struct source source = {.error = &own};
    bool failed = false;
    work->done.files++;
    source.stem = tdc_folder_path(&work->arena, folder, name);
    tdc_status status = source.stem != NULL ? tdc_ge_file_open(path, &source.file, &own)
                                            : tdc_fail(&own, TDC_ERR_MEMORY, "out of memory");
    if (status == TDC_OK) {
        status = convert_items(work, &source, &failed);
        tdc_ge_file_close(&source.file);
    } else if (status != TDC_ERR_MEMORY) {
        tdc_say(work->options, TDC_MESSAGE_ERROR, "%s", own.message);
        failed = true;
        status = TDC_OK;
    }
    if (failed) {
        work->done.failed++;
        tdc_text_addf(&work->failures, "%s\n", path);
    }
    if (status != TDC_OK && error != NULL)
        *error = own;
    return status;
}

/* ---- a folder of them ------------------------------------------------------------------------ */

static tdc_status convert_folder(struct work *work, const char *path, const char *output,
                                 unsigned depth, struct tdc_error *error)
{
    struct tdc_folder folder;
    struct tdc_long_names names = {0};
    tdc_status status = tdc_folder_read(&work->arena, path, &folder, error);
    if (status == TDC_OK && !tdc_long_names_read(&work->arena, path, &names))
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    for (size_t i = 0; i < folder.count && status == TDC_OK; i++) {
        const struct tdc_folder_entry *entry = &folder.entries[i];
        const char *inner = tdc_folder_path(&work->arena, path, entry->name);
        const char *real = tdc_long_name(&names, entry->name);
        const char *below = tdc_folder_path(&work->arena, output, entry->name);
        if (inner == NULL || below == NULL)
            status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
        else if (entry->folder && depth < TDC_FOLDER_DEPTH)
            status = convert_folder(work, inner, below, depth + 1, error);
        else if (entry->folder || !tdc_dump_name_may_be(entry->name))
            work->done.passed_over++;
        else if ((status = tdc_make_folders(output, error)) == TDC_OK)
            status = convert_file(
                work, inner, output,
                strlen(real) > LONGEST || strchr(real, '/') != NULL ? entry->name : real, error);
    }
    tdc_long_names_free(&names);
    return status;
}

static tdc_status write_failures(struct work *work, struct tdc_error *error)
{
    struct tdc_out_file file = TDC_OUT_FILE_NONE;
    if (work->failures.length == 0)
        return TDC_OK;
    const char *path = tdc_folder_path(&work->arena, work->output, "convert_failed_file_list.txt");
    if (path == NULL || work->failures.failed)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_status status = tdc_make_folders(work->output, error);
    if (status == TDC_OK)
        status = tdc_out_file_open(path, &file, error);
    int failure =
        status == TDC_OK ? tdc_write_fully(file.fd, work->failures.data, work->failures.length) : 0;
    if (failure != 0)
        status = tdc_fail_errno(error, TDC_ERR_WRITE, failure, "%s", path);
    if (status == TDC_OK)
        status = tdc_out_file_commit(&file, error);
    tdc_out_file_discard(&file);
    return status;
}

static tdc_status convert_path(struct work *work, const char *path, struct tdc_error *error)
{
    struct stat info;
    int number = tdc_storage_stat(path, &info);
    if (number != 0)
        return tdc_fail_errno(error, number == ENOENT ? TDC_ERR_NOT_FOUND : TDC_ERR_READ, number,
                              "%s", path);
    if (S_ISDIR(info.st_mode))
        return convert_folder(work, path, work->output, 0, error);
    const char *slash = strrchr(path, '/');
    tdc_status status = tdc_make_folders(work->output, error);
    return status == TDC_OK
               ? convert_file(work, path, work->output, slash != NULL ? slash + 1 : path, error)
               : status;
}

tdc_status tdc_convert_dump(const char *path, const char *output, const struct tdc_options *options,
                            struct tdc_conversion *conversion, size_t size, struct tdc_error *error)
{
    struct work work = {.options = options, .output = output};
    tdc_arena_init(&work.arena, ARENA_LIMIT);
    tdc_text_init(&work.path, PATH_LIMIT);
    tdc_text_init(&work.failures, ARENA_LIMIT);
    work.stored = malloc(AT_ONCE * 16);
    work.written = malloc(AT_ONCE * 16);
    tdc_status status;
    if (work.stored == NULL || work.written == NULL) {
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    } else if (!tdc_guard_begin()) {
        status = tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    } else {
        status = convert_path(&work, path, error);
        tdc_guard_end();
    }
    if (status == TDC_OK && work.done.files == 0)
        status = tdc_fail(error, TDC_ERR_NOTHING, "%s: no GE dump file in it", path);
    if (status == TDC_OK)
        status = write_failures(&work, error);
    tdc_sized_give(conversion, size, &work.done, sizeof work.done);
    free(work.stored);
    free(work.written);
    tdc_text_free(&work.path);
    tdc_text_free(&work.failures);
    tdc_arena_free(&work.arena);
    return status;
}
